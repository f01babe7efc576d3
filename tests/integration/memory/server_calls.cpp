// SPDX-License-Identifier: BSD-3-Clause
// Calls of servers.
#include <pmix.h>
#include <pmix_server.h>
#include <unistd.h>

#include "tests/integration/memory/callbacks.hpp"

namespace failing {

std::vector<Call> server_calls() {
    static pmix_info_t job[3];
    Calls calls;
    const auto add = [&](const char* name, std::function<pmix_status_t()> run) -> Call& {
        return calls.add(name, std::move(run));
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
    Call& at_once = add("register_nspace_blocking", [] {
        const pmix_status_t status = PMIx_server_register_nspace("job", 2, job, 3, nullptr, nullptr);
        return status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status;
    });
    at_once.before = [register_job] { register_job(); };
    at_once.after = forget;
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
    return calls.take();
}

}  // namespace failing
