// SPDX-License-Identifier: BSD-3-Clause
// The commands that a server understands, as one table: number and handler (docs/wire.md, commands). A
// handler unpacks the request through the bounds-checked reader, calls the service, and answers with the
// request's tag, now or later.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/exchange/command.hpp"
#include "core/exchange/peer.hpp"

namespace muster {

class Server;

struct Request {
    const PeerPtr& peer;
    uint32_t tag;
    Unpacker& in;
    /// Made where something is to answer later.
    mutable std::shared_ptr<OpenRequest> open = nullptr;

    /// What is kept for it beside its bytes and what was read from them, in bytes.
    mutable size_t beside = 0;

    /// Whom to answer later; what keeps it makes the request one that waits.
    Asker asker() const {
        if (!open) open = std::make_shared<OpenRequest>(peer->unanswered);
        return {peer, open};
    }
    /// The handler has returned. Where somebody has still to answer, the request counts from now on with
    /// these bytes.
    void handled(size_t memory) const {
        if (open.use_count() > 1) open->count(memory + beside);
    }
    /// Puts the members in the place of groups, and counts the list. False where there is no such group, or
    /// its members are too many: the request has been answered.
    bool expand(Server& server, std::vector<pmix_proc_t>& procs) const;
    /// Likewise for its directives: `expand` gets the bytes that the members may take, for
    /// GroupTable::expand(). What it gives is passed on; nothing is answered.
    pmix_status_t expand_infos(Server& server,
                               const std::function<pmix_status_t(size_t& room)>& expand) const;
    /// A list of that many processes, for which a few bytes may have stood.
    void keeps(size_t procs) const { beside += procs * sizeof(pmix_proc_t); }
    /// Answers a request whose bytes cannot be read.
    void malformed() const { peer->reply_status(tag, in.failed() ? in.error() : PMIX_ERR_UNPACK_FAILURE); }
};

/// What becomes of a request: it may wait for its answer (so how many do is bounded); it is answered before
/// others have to be (or but once); there is no answer to it.
enum class AnswerTime : uint8_t { MayWait, AtOnce, Never };

struct Handler {
    Command command;
    void (*run)(Server& server, const Request& request);
    AnswerTime answer = AnswerTime::MayWait;
};

/// The handler of a command's number, or nullptr.
const Handler* find_handler(uint8_t code);

/// The name of a registered namespace and its job data as `peer` wants them, the same bytes for all peers
/// that want the same form; null where it is not known or cannot be packed (which is logged).
SharedBytes packed_job_info(Server& server, const char* nspace, const Peer& peer);

/// The handlers, by service.
namespace handle {
void job_info(Server& server, const Request& request);
void abort(Server& server, const Request& request);
void commit(Server& server, const Request& request);
void post(Server& server, const Request& request);
void all_arrived(Server& server, const Request& request);
void fence(Server& server, const Request& request);
void get(Server& server, const Request& request);
void finalize(Server& server, const Request& request);
void notify(Server& server, const Request& request);
void report(Server& server, const Request& request);
void register_events(Server& server, const Request& request);
void deregister_events(Server& server, const Request& request);
void refresh_cache(Server& server, const Request& request);
void resolve_peers(Server& server, const Request& request);
void resolve_nodes(Server& server, const Request& request);
void publish(Server& server, const Request& request);
void lookup(Server& server, const Request& request);
void unpublish(Server& server, const Request& request);
void spawn(Server& server, const Request& request);
void connect(Server& server, const Request& request);
void disconnect(Server& server, const Request& request);
void log(Server& server, const Request& request);
void allocate(Server& server, const Request& request);
void resource_block(Server& server, const Request& request);
void session_control(Server& server, const Request& request);
void job_control(Server& server, const Request& request);
void query(Server& server, const Request& request);
void get_credential(Server& server, const Request& request);
void validate_credential(Server& server, const Request& request);
void fabric_register(Server& server, const Request& request);
void fabric_update(Server& server, const Request& request);
void monitor(Server& server, const Request& request);
void group_construct(Server& server, const Request& request);
void group_construct_runs(Server& server, const Request& request);
void group_destruct(Server& server, const Request& request);
void iof_pull(Server& server, const Request& request);
void iof_push(Server& server, const Request& request);
void iof_deregister(Server& server, const Request& request);
void group_invite(Server& server, const Request& request);
void group_leave(Server& server, const Request& request);
void group_decision(Server& server, const Request& request);
}  // namespace handle

}  // namespace muster
