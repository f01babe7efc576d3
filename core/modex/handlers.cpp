// SPDX-License-Identifier: BSD-3-Clause
// Requests of clients that post and get data (docs/reference/wire.md, commands): see modex.hpp.
#include "core/exchange/exchange.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/exchange/request.hpp"
#include "core/modex/modex.hpp"
#include "framework/base/status.hpp"

namespace muster {
namespace {

/// The context of the handlers; copied into each of them.
struct ModexHandlers {
    Exchange& exchange;
    Namespaces& namespaces;
    Modex& modex;

    void commit(const Request& request) const;
    void post(const Request& request) const;
    void get(const Request& request) const;
    void refresh_cache(const Request& request) const;
    /// Whether a process may have the data of another one, or of its job.
    bool may_read(const Peer& peer, const pmix_proc_t& target) const {
        return nspace_is(peer.proc.nspace, target.nspace) || namespaces.may_use(peer.uid, target);
    }
};

void ModexHandlers::commit(const Request& request) const {
    request.peer->reply_status(request.tag, modex.commit(request.peer->proc, request.in));
}

void ModexHandlers::post(const Request& request) const {
    const pmix_status_t status = modex.commit(request.peer->proc, request.in);
    // has_room() has logged that the limit is reached.
    if (status == PMIX_SUCCESS || status == PMIX_ERR_OUT_OF_RESOURCE) return;
    MUSTER_LOG(exchange.log(), Error, "the rest of a commit of %s is not stored: %s",
               request.peer->text().c_str(), status_text(status));
}

void ModexHandlers::get(const Request& request) const {
    GetRequest get;
    std::string nspace;
    pmix_rank_t rank = PMIX_RANK_UNDEF;
    if (!request.in.string(nspace) || !request.in.rank(rank) || !request.in.infos(get.info))
        return request.malformed();
    if (!request.in.at_end()) {
        std::string key;
        bool none = false;
        if (!request.in.string(key, none)) return request.malformed();
        if (!none) get.key = std::move(key);
    }
    get.requester = request.peer->proc;
    get.asker = request.peer;
    get.target = make_proc(nspace, rank);
    get.format = request.peer->format;
    if (!may_read(*request.peer, get.target))
        return request.peer->reply_status(request.tag, PMIX_ERR_NO_PERMISSIONS);
    modex.get(std::move(get), [ref = request.asker(), tag = request.tag](pmix_status_t status, Bytes blob) {
        const PeerPtr peer = ref.lock();
        if (!peer) return;
        Packer reply = peer->packer();
        reply.status(status);
        if (status == PMIX_SUCCESS) reply.raw(blob.view());
        peer->reply(tag, std::move(reply));
    });
}

void ModexHandlers::refresh_cache(const Request& request) const {
    std::string nspace;
    pmix_rank_t rank = PMIX_RANK_UNDEF;
    if (!request.in.string(nspace) || !request.in.rank(rank)) return request.malformed();
    const pmix_proc_t target = make_proc(nspace, rank);
    const bool job_level = rank == PMIX_RANK_WILDCARD || rank == PMIX_RANK_UNDEF;
    if (!may_read(*request.peer, target) ||
        (!job_level && !modex.may_give(request.peer->proc, request.peer->uid, target)))
        return request.peer->reply_status(request.tag, PMIX_ERR_NO_PERMISSIONS);
    Packer reply = request.peer->packer();
    Packer values = request.peer->packer();
    const Gds& store = exchange.store();
    pmix_status_t status = PMIX_SUCCESS;
    if (job_level) {
        status = store.pack_job(nspace.c_str(), values, false);
    } else {
        const View view = namespaces.is_local(target) ? View::Local : View::All;
        status =
            store.find_posted(target, view, [&](const Found& found) { values.kval(found.key, found.value); });
    }
    reply.status(status);
    if (status == PMIX_SUCCESS) reply.raw(values.view());
    request.peer->reply(request.tag, std::move(reply));
}

}  // namespace

void serve_modex(CommandTable& commands, Exchange& exchange, Namespaces& namespaces, Modex& modex) {
    const ModexHandlers handlers{exchange, namespaces, modex};
    commands.add(
        Command::Commit, [handlers](const Request& request) { handlers.commit(request); },
        AnswerTime::AtOnce);
    commands.add(
        Command::Post, [handlers](const Request& request) { handlers.post(request); }, AnswerTime::Never);
    commands.add(Command::Get, [handlers](const Request& request) { handlers.get(request); });
    commands.add(Command::RefreshCache,
                 [handlers](const Request& request) { handlers.refresh_cache(request); });
}

}  // namespace muster
