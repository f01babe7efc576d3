// SPDX-License-Identifier: BSD-3-Clause
// Packer and Unpacker: bookkeeping around the peer's bfrops component.

#include "framework/packer.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace muster {
namespace {

/// Number of bytes from which a separate part costs less than a copy.
constexpr size_t kWorthAPart = 512;

struct Free {
    void operator()(void* block) const { std::free(block); }
};

/// A byte object that borrows. bfrops only reads it.
pmix_byte_object_t borrow(ByteView view) {
    return {const_cast<char*>(reinterpret_cast<const char*>(view.data())), view.size()};
}

}  // namespace

Packer& Packer::items(const void* values, size_t n, pmix_data_type_t type) {
    if (error_ != PMIX_SUCCESS) return *this;
    error_ = n > INT32_MAX
                 ? PMIX_ERR_BAD_PARAM
                 : format_.bfrops->pack(out_, format_.buffer_type, values, static_cast<int32_t>(n), type);
    return *this;
}

Packer& Packer::bytes(ByteView value) {
    const pmix_byte_object_t object = borrow(value);
    return items(&object, 1, PMIX_BYTE_OBJECT);
}

Packer& Packer::buffer(ByteView content) {
    const PackedBuffer buffer{format_.buffer_type, borrow(content)};
    return items(&buffer, 1, PMIX_BUFFER);
}

Packer& Packer::kval(const char* key, const pmix_value_t& value) {
    const KeyValue pair{const_cast<char*>(key), value};
    return items(&pair, 1, PMIX_KVAL);
}

template <class Append>
Packer& Packer::guarded(Append&& append) {
    try {
        append();
    } catch (const std::bad_alloc&) {
        error_ = PMIX_ERR_NOMEM;
    }
    return *this;
}

/// Small ones are copied: a separate part costs more.
void Packer::append_elsewhere(size_t at, ByteView bytes) {
    if (bytes.size() < kWorthAPart && at == out_.size()) return out_.append(bytes);
    elsewhere_.push_back({at, bytes});
    elsewhere_size_ += bytes.size();
}

Packer& Packer::item_in_place(const void* value, pmix_data_type_t type) {
    if (error_ != PMIX_SUCCESS) return *this;
    ByteView rest;
    error_ = format_.bfrops->pack_all_but(&rest, out_, format_.buffer_type, value, type);
    if (error_ != PMIX_SUCCESS) return *this;
    return guarded([&] { append_elsewhere(out_.size(), rest); });
}

Packer& Packer::kval_in_place(const char* key, const pmix_value_t& value) {
    const KeyValue pair{const_cast<char*>(key), value};
    return item_in_place(&pair, PMIX_KVAL);
}

Packer& Packer::bytes_in_place(ByteView value) {
    const pmix_byte_object_t object = borrow(value);
    return item_in_place(&object, PMIX_BYTE_OBJECT);
}

Packer& Packer::buffer_in_place(const Packer& content) {
    if (error_ != PMIX_SUCCESS) return *this;
    // The length must be known here; the bytes arrive in parts.
    const PackedBuffer buffer{content.format_.buffer_type, {nullptr, content.length()}};
    ByteView rest;
    error_ = format_.bfrops->pack_all_but(&rest, out_, format_.buffer_type, &buffer, PMIX_BUFFER);
    if (error_ != PMIX_SUCCESS) return *this;
    return guarded([&] {
        const size_t begin = out_.size();
        out_.append(content.out_.view());
        for (const Elsewhere& part : content.elsewhere_)
            append_elsewhere(begin + part.at, part.bytes);
    });
}

std::vector<ByteView> Packer::parts() const {
    std::vector<ByteView> parts;
    parts.reserve(2 * elsewhere_.size() + 1);
    size_t done = 0;
    const auto own = [&](size_t end) {
        if (end != done) parts.push_back(out_.view().subspan(done, end - done));
        done = end;
    };
    for (const Elsewhere& part : elsewhere_) {
        own(part.at);
        parts.push_back(part.bytes);
    }
    own(out_.size());
    return parts;
}

Packer& Packer::counted(const void* values, size_t n, pmix_data_type_t type) {
    size(n);
    return n == 0 ? *this : items(values, n, type);
}

Packer& Packer::raw(ByteView packed) {
    return error_ != PMIX_SUCCESS ? *this : guarded([&] { out_.append(packed); });
}

bool Unpacker::fail(pmix_status_t code) {
    if (error_ == PMIX_SUCCESS) error_ = code;
    return false;
}

