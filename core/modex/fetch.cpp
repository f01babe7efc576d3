// SPDX-License-Identifier: BSD-3-Clause
// Asking the server for data: see fetch.hpp.
#include "core/modex/fetch.hpp"

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
            // What we posted ourselves is newer than the server's copy of it.
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
           Upstream::OnStatus done) {
    Upstream* upstream = exchange.upstream();
    if (upstream == nullptr) return done(PMIX_ERR_NOT_FOUND);
    Packer message = upstream->packer(Command::Get);
    message.string(target.nspace).rank(target.rank).infos(info);
    if (key != nullptr) message.string(key);
    if (const pmix_status_t error = message.error(); error != PMIX_SUCCESS) return done(error);
    upstream->request(std::move(message), [&exchange, done = std::move(done)](Unpacker* reply) {
        if (reply == nullptr) return done(PMIX_ERR_LOST_CONNECTION);
        pmix_status_t status = PMIX_SUCCESS;
        if (!reply->status(status)) return done(reply->error());
        done(status == PMIX_SUCCESS ? take_in(exchange, *reply) : status);
    });
}

}  // namespace muster
