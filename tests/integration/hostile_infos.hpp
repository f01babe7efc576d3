// SPDX-License-Identifier: BSD-3-Clause
// Info arrays that no well-meaning program would pass: nested, mistyped, empty, over-long, duplicate,
// contradictory, with counts that do not match. For a host and for a client alike. Public API only.
#pragma once

#include <pmix.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace integration {

/// Frees what its infos hold.
class HostileInfos {
  public:
    HostileInfos() = default;
    HostileInfos(HostileInfos&&) = default;
    HostileInfos(const HostileInfos&) = delete;
    HostileInfos& operator=(const HostileInfos&) = delete;
    ~HostileInfos() {
        for (pmix_info_t& info : infos_)
            PMIx_Info_destruct(&info);
    }
    pmix_info_t& add(const char* key) {
        infos_.emplace_back();
        memset(static_cast<void*>(&infos_.back()), 0, sizeof(pmix_info_t));
        snprintf(infos_.back().key, sizeof infos_.back().key, "%s", key);
        return infos_.back();
    }
    void load(const char* key, const void* value, pmix_data_type_t type) {
        PMIx_Info_load(&add(key), key, value, type);
    }
    pmix_info_t* data() { return infos_.data(); }
    size_t size() const { return infos_.size(); }

  private:
    std::vector<pmix_info_t> infos_;
};

/// Attributes that the library itself reads; each is tried with values of every wrong type.
inline const std::vector<const char*>& hostile_keys() {
    static const std::vector<const char*> keys = {PMIX_TIMEOUT,
                                                  PMIX_RANGE,
                                                  PMIX_PERSISTENCE,
                                                  PMIX_WAIT,
                                                  PMIX_USERID,
                                                  PMIX_NSPACE,
                                                  PMIX_RANK,
                                                  PMIX_PROCID,
                                                  PMIX_HOSTNAME,
                                                  PMIX_NODEID,
                                                  PMIX_NODE_MAP,
                                                  PMIX_PROC_MAP,
                                                  PMIX_JOB_SIZE,
                                                  PMIX_LOCAL_PEERS,
                                                  PMIX_LOCAL_PROCS,
                                                  PMIX_NODE_INFO_ARRAY,
                                                  PMIX_APP_INFO_ARRAY,
                                                  PMIX_PROC_INFO_ARRAY,
                                                  PMIX_JOB_INFO_ARRAY,
                                                  PMIX_SESSION_INFO_ARRAY,
                                                  PMIX_SESSION_ID,
                                                  PMIX_APPNUM,
                                                  PMIX_NODE_INFO,
                                                  PMIX_APP_INFO,
                                                  PMIX_SESSION_INFO,
                                                  PMIX_DATA_SCOPE,
                                                  PMIX_COLLECT_DATA,
                                                  PMIX_SET_ENVAR,
                                                  PMIX_ALLOC_FABRIC,
                                                  PMIX_REGISTER_CLEANUP,
                                                  PMIX_CLEANUP_IGNORE,
                                                  PMIX_MONITOR_HEARTBEAT_TIME,
                                                  PMIX_MONITOR_FILE_CHECK_TIME,
                                                  PMIX_MONITOR_ID,
                                                  PMIX_EVENT_CUSTOM_RANGE,
                                                  PMIX_EVENT_AFFECTED_PROC,
                                                  PMIX_EVENT_AFFECTED_PROCS,
                                                  PMIX_CRED_TYPE,
                                                  PMIX_FABRIC_PLANE,
                                                  PMIX_LOG_SOURCE,
                                                  PMIX_LOG_TIMESTAMP,
                                                  PMIX_QUERY_REFRESH_CACHE,
                                                  PMIX_IOF_CACHE_SIZE,
                                                  "muster.inventory",
                                                  "pnet.tcp.job"};
    return keys;
}

