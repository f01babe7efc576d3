// SPDX-License-Identifier: BSD-3-Clause
// Packer and Unpacker: a message of the protocol written or read item by item, in the encoding of one peer.
// Both remember their first failure, so that a handler packs or unpacks everything and asks once.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/info.hpp"
#include "framework/bfrops.hpp"

namespace muster {

/// The encoding of one peer; negotiated at the handshake.
struct WireFormat {
    const Bfrops* bfrops = nullptr;  ///< lives as long as the registry
    BufferType buffer_type = BufferType::NonDescribed;
};

/// Writes items one after the other. After a failure nothing more is written. Does not throw.
class Packer {
  public:
    explicit Packer(WireFormat format) : format_(format) {}

    /// One item of `n` values. Returns *this for chaining.
    Packer& items(const void* values, size_t n, pmix_data_type_t type);

    Packer& command(uint8_t code) { return items(&code, 1, PMIX_COMMAND); }
    Packer& status(pmix_status_t code) { return items(&code, 1, PMIX_STATUS); }
    Packer& string(const char* text) { return items(&text, 1, PMIX_STRING); }
    Packer& string(const std::string& text) { return string(text.c_str()); }
    Packer& size(size_t value) { return items(&value, 1, PMIX_SIZE); }
    Packer& boolean(bool value) { return items(&value, 1, PMIX_BOOL); }
    Packer& byte(uint8_t value) { return items(&value, 1, PMIX_BYTE); }
    Packer& uint32(uint32_t value) { return items(&value, 1, PMIX_UINT32); }
    Packer& rank(pmix_rank_t value) { return items(&value, 1, PMIX_PROC_RANK); }
    Packer& scope(pmix_scope_t value) { return items(&value, 1, PMIX_SCOPE); }
    Packer& proc(const pmix_proc_t& value) { return items(&value, 1, PMIX_PROC); }
    Packer& info(const pmix_info_t& value) { return items(&value, 1, PMIX_INFO); }
    Packer& bytes(ByteView value);     ///< a BYTE_OBJECT item
    Packer& buffer(ByteView content);  ///< a BUFFER item that holds items in the same format
    Packer& kval(const char* key, const pmix_value_t& value);

    // Packs large values without a copy: the message refers to the caller's memory. Only parts() reads such a
    // message, or take() and tail(), while that memory is valid.
    Packer& kval_in_place(const char* key, const pmix_value_t& value);
    Packer& bytes_in_place(ByteView value);
    Packer& buffer_in_place(const Packer& content);
    /// Everything in the order of the wire. Throws std::bad_alloc.
    std::vector<ByteView> parts() const;
    /// What follows the bytes of take() if only the last item may be in place; empty if it is not.
    ByteView tail() const { return elsewhere_.empty() ? ByteView() : elsewhere_.back().bytes; }

    /// `*X` of the protocol: a SIZE item and, when there are any, one item with all.
    Packer& counted(const void* values, size_t n, pmix_data_type_t type);
    Packer& infos(InfoView infos) { return counted(infos.data, infos.size, PMIX_INFO); }
    Packer& procs(const pmix_proc_t* procs, size_t n) { return counted(procs, n, PMIX_PROC); }

    /// Bytes that are packed already, in the same format.
    Packer& raw(ByteView packed);

    WireFormat format() const { return format_; }
    pmix_status_t error() const { return error_; }
    size_t length() const { return out_.size() + elsewhere_size_; }
    ByteView view() const { return out_.view(); }
    Bytes take() { return std::move(out_); }

  private:
    /// Bytes to insert after the first `at` of out_.
    struct Elsewhere {
        size_t at;
        ByteView bytes;
    };
    Packer& item_in_place(const void* value, pmix_data_type_t type);
    void append_elsewhere(size_t at, ByteView bytes);
    template <class Append>
    Packer& guarded(Append&& append);

    WireFormat format_;
    Bytes out_;
    std::vector<Elsewhere> elsewhere_;  ///< in order
    size_t elsewhere_size_ = 0;
    pmix_status_t error_ = PMIX_SUCCESS;
};

/// Reads hostile bytes. After a failure every further read fails, and its output needs no
/// release. Does not throw.
class Unpacker {
  public:
    Unpacker(WireFormat format, ByteView bytes) : format_(format), in_(bytes) {}

    /// One that has failed already.
    static Unpacker failed_with(WireFormat format, pmix_status_t error) {
        Unpacker none(format, {});
        none.error_ = error;
        return none;
    }

    /// Exactly one value of `type` into `value` (raw memory of the C type).
    bool item(void* value, pmix_data_type_t type);
    /// All values of one item: a malloc'ed array (nullptr for none) that the caller owns.
    bool items(void** values, size_t& n, pmix_data_type_t type);

    bool command(uint8_t& out) { return item(&out, PMIX_COMMAND); }
    bool status(pmix_status_t& out) { return item(&out, PMIX_STATUS); }
    bool string(std::string& out);                 ///< NULL reads as ""
    bool string(std::string& out, bool& is_null);  ///< and sets `is_null`
    bool size(size_t& out) { return item(&out, PMIX_SIZE); }
    bool boolean(bool& out) { return item(&out, PMIX_BOOL); }
    bool byte(uint8_t& out) { return item(&out, PMIX_BYTE); }
    bool uint32(uint32_t& out) { return item(&out, PMIX_UINT32); }
    bool rank(pmix_rank_t& out) { return item(&out, PMIX_PROC_RANK); }
    bool scope(pmix_scope_t& out) { return item(&out, PMIX_SCOPE); }
    bool proc(pmix_proc_t& out) { return item(&out, PMIX_PROC); }
    bool info(Info& append_to);                            ///< one INFO item, appended
    bool bytes(ByteView& out);                             ///< a BYTE_OBJECT item, viewed in place
    bool buffer(BufferType& content_type, ByteView& out);  ///< a BUFFER item, viewed in place
    bool kval(std::string& key, Value& value);
    bool kval(std::string_view& key, Value& value);  ///< the key is viewed in place

    /// `*INFO` and `*PROC` of the protocol; what `out` held is replaced.
    bool infos(Info& out);
    bool procs(std::vector<pmix_proc_t>& out);
    /// `*X` in general: a malloc'ed array (nullptr for none) that the caller owns.
    bool counted(void** values, size_t& n, pmix_data_type_t type);

    /// A reader of bytes that were part of this message. After count(), the memory of its values counts for
    /// both.
    Unpacker inside(BufferType buffer_type, ByteView bytes) const {
        Unpacker part({format_.bfrops, buffer_type}, bytes);
        part.in_.limit_memory(in_.memory_limit() - std::min(in_.memory_limit(), in_.memory_taken()));
        return part;
    }
    void count(const Unpacker& part) { in_.take_memory(part.memory_taken()); }
    /// The memory limit of this message's arrays; lower if the encoding determines that its bytes cannot need
    /// that much.
    void limit_memory(size_t bytes) { in_.limit_memory(bytes); }
    size_t memory_taken() const { return in_.memory_taken(); }

    /// Skips these bytes if they are next. False, without reading, otherwise.
    bool skip(ByteView packed);

    bool at_end() const { return in_.at_end(); }
    bool failed() const { return error_ != PMIX_SUCCESS; }
    pmix_status_t error() const { return error_; }
    WireFormat format() const { return format_; }
    ByteView rest() const { return in_.rest(); }

  private:
    bool fail(pmix_status_t code);
    template <class Make>
    bool guarded(Make&& make);

    WireFormat format_;
    ByteReader in_;
    pmix_status_t error_ = PMIX_SUCCESS;
};

}  // namespace muster
