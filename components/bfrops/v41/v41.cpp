// SPDX-License-Identifier: BSD-3-Clause
// bfrops/v41: the encoding that OpenPMIx calls v41, v51 and v61. Here are items: their headers, and the rule
// that a call that fails changes nothing. Stateless, any thread.

#include <cstdlib>
#include <cstring>
#include <memory>

#include "components/bfrops/v41/decoder.hpp"
#include "components/bfrops/v41/encoder.hpp"
#include "framework/base/element.hpp"
#include "framework/base/own_component.hpp"
#include "framework/bfrops.hpp"

namespace muster {
namespace {

using v41::Decoder;
using v41::Encoder;

/// sizeof one value of an item; 0 if there is no such type.
size_t value_size_of(pmix_data_type_t type) {
    switch (type) {
        case PMIX_REGEX:
            return sizeof(char*);
        case PMIX_KVAL:
            return sizeof(KeyValue);
        case PMIX_BUFFER:
            return sizeof(PackedBuffer);
        default:
            return data_type_size(type);
    }
}

template <class Coder>
bool code(Coder& c, v41::As<Coder, void>* values, size_t n, pmix_data_type_t type) {
    if (type == PMIX_KVAL) return v41::each<KeyValue>(c, values, n);
    if (type == PMIX_BUFFER) return v41::each<PackedBuffer>(c, values, n);
    return run(c, values, n, type);
}

/// Writes one value except for trailing bytes with the same form in memory.
bool encode_all_but(ByteView& rest, Encoder& out, const void* value, pmix_data_type_t type) {
    const auto view = [](const void* bytes, size_t size) {
        return ByteView(static_cast<const uint8_t*>(bytes), size);
    };
    if (type == PMIX_BUFFER) {
        const auto* buffer = static_cast<const PackedBuffer*>(value);
        rest = view(buffer->content.bytes, buffer->content.size);
        return out.buffer_type(buffer->type) && out.number(buffer->content.size);
    }
    if (type == PMIX_BYTE_OBJECT) {
        const auto* object = static_cast<const pmix_byte_object_t*>(value);
        if (object->bytes == nullptr && object->size > 0) return out.fail(PMIX_ERR_BAD_PARAM);
        rest = view(object->bytes, object->size);
        return out.number(object->size);
    }
    if (type != PMIX_KVAL) return out.fail(PMIX_ERR_BAD_PARAM);
    const auto* pair = static_cast<const KeyValue*>(value);
    const pmix_value_t& in = pair->value;
    const bool bytes = in.type == PMIX_BYTE_OBJECT || in.type == PMIX_COMPRESSED_BYTE_OBJECT;
    if (!bytes || in.data.bo.bytes == nullptr) return code(out, value, 1, PMIX_KVAL);
    rest = view(in.data.bo.bytes, in.data.bo.size);
    return out.text(pair->key) && out.number(in.type) && out.number(in.data.bo.size);
}

/// Frees what `n` values own.
void discard(void* values, size_t n, pmix_data_type_t type) {
    for (size_t i = 0; i < n; ++i) {
        switch (type) {
            case PMIX_REGEX:
                std::free(static_cast<char**>(values)[i]);
                break;
            case PMIX_KVAL: {
                KeyValue& pair = static_cast<KeyValue*>(values)[i];
                std::free(pair.key);
                data_destruct_elements(&pair.value, 1, PMIX_VALUE);
                break;
            }
            case PMIX_BUFFER:
                std::free(static_cast<PackedBuffer*>(values)[i].content.bytes);
                break;
            default:
                data_destruct_elements(values, n, type);
                return;
        }
    }
}

/// Reads the count of an item, which must be of `type` if it is described.
bool expect_header(Decoder& in, BufferType buffer_type, int32_t& count, pmix_data_type_t type) {
    const bool described = buffer_type == BufferType::FullyDescribed;
    pmix_data_type_t type_of_count = PMIX_INT32, found = type;
    if (described && !in.number(type_of_count)) return false;
    if (type_of_count != PMIX_INT32) return in.fail(PMIX_ERR_UNPACK_FAILURE);
    if (!in.number(count)) return false;
    if (count < 0) return in.fail(PMIX_ERR_UNPACK_FAILURE);
    if (described && !in.number(found)) return false;
    if (found != type) return in.fail(PMIX_ERR_PACK_MISMATCH);
    const size_t least = v41::min_wire_size(type);
    if (least != 0 && static_cast<size_t>(count) > in.remaining() / least) {
        return in.fail(PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    }
    return true;
}

bool expect_one(Decoder& in, BufferType buffer_type, pmix_data_type_t type) {
    int32_t count = 0;
    if (!expect_header(in, buffer_type, count, type)) return false;
    return count == 1 || in.fail(count == 0 ? PMIX_ERR_UNPACK_FAILURE : PMIX_ERR_UNPACK_INADEQUATE_SPACE);
}

class V41 final : public Bfrops {
  public:
    const char* name() const override { return "v41"; }

    bool speaks(std::string_view wire_name) const override {
        // v4 is the same without the newest types.
        return wire_name == "v41" || wire_name == "v51" || wire_name == "v61" || wire_name == "v4";
    }

    pmix_status_t pack(Bytes& out, BufferType buffer_type, const void* values, int32_t n,
                       pmix_data_type_t type) const override {
        if (n < 0 || (values == nullptr && n > 0)) return PMIX_ERR_BAD_PARAM;
        return pack_by(out, buffer_type, n, type,
                       [&](Encoder& encoder) { return code(encoder, values, static_cast<size_t>(n), type); });
    }

    pmix_status_t pack_all_but(ByteView* rest, Bytes& out, BufferType buffer_type, const void* value,
                               pmix_data_type_t type) const override {
        *rest = {};
        return pack_by(out, buffer_type, 1, type,
                       [&](Encoder& encoder) { return encode_all_but(*rest, encoder, value, type); });
    }

    pmix_status_t unpack(ByteReader& in, BufferType buffer_type, void* values, int32_t* n,
                         pmix_data_type_t type) const override {
        return unpack_by(Decoder(in), in, buffer_type, values, n, type);
    }

    pmix_status_t unpack_trusted(ByteReader& in, BufferType buffer_type, void* values, int32_t* n,
                                 pmix_data_type_t type) const override {
        Decoder decoder(in);
        decoder.load_topologies();
        return unpack_by(decoder, in, buffer_type, values, n, type);
    }

    pmix_status_t unpack_array(ByteReader& in, BufferType buffer_type, void** values, int32_t* n,
                               pmix_data_type_t type) const override {
        *values = nullptr;
        *n = 0;
        if (type == PMIX_REGEX || data_type_size(type) == 0) return PMIX_ERR_UNKNOWN_DATA_TYPE;
        Decoder decoder(in);
        int32_t count = 0;
        if (!expect_header(decoder, buffer_type, count, type)) return decoder.error();
        const auto wanted = static_cast<size_t>(count);
        void* block = nullptr;
        if (!decoder.allocate(wanted, type, &block)) return decoder.error();
        if (!code(decoder, block, wanted, type)) {
            data_free_elements(block, wanted, type);
            return decoder.error();
        }
        *values = block;
        *n = count;
        decoder.advance(in);
        return PMIX_SUCCESS;
    }

    pmix_status_t unpack_view(ByteReader& in, BufferType buffer_type, ByteView* view,
                              pmix_data_type_t type) const override {
        *view = {};
        Decoder decoder(in);
        if (!expect_one(decoder, buffer_type, type)) return decoder.error();
        bool good = false;
        switch (type) {
            case PMIX_STRING:
                good = decoder.text_view(*view);
                break;
            case PMIX_BYTE_OBJECT:
            case PMIX_COMPRESSED_STRING:
            case PMIX_COMPRESSED_BYTE_OBJECT:
            case PMIX_DATA_BUFFER:
                good = decoder.bytes_view(*view);
                break;
            default:
                return PMIX_ERR_BAD_PARAM;
        }
        if (!good) {
            *view = {};
            return decoder.error();
        }
        decoder.advance(in);
        return PMIX_SUCCESS;
    }

    pmix_status_t unpack_buffer(ByteReader& in, BufferType buffer_type, BufferType* content_type,
                                ByteView* content) const override {
        *content = {};
        Decoder decoder(in);
        if (!expect_one(decoder, buffer_type, PMIX_BUFFER) || !decoder.buffer_type(*content_type) ||
            !decoder.bytes_view(*content)) {
            return decoder.error();
        }
        decoder.advance(in);
        return PMIX_SUCCESS;
    }

    pmix_status_t unpack_kval(ByteReader& in, BufferType buffer_type, std::string_view* key,
                              pmix_value_t* value) const override {
        *key = {};
        *value = PMIX_VALUE_STATIC_INIT;
        Decoder decoder(in);
        ByteView text;
        if (!expect_one(decoder, buffer_type, PMIX_KVAL) || !decoder.text_view(text)) return decoder.error();
        if (text.empty() || text.size() > PMIX_MAX_KEYLEN) return PMIX_ERR_UNPACK_FAILURE;
        if (!decoder.value(*value)) {
            data_destruct_elements(value, 1, PMIX_VALUE);
            return decoder.error();
        }
        *key = {reinterpret_cast<const char*>(text.data()), text.size()};
        decoder.advance(in);
        return PMIX_SUCCESS;
    }

  private:
    template <class Encode>
    static pmix_status_t pack_by(Bytes& out, BufferType buffer_type, int32_t n, pmix_data_type_t type,
                                 Encode&& encode) {
        const size_t before = out.size();
        try {
            Encoder encoder(out);
            if (buffer_type == BufferType::FullyDescribed) encoder.number(pmix_data_type_t{PMIX_INT32});
            encoder.number(n);
            if (buffer_type == BufferType::FullyDescribed) encoder.number(type);
            if (encode(encoder)) return PMIX_SUCCESS;
            out.resize(before);
            return encoder.error();
        } catch (const std::bad_alloc&) {
            out.resize(before);
            return PMIX_ERR_NOMEM;
        }
    }

    static pmix_status_t unpack_by(Decoder decoder, ByteReader& in, BufferType buffer_type, void* values,
                                   int32_t* n, pmix_data_type_t type) {
        const int32_t room = *n;
        *n = 0;
        const size_t size = value_size_of(type);
        if (size == 0) return PMIX_ERR_UNKNOWN_DATA_TYPE;
        int32_t count = 0;
        if (!expect_header(decoder, buffer_type, count, type)) return decoder.error();
        const auto wanted = static_cast<size_t>(count > room ? (room > 0 ? room : 0) : count);
        if (wanted > 0) std::memset(values, 0, wanted * size);
        if (!code(decoder, values, wanted, type)) {
            discard(values, wanted, type);
            return decoder.error();
        }
        *n = static_cast<int32_t>(wanted);
        if (count > room) return PMIX_ERR_UNPACK_INADEQUATE_SPACE;
        decoder.advance(in);
        return PMIX_SUCCESS;
    }
};

std::unique_ptr<Bfrops> make(sdk::Host) {
    return std::make_unique<V41>();
}

}  // namespace
}  // namespace muster

MUSTER_COMPONENT(bfrops, v41) {
    static const muster_component_t descriptor =
        muster::object_component<muster::make>("bfrops", 1, muster::own_component("v41", 50));
    return &descriptor;
}
