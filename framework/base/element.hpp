// SPDX-License-Identifier: BSD-3-Clause
// Deep operations on elements of any PMIx data type, on the public C structs as they are. All memory is
// malloc'ed, one block an array, so that C callers may free it and blocks may pass in both directions.
#pragma once

#include <cstddef>
#include <utility>

#include "framework/base/data_type.hpp"

namespace muster {

/// Sets n elements of raw memory to their type's initial state (zero; distances and node ids unknown).
/// @return PMIX_SUCCESS, or PMIX_ERR_UNKNOWN_DATA_TYPE.
pmix_status_t data_construct_elements(void* dst, std::size_t n, pmix_data_type_t type);

/// Deep-copies n elements into raw memory. The bytes of dst are unspecified, but own nothing, on failure.
/// @return PMIX_SUCCESS; PMIX_ERR_UNKNOWN_DATA_TYPE; PMIX_ERR_BAD_PARAM for arrays nested deeper than
/// kMaxNesting; PMIX_ERR_NOT_SUPPORTED for topologies and cpusets that are not hwloc's; PMIX_ERR_NOMEM.
pmix_status_t data_copy_elements(void* dst, const void* src, std::size_t n, pmix_data_type_t type);

/// Frees the memory that n elements own and zeroes them; the block itself is kept. Any depth of nesting.
void data_destruct_elements(void* elements, std::size_t n, pmix_data_type_t type);

/// Compares n elements pairwise, in order, and answers for the first that differ.
pmix_value_cmp_t data_compare_elements(const void* a, const void* b, std::size_t n, pmix_data_type_t type);

/// Adds up the bytes of n elements and of all that they own.
/// @return PMIX_SUCCESS, PMIX_ERR_UNKNOWN_DATA_TYPE, or PMIX_ERR_BAD_PARAM for too deep a nesting.
pmix_status_t data_size_elements(const void* elements, std::size_t n, pmix_data_type_t type,
                                 std::size_t* size);

/// Allocates one block of n constructed elements; null where n is 0, the type is unknown or memory is short.
void* data_create_elements(std::size_t n, pmix_data_type_t type);

/// data_destruct_elements and free() of the block. Null is allowed.
void data_free_elements(void* elements, std::size_t n, pmix_data_type_t type);

/// Owner of an array of elements of one type in one malloc'ed block. Move-only.
template <class T, pmix_data_type_t kType>
class Elements {
  public:
    Elements() = default;
    Elements(Elements&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Elements& operator=(Elements&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Elements() { data_free_elements(data_, size_, kType); }

    T* data() { return data_; }
    const T* data() const { return data_; }
    size_t size() const { return size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }

  protected:
    T* data_ = nullptr;
    size_t size_ = 0;
};

/// Length in bytes, with its terminator, of a regular expression as PMIx_generate_regex makes them: a C
/// string, or the compressed form, which holds NULs.
std::size_t regex_length(const char* regex);

namespace detail {
/// The implementations' common entry for a type's value within pmix_value_t; null if it holds nothing.
const void* value_element(const pmix_value_t* value, const DataType& type);
/// As the public functions, for one value; depth counts data arrays around it.
pmix_status_t copy_value(pmix_value_t* dst, const pmix_value_t* src, int depth);
pmix_value_cmp_t compare_value(const pmix_value_t* a, const pmix_value_t* b, int depth);
pmix_status_t size_of_value(const pmix_value_t* value, std::size_t* size, int depth);
}  // namespace detail

}  // namespace muster
