// SPDX-License-Identifier: BSD-3-Clause
// Calls of every process that has a server or host: data, events, queries.
#include <pmix.h>
#include <pmix_server.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/integration/memory/callbacks.hpp"

namespace failing {
namespace {

pmix_query_t* namespaces() {
    static char key[] = PMIX_QUERY_NAMESPACES;
    static char* keys[] = {key, nullptr};
    static pmix_query_t query{keys, nullptr, 0};
    return &query;
}

}  // namespace

/// Calls of every process that has a server or host.
std::vector<Call> everyday_calls() {
    static const int one = 1;
    Calls calls;
    const auto add = [&](const char* name, std::function<pmix_status_t()> run) -> Call& {
        return calls.add(name, std::move(run));
    };
    add("get_job", [] {
        pmix_value_t* value = nullptr;
        const pmix_status_t status = PMIx_Get(&everybody, PMIX_JOB_SIZE, nullptr, 0, &value);
        if (value != nullptr) PMIX_VALUE_RELEASE(value);
        return status;
    });
    add("get_absent", [] {
        pmix_value_t* value = nullptr;
        return PMIx_Get(&self, "absent", nullptr, 0, &value);
    });
    add("get_nb", [] {
        return wait_for([](void* data) { return PMIx_Get_nb(&self, "absent", nullptr, 0, on_value, data); });
    });
    add("query", [] {
        pmix_info_t* results = nullptr;
        size_t nresults = 0;
        const pmix_status_t status = PMIx_Query_info(namespaces(), 1, &results, &nresults);
        return discard(results, nresults, status);
    });
    add("query_nb", [] {
        return wait_for([](void* data) { return PMIx_Query_info_nb(namespaces(), 1, on_info, data); });
    });
    const auto unpublish = [] { PMIx_Unpublish(nullptr, nullptr, 0); };
    // A failed call may have published its data, which would make the next call fail.
    const auto around = [&](Call& call) {
        call.before = unpublish;
        call.after = unpublish;
    };
    around(add("publish", [] { return PMIx_Publish(info("published", &one, PMIX_INT), 1); }));
    around(add("publish_nb", [] {
        return wait_for([](void* data) {
            return PMIx_Publish_nb(info("published", &one, PMIX_INT), 1, on_status, data);
        });
    }));
    const auto published = [] { PMIx_Publish(info("published", &one, PMIX_INT), 1); };
    Call& lookup = add("lookup", [] {
        pmix_pdata_t data;
        PMIX_PDATA_CONSTRUCT(&data);
        PMIX_LOAD_KEY(data.key, "published");
        const pmix_status_t status = PMIx_Lookup(&data, 1, nullptr, 0);
        PMIX_PDATA_DESTRUCT(&data);
        return status;
    });
    lookup.before = published;
    lookup.after = unpublish;
    Call& lookup_nb = add("lookup_nb", [] {
        static char key[] = "published";
        static char* keys[] = {key, nullptr};
        return wait_for([](void* data) { return PMIx_Lookup_nb(keys, nullptr, 0, on_lookup, data); });
    });
    lookup_nb.before = published;
    lookup_nb.after = unpublish;
    add("unpublish", [] { return PMIx_Unpublish(nullptr, nullptr, 0); }).before = published;
    const auto deregister = [] { PMIx_Deregister_event_handler(handler, nullptr, nullptr); };
    add("register", [] {
        pmix_status_t code = kCode;
        const pmix_status_t id =
            PMIx_Register_event_handler(&code, 1, nullptr, 0, on_event, nullptr, nullptr);
        handler = static_cast<size_t>(id);
        return id < 0 ? id : PMIX_SUCCESS;
    }).after = deregister;
    add("register_nb", [] {
        return wait_for([](void* data) {
            pmix_status_t code = kCode;
            return PMIx_Register_event_handler(&code, 1, nullptr, 0, on_event, on_handler, data);
        });
    }).after = deregister;
    add("deregister", [] { return PMIx_Deregister_event_handler(handler, nullptr, nullptr); }).before = [] {
        pmix_status_t code = kCode;
        handler = static_cast<size_t>(
            PMIx_Register_event_handler(&code, 1, nullptr, 0, on_event, nullptr, nullptr));
    };
    add("notify",
        [] { return PMIx_Notify_event(kCode, &self, PMIX_RANGE_LOCAL, nullptr, 0, nullptr, nullptr); });
    add("notify_nb", [] {
        return wait_for([](void* data) {
            return PMIx_Notify_event(kCode, &self, PMIX_RANGE_LOCAL, nullptr, 0, on_status, data);
        });
    });
    add("log", [] {
        static char text[] = "";
        return PMIx_Log(info(PMIX_LOG_STDERR, text, PMIX_STRING), 1, nullptr, 0);
    });
    add("job_control", [] {
        static char path[] = "/nowhere/at/all";
        pmix_info_t* results = nullptr;
        size_t nresults = 0;
        const pmix_status_t status = PMIx_Job_control(
            nullptr, 0, info(PMIX_REGISTER_CLEANUP, path, PMIX_STRING), 1, &results, &nresults);
        return discard(results, nresults, status);
    });
    add("credential", [] {
        pmix_byte_object_t credential{};
        const pmix_status_t status = PMIx_Get_credential(nullptr, 0, &credential);
        std::free(credential.bytes);
        return status;
    });
    add("peers", [] {
        pmix_proc_t* procs = nullptr;
        size_t nprocs = 0;
        const pmix_status_t status = PMIx_Resolve_peers(nullptr, self.nspace, &procs, &nprocs);
        if (procs != nullptr) PMIX_PROC_FREE(procs, nprocs);
        return status;
    });
    add("nodes", [] {
        char* nodes = nullptr;
        const pmix_status_t status = PMIx_Resolve_nodes(self.nspace, &nodes);
        std::free(nodes);
        return status;
    });
    add("spawn", [] {
        static char command[] = "/bin/true";
        static char* argv[] = {command, nullptr};
        pmix_app_t app;
        PMIX_APP_CONSTRUCT(&app);
        app.cmd = command;
        app.argv = argv;
        app.maxprocs = 1;
        pmix_nspace_t nspace;
        return PMIx_Spawn(nullptr, 0, &app, 1, nspace);
    });
    add("store_internal", [] {
        pmix_value_t value;
        value.type = PMIX_INT;
        value.data.integer = 1;
        return PMIx_Store_internal(&self, "stored", &value);
    });
    return calls.take();
}

}  // namespace failing
