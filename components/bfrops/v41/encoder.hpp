// SPDX-License-Identifier: BSD-3-Clause
// Writes values into a growing sequence of bytes. The input is the caller's trusted memory; only values that
// the encoding cannot express are refused.
#pragma once

#include <cstring>

#include "components/bfrops/v41/flex.hpp"
#include "components/bfrops/v41/layout.hpp"
#include "framework/base/bytes.hpp"
#include "framework/base/data_type.hpp"
#include "framework/base/info.hpp"

namespace muster::v41 {

/// Members return whether they succeeded; error() returns the reason of a failure. Throws std::bad_alloc.
class Encoder {
  public:
    static constexpr bool kReadsMemory = true;

    explicit Encoder(Bytes& out) : out_(out) {}

    pmix_status_t error() const { return error_; }
    bool fail(pmix_status_t code) {
        error_ = code;
        return false;
    }

    template <class T>
    bool number(T value) {
        if constexpr (sizeof(T) == 1) {
            out_.push_back(static_cast<uint8_t>(value));
        } else {
            uint8_t* at = out_.extend(max_flex_size(sizeof(T)));
            finish(put_flex(at, to_wire(value)));
        }
        return true;
    }
    /// Unsigned in memory, signed on the wire.
    bool signed_number(uint16_t value) { return number(static_cast<int16_t>(value)); }

    template <class T>
    bool numbers(const void* elements, size_t n) {
        const T* values = static_cast<const T*>(elements);
        uint8_t* at = out_.extend(n * max_flex_size(sizeof(T)));
        for (size_t i = 0; i < n; ++i) {
            at = put_flex(at, to_wire(values[i]));
        }
        finish(at);
        return true;
    }
    bool raw(const void* elements, size_t n) {
        out_.append(elements, n);
        return true;
    }
    bool booleans(const void* elements, size_t n);
    /// The tag of the width occurs once per run.
    bool pids(const void* elements, size_t n);
    bool pid(pid_t value) { return pids(&value, 1); }
    /// One sentinel a run; addresses mean nothing to anyone else.
    bool pointers(const void*, size_t) { return number(uint8_t{1}); }

    bool text(const char* value) {
        return value == nullptr ? number(int32_t{0}) : text(value, strlen(value));
    }
    template <size_t N>
    bool name(const char (&value)[N]) {
        return text(value, strnlen(value, N - 1));
    }
    bool texts(char* const* values);
    bool strings(const void* elements, size_t n);
    bool real(double value);
    bool bytes(const void* data, size_t size);
    bool regex(const char* value);
    bool regexes(const void* elements, size_t n);
    bool info_flags(const pmix_info_t& info) {
        // The others are notes of one library to itself.
        return number(flags_of(info) & (PMIX_INFO_REQD | PMIX_INFO_QUALIFIER));
    }

    /// The array that a struct points to, by the addresses of its pointer and its count.
    bool array(const void* member, const void* count, pmix_data_type_t type);
    bool buffer_type(BufferType type) { return number(static_cast<uint8_t>(type)); }
    bool value(const pmix_value_t& value);
    bool data_array(const pmix_data_array_t& value);
    bool data_buffer(const pmix_data_buffer_t& value) { return bytes(value.base_ptr, value.bytes_used); }
    bool cpuset(const pmix_cpuset_t& value);
    bool topology(const pmix_topology_t& value);

  private:
    bool text(const char* value, size_t length);
    /// Returns the space from extend() beyond `end`.
    void finish(const uint8_t* end) { out_.resize(static_cast<size_t>(end - out_.data())); }

    Bytes& out_;
    int depth_ = 0;
    pmix_status_t error_ = PMIX_SUCCESS;
};

}  // namespace muster::v41
