// SPDX-License-Identifier: BSD-3-Clause
// Attributes.
#include "tools/muster/exchange/attributes.hpp"

#include <pmix.h>

#include <algorithm>
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
    int64_t number = 0;
    const bool whole = value.type != PMIX_FLOAT && value.type != PMIX_DOUBLE;
    if (!whole || PMIx_Value_get_number(&value, &number, PMIX_INT64) != PMIX_SUCCESS) return std::nullopt;
    return number;
}

bool is_true(const pmix_info_t& info) {
    return PMIx_Info_true(&info) == PMIX_BOOL_TRUE || integer_of(info.value).value_or(0) != 0;
}

std::string text_of(const pmix_value_t& value) {
    if (value.type == PMIX_STRING) return text_of(value.data.string);
    if (value.type == PMIX_PROC_NSPACE && value.data.nspace != nullptr)
        return {*value.data.nspace, strnlen(*value.data.nspace, PMIX_MAX_NSLEN)};
    return {};
}

std::vector<ProcName> procs_of(const pmix_value_t& value) {
    if (value.type == PMIX_PROC) return names_of(value.data.proc, 1);
    const pmix_data_array_t* array = value.type == PMIX_DATA_ARRAY ? value.data.darray : nullptr;
    if (array == nullptr || array->type != PMIX_PROC) return {};
    return names_of(static_cast<const pmix_proc_t*>(array->array), array->size);
}

bool is_any_of(const pmix_info_t& info, std::initializer_list<const char*> keys) {
    return std::ranges::any_of(keys, [&](const char* key) { return PMIX_CHECK_KEY(&info, key); });
}

std::optional<Infos> Infos::of(const pmix_value_t& value) {
    const pmix_data_array_t* array = value.type == PMIX_DATA_ARRAY ? value.data.darray : nullptr;
    if (array == nullptr || array->type != PMIX_INFO) return std::nullopt;
    return Infos(static_cast<const pmix_info_t*>(array->array), array->size);
}

const pmix_info_t* Infos::find(const char* key) const {
    const auto* found =
        std::ranges::find_if(*this, [&](const pmix_info_t& info) { return PMIX_CHECK_KEY(&info, key); });
    return found != end() ? found : nullptr;
}

bool Infos::is_true(const char* key) const {
    const pmix_info_t* found = find(key);
    return found != nullptr && launcher::is_true(*found);
}

std::optional<int64_t> Infos::integer(const char* key) const {
    const pmix_info_t* found = find(key);
    return found != nullptr ? integer_of(found->value) : std::nullopt;
}

std::string Infos::text(const char* key) const {
    const pmix_info_t* found = find(key);
    return found != nullptr ? text_of(found->value) : std::string();
}

std::vector<ProcName> Infos::procs(const char* key) const {
    const pmix_info_t* found = find(key);
    return found != nullptr ? procs_of(found->value) : std::vector<ProcName>();
}

std::optional<uint32_t> Infos::timeout() const {
    if (find(PMIX_TIMEOUT) == nullptr) return 0;
    const std::optional<int64_t> value = integer(PMIX_TIMEOUT);
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

InfoList& InfoList::copy(const Infos& infos) {
    for (const pmix_info_t& info : infos)
        copy(info);
    return *this;
}

InfoList& InfoList::array(const char* key, const InfoList& elements) {
    return array(key, elements.list_.data(), elements.list_.size(), PMIX_INFO);
}

InfoList& InfoList::array(const char* key, const void* elements, size_t count, pmix_data_type_t type) {
    pmix_data_array_t array{type, count, const_cast<void*>(elements)};  // copied
    return add(key, &array, PMIX_DATA_ARRAY);
}

InfoList& InfoList::proc(const char* key, const ProcName& name) {
    const pmix_proc_t proc = to_pmix(name);
    return add(key, &proc, PMIX_PROC);
}

InfoList& InfoList::procs(const char* key, const std::vector<ProcName>& names) {
    const std::vector<pmix_proc_t> procs = to_pmix(names);
    return array(key, procs.data(), procs.size(), PMIX_PROC);
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
