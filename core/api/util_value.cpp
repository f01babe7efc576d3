// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Value_*, PMIx_Pdata_* and PMIx_Regattr_* beyond construction and release.

#include <pmix.h>

#include "framework/base/argv.hpp"
#include "framework/base/value.hpp"

using namespace muster;

pmix_status_t PMIx_Value_load(pmix_value_t* val, const void* data, pmix_data_type_t type) {
    return val == nullptr ? PMIX_ERR_BAD_PARAM : value_load(val, data, type);
}

pmix_status_t PMIx_Value_unload(pmix_value_t* val, void** data, size_t* sz) {
    if (val == nullptr || data == nullptr || sz == nullptr) return PMIX_ERR_BAD_PARAM;
    return value_unload(val, data, sz);
}

pmix_status_t PMIx_Value_xfer(pmix_value_t* dest, const pmix_value_t* src) {
    if (dest == nullptr || src == nullptr) return PMIX_ERR_BAD_PARAM;
    return value_copy(dest, src);
}

pmix_value_cmp_t PMIx_Value_compare(pmix_value_t* v1, pmix_value_t* v2) {
    if (v1 == nullptr || v2 == nullptr) return PMIX_VALUE_COMPARISON_NOT_AVAIL;
    return value_compare(v1, v2);
}

pmix_boolean_t PMIx_Value_true(const pmix_value_t* v) {
    const std::optional<bool> answer = value_as_bool(v);
    if (!answer) return PMIX_NON_BOOL;
    return *answer ? PMIX_BOOL_TRUE : PMIX_BOOL_FALSE;
}

pmix_status_t PMIx_Value_get_number(const pmix_value_t* value, void* dest, pmix_data_type_t type) {
    if (value == nullptr || dest == nullptr) return PMIX_ERR_BAD_PARAM;
    return value_get_number(value, dest, type);
}

pmix_status_t PMIx_Value_get_size(const pmix_value_t* val, size_t* size) {
    if (val == nullptr || size == nullptr) return PMIX_ERR_BAD_PARAM;
    return value_size(val, size);
}

void PMIx_Pdata_load(pmix_pdata_t* dest, const pmix_proc_t* p, const char* key, const void* data,
                     pmix_data_type_t type) {
    if (dest == nullptr) return;
    PMIx_Pdata_construct(dest);
    if (p != nullptr) dest->proc = make_proc(nspace_view(p->nspace), p->rank);
    key_load(dest->key, key == nullptr ? std::string_view() : key_view(key));
    // There is no status to return: a value that cannot be loaded stays UNDEF.
    value_load(&dest->value, data, type);
}

void PMIx_Pdata_xfer(pmix_pdata_t* dest, pmix_pdata_t* src) {
    if (dest == nullptr || src == nullptr) return;
    if (data_copy_elements(dest, src, 1, PMIX_PDATA) != PMIX_SUCCESS) PMIx_Pdata_construct(dest);
}

void PMIx_Regattr_load(pmix_regattr_t* info, const char* name, const char* key, pmix_data_type_t type,
                       const char* description) {
    if (info == nullptr) return;
    if (name != nullptr) info->name = strdup(name);
    if (key != nullptr) key_load(info->string, key_view(key));
    info->type = type;
    if (description != nullptr) argv_append(&info->description, description);
}

void PMIx_Regattr_xfer(pmix_regattr_t* dest, const pmix_regattr_t* src) {
    if (dest == nullptr || src == nullptr) return;
    if (data_copy_elements(dest, src, 1, PMIX_REGATTR) != PMIX_SUCCESS) PMIx_Regattr_construct(dest);
}
