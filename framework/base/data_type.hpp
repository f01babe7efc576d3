// SPDX-License-Identifier: BSD-3-Clause
// The table of PMIx data types: for each number its name, the size of one element in an array, how a
// pmix_value_t holds it, and which members of its struct own memory. Copying, destroying, comparing,
// measuring and printing all work from this one table, so a new type is one new row.
#pragma once

#include <pmix_common.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace muster {

/// The form of one element of a type.
enum class TypeForm : std::uint8_t {
    kNone,        ///< no element can exist in memory (UNDEF, and types internal to another implementation)
    kBool,        ///< bool
    kSigned,      ///< signed integer of `size` bytes
    kUnsigned,    ///< unsigned integer of `size` bytes
    kFloat,       ///< float or double, by `size`
    kTimeval,     ///< struct timeval
    kPointer,     ///< void*, never followed
    kNspace,      ///< char[PMIX_MAX_NSLEN + 1], NUL-terminated
    kString,      ///< char*, owned, may be null
    kStruct,      ///< a struct described by `fields`
    kInfo,        ///< pmix_info_t: a struct whose value may be borrowed (PMIX_INFO_PERSISTENT)
    kValue,       ///< pmix_value_t
    kDataArray,   ///< pmix_data_array_t
    kDataBuffer,  ///< pmix_data_buffer_t
    kCpuset,      ///< pmix_cpuset_t holding an hwloc bitmap
    kTopology,    ///< pmix_topology_t holding an hwloc topology
};

/// The place of an element in pmix_value_t::data.
enum class ValueStorage : std::uint8_t {
    kNone,    ///< a value cannot hold this type
    kInline,  ///< in the union itself
    kBoxed,   ///< one malloc'ed element, the union holds its address (may be null)
};

enum class FieldForm : std::uint8_t {
    kMember,  ///< an element of `type`, embedded
    kKey,     ///< char[PMIX_MAX_KEYLEN + 1]
    kArgv,    ///< char**, null-terminated, owned
    kArray,   ///< pointer to a malloc'ed block of elements of `type`; their count is the size_t at
              ///< `count_offset`
};

struct Field {
    FieldForm form;
    std::uint16_t offset;
    std::uint16_t count_offset;
    pmix_data_type_t type;
    const char* name;  ///< of the member, for people
};

struct DataType {
    const char* name;  ///< "PMIX_STRING"
    std::uint16_t size;
    TypeForm form;
    ValueStorage storage;
    bool owning;  ///< an element may own memory; otherwise arrays of it are copied as bytes
    std::span<const Field> fields;
};

/// The row of a type number, null for numbers that the API does not define. Any thread.
const DataType* find_data_type(pmix_data_type_t type);

/// sizeof one element in a data array, 0 = unknown or not representable.
std::size_t data_type_size(pmix_data_type_t type);

/// "PMIX_STRING" and so on; "NOT INITIALIZED" if there is no such type.
const char* data_type_name(pmix_data_type_t type);

/// Data arrays may nest in values this deep; deeper input is refused wherever something is copied or decoded.
inline constexpr int kMaxNesting = 64;

}  // namespace muster