/// Calls `use` with each. `claimed` is the count to pass, which differs from the actual count only for
/// `null`.
inline void each_hostile(
    const std::function<void(const std::string& what, pmix_info_t* infos, size_t claimed)>& use) {
    use("null", nullptr, 3);
    {
        HostileInfos deep;
        pmix_info_t& outer = deep.add(PMIX_JOB_INFO_ARRAY);
        outer.value.type = PMIX_BOOL;
        for (int level = 0; level < 100; ++level) {
            auto* inner = static_cast<pmix_info_t*>(calloc(1, sizeof(pmix_info_t)));
            *inner = outer;
            auto* array = static_cast<pmix_data_array_t*>(calloc(1, sizeof(pmix_data_array_t)));
            array->type = PMIX_INFO;
            array->size = 1;
            array->array = inner;
            outer.value.type = PMIX_DATA_ARRAY;
            outer.value.data.darray = array;
        }
        use("nested", deep.data(), 1);
    }
    {
        HostileInfos nameless;
        nameless.load("", "value", PMIX_STRING);
        use("nameless", nameless.data(), 1);
    }
    {
        HostileInfos endless;  // a key without an end
        memset(endless.add("k").key, 'k', sizeof(pmix_key_t));
        use("endless key", endless.data(), 1);
    }
    {
        HostileInfos twice;
        const int one = 1, minus = -1, least = INT_MIN;
        const pmix_data_range_t range = 200;
        for (const int* limit : {&one, &minus, &least})
            twice.load(PMIX_TIMEOUT, limit, PMIX_INT);
        twice.load(PMIX_RANGE, &range, PMIX_DATA_RANGE);
        twice.load(PMIX_NSPACE, "one", PMIX_STRING);
        twice.load(PMIX_NSPACE, "another", PMIX_STRING);
        twice.load(PMIX_JOB_SIZE, &minus, PMIX_INT);
        twice.load(PMIX_JOB_SIZE, &one, PMIX_UINT32);
        use("contradictory", twice.data(), twice.size());
    }
    for (const char* key : hostile_keys()) {
        const std::string long_text(1 << 16, 'x');
        const std::function<void(pmix_value_t&)> kinds[] = {
            [](pmix_value_t& value) { value.type = PMIX_STRING; },
            [](pmix_value_t& value) { PMIx_Value_load(&value, "nonsense", PMIX_STRING); },
            [&](pmix_value_t& value) { PMIx_Value_load(&value, long_text.c_str(), PMIX_STRING); },
            [](pmix_value_t& value) { value.type = PMIX_DATA_ARRAY; },
            [](pmix_value_t& value) {
                value.type = PMIX_DATA_ARRAY;
                value.data.darray = static_cast<pmix_data_array_t*>(calloc(1, sizeof(pmix_data_array_t)));
                value.data.darray->type = PMIX_INFO;
                value.data.darray->size = 1000;
            },
            [](pmix_value_t& value) { value.type = PMIX_PROC; },
            [](pmix_value_t& value) {
                value.type = PMIX_BYTE_OBJECT;
                value.data.bo.size = 99;
            },
            [](pmix_value_t& value) { value.type = 60000; },
            [](pmix_value_t& value) {
                value.type = PMIX_UINT64;
                value.data.uint64 = UINT64_MAX;
            },
        };
        int number = 0;
        for (const auto& kind : kinds) {
            HostileInfos wrong;
            kind(wrong.add(key).value);
            use(std::string(key) + "/" + std::to_string(number++), wrong.data(), 1);
        }
    }
}

/// A call that takes infos.
struct InfoCall {
    const char* name;
    std::function<pmix_status_t(pmix_info_t* infos, size_t count)> call;
};

