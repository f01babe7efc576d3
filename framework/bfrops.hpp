// SPDX-License-Identifier: BSD-3-Clause
// bfrops: buffer operations, the encoding of the Standard's data types on the wire. A component knows one
// wire version. C++ interface, locked to this version of the library.
#pragma once

#include <pmix_common.h>

#include "framework/base/bytes.hpp"

namespace muster {

/// Whether each item carries its type. The numbers are the wire's.
enum class BufferType : uint8_t { NonDescribed = 1, FullyDescribed = 2 };

/// One encoding. Stateless and shared by all threads.
class Bfrops {
  public:
    virtual ~Bfrops() = default;

    /// The name that a handshake uses for it, for example "v41".
    virtual const char* name() const = 0;

    /// Appends one item: `n` values of `type` at `values` (an array of the C type).
    /// On failure (unknown type, value that cannot be carried) `out` is as before.
    virtual pmix_status_t pack(Bytes& out, BufferType buffer_type, const void* values, int32_t n,
                               pmix_data_type_t type) const = 0;

    /// Reads one item of `type` into `values`, an array with room for `*n` elements of raw memory.
    /// `*n` becomes the number that was read; what they own is malloc'ed and the caller's.
    /// Returns PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER at the end of input, PMIX_ERR_UNPACK_INADEQUATE_SPACE
    /// when the item holds more (nothing is read then, *n says how many), PMIX_ERR_UNPACK_FAILURE for bytes
    /// that are no such item. On failure nothing is left allocated and `in` is where it was.
    virtual pmix_status_t unpack(ByteReader& in, BufferType buffer_type, void* values, int32_t* n,
                                 pmix_data_type_t type) const = 0;

    /// The number of values in the next item, which is not consumed.
    virtual pmix_status_t peek_count(ByteReader& in, BufferType buffer_type, int32_t* n) const = 0;

    /// Fully described buffers: the type of the next item, which is not consumed.
    virtual pmix_status_t peek_type(ByteReader& in, BufferType buffer_type, pmix_data_type_t* type) const = 0;
};

}  // namespace muster
