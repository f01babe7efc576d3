// SPDX-License-Identifier: BSD-3-Clause
// Reads values from untrusted bytes. Lengths are checked before memory is allocated, counts against the
// remaining bytes, nesting against kMaxNesting; arrays and bitmaps, which may need far more memory than their
// bytes on the wire, are charged to a credit. The memory it writes to has been zeroed, and can be destructed
// at any time.
#pragma once

#include <algorithm>

#include "components/bfrops/v41/flex.hpp"
#include "components/bfrops/v41/layout.hpp"
#include "framework/base/bytes.hpp"
#include "framework/base/data_type.hpp"

namespace muster::v41 {

/// The fewest bytes that an element takes on the wire, 0 for types that are not elements of runs.
size_t min_wire_size(pmix_data_type_t type);

/// Members return whether they succeeded; error() returns the reason of a failure.
class Decoder {
  public:
    static constexpr bool kReadsMemory = false;

    /// Continues at the position of `in`; advance() moves `in` past the decoded bytes.
    explicit Decoder(const ByteReader& in)
        : at_(in.rest().data()), end_(at_ + in.remaining()), credit_(credit_of(in)), granted_(credit_) {}
    void advance(ByteReader& in) const {
        ByteView read;
        in.read(in.remaining() - remaining(), read);
        in.take_memory(granted_ - credit_);
    }

    /// From now on topologies are passed to hwloc; otherwise they are skipped.
    void load_topologies() { loads_topologies_ = true; }

    pmix_status_t error() const { return error_; }
    size_t remaining() const { return static_cast<size_t>(end_ - at_); }
    bool fail(pmix_status_t code) {
        error_ = code;
        return false;
    }

    template <class T>
    bool number(T& value) {
        if constexpr (sizeof(T) == 1) {
            if (at_ == end_) return fail(PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
            value = static_cast<T>(*at_++);
            return true;
        } else {
            uint64_t wire = 0;
            const uint8_t* after = get_flex(at_, end_, &wire);
            if (after == nullptr) return fail(PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
            if (!from_wire(wire, &value)) return fail(PMIX_ERR_UNPACK_FAILURE);
            at_ = after;
            return true;
        }
    }
    bool signed_number(uint16_t& value) {
        int16_t number_on_wire = 0;
        if (!number(number_on_wire)) return false;
        value = static_cast<uint16_t>(number_on_wire);
        return true;
    }

    template <class T>
    bool numbers(void* elements, size_t n) {
        T* values = static_cast<T*>(elements);
        for (size_t i = 0; i < n; ++i) {
            if (!number(values[i])) return false;
        }
        return true;
    }
    bool raw(void* elements, size_t n);
    bool booleans(void* elements, size_t n);
    bool pids(void* elements, size_t n);
    bool pid(pid_t& value) { return pids(&value, 1); }
    bool pointers(void* elements, size_t n);

    bool text(char*& value);
    template <size_t N>
    bool name(char (&value)[N]) {
        return name(value, N - 1);
    }
    bool texts(char**& values);
    bool strings(void* elements, size_t n);
    template <class Real>
    bool real(Real& value);
    bool bytes(char*& data, size_t& size);
    bool regex(char*& value, size_t& length);
    bool regexes(void* elements, size_t n);
    bool info_flags(pmix_info_t& info) {
        if (!number(info.flags)) return false;
        info.flags &= PMIX_INFO_REQD | PMIX_INFO_QUALIFIER;
        return true;
    }

    /// The array that a struct points to, by the addresses of its pointer and its count.
    bool array(void* member, void* count, pmix_data_type_t type);
    bool buffer_type(BufferType& type);
    bool value(pmix_value_t& value);
    bool data_array(pmix_data_array_t& value);
    bool data_buffer(pmix_data_buffer_t& value);
    bool cpuset(pmix_cpuset_t& value);
    bool topology(pmix_topology_t& value);

    /// A zeroed block for `count` elements, null for none.
    bool allocate(size_t count, pmix_data_type_t type, void** block);

    /// A string in place, without its terminator; a null string has no data().
    bool text_view(ByteView& view);
    /// A length and as many bytes, in place.
    bool bytes_view(ByteView& view);

  private:
    // Memory for arrays and bitmaps, for all items of a message: honest input stays below 110 bytes for one
    // on the wire (short keys); bitmaps of few bytes have the rest.
    static constexpr size_t kFreeCredit = 256 << 10;
    static constexpr size_t kCreditPerByte = 128;
    static size_t credit_of(const ByteReader& in) {
        const size_t all = std::min(kFreeCredit + kCreditPerByte * in.size(), in.memory_limit());
        return all - std::min(all, in.memory_taken());
    }

    bool name(char* value, size_t max_length);
    bool regex_view(ByteView& view);
    bool take(size_t count, ByteView& view);
    /// A string in place, with its terminator; a null one is empty.
    bool terminated(ByteView& view);
    /// Whether `count` more elements can be in the input at all.
    bool plausible(size_t count, size_t min_size);
    bool charge(size_t bytes);
    /// A copy of non-empty bytes.
    bool duplicate(ByteView view, char*& copy);

    const uint8_t* at_;
    const uint8_t* end_;
    size_t credit_;
    const size_t granted_;
    int depth_ = 0;
    bool loads_topologies_ = false;
    pmix_status_t error_ = PMIX_SUCCESS;
};

}  // namespace muster::v41
