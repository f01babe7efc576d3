// SPDX-License-Identifier: BSD-3-Clause
// Calls that a server or its host serves.
#include <pmix.h>
#include <pmix_server.h>

#include <cstdlib>

#include "tests/integration/memory/callbacks.hpp"

namespace failing {
namespace {

pmix_info_t* cleanup() {
    static char path[] = "/nowhere/at/all";
    return info(PMIX_REGISTER_CLEANUP, path, PMIX_STRING);
}

pmix_info_t* text_to_log() {
    static char text[] = "";
    return info(PMIX_LOG_STDERR, text, PMIX_STRING);
}

pmix_info_t* one_node() {
    static const uint64_t one = 1;
    return info(PMIX_ALLOC_NUM_NODES, &one, PMIX_UINT64);
}

pmix_info_t* heartbeat() {
    return info(PMIX_MONITOR_HEARTBEAT, nullptr, PMIX_BOOL);
}

/// A long interval: no heartbeat is missed while the calls are made.
const pmix_info_t* seldom() {
    static const uint32_t seconds = 1000;
    static pmix_info_t period;
    if (period.value.type == PMIX_UNDEF)
        PMIX_INFO_LOAD(&period, PMIX_MONITOR_HEARTBEAT_TIME, &seconds, PMIX_UINT32);
    return &period;
}

void stop_monitor() {
    pmix_info_t* results = nullptr;
    size_t nresults = 0;
    discard(results, nresults,
            PMIx_Process_monitor(info(PMIX_MONITOR_CANCEL, nullptr, PMIX_STRING), kCode, nullptr, 0, &results,
                                 &nresults));
}

pmix_app_t* nothing_much() {
    static char command[] = "/bin/true";
    static char* argv[] = {command, nullptr};
    static pmix_app_t app;
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = command;
    app.argv = argv;
    app.maxprocs = 1;
    return &app;
}

const pmix_byte_object_t* credential() {
    static pmix_byte_object_t mine{};
    if (mine.bytes == nullptr) PMIx_Get_credential(nullptr, 0, &mine);
    return &mine;
}

}  // namespace

std::vector<Call> service_calls() {
    Calls calls;
    const auto add = [&](const char* name, std::function<pmix_status_t()> run) -> Call& {
        return calls.add(name, std::move(run));
    };
    static char name[] = "block";
    static char key[] = "published";
    static char* keys[] = {key, nullptr};
    add("unpublish_nb", [] {
        return wait_for([](void* data) { return PMIx_Unpublish_nb(keys, nullptr, 0, on_status, data); });
    }).before = [] {
        static const int one = 1;
        PMIx_Publish(info(key, &one, PMIX_INT), 1);
    };
    add("log_nb", [] {
        return wait_for(
            [](void* data) { return PMIx_Log_nb(text_to_log(), 1, nullptr, 0, on_status, data); });
    });
    add("job_control_nb", [] {
        return wait_for(
            [](void* data) { return PMIx_Job_control_nb(nullptr, 0, cleanup(), 1, on_info, data); });
    });
    add("credential_nb", [] {
        return wait_for([](void* data) { return PMIx_Get_credential_nb(nullptr, 0, on_credential, data); });
    });
    const auto prove = [] { credential(); };
    add("validate", [] {
        pmix_info_t* results = nullptr;
        size_t nresults = 0;
        const pmix_status_t status = PMIx_Validate_credential(credential(), nullptr, 0, &results, &nresults);
        return discard(results, nresults, status);
    }).before = prove;
    add("validate_nb", [] {
        return wait_for([](void* data) {
            return PMIx_Validate_credential_nb(credential(), nullptr, 0, on_validation, data);
        });
    }).before = prove;
    add("spawn_nb", [] {
        return wait_for(
            [](void* data) { return PMIx_Spawn_nb(nullptr, 0, nothing_much(), 1, on_spawn, data); });
    });
    add("allocation", [] {
        pmix_info_t* results = nullptr;
        size_t nresults = 0;
        const pmix_status_t status =
            PMIx_Allocation_request(PMIX_ALLOC_NEW, one_node(), 1, &results, &nresults);
        return discard(results, nresults, status);
    });
    add("allocation_nb", [] {
        return wait_for([](void* data) {
            return PMIx_Allocation_request_nb(PMIX_ALLOC_NEW, one_node(), 1, on_info, data);
        });
    });
    Call& monitored = add("monitor", [] {
        pmix_info_t* results = nullptr;
        size_t nresults = 0;
        const pmix_status_t status =
            PMIx_Process_monitor(heartbeat(), kCode, seldom(), 1, &results, &nresults);
        return discard(results, nresults, status);
    });
    Call& monitored_nb = add("monitor_nb", [] {
        return wait_for([](void* data) {
            return PMIx_Process_monitor_nb(heartbeat(), kCode, seldom(), 1, on_info, data);
        });
    });
    monitored.before = monitored_nb.before = [] { seldom(); };
    monitored.after = monitored_nb.after = stop_monitor;
    add("heartbeat", [] {
        PMIx_Heartbeat();
        return PMIX_SUCCESS;
    });
    add("session_control", [] {
        return wait_for([](void* data) { return PMIx_Session_control(1, nullptr, 0, on_info, data); });
    });
    static const pmix_resource_unit_t unit{PMIX_DEVTYPE_GPU, 1};
    add("resource_block",
        [] { return PMIx_Resource_block(PMIX_RESOURCE_BLOCK_DEFINE, name, &unit, 1, nullptr, 0); });
    add("resource_block_nb", [] {
        return wait_for([](void* data) {
            return PMIx_Resource_block_nb(PMIX_RESOURCE_BLOCK_DEFINE, name, &unit, 1, nullptr, 0, on_status,
                                          data);
        });
    });
    return calls.take();
}

}  // namespace failing
