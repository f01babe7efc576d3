// SPDX-License-Identifier: BSD-3-Clause
// Fences and direct modexes between the nodes.
#include "tools/muster/services/router.hpp"

#include <pmix_common.h>

#include <utility>

namespace muster::launcher {

Router::Router(Loop& loop, JobTable& jobs, Report& report, Send send)
    : loop_(loop),
      jobs_(jobs),
      report_(report),
      send_(std::move(send)),
      fences_(loop, jobs,
              [this](int32_t status, const Gather::Operation& fence) { fence_done(status, fence); }) {}

void Router::on_message(uint32_t node, Kind kind, uint64_t id, std::string_view body) {
    switch (kind) {
        case Kind::Fence:
            fence(node, id, body);
            break;
        case Kind::Modex:
            modex(node, id, body);
            break;
        case Kind::ModexDone: {
            Reader in(body);
            const int32_t status = in.i32();
            const std::string_view bytes = in.bytes();
            answer_modex(id, in.ok() ? status : PMIX_ERROR, bytes);
            break;
        }
        default:
            break;
    }
}

void Router::fence(uint32_t node, uint64_t id, std::string_view body) {
    Reader in(body);
    std::vector<ProcName> procs = in.names();
    const uint32_t seconds = in.u32();
    std::string bytes(in.bytes());
    const int32_t status = in.ok()
                               ? fences_.add("fence", std::move(procs), seconds, node, {id, std::move(bytes)})
                               : PMIX_ERR_BAD_PARAM;
    if (status != PMIX_SUCCESS) send_(node, Kind::FenceDone, id, Writer().i32(status).bytes({}));
}

void Router::fence_done(int32_t status, const Gather::Operation& fence) {
    std::string together;
    if (status == PMIX_SUCCESS) {
        for (const auto& [node, part] : fence.parts)
            together += part.bytes;
        report_.fence(Report::Clock::now() - fence.begin, together.size());
    }
    const Writer answer = Writer().i32(status).bytes(together);
    for (const auto& [node, part] : fence.parts) {
        if (!send_(node, Kind::FenceDone, part.id, answer)) {
            send_(node, Kind::FenceDone, part.id, Writer().i32(PMIX_ERR_OUT_OF_RESOURCE).bytes({}));
        }
    }
}

void Router::proc_ended() {
    fences_.proc_ended();
}

void Router::node_gone(uint32_t node) {
    gone_.insert(node);
    fences_.node_gone(node);
    std::vector<uint64_t> lost;
    for (const auto& [id, modex] : modexes_) {
        if (modex.target == node) lost.push_back(id);
    }
    for (uint64_t id : lost)
        answer_modex(id, PMIX_ERR_LOST_CONNECTION, {});
}

void Router::modex(uint32_t node, uint64_t id, std::string_view body) {
    Reader in(body);
    const ProcName proc = in.name();
    const uint32_t seconds = in.u32();
    const JobRecord* record = in.ok() ? jobs_.find(proc.nspace) : nullptr;
    if (record == nullptr || proc.rank >= record->job.size() ||
        gone_.contains(record->job.places[proc.rank].node)) {
        send_(node, Kind::ModexDone, id, Writer().i32(PMIX_ERR_NOT_FOUND).bytes({}));
        return;
    }
    const uint64_t own = next_id_++;
    Modex& modex = modexes_[own];
    modex.asker = node;
    modex.target = record->job.places[proc.rank].node;
    modex.id = id;
    if (seconds > 0) {
        modex.timer = loop_.after(std::chrono::seconds(seconds),
                                  [this, own] { answer_modex(own, PMIX_ERR_TIMEOUT, {}); });
    }
    send_(modex.target, Kind::ModexAsk, own, Writer().name(proc));
}

void Router::answer_modex(uint64_t id, int32_t status, std::string_view bytes) {
    const auto found = modexes_.find(id);
    if (found == modexes_.end()) return;
    send_(found->second.asker, Kind::ModexDone, found->second.id, Writer().i32(status).bytes(bytes));
    modexes_.erase(found);
}

}  // namespace muster::launcher