/// The blocking calls that hosts and clients share. `self`: the caller.
inline std::vector<InfoCall> service_calls(const pmix_proc_t& self) {
    pmix_proc_t job = self;
    job.rank = PMIX_RANK_WILDCARD;
    const auto results = [](auto call) {
        return [call](pmix_info_t* infos, size_t count) {
            pmix_info_t* found = nullptr;
            size_t nfound = 0;
            const pmix_status_t status = call(infos, count, &found, &nfound);
            if (found != nullptr) PMIx_Info_free(found, nfound);
            return status;
        };
    };
    return {
        {"PMIx_Publish", [](pmix_info_t* infos, size_t count) { return PMIx_Publish(infos, count); }},
        {"PMIx_Lookup",
         [](pmix_info_t* infos, size_t count) {
             pmix_pdata_t data;
             memset(static_cast<void*>(&data), 0, sizeof data);
             snprintf(data.key, sizeof data.key, "key");
             const pmix_status_t status = PMIx_Lookup(&data, 1, infos, count);
             PMIx_Value_destruct(&data.value);
             return status;
         }},
        {"PMIx_Unpublish",
         [](pmix_info_t* infos, size_t count) { return PMIx_Unpublish(nullptr, infos, count); }},
        {"PMIx_Spawn",
         [](pmix_info_t* infos, size_t count) {
             char command[] = "program";
             pmix_app_t app;
             memset(static_cast<void*>(&app), 0, sizeof app);
             app.cmd = command;
             app.maxprocs = 1;
             pmix_nspace_t nspace;
             return PMIx_Spawn(infos, count, &app, 1, nspace);
         }},
        {"PMIx_Spawn of an app",
         [](pmix_info_t* infos, size_t count) {
             char command[] = "program";
             pmix_app_t app;
             memset(static_cast<void*>(&app), 0, sizeof app);
             app.cmd = command;
             app.maxprocs = 1;
             app.info = infos;
             app.ninfo = count;
             pmix_nspace_t nspace;
             return PMIx_Spawn(nullptr, 0, &app, 1, nspace);
         }},
        {"PMIx_Query_info", results([](auto* infos, size_t count, auto** found, size_t* nfound) {
             char key[] = PMIX_QUERY_NAMESPACES;
             char* keys[] = {key, nullptr};
             pmix_query_t query{keys, infos, count};
             return PMIx_Query_info(&query, 1, found, nfound);
         })},
        {"PMIx_Allocation_request", results([](auto* infos, size_t count, auto** found, size_t* nfound) {
             return PMIx_Allocation_request(PMIX_ALLOC_NEW, infos, count, found, nfound);
         })},
        {"PMIx_Job_control", results([](auto* infos, size_t count, auto** found, size_t* nfound) {
             return PMIx_Job_control(nullptr, 0, infos, count, found, nfound);
         })},
        {"PMIx_Process_monitor", results([](auto* infos, size_t count, auto** found, size_t* nfound) {
             pmix_info_t what;
             memset(static_cast<void*>(&what), 0, sizeof what);
             PMIx_Info_load(&what, PMIX_MONITOR_HEARTBEAT, nullptr, PMIX_BOOL);
             return PMIx_Process_monitor(&what, PMIX_SUCCESS, infos, count, found, nfound);
         })},
        {"PMIx_Process_monitor of what", results([](auto* infos, size_t count, auto** found, size_t* nfound) {
             if (infos == nullptr) return PMIx_Process_monitor(nullptr, 0, nullptr, count, found, nfound);
             return PMIx_Process_monitor(infos, PMIX_SUCCESS, nullptr, 0, found, nfound);
         })},
        {"PMIx_Log of directives",
         [](pmix_info_t* infos, size_t count) {
             pmix_info_t entry;
             memset(static_cast<void*>(&entry), 0, sizeof entry);
             PMIx_Info_load(&entry, PMIX_LOG_JOB_RECORD, "x", PMIX_STRING);
             const pmix_status_t status = PMIx_Log(&entry, 1, infos, count);
             PMIx_Info_destruct(&entry);
             return status;
         }},
        {"PMIx_Log", [](pmix_info_t* infos, size_t count) { return PMIx_Log(infos, count, nullptr, 0); }},
        {"PMIx_Get_credential",
         [](pmix_info_t* infos, size_t count) {
             pmix_byte_object_t credential{nullptr, 0};
             const pmix_status_t status = PMIx_Get_credential(infos, count, &credential);
             free(credential.bytes);
             return status;
         }},
        {"PMIx_Validate_credential", results([](auto* infos, size_t count, auto** found, size_t* nfound) {
             char bytes[] = "abc";
             const pmix_byte_object_t credential{bytes, 3};
             return PMIx_Validate_credential(&credential, infos, count, found, nfound);
         })},
        {"PMIx_Fabric_register",
         [](pmix_info_t* infos, size_t count) {
             pmix_fabric_t fabric;
             memset(static_cast<void*>(&fabric), 0, sizeof fabric);
             const pmix_status_t status = PMIx_Fabric_register(&fabric, infos, count);
             if (status == PMIX_SUCCESS) PMIx_Fabric_deregister(&fabric);
             return status;
         }},
        {"PMIx_Session_control",
         [](pmix_info_t* infos, size_t count) {
             return PMIx_Session_control(1, infos, count, nullptr, nullptr);
         }},
        {"PMIx_Resource_block",
         [](pmix_info_t* infos, size_t count) {
             char block[] = "block";
             return PMIx_Resource_block(PMIX_RESOURCE_BLOCK_DEFINE, block, nullptr, 0, infos, count);
         }},
        {"PMIx_Notify_event",
         [self](pmix_info_t* infos, size_t count) {
             return PMIx_Notify_event(PMIX_EXTERNAL_ERR_BASE - 1, &self, PMIX_RANGE_LOCAL, infos, count,
                                      nullptr, nullptr);
         }},
        {"PMIx_Get",
         [job](pmix_info_t* infos, size_t count) {
             pmix_value_t* value = nullptr;
             const pmix_status_t status = PMIx_Get(&job, "no.such.key", infos, count, &value);
             if (value != nullptr) PMIx_Value_free(value, 1);
             return status;
         }},
        {"PMIx_Fence",
         [self](pmix_info_t* infos, size_t count) { return PMIx_Fence(&self, 1, infos, count); }},
        {"PMIx_Connect",
         [self](pmix_info_t* infos, size_t count) {
             const pmix_status_t status = PMIx_Connect(&self, 1, infos, count);
             if (status == PMIX_SUCCESS) PMIx_Disconnect(&self, 1, nullptr, 0);
             return status;
         }},
    };
}

}  // namespace integration
