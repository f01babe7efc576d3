// SPDX-License-Identifier: BSD-3-Clause
// Arrays of pmix_info_t.

#include "framework/base/info.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace muster {

pmix_status_t info_copy(pmix_info_t* dst, const pmix_info_t* src) {
    pmix_value_t value;
    const pmix_status_t status = value_copy(&value, &src->value);
    if (status != PMIX_SUCCESS) return status;
    if (dst != src) std::memcpy(dst->key, src->key, sizeof dst->key);
    dst->flags = src->flags & ~static_cast<pmix_info_directives_t>(PMIX_INFO_PERSISTENT);
    dst->value = value;
    return PMIX_SUCCESS;
}

void info_destruct(pmix_info_t* info) {
    data_destruct_elements(info, 1, PMIX_INFO);
}

const pmix_info_t* InfoView::find(const char* key) const {
    if (key == nullptr || empty()) return nullptr;  // most calls have no directives
    // Most differ in the first bytes already: a job may have an entry for each of its processes.
    std::uint64_t mask = 0, wanted = 0;
    std::memset(&mask, 0xff, std::min(strnlen(key, sizeof mask) + 1, sizeof mask));
    std::memcpy(&wanted, key, strnlen(key, sizeof wanted));
    for (const pmix_info_t& info : *this) {
        std::uint64_t begin;
        std::memcpy(&begin, info.key, sizeof begin);
        if ((begin & mask) == wanted && key_is(info.key, key)) return &info;
    }
    return nullptr;
}

const pmix_value_t* InfoView::value(const char* key) const {
    const pmix_info_t* info = find(key);
    return info == nullptr ? nullptr : &info->value;
}

bool InfoView::is_true(const char* key) const {
    return value_as_bool(value(key)).value_or(false);
}

const pmix_proc_t* InfoView::proc(const char* key) const {
    const pmix_value_t* found = value(key);
    return found != nullptr && found->type == PMIX_PROC ? found->data.proc : nullptr;
}

InfoView InfoView::infos(const char* key) const {
    return value_as_infos(value(key));
}

InfoView value_as_infos(const pmix_value_t* value) {
    if (value == nullptr || value->type != PMIX_DATA_ARRAY || value->data.darray == nullptr) return {};
    const pmix_data_array_t& array = *value->data.darray;
    if (array.type != PMIX_INFO || array.array == nullptr) return {};
    return {static_cast<const pmix_info_t*>(array.array), array.size};
}

Info Info::adopt(pmix_info_t* data, std::size_t size) {
    Info info;
    info.data_ = data;
    info.size_ = size;
    info.capacity_ = size;
    return info;
}

std::optional<Info> Info::copy_of(const pmix_info_t* data, std::size_t size) {
    Info copy;
    copy.reserve(size);
    if (copy.add_copies({data, size}) != PMIX_SUCCESS) return std::nullopt;
    return copy;
}

void Info::add(const char* key, Value value) {
    pmix_info_t* info = extend();
    key_load(info->key, key);
    info->value = value.release();
    ++size_;
}

pmix_status_t Info::add(const char* key, const void* data, pmix_data_type_t type) {
    pmix_info_t* info = extend();
    const pmix_status_t status = value_load(&info->value, data, type);
    if (status != PMIX_SUCCESS) return status;
    key_load(info->key, key);
    ++size_;
    return PMIX_SUCCESS;
}

pmix_status_t Info::add_copy(const pmix_info_t& info) {
    // The entry may be one of our own, and move when the block grows.
    pmix_info_t copy;
    const pmix_status_t status = info_copy(&copy, &info);
    if (status == PMIX_SUCCESS) add_move(copy);
    return status;
}

pmix_status_t Info::add_copy(const char* key, const pmix_value_t& value) {
    pmix_value_t copy;
    const pmix_status_t status = value_copy(&copy, &value);
    if (status == PMIX_SUCCESS) add(key, Value::adopt(copy));
    return status;
}

pmix_status_t Info::add_copies(InfoView infos) {
    for (const pmix_info_t& info : infos) {
        const pmix_status_t status = add_copy(info);
        if (status != PMIX_SUCCESS) return status;
    }
    return PMIX_SUCCESS;
}

void Info::add_move(pmix_info_t& info) {
    pmix_info_t* added;
    try {
        added = extend();
    } catch (const std::bad_alloc&) {
        info_destruct(&info);
        throw;
    }
    *added = info;
    std::memset(&info, 0, sizeof info);
    ++size_;
}

void Info::reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(capacity, sizeof(pmix_info_t), &bytes)) throw std::bad_alloc();
    void* grown = realloc(data_, bytes);
    if (grown == nullptr) throw std::bad_alloc();
    data_ = static_cast<pmix_info_t*>(grown);
    capacity_ = capacity;
}

void Info::clear() {
    data_free_elements(data_, size_, PMIX_INFO);
    data_ = nullptr;
    size_ = 0;
    capacity_ = 0;
}

std::pair<pmix_info_t*, std::size_t> Info::release() {
    if (size_ == 0) clear();
    capacity_ = 0;
    return {std::exchange(data_, nullptr), std::exchange(size_, 0)};
}

Value Info::to_value() && {
    const auto [data, size] = release();
    return Value::adopt_array(data, size, PMIX_INFO);
}

void Info::swap(Info& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
}

// The next entry, zeroed; it counts only when size_ is raised.
pmix_info_t* Info::extend() {
    if (size_ == capacity_) reserve(std::max<std::size_t>(4, capacity_ * 2));
    pmix_info_t* info = data_ + size_;
    std::memset(info, 0, sizeof *info);
    return info;
}

}  // namespace muster
