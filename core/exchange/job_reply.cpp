// SPDX-License-Identifier: BSD-3-Clause
// Packed job data: see job_reply.hpp.
#include "core/exchange/job_reply.hpp"

#include "core/exchange/namespaces.hpp"
#include "core/runtime/runtime.hpp"
#include "framework/base/status.hpp"

namespace muster {

SharedBytes packed_job_info(Runtime& runtime, Namespaces& namespaces, const char* name, const Peer& peer) {
    Namespace* nspace = namespaces.find(name);
    if (nspace == nullptr || !nspace->registered) return nullptr;
    const bool compact = peer.version.can(Capability::CompactJobData);
    for (const auto& packed : nspace->packed_job) {
        if (packed.compact == compact && packed.format.bfrops == peer.format.bfrops &&
            packed.format.buffer_type == peer.format.buffer_type) {
            return packed.reply;
        }
    }
    Packer reply = peer.packer();
    reply.string(nspace->name);
    if (nspace->synthetic && !runtime.store().knows(name)) {
        // A tool has no job data.
        return std::make_shared<const Bytes>(reply.take());
    }
    const pmix_status_t status = runtime.store().pack_job(name, reply, compact);
    if (status != PMIX_SUCCESS || reply.error() != PMIX_SUCCESS) {
        MUSTER_LOG(runtime.log(), Error, "the job data of %s cannot be packed for %s: %s", name,
                   peer.text().c_str(), status_text(status != PMIX_SUCCESS ? status : reply.error()));
        return nullptr;
    }
    auto shared = std::make_shared<const Bytes>(reply.take());
    nspace->packed_job.push_back({peer.format, compact, shared});
    return shared;
}

}  // namespace muster
