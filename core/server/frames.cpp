// SPDX-License-Identifier: BSD-3-Clause
// Dispatch of a peer's frame to its handler, and the limits of the memory kept for a peer. See server.hpp.
#include "core/exchange/command.hpp"
#include "core/server/server.hpp"
#include "framework/base/status.hpp"

namespace muster {

namespace {
/// Bytes that a peer may leave unread before nothing more is read from it.
constexpr size_t kMostUnread = size_t{4} << 20;
}  // namespace

void Server::on_frame(const PeerPtr& peer, Frame frame) {
    serve(peer, std::move(frame));
    if (!peer->channel || peer->channel->queued() <= kMostUnread) return;
    // It sends requests, and does not read the answers.
    peer->pause(Peer::Pause::Answers, true);
    peer->channel->on_drained([ref = PeerRef(peer)] {
        if (const PeerPtr reader = ref.lock()) reader->pause(Peer::Pause::Answers, false);
    });
}

void Server::serve(const PeerPtr& peer, Frame frame) {
    if (frame.tag == tag::kHeartbeat) return monitors_.beat(peer->proc);
    // It may be one without an answer, so that its sender would not notice.
    if (frame.lost) return lost(peer, "out of memory");
    Unpacker in(peer->format, frame.payload.view());
    in.limit_memory(peer->max_decoded);
    uint8_t code = 0;
    if (!in.command(code)) {
        MUSTER_LOG(log(), Error, "%s sent a message that cannot be read; its connection is closed",
                   peer->text().c_str());
        lost(peer, "unreadable message");
        return;
    }
    MUSTER_LOG(log(), Trace, "%s: %s, tag %u, %zu bytes", peer->text().c_str(), command_name(code), frame.tag,
               frame.payload.size());
    const CommandTable::Handler* handler = commands_.find(code);
    if (handler == nullptr) {
        MUSTER_LOG(log(), Error, "%s sent command %u, which is not known here; answered as not supported",
                   peer->text().c_str(), static_cast<unsigned>(code));
        peer->reply_status(frame.tag, PMIX_ERR_NOT_SUPPORTED);
        return;
    }
    if (handler->answer == AnswerTime::MayWait && peer->unanswered->full()) {
        if (peer->unanswered->first_refusal()) {
            MUSTER_LOG(log(), Error,
                       "%s has %zu requests (%zu bytes) that wait for an answer: more are refused "
                       "(server_base_max_requests, server_base_max_request_memory)",
                       peer->text().c_str(), peer->unanswered->size(), peer->unanswered->memory());
        }
        return peer->reply_status(frame.tag, PMIX_ERR_OUT_OF_RESOURCE);
    }
    const Request request{peer, frame.tag, in};
    if (handler->answer != AnswerTime::Never && !peer->owe(frame.tag)) {
        MUSTER_LOG(log(), Error, "%s of %s:%u is not done: memory is short", command_name(code),
                   peer->proc.nspace, peer->proc.rank);
        return;
    }
    try {
        handler->run(request);
        request.handled(frame.payload.size() + in.memory_taken());
        if (in.failed()) {
            MUSTER_LOG(log(), Error, "%s sent a request (%s) that cannot be read to its end: %s",
                       peer->text().c_str(), command_name(code), status_text(in.error()));
        }
    } catch (const std::bad_alloc&) {
        MUSTER_LOG(log(), Error, "%s of %s:%u is not done: memory is short", command_name(code),
                   peer->proc.nspace, peer->proc.rank);
        if (!request.open && handler->answer != AnswerTime::Never) peer->answer_lost(frame.tag);
    }
    // A handler that answers later has taken the request over.
    if (!request.open) peer->settle(frame.tag);
}

}  // namespace muster
