// SPDX-License-Identifier: BSD-3-Clause
// net_once: asks the network components, found as every process finds them, to set up one job, and prints
// what its rank 3 gets. Status 1 when there is none.
#include <cstdio>

#include "framework/pnet.hpp"
#include "framework/registry.hpp"

int main() {
    muster::Parameters parameters(muster::Parameters::Sources::standard());
    muster::Registry registry(parameters, muster::Registry::Options::standard(parameters));
    const muster::PnetJob job("job", "here", {"here"}, {0, 0, 0, 0});
    const auto networks = registry.pnets();
    if (networks.empty()) {
        std::printf("%s\n", registry.why_none("pnet").c_str());
        return 1;
    }
    for (const muster::Pnet* network : networks) {
        muster::Info carried, local;
        const auto told = [&](const char* step, const muster::Result<void>& result) {
            if (!result) std::printf("%s: %s\n", step, result.error().text.c_str());
        };
        told("allocate", network->allocate(job, {}, MUSTER_PNET_NONENVARS, carried));
        told("setup_local", network->setup_local(job, carried, local));
        for (const pmix_info_t& info : local) {
            if (info.value.type == PMIX_ENVAR)
                std::printf("%s=%s\n", info.value.data.envar.envar, info.value.data.envar.value);
        }
        std::vector<std::pair<std::string, std::string>> variables;
        told("setup_fork", network->setup_fork({"job", 3}, variables));
        for (const auto& [name, value] : variables)
            std::printf("%s=%s\n", name.c_str(), value.c_str());
        told("deliver_inventory", network->deliver_inventory("there", {}));
        network->deregister("job");
    }
    return 0;
}
