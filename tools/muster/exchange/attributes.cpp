// SPDX-License-Identifier: BSD-3-Clause
// Attributes.
#include "tools/muster/exchange/attributes.hpp"

#include <pmix.h>

#include <cstdlib>
#include <cstring>

namespace muster::launcher {
std::vector<ProcName> names_of(const pmix_proc_t procs[], size_t count) {
    std::vector<ProcName> names;
    for (size_t i = 0; procs != nullptr && i < count; ++i)
        names.push_back(name_of(procs[i]));
    return names;
}

std::optional<int64_t> integer_of(const pmix_value_t& value) {
    switch (value.type) {
        case PMIX_INT:
            return value.data.integer;
        case PMIX_INT8:
            return value.data.int8;
        case PMIX_INT16:
            return value.data.int16;
        case PMIX_INT32:
            return value.data.int32;
        case PMIX_INT64:
            return value.data.int64;
        case PMIX_UINT:
            return value.data.uint;
        case PMIX_UINT8:
            return value.data.uint8;
        case PMIX_UINT16:
            return value.data.uint16;
        case PMIX_UINT32:
            return value.data.uint32;
        case PMIX_UINT64:
            return static_cast<int64_t>(value.data.uint64);
        case PMIX_SIZE:
            return static_cast<int64_t>(value.data.size);
        case PMIX_PROC_RANK:
            return value.data.rank;
        case PMIX_STATUS:
            return value.data.status;
        case PMIX_DATA_RANGE:
            return value.data.range;
        case PMIX_PERSIST:
            return value.data.persist;
        default:
            return std::nullopt;
    }
}

bool is_true(const pmix_info_t& info) {
    if (info.value.type == PMIX_UNDEF) return true;
    if (info.value.type == PMIX_BOOL) return info.value.data.flag;
    if (info.value.type == PMIX_STRING) {
        const std::string text = text_of(info.value);
        return text.empty() || text[0] == 't' || text[0] == 'T' || text[0] == '1' || text[0] == 'y';
    }
    return integer_of(info.value).value_or(0) != 0;
}

std::string text_of(const pmix_value_t& value) {
    if (value.type == PMIX_STRING) return value.data.string != nullptr ? value.data.string : "";
    if (value.type == PMIX_PROC_NSPACE && value.data.nspace != nullptr)
        return {*value.data.nspace, strnlen(*value.data.nspace, PMIX_MAX_NSLEN)};
    return {};
}

const pmix_info_t* find_info(const pmix_info_t info[], size_t count, const char* key) {
    for (size_t i = 0; info != nullptr && i < count; ++i) {
        if (PMIX_CHECK_KEY(&info[i], key)) return &info[i];
    }
    return nullptr;
}

std::vector<ProcName> targets_of(const pmix_info_t info[], size_t count) {
    const pmix_info_t* custom = find_info(info, count, PMIX_EVENT_CUSTOM_RANGE);
    if (custom == nullptr) return {};
    if (custom->value.type == PMIX_PROC && custom->value.data.proc != nullptr)
        return {name_of(*custom->value.data.proc)};
    if (custom->value.type == PMIX_DATA_ARRAY && custom->value.data.darray != nullptr &&
        custom->value.data.darray->type == PMIX_PROC) {
        return names_of(static_cast<const pmix_proc_t*>(custom->value.data.darray->array),
                        custom->value.data.darray->size);
    }
    return {};
}

std::optional<uint32_t> timeout_of(const pmix_info_t info[], size_t count) {
    const pmix_info_t* found = find_info(info, count, PMIX_TIMEOUT);
    if (found == nullptr) return 0;
    const std::optional<int64_t> value = integer_of(found->value);
    if (!value || *value < 0 || *value > INT32_MAX) return std::nullopt;
    return static_cast<uint32_t>(*value);
}

InfoList::~InfoList() {
    for (pmix_info_t& info : list_)
        PMIX_INFO_DESTRUCT(&info);
}

InfoList& InfoList::u16(const char* key, uint32_t value) {
    const auto narrow = static_cast<uint16_t>(value);
    return add(key, &narrow, PMIX_UINT16);
}

InfoList& InfoList::add(const char* key, const void* value, pmix_data_type_t type) {
    list_.emplace_back();
    PMIX_INFO_CONSTRUCT(&list_.back());
    PMIX_INFO_LOAD(&list_.back(), key, const_cast<void*>(value), type);
    return *this;
}

InfoList& InfoList::copy(const pmix_info_t& info) {
    list_.emplace_back();
    PMIX_INFO_CONSTRUCT(&list_.back());
    PMIX_INFO_XFER(&list_.back(), &info);
    return *this;
}

InfoList& InfoList::array(const char* key, const InfoList& elements) {
    pmix_data_array_t array;
    array.type = PMIX_INFO;
    array.size = elements.list_.size();
    array.array = const_cast<pmix_info_t*>(elements.list_.data());
    return add(key, &array, PMIX_DATA_ARRAY);
}

std::string packed(const void* elements, size_t count, pmix_data_type_t type) {
    if (count == 0 || elements == nullptr) return {};
    Buffer buffer;
    buffer.pack_array(elements, count, type);
    return buffer.ok() ? std::string(buffer.rest()) : std::string();
}

UnpackedInfo::UnpackedInfo(std::string_view bytes) : ok_(bytes.empty()) {
    Buffer buffer(bytes);
    uint64_t number = 0;
    if (ok_ || !buffer.unpack(number) || number > buffer.rest().size() || number > INT32_MAX) return;
    data_ = static_cast<pmix_info_t*>(calloc(number, sizeof(pmix_info_t)));
    size_ = data_ != nullptr ? buffer.unpack_array(data_, number, PMIX_INFO) : 0;
    ok_ = buffer.ok() && size_ == number;
}

UnpackedInfo::~UnpackedInfo() {
    for (size_t i = 0; i < size_; ++i)
        PMIX_INFO_DESTRUCT(&data_[i]);
    free(data_);
}

}  // namespace muster::launcher
