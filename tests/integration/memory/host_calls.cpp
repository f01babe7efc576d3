// SPDX-License-Identifier: BSD-3-Clause
// Calls of a server's host other than those of a job's life: sessions, resources, regular expressions,
// locality.
#include <pmix.h>
#include <pmix_server.h>

#include <cstdlib>

#include "tests/integration/memory/callbacks.hpp"

namespace failing {
namespace {

pmix_proc_t nobody;
pmix_cpuset_t bound;

pmix_status_t register_session() {
    static const uint32_t size = 1;
    return wait_for([](void* data) {
        return PMIx_server_register_session(7, info(PMIX_UNIV_SIZE, &size, PMIX_UINT32), 1, on_status, data);
    });
}

void forget_session() {
    PMIx_server_deregister_session(7, nullptr, nullptr);
}

pmix_status_t register_resources() {
    static const int number = 1;
    return wait_for([](void* data) {
        return PMIx_server_register_resources(info("resource", &number, PMIX_INT), 1, on_status, data);
    });
}

void forget_resources() {
    PMIx_server_deregister_resources(info("resource", nullptr, PMIX_UNDEF), 1, nullptr, nullptr);
}

void have_cpuset() {
    if (bound.bitmap == nullptr) PMIx_Get_cpuset(&bound, PMIX_CPUBIND_PROCESS);
}

/// A call that returns a text.
pmix_status_t text_of(pmix_status_t (*make)(char** text)) {
    char* text = nullptr;
    const pmix_status_t status = make(&text);
    std::free(text);
    return status;
}

pmix_status_t parsed(const pmix_regex2_t& regex) {
    char* text = nullptr;
    const pmix_status_t status = PMIx_parse_regex2(&regex, nullptr, 0, &text);
    std::free(text);
    return status;
}

void texts(Calls& calls) {
    calls.add("regex", [] {
        return text_of([](char** text) { return PMIx_generate_regex("node1,node2,node3,other", text); });
    });
    calls.add("ppn",
              [] { return text_of([](char** text) { return PMIx_generate_ppn("0,1;2,3;4-6;7", text); }); });
    calls
        .add("locality_string",
             [] {
                 return text_of(
                     [](char** text) { return PMIx_server_generate_locality_string(&bound, text); });
             })
        .before = have_cpuset;
    calls
        .add("cpuset_string",
             [] {
                 return text_of([](char** text) { return PMIx_server_generate_cpuset_string(&bound, text); });
             })
        .before = have_cpuset;
    calls.add("generate_cpuset", [] {
        pmix_cpuset_t made;
        PMIX_CPUSET_CONSTRUCT(&made);
        const pmix_status_t status = PMIx_server_generate_cpuset("hwloc:0", &made);
        PMIX_CPUSET_DESTRUCT(&made);
        return status;
    });
    calls.add("regex2", [] {
        pmix_regex2_t made = PMIX_REGEX2_STATIC_INIT;
        pmix_status_t status = PMIx_generate_regex2("node1,node2,node3", nullptr, 0, &made);
        if (status == PMIX_SUCCESS) status = parsed(made);
        PMIx_Regex2_destruct(&made);
        return status;
    });
}

}  // namespace

std::vector<Call> host_calls() {
    Calls calls;
    const auto add = [&](const char* name, std::function<pmix_status_t()> run) -> Call& {
        return calls.add(name, std::move(run));
    };
    PMIX_LOAD_PROCID(&nobody, "nobody", 0);
    Call& session = add("register_session", register_session);
    session.after = forget_session;
    add("deregister_session", [] {
        return wait_for([](void* data) {
            PMIx_server_deregister_session(7, on_status, data);
            return PMIX_SUCCESS;
        });
    }).before = [] { register_session(); };
    add("register_resources", register_resources).after = forget_resources;
    add("deregister_resources", [] {
        return wait_for([](void* data) {
            return PMIx_server_deregister_resources(info("resource", nullptr, PMIX_UNDEF), 1, on_status,
                                                    data);
        });
    }).before = [] { register_resources(); };
    add("deliver_inventory", [] {
        static char text[] = "inventory";
        return wait_for([](void* data) {
            return PMIx_server_deliver_inventory(info("some", text, PMIX_STRING), 1, nullptr, 0, on_status,
                                                 data);
        });
    });
    add("flow_control", [] {
        return wait_for([](void* data) {
            return PMIx_server_IOF_flow_control(&nobody, PMIX_FWD_STDOUT_CHANNEL, true, nullptr, 0, on_status,
                                                data);
        });
    });
    const auto register_nobodies = [] {
        wait_for(
            [](void* data) { return PMIx_server_register_nspace("nobody", 1, nullptr, 0, on_status, data); });
    };
    add("dmodex", [] {
        pmix_proc_t job;
        PMIX_LOAD_PROCID(&job, "nobody", PMIX_RANK_WILDCARD);
        return wait_for([&](void* data) { return PMIx_server_dmodex_request(&job, on_modex, data); });
    }).before = register_nobodies;
    add("deregister_nspace", [] {
        return wait_for([](void* data) {
            PMIx_server_deregister_nspace("nobody", on_status, data);
            return PMIX_SUCCESS;
        });
    }).before = [] {
        wait_for(
            [](void* data) { return PMIx_server_register_nspace("nobody", 0, nullptr, 0, on_status, data); });
    };
    add("delete_process_set", [] {
        return PMIx_server_delete_process_set(const_cast<char*>("set"));
    }).before = [] { PMIx_server_define_process_set(&nobody, 1, "set"); };
    add("collect_job_info", [] {
        pmix_data_buffer_t buffer;
        PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
        const pmix_status_t status = PMIx_server_collect_job_info(&nobody, 1, &buffer);
        PMIX_DATA_BUFFER_DESTRUCT(&buffer);
        return status;
    });
    add("register_attributes", [] {
        static char function[] = "PMIx_Get", attribute[] = "PMIX_TIMEOUT";
        static char* attributes[] = {attribute, nullptr};
        const pmix_status_t status = PMIx_Register_attributes(function, attributes);
        return status == PMIX_ERR_REPEAT_ATTR_REGISTRATION ? PMIX_SUCCESS : status;
    });
    texts(calls);
    return calls.take();
}

}  // namespace failing
