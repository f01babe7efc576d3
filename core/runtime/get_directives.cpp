// SPDX-License-Identifier: BSD-3-Clause
// Directives of PMIx_Get: see get_directives.hpp.
#include "core/runtime/get_directives.hpp"

namespace muster {

std::optional<std::chrono::milliseconds> read_timeout(InfoView info) {
    const auto seconds = info.number<int64_t>(PMIX_TIMEOUT);
    // Beyond a year it counts as none, and the sum with the clock cannot overflow.
    if (!seconds || *seconds <= 0 || *seconds > 365 * 86400) return std::nullopt;
    return std::chrono::milliseconds(*seconds * 1000);
}

pmix_status_t read_get_directives(InfoView info, Lookup& lookup, GetDirectives& directives) {
    if (info.empty()) return PMIX_SUCCESS;
    for (const pmix_info_t& entry : info) {
        const pmix_value_t* value = &entry.value;
        if ((flags_of(entry) & PMIX_INFO_QUALIFIER) != 0) {
            lookup.qualifiers = info;
            continue;
        }
        const auto flag = [&](const char* key, bool& out) {
            if (!key_is(entry.key, key)) return false;
            out = value_as_bool(value).value_or(false);
            return true;
        };
        bool realm = false;
        if (flag(PMIX_OPTIONAL, directives.optional) || flag(PMIX_IMMEDIATE, directives.immediate) ||
            flag(PMIX_GET_REFRESH_CACHE, directives.refresh) ||
            flag(PMIX_GET_POINTER_VALUES, directives.pointer) ||
            flag(PMIX_GET_STATIC_VALUES, directives.static_value)) {
            continue;
        }
        if (flag(PMIX_SESSION_INFO, realm)) {
            if (realm) lookup.realm = Lookup::Realm::Session;
        } else if (flag(PMIX_JOB_INFO, realm)) {
            if (realm) lookup.realm = Lookup::Realm::Job;
        } else if (flag(PMIX_APP_INFO, realm)) {
            if (realm) lookup.realm = Lookup::Realm::App;
        } else if (flag(PMIX_NODE_INFO, realm)) {
            // With both it is the application's data about a node.
            if (realm && lookup.realm != Lookup::Realm::App) lookup.realm = Lookup::Realm::Node;
        } else if (key_is(entry.key, PMIX_SESSION_ID)) {
            lookup.session_id = value_as_number<uint32_t>(value);
            if (!lookup.session_id) return PMIX_ERR_BAD_PARAM;
        } else if (key_is(entry.key, PMIX_APPNUM)) {
            lookup.appnum = value_as_number<uint32_t>(value);
            if (!lookup.appnum) return PMIX_ERR_BAD_PARAM;
        } else if (key_is(entry.key, PMIX_NODEID)) {
            lookup.nodeid = value_as_number<uint32_t>(value);
            if (!lookup.nodeid) return PMIX_ERR_BAD_PARAM;
        } else if (key_is(entry.key, PMIX_HOSTNAME)) {
            lookup.hostname = value_as_string(value);
            if (lookup.hostname == nullptr) return PMIX_ERR_BAD_PARAM;
        } else if (key_is(entry.key, PMIX_DATA_SCOPE)) {
            if (value->type == PMIX_SCOPE) {
                lookup.scope = value->data.scope;
            } else {
                return PMIX_ERR_BAD_PARAM;
            }
        }
    }
    directives.timeout = read_timeout(info);
    return PMIX_SUCCESS;
}

}  // namespace muster
