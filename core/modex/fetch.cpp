// SPDX-License-Identifier: BSD-3-Clause
// Asking the server for data: see fetch.hpp.
#include "core/modex/fetch.hpp"

#include "core/exchange/command.hpp"
#include "framework/base/compress.hpp"

namespace muster {
namespace {

pmix_status_t take_in(Exchange& exchange, Unpacker& reply) {
    Gds& store = exchange.store();
    while (!reply.at_end()) {
        ByteView bytes;
        pmix_proc_t proc{};
        if (!reply.bytes(bytes)) return reply.error();
        Unpacker object(reply.format(), bytes);
        if (!object.proc(proc)) return object.error();
        if (proc.rank == PMIX_RANK_WILDCARD) {
            if (auto taken = store.unpack_job(proc.nspace, object); !taken) {
                MUSTER_LOG(exchange.log(), Error, "job data of %s: %s", proc.nspace,
                           taken.error().text.c_str());
                return taken.status();
            }
            continue;
        }
        const bool own = proc_is(proc, exchange.self());
        while (!object.at_end()) {
            std::string key;
            Value value;
            if (!object.kval(key, value)) return object.error();
            if (const pmix_status_t status = value_decompress(value.get()); status != PMIX_SUCCESS)
                return status;
            // This process's own values are newer than the server's copies.
            if (own && !key_is_reserved(key.c_str())) continue;
            if (const pmix_status_t status = store.post(proc, PMIX_GLOBAL, key.c_str(), *value);
                status != PMIX_SUCCESS) {
                return status;
            }
        }
    }
    return PMIX_SUCCESS;
}

}  // namespace

void fetch(Exchange& exchange, const pmix_proc_t& target, const char* key, InfoView info,
           Upstream::OnStatus done, bool refresh) {
    Upstream* upstream = exchange.upstream();
    if (upstream == nullptr) return done(PMIX_ERR_NOT_FOUND);
    Packer message = upstream->packer(Command::Get);
    message.string(target.nspace).rank(target.rank).infos(info);
    if (key != nullptr) message.string(key);
    if (const pmix_status_t error = message.error(); error != PMIX_SUCCESS) return done(error);
    std::string stale;
    if (refresh && key != nullptr && !key_is_reserved(key) && target.rank < PMIX_RANK_VALID) stale = key;
    upstream->request(std::move(message),
                      [&exchange, target, stale = std::move(stale), done = std::move(done)](Unpacker* reply) {
                          if (reply == nullptr) return done(PMIX_ERR_LOST_CONNECTION);
                          pmix_status_t status = PMIX_SUCCESS;
                          if (!reply->status(status)) return done(reply->error());
                          if (!stale.empty() && (status == PMIX_SUCCESS || status == PMIX_ERR_NOT_FOUND))
                              exchange.store().remove(target, PMIX_DEL_GLOBAL, stale.c_str());
                          done(status == PMIX_SUCCESS ? take_in(exchange, *reply) : status);
                      });
}

void follow_deletions(Exchange& exchange, Upstream& upstream) {
    upstream.on_message(tag::kDelete, [&exchange, &upstream](const Frame& frame) {
        Unpacker in(upstream.format(), frame.payload.view());
        pmix_proc_t proc{};
        pmix_scope_t scope = PMIX_SCOPE_UNDEF;
        std::string key;
        if (!in.proc(proc) || !in.scope(scope) || !in.string(key)) return;
        const bool deletes = scope == PMIX_DEL_LOCAL || scope == PMIX_DEL_REMOTE ||
                             scope == PMIX_DEL_GLOBAL || scope == PMIX_DEL_INTERNAL;
        if (!deletes) return;
        if (proc.rank == PMIX_RANK_WILDCARD) {
            // Resources that the host has deregistered.
            Info entries;
            if (in.at_end()) {
                entries.add(key.c_str(), Value());
            } else if (!in.infos(entries)) {
                return;
            }
            return exchange.store().forget_resources(entries);
        }
        // Whichever readers lose it: what this process may still have, the server has.
        const bool own = proc_is(proc, exchange.self());
        exchange.store().remove(proc, own ? scope : PMIX_DEL_GLOBAL, key.c_str());
    });
}

}  // namespace muster