template <class Make>
bool Unpacker::guarded(Make&& make) {
    try {
        make();
        return true;
    } catch (const std::bad_alloc&) {
        return fail(PMIX_ERR_NOMEM);
    }
}

bool Unpacker::skip(ByteView packed) {
    const ByteView rest = in_.rest();
    if (failed() || packed.size() > rest.size() || !std::equal(packed.begin(), packed.end(), rest.begin()))
        return false;
    ByteView passed;
    return in_.read(packed.size(), passed);
}

bool Unpacker::item(void* value, pmix_data_type_t type) {
    if (failed()) return false;
    int32_t n = 1;
    const pmix_status_t status = format_.bfrops->unpack(in_, format_.buffer_type, value, &n, type);
    if (status == PMIX_SUCCESS) return n == 1 || fail(PMIX_ERR_UNPACK_FAILURE);
    if (status == PMIX_ERR_UNPACK_INADEQUATE_SPACE) {
        // One was read, more exist: the peer violates the protocol.
        if (type == PMIX_REGEX) {
            std::free(*static_cast<char**>(value));
        } else {
            data_destruct_elements(value, 1, type);
        }
    }
    return fail(status);
}

bool Unpacker::items(void** values, size_t& n, pmix_data_type_t type) {
    *values = nullptr;
    n = 0;
    if (failed()) return false;
    int32_t count = 0;
    const pmix_status_t status = format_.bfrops->unpack_array(in_, format_.buffer_type, values, &count, type);
    if (status != PMIX_SUCCESS) return fail(status);
    n = static_cast<size_t>(count);
    return true;
}

bool Unpacker::counted(void** values, size_t& n, pmix_data_type_t type) {
    *values = nullptr;
    n = 0;
    size_t announced = 0;
    if (!size(announced)) return false;
    if (announced == 0) return true;
    if (!items(values, n, type)) return false;
    if (n == announced) return true;
    data_free_elements(std::exchange(*values, nullptr), std::exchange(n, 0), type);
    return fail(PMIX_ERR_UNPACK_FAILURE);
}

bool Unpacker::string(std::string& out) {
    bool is_null = false;
    return string(out, is_null);
}

bool Unpacker::string(std::string& out, bool& is_null) {
    if (failed()) return false;
    ByteView view;
    const pmix_status_t status = format_.bfrops->unpack_view(in_, format_.buffer_type, &view, PMIX_STRING);
    if (status != PMIX_SUCCESS) return fail(status);
    is_null = view.data() == nullptr;
    return guarded([&] { out.assign(view.begin(), view.end()); });
}

bool Unpacker::bytes(ByteView& out) {
    if (failed()) return false;
    const pmix_status_t status =
        format_.bfrops->unpack_view(in_, format_.buffer_type, &out, PMIX_BYTE_OBJECT);
    return status == PMIX_SUCCESS || fail(status);
}

bool Unpacker::buffer(BufferType& content_type, ByteView& out) {
    if (failed()) return false;
    const pmix_status_t status = format_.bfrops->unpack_buffer(in_, format_.buffer_type, &content_type, &out);
    return status == PMIX_SUCCESS || fail(status);
}

bool Unpacker::kval(std::string_view& key, Value& value) {
    if (failed()) return false;
    pmix_value_t raw;
    const pmix_status_t status = format_.bfrops->unpack_kval(in_, format_.buffer_type, &key, &raw);
    if (status != PMIX_SUCCESS) return fail(status);
    value = Value::adopt(raw);
    return true;
}

bool Unpacker::kval(std::string& key, Value& value) {
    std::string_view view;
    return kval(view, value) && guarded([&] { key.assign(view); });
}

bool Unpacker::info(Info& append_to) {
    pmix_info_t raw;
    return item(&raw, PMIX_INFO) && guarded([&] { append_to.add_move(raw); });
}

bool Unpacker::infos(Info& out) {
    void* block = nullptr;
    size_t n = 0;
    if (!counted(&block, n, PMIX_INFO)) return false;
    out = Info::adopt(static_cast<pmix_info_t*>(block), n);
    return true;
}

bool Unpacker::procs(std::vector<pmix_proc_t>& out) {
    void* block = nullptr;
    size_t n = 0;
    if (!counted(&block, n, PMIX_PROC)) return false;
    const std::unique_ptr<pmix_proc_t, Free> procs(static_cast<pmix_proc_t*>(block));
    return guarded([&] { out.assign(procs.get(), procs.get() + n); });
}

}  // namespace muster
