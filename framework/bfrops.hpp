// SPDX-License-Identifier: BSD-3-Clause
// bfrops: buffer operations, the encoding of the Standard's data types on the wire. A component knows one
// wire version. C++ interface, locked to this version of the library.
#pragma once

#include <pmix_common.h>

#include <string_view>

#include "framework/base/bytes.hpp"

namespace muster {

/// Whether each item carries its type. The numbers are the wire's.
enum class BufferType : uint8_t { NonDescribed = 1, FullyDescribed = 2 };

/// The C type of one PMIX_KVAL, which the public headers do not have.
/// Packed, it borrows both; unpacked, the key is malloc'ed and both are the caller's.
struct KeyValue {
    char* key = nullptr;
    pmix_value_t value = PMIX_VALUE_STATIC_INIT;
};

/// The C type of one PMIX_BUFFER, a whole buffer inside another. Ownership as for KeyValue.
struct PackedBuffer {
    BufferType type = BufferType::NonDescribed;
    pmix_byte_object_t content = PMIX_BYTE_OBJECT_STATIC_INIT;
};

/// One encoding. Stateless and shared by all threads. No function throws.
///
/// `values` is an array of the type's C struct, as PMIx_Data_pack takes it: char* for PMIX_STRING and
/// PMIX_REGEX, KeyValue for PMIX_KVAL, PackedBuffer for PMIX_BUFFER.
///
/// Errors of reading: PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER when the input ends before the item does (or is
/// at its end), PMIX_ERR_UNPACK_FAILURE for bytes that are no such item, PMIX_ERR_PACK_MISMATCH for an item
/// that is described as another type, PMIX_ERR_UNKNOWN_DATA_TYPE for types that this encoding does not have,
/// PMIX_ERR_NOMEM. Nothing is left allocated then, and `in` is where it was. Values that would take more
/// memory than such a message may are PMIX_ERR_UNPACK_FAILURE.
class Bfrops {
  public:
    virtual ~Bfrops() = default;

    /// The name by which we ask for it in a handshake, for example "v41".
    virtual const char* name() const = 0;

    /// Whether a peer that asks for `wire_name` means this encoding; several names may.
    virtual bool speaks(std::string_view wire_name) const = 0;

    /// Appends one item: `n` values of `type` at `values`.
    /// On failure `out` is as before: PMIX_ERR_UNKNOWN_DATA_TYPE; PMIX_ERR_BAD_PARAM for a value that cannot
    /// be encoded (null if a value is required, arrays nested deeper than kMaxNesting);
    /// PMIX_ERR_NOT_SUPPORTED for a cpuset or topology that is not hwloc's; PMIX_ERR_NOMEM.
    virtual pmix_status_t pack(Bytes& out, BufferType buffer_type, const void* values, int32_t n,
                               pmix_data_type_t type) const = 0;

    /// Appends one item of PMIX_KVAL, PMIX_BUFFER or PMIX_BYTE_OBJECT without the bytes at its end whose form
    /// in memory and on the wire is the same: `*rest`, which follow the item, and may be empty. Errors as
    /// pack().
    virtual pmix_status_t pack_all_but(ByteView* rest, Bytes& out, BufferType buffer_type, const void* value,
                                       pmix_data_type_t type) const = 0;

    /// Reads one item of `type` into `values`, an array with room for `*n` elements of raw memory.
    /// `*n` becomes the number of elements read; their memory is malloc'ed and owned by the caller.
    /// PMIX_ERR_UNPACK_INADEQUATE_SPACE when the item holds more: the first `*n` are read, and are the
    /// caller's, but `in` is where it was, so that the item can be read again with more room. *n is 0 after
    /// any other failure.
    virtual pmix_status_t unpack(ByteReader& in, BufferType buffer_type, void* values, int32_t* n,
                                 pmix_data_type_t type) const = 0;

    /// The same for bytes that the caller trusts (an application's own unpacking). Only this function loads
    /// topologies: hwloc's reader of XML may crash on bad input, so a topology from a peer is read as an
    /// empty one. The topology of this node is known anyway.
    virtual pmix_status_t unpack_trusted(ByteReader& in, BufferType buffer_type, void* values, int32_t* n,
                                         pmix_data_type_t type) const = 0;

    /// Reads one complete item: `*values` becomes a malloc'ed array (null for none) of `*n` elements, the
    /// caller's. Not for types without an array form (PMIX_KVAL, PMIX_BUFFER, PMIX_REGEX).
    virtual pmix_status_t unpack_array(ByteReader& in, BufferType buffer_type, void** values, int32_t* n,
                                       pmix_data_type_t type) const = 0;

    /// Reads an item of exactly one PMIX_STRING (without its terminator; a null string has no data()),
    /// PMIX_BYTE_OBJECT or other type that is encoded as one, in place: `view` points into the input.
    virtual pmix_status_t unpack_view(ByteReader& in, BufferType buffer_type, ByteView* view,
                                      pmix_data_type_t type) const = 0;

    /// Reads an item of exactly one PMIX_BUFFER in place.
    virtual pmix_status_t unpack_buffer(ByteReader& in, BufferType buffer_type, BufferType* content_type,
                                        ByteView* content) const = 0;

    /// Reads an item of exactly one PMIX_KVAL: the key in place, the value (raw memory) owned by the caller.
    virtual pmix_status_t unpack_kval(ByteReader& in, BufferType buffer_type, std::string_view* key,
                                      pmix_value_t* value) const = 0;
};

}  // namespace muster
