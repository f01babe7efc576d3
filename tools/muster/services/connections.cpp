// SPDX-License-Identifier: BSD-3-Clause
// Connect and disconnect over the nodes.
#include "tools/muster/services/connections.hpp"

#include <utility>

namespace muster::launcher {

Connections::Connections(Hub& hub)
    : hub_(hub), gather_(hub.loop(), hub.jobs(), [this](int32_t status, const Gather::Operation& operation) {
          done(status, operation);
      }) {}

void Connections::asked(Asker asker, Reader& in) {
    const auto request = static_cast<Request>(in.u32());
    std::vector<ProcName> procs = in.names();
    const uint32_t seconds = in.u32();
    const char* name = request == Request::Connect ? "connect" : "disconnect";
    const int32_t status = in.ok() ? gather_.add(name, std::move(procs), seconds, asker.node, {asker.id, {}})
                                   : PMIX_ERR_BAD_PARAM;
    if (status != PMIX_SUCCESS) hub_.answer(asker, status);
}

void Connections::done(int32_t status, const Gather::Operation& operation) {
    if (status == PMIX_SUCCESS) {
        std::set<JobRecord*> jobs;
        for (const ProcName& proc : operation.procs) {
            if (JobRecord* record = hub_.jobs().find(proc.nspace)) jobs.insert(record);
        }
        for (JobRecord* one : jobs) {
            for (const JobRecord* other : jobs) {
                if (one == other) continue;
                if (operation.name == "connect") {
                    one->linked.insert(other->job.number);
                } else if (const auto link = one->linked.find(other->job.number); link != one->linked.end()) {
                    one->linked.erase(link);
                }
            }
        }
    }
    for (const auto& [node, part] : operation.parts)
        hub_.answer({node, part.id}, status);
}

void Connections::proc_ended(JobRecord&, uint32_t) {
    gather_.proc_ended();
}

void Connections::node_gone(uint32_t node) {
    gather_.node_gone(node);
}

}  // namespace muster::launcher
