// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Info_*: filling entries, and their flags.

#include <pmix.h>

#include <cstring>

#include "framework/base/info.hpp"

using namespace muster;

namespace {

bool has(const pmix_info_t* info, pmix_info_directives_t flag) {
    return info != nullptr && (info->flags & flag) != 0;
}

void set(pmix_info_t* info, pmix_info_directives_t flag) {
    if (info != nullptr) info->flags |= flag;
}

}  // namespace

pmix_status_t PMIx_Info_load(pmix_info_t* info, const char* key, const void* data, pmix_data_type_t type) {
    if (info == nullptr) return PMIX_ERR_BAD_PARAM;
    data_construct_elements(info, 1, PMIX_INFO);
    if (key == nullptr) return PMIX_ERR_BAD_PARAM;
    const pmix_status_t status = value_load(&info->value, data, type);
    if (status == PMIX_SUCCESS) key_load(info->key, key_view(key));
    return status;
}

pmix_status_t PMIx_Info_xfer(pmix_info_t* dest, const pmix_info_t* src) {
    if (dest == nullptr || src == nullptr) return PMIX_ERR_BAD_PARAM;
    if (!PMIx_Info_is_persistent(src)) return info_copy(dest, src);
    // The owner of a persistent entry keeps the value valid for all copies.
    if (dest != src) std::memcpy(dest, src, sizeof *dest);
    return PMIX_SUCCESS;
}

pmix_boolean_t PMIx_Info_true(const pmix_info_t* p) {
    return p == nullptr ? PMIX_NON_BOOL : PMIx_Value_true(&p->value);
}

pmix_status_t PMIx_Info_get_size(const pmix_info_t* val, size_t* size) {
    if (val == nullptr || size == nullptr) return PMIX_ERR_BAD_PARAM;
    size_t payload = 0;
    const pmix_status_t status = value_size(&val->value, &payload);
    if (status == PMIX_SUCCESS) *size = payload + sizeof(pmix_info_t);
    return status;
}

void PMIx_Info_required(pmix_info_t* p) {
    set(p, PMIX_INFO_REQD);
}
void PMIx_Info_optional(pmix_info_t* p) {
    if (p != nullptr) p->flags &= ~static_cast<pmix_info_directives_t>(PMIX_INFO_REQD);
}
bool PMIx_Info_is_required(const pmix_info_t* p) {
    return has(p, PMIX_INFO_REQD);
}
bool PMIx_Info_is_optional(const pmix_info_t* p) {
    return p != nullptr && !has(p, PMIX_INFO_REQD);
}
void PMIx_Info_processed(pmix_info_t* p) {
    set(p, PMIX_INFO_REQD_PROCESSED);
}
bool PMIx_Info_was_processed(const pmix_info_t* p) {
    return has(p, PMIX_INFO_REQD_PROCESSED);
}
void PMIx_Info_set_end(pmix_info_t* p) {
    set(p, PMIX_INFO_ARRAY_END);
}
bool PMIx_Info_is_end(const pmix_info_t* p) {
    return has(p, PMIX_INFO_ARRAY_END);
}
void PMIx_Info_qualifier(pmix_info_t* p) {
    set(p, PMIX_INFO_QUALIFIER);
}
bool PMIx_Info_is_qualifier(const pmix_info_t* p) {
    return has(p, PMIX_INFO_QUALIFIER);
}
void PMIx_Info_persistent(pmix_info_t* p) {
    set(p, PMIX_INFO_PERSISTENT);
}
bool PMIx_Info_is_persistent(const pmix_info_t* p) {
    return has(p, PMIX_INFO_PERSISTENT);
}
