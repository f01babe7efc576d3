// SPDX-License-Identifier: BSD-3-Clause
// See calls.hpp.
#include "tests/integration/memory/calls.hpp"

#include <pmix_server.h>
#include <pmix_tool.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace failing {
namespace {

constexpr pmix_status_t kCode = -3000;

pmix_proc_t self, everybody;
std::atomic<long> promised{0}, called{0};
size_t handler = 0;
pmix_server_module_t module;

// The call that is not blocking and waited for now: its callback is told from late ones by its number.
std::atomic<pmix_status_t> answer;
std::atomic<bool> here;
std::atomic<long> number;

void on_status(pmix_status_t status, void* data) {
    ++called;
    if (reinterpret_cast<long>(data) != number) return;
    answer = status;
    here = true;
}

void on_value(pmix_status_t status, pmix_value_t*, void* data) {
    on_status(status, data);
}

void on_info(pmix_status_t status, pmix_info_t*, size_t, void* data, pmix_release_cbfunc_t release,
             void* release_data) {
    if (release != nullptr) release(release_data);
    on_status(status, data);
}

void on_handler(pmix_status_t status, size_t id, void* data) {
    handler = id;
    on_status(status, data);
}

void on_lookup(pmix_status_t status, pmix_pdata_t*, size_t, void* data) {
    on_status(status, data);
}

void on_setup(pmix_status_t status, pmix_info_t*, size_t, void* data, pmix_op_cbfunc_t release,
              void* release_data) {
    if (release != nullptr) release(PMIX_SUCCESS, release_data);
    on_status(status, data);
}

void on_event(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t[], size_t, pmix_info_t[], size_t,
              pmix_event_notification_cbfunc_fn_t done, void* data) {
    if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
}

/// `start` begins a call with the data of its callback.
template <class Start>
pmix_status_t wait_for(const Start& start) {
    here = false;
    const pmix_status_t status = start(reinterpret_cast<void*>(++number));
    if (status != PMIX_SUCCESS) return status;
    ++promised;
    while (!here)
        usleep(50);
    return answer;
}

pmix_info_t* info(const char* key, const void* value, pmix_data_type_t type) {
    static pmix_info_t one;
    PMIX_INFO_LOAD(&one, key, value, type);
    return &one;
}

pmix_status_t discard(pmix_info_t* results, size_t nresults, pmix_status_t status) {
    if (results != nullptr) PMIX_INFO_FREE(results, nresults);
    return status;
}

pmix_query_t* namespaces() {
    static char key[] = PMIX_QUERY_NAMESPACES;
    static char* keys[] = {key, nullptr};
    static pmix_query_t query{keys, nullptr, 0};
    return &query;
}

/// Calls of everybody who has somebody to ask.
std::vector<Call> common_calls() {
    static const int one = 1;
    std::vector<Call> calls;
    const auto add = [&](const char* name, std::function<pmix_status_t()> run) -> Call& {
        calls.push_back({name, std::move(run)});
        return calls.back();
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
    add("publish", [] { return PMIx_Publish(info("published", &one, PMIX_INT), 1); }).after = unpublish;
    add("publish_nb", [] {
        return wait_for([](void* data) {
            return PMIx_Publish_nb(info("published", &one, PMIX_INT), 1, on_status, data);
        });
    }).after = unpublish;
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
    return calls;
}

std::vector<Call> client_calls() {
    static const bool on = true;
    std::vector<Call> calls = common_calls();
    const auto add = [&](const char* name, std::function<pmix_status_t()> run) -> Call& {
        calls.push_back({name, std::move(run)});
        return calls.back();
    };
    const auto put = [] {
        pmix_value_t value;
        value.type = PMIX_INT;
        value.data.integer = 1;
        return PMIx_Put(PMIX_GLOBAL, "put", &value);
    };
    add("put", put);
    add("commit", [] { return PMIx_Commit(); }).before = [put] { put(); };
    add("fence", [] { return PMIx_Fence(nullptr, 0, nullptr, 0); });
    add("fence_data", [] { return PMIx_Fence(&everybody, 1, info(PMIX_COLLECT_DATA, &on, PMIX_BOOL), 1); });
    add("fence_timeout", [] {
        const int seconds = 2;
        return PMIx_Fence(&everybody, 1, info(PMIX_TIMEOUT, &seconds, PMIX_INT), 1);
    });
    add("fence_nb", [] {
        return wait_for([](void* data) { return PMIx_Fence_nb(&everybody, 1, nullptr, 0, on_status, data); });
    });
    add("connect", [] { return PMIx_Connect(&everybody, 1, nullptr, 0); }).after = [] {
        PMIx_Disconnect(&everybody, 1, nullptr, 0);
    };
    add("disconnect", [] { return PMIx_Disconnect(&everybody, 1, nullptr, 0); }).before = [] {
        PMIx_Connect(&everybody, 1, nullptr, 0);
    };
    const auto construct = [] {
        pmix_info_t* results = nullptr;
        size_t nresults = 0;
        const pmix_status_t status =
            PMIx_Group_construct("group", &everybody, 1, nullptr, 0, &results, &nresults);
        return discard(results, nresults, status);
    };
    const auto destruct = [] { PMIx_Group_destruct("group", nullptr, 0); };
    Call& constructed = add("construct", construct);
    constructed.before = destruct;  // one whose answer was lost may be there
    constructed.after = destruct;
    Call& constructed_nb = add("construct_nb", [] {
        return wait_for([](void* data) {
            return PMIx_Group_construct_nb("group", &everybody, 1, nullptr, 0, on_info, data);
        });
    });
    constructed_nb.before = destruct;
    constructed_nb.after = destruct;
    add("destruct", [] { return PMIx_Group_destruct("group", nullptr, 0); }).before = [construct] {
        construct();
    };
    return calls;
}

std::vector<Call> server_calls() {
    static pmix_info_t job[3];
    std::vector<Call> calls;
    const auto add = [&](const char* name, std::function<pmix_status_t()> run) -> Call& {
        calls.push_back({name, std::move(run)});
        return calls.back();
    };
    static pmix_proc_t client;
    PMIX_LOAD_PROCID(&client, "job", 0);
    const auto register_job = [] {
        if (job[0].value.type == PMIX_UNDEF) {
            char host[256] = "";
            gethostname(host, sizeof host - 1);
            char *nodes = nullptr, *ranks = nullptr;
            PMIx_generate_regex(host, &nodes);
            PMIx_generate_ppn("0,1", &ranks);
            const uint32_t size = 2;
            PMIX_INFO_LOAD(&job[0], PMIX_NODE_MAP, nodes, PMIX_REGEX);
            PMIX_INFO_LOAD(&job[1], PMIX_PROC_MAP, ranks, PMIX_REGEX);
            PMIX_INFO_LOAD(&job[2], PMIX_JOB_SIZE, &size, PMIX_UINT32);
        }
        return PMIX_SUCCESS;
    };
    const auto nspace = [] {
        return wait_for(
            [](void* data) { return PMIx_server_register_nspace("job", 2, job, 3, on_status, data); });
    };
    const auto forget = [] { PMIx_server_deregister_nspace("job", nullptr, nullptr); };
    Call& registered = add("register_nspace", nspace);
    registered.before = [register_job] { register_job(); };
    registered.after = forget;
    const auto known = [register_job, nspace] {
        register_job();
        nspace();
    };
    add("register_nspace_blocking", [] {
        return PMIx_server_register_nspace("job", 2, job, 3, nullptr, nullptr);
    }).after = forget;
    const auto prepare = [&](Call& call) {
        call.before = known;
        call.after = forget;
    };
    prepare(add("register_client", [] {
        return wait_for([](void* data) {
            return PMIx_server_register_client(&client, getuid(), getgid(), nullptr, on_status, data);
        });
    }));
    prepare(add("setup_fork", [] {
        char** env = nullptr;
        const pmix_status_t status = PMIx_server_setup_fork(&client, &env);
        PMIx_Argv_free(env);
        return status;
    }));
    prepare(add("setup_application", [] {
        return wait_for(
            [](void* data) { return PMIx_server_setup_application("job", nullptr, 0, on_setup, data); });
    }));
    prepare(add("setup_local_support", [] {
        return wait_for(
            [](void* data) { return PMIx_server_setup_local_support("job", nullptr, 0, on_status, data); });
    }));
    prepare(add("iof_deliver", [] {
        static char text[] = "x";
        static pmix_byte_object_t bytes{text, 1};
        return wait_for([](void* data) {
            return PMIx_server_IOF_deliver(&client, PMIX_FWD_STDOUT_CHANNEL, &bytes, nullptr, 0, on_status,
                                           data);
        });
    }));
    prepare(add("deregister_client", [] {
        return wait_for([](void* data) {
            PMIx_server_deregister_client(&client, on_status, data);
            return PMIX_SUCCESS;
        });
    }));
    Call& define =
        add("define_process_set", [] { return PMIx_server_define_process_set(&client, 1, "set"); });
    define.after = [] { PMIx_server_delete_process_set(const_cast<char*>("set")); };
    add("collect_inventory", [] {
        return wait_for([](void* data) { return PMIx_server_collect_inventory(nullptr, 0, on_info, data); });
    });
    add("notify", [] {
        return wait_for([](void* data) {
            return PMIx_Notify_event(kCode, &self, PMIX_RANGE_LOCAL, nullptr, 0, on_status, data);
        });
    });
    add("register", [] {
        return wait_for([](void* data) {
            pmix_status_t code = kCode;
            return PMIx_Register_event_handler(&code, 1, nullptr, 0, on_event, on_handler, data);
        });
    }).after = [] { PMIx_Deregister_event_handler(handler, nullptr, nullptr); };
    return calls;
}

}  // namespace

std::vector<Call> calls_of(const std::string& role) {
    const auto as = [&](const auto& init) {
        return [init] {
            const pmix_status_t status = init();
            PMIX_LOAD_PROCID(&everybody, self.nspace, PMIX_RANK_WILDCARD);
            return status;
        };
    };
    const auto begun = [&]() -> std::function<pmix_status_t()> {
        if (role == "client") return as([] { return PMIx_Init(&self, nullptr, 0); });
        if (role == "tool")
            return as([] {
                return PMIx_tool_init(&self, info(PMIX_SERVER_URI, std::getenv("SERVER_URI"), PMIX_STRING),
                                      1);
            });
        return as([] { return PMIx_server_init(&module, nullptr, 0); });
    };
    const auto ended = [&]() -> std::function<pmix_status_t()> {
        if (role == "client") return [] { return PMIx_Finalize(nullptr, 0); };
        if (role == "tool") return [] { return PMIx_tool_finalize(); };
        return [] { return PMIx_server_finalize(); };
    };
    std::vector<Call> calls = role == "client" ? client_calls()
                              : role == "tool" ? common_calls()
                                               : server_calls();
    const auto init = begun(), finalize = ended();
    calls.push_back({"init", init, [] {}, [finalize] { finalize(); }});
    calls.push_back({"finalize", finalize, [init] {
                         if (PMIx_Initialized() == 0) init();
                     }});
    return calls;
}

bool callbacks_are_right() {
    for (int looks = 0; looks < 200 && called < promised; ++looks)
        usleep(1000);
    return called == promised;
}

}  // namespace failing
