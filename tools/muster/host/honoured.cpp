// SPDX-License-Identifier: BSD-3-Clause
// The table of attributes by upcall. An upcall without an entry honours none.
#include "tools/muster/host/honoured.hpp"

#include <pmix.h>
#include <pmix_server.h>

#include <algorithm>
#include <string>

#include "tools/muster/host/spawn.hpp"

namespace muster::launcher {
namespace {

struct Honoured {
    std::string_view upcall;
    std::vector<const char*> keys;
};

const std::vector<Honoured>& table() {
    static const std::vector<Honoured> all = {
        {"fence_nb", {PMIX_COLLECT_DATA, PMIX_TIMEOUT}},
        {"direct_modex", {PMIX_TIMEOUT, PMIX_REQUIRED_KEY}},
        {"connect", {PMIX_TIMEOUT}},
        {"disconnect", {PMIX_TIMEOUT}},
        {"publish",
         {PMIX_RANGE, PMIX_EVENT_CUSTOM_RANGE, PMIX_PERSISTENCE, PMIX_ACCESS_PERMISSIONS, PMIX_USERID,
          PMIX_GRPID}},
        {"lookup", {PMIX_RANGE, PMIX_EVENT_CUSTOM_RANGE, PMIX_WAIT, PMIX_TIMEOUT, PMIX_USERID, PMIX_GRPID}},
        {"unpublish", {PMIX_RANGE, PMIX_EVENT_CUSTOM_RANGE, PMIX_USERID, PMIX_GRPID}},
        {"spawn", spawn_attributes()},
        {"query",
         {PMIX_RANGE, PMIX_NSPACE, PMIX_RANK, PMIX_PROCID, PMIX_HOSTNAME, PMIX_GROUP_ID, PMIX_NODEID,
          PMIX_ALLOC_ID, PMIX_ALLOC_REQ_ID, PMIX_QUERY_REPORT_AVG, PMIX_QUERY_REPORT_MINMAX,
          PMIX_QUERY_SUPPORTED_QUALIFIERS, PMIX_USERID, PMIX_GRPID}},
        {"log2",
         {PMIX_LOG_STDOUT, PMIX_LOG_STDERR, PMIX_LOG_SOURCE, PMIX_LOG_TIMESTAMP, PMIX_LOG_GENERATE_TIMESTAMP,
          PMIX_LOG_TIMESTAMP_OUTPUT, PMIX_LOG_TAG_OUTPUT, PMIX_LOG_XML_OUTPUT, PMIX_LOG_ONCE}},
        // Requests are carried out immediately: an identifier names no pending request.
        {"job_control",
         {PMIX_JOB_CTRL_ID, PMIX_JOB_CTRL_PREEMPTIBLE, PMIX_JOB_CTRL_SIGNAL, PMIX_JOB_CTRL_DEFINE_PSET,
          PMIX_JOB_CTRL_PAUSE, PMIX_JOB_CTRL_RESUME, PMIX_JOB_CTRL_TERMINATE, PMIX_JOB_CTRL_KILL,
          PMIX_JOB_CTRL_CANCEL}},
        {"group",
         {PMIX_GROUP_ASSIGN_CONTEXT_ID, PMIX_GROUP_OPTIONAL, PMIX_GROUP_FT_COLLECTIVE,
          PMIX_GROUP_NOTIFY_TERMINATION, PMIX_GROUP_BOOTSTRAP, PMIX_GROUP_ADD_MEMBERS, PMIX_GROUP_ENDPT_DATA,
          PMIX_LOCAL_COLLECTIVE_STATUS, PMIX_TIMEOUT}},
        {"notify_event",
         {PMIX_EVENT_TERMINATE_SESSION, PMIX_EVENT_TERMINATE_JOB, PMIX_EVENT_TERMINATE_NODE,
          PMIX_EVENT_TERMINATE_PROC, PMIX_EVENT_ACTION_TIMEOUT, PMIX_EVENT_SILENT_TERMINATION,
          PMIX_EVENT_AFFECTED_PROC, PMIX_EVENT_AFFECTED_PROCS, PMIX_EVENT_CUSTOM_RANGE}},
        {"iof_pull", {PMIX_IOF_STOP, PMIX_IOF_COPY}},
        {"push_stdin", {PMIX_IOF_COMPLETE}},
    };
    return all;
}

}  // namespace

bool is_required(const pmix_info_t& info) {
    return PMIX_INFO_IS_REQUIRED(&info) && !PMIX_INFO_WAS_PROCESSED(&info);
}

const std::vector<const char*>& honoured_by(std::string_view upcall) {
    static const std::vector<const char*> none;
    const auto found = std::ranges::find(table(), upcall, &Honoured::upcall);
    return found == table().end() ? none : found->keys;
}

pmix_status_t check_required(std::string_view upcall, const Infos& infos) {
    for (const pmix_info_t& info : infos) {
        if (!is_required(info)) continue;
        const auto is_it = [&](const char* key) { return PMIX_CHECK_KEY(&info, key); };
        if (std::ranges::none_of(honoured_by(upcall), is_it)) return PMIX_ERR_NOT_SUPPORTED;
    }
    return PMIX_SUCCESS;
}

void register_attributes() {
    for (const Honoured& one : table()) {
        std::vector<const char*> keys = one.keys;
        if (one.upcall == "query") keys.insert(keys.end(), query_keys().begin(), query_keys().end());
        std::vector<char*> names;
        for (const char* key : keys)
            names.push_back(const_cast<char*>(PMIx_Get_attribute_name(key)));  // only read
        names.push_back(nullptr);
        std::string upcall(one.upcall);
        PMIx_Register_attributes(upcall.data(), names.data());
    }
}

}  // namespace muster::launcher
