// SPDX-License-Identifier: BSD-3-Clause
// Calls about the node: its topology, the binding of processes, and its fabrics.
#include <pmix.h>
#include <pmix_server.h>

#include <cstdlib>

#include "tests/integration/memory/callbacks.hpp"

namespace failing {
namespace {

pmix_cpuset_t mine, parsed;
pmix_topology_t described;
pmix_fabric_t fabric;

pmix_status_t get_mine() {
    PMIX_CPUSET_DESTRUCT(&mine);
    PMIX_CPUSET_CONSTRUCT(&mine);
    return PMIx_Get_cpuset(&mine, PMIX_CPUBIND_PROCESS);
}

void find_mine() {
    if (mine.bitmap == nullptr) get_mine();
}

void forget_fabric() {
    PMIx_Fabric_deregister(&fabric);
}

void have_fabric() {
    PMIX_FABRIC_CONSTRUCT(&fabric);
    PMIx_Fabric_register(&fabric, nullptr, 0);
}

void fabric_calls(Calls& calls) {
    const auto fresh = [] { PMIX_FABRIC_CONSTRUCT(&fabric); };
    Call& made = calls.add("fabric", [] { return PMIx_Fabric_register(&fabric, nullptr, 0); });
    made.before = fresh;
    made.after = forget_fabric;
    Call& made_nb = calls.add("fabric_nb", [] {
        return wait_for(
            [](void* data) { return PMIx_Fabric_register_nb(&fabric, nullptr, 0, on_status, data); });
    });
    made_nb.before = fresh;
    made_nb.after = forget_fabric;
    Call& updated = calls.add("fabric_update", [] { return PMIx_Fabric_update(&fabric); });
    updated.before = have_fabric;
    updated.after = forget_fabric;
    Call& updated_nb = calls.add("fabric_update_nb", [] {
        return wait_for([](void* data) { return PMIx_Fabric_update_nb(&fabric, on_status, data); });
    });
    updated_nb.before = have_fabric;
    updated_nb.after = forget_fabric;
    calls.add("fabric_end", [] { return PMIx_Fabric_deregister(&fabric); }).before = have_fabric;
    calls
        .add("fabric_end_nb",
             [] {
                 return wait_for(
                     [](void* data) { return PMIx_Fabric_deregister_nb(&fabric, on_status, data); });
             })
        .before = have_fabric;
}

}  // namespace

std::vector<Call> node_calls() {
    Calls calls;
    const auto add = [&](const char* name, std::function<pmix_status_t()> run) -> Call& {
        return calls.add(name, std::move(run));
    };
    add("topology", [] {
        PMIX_TOPOLOGY_CONSTRUCT(&described);
        const pmix_status_t status = PMIx_Load_topology(&described);
        PMIx_Topology_destruct(&described);
        return status;
    });
    add("cpuset", get_mine);
    add("parse_cpuset", [] {
        PMIX_CPUSET_CONSTRUCT(&parsed);
        const pmix_status_t status = PMIx_Parse_cpuset_string("hwloc:0", &parsed);
        PMIX_CPUSET_DESTRUCT(&parsed);
        return status;
    });
    add("locality", [] {
        pmix_locality_t locality = 0;
        return PMIx_Get_relative_locality("hwloc:NM0:CR0", "hwloc:NM0:CR1", &locality);
    });
    add("distances", [] {
        pmix_device_distance_t* distances = nullptr;
        size_t count = 0;
        const pmix_status_t status = PMIx_Compute_distances(nullptr, &mine, nullptr, 0, &distances, &count);
        if (distances != nullptr) PMIX_DEVICE_DIST_FREE(distances, count);
        return status;
    }).before = find_mine;
    add("distances_nb", [] {
        return wait_for([](void* data) {
            return PMIx_Compute_distances_nb(nullptr, &mine, nullptr, 0, on_distances, data);
        });
    }).before = find_mine;
    fabric_calls(calls);
    return calls.take();
}

}  // namespace failing
