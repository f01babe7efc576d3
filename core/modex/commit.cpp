// SPDX-License-Identifier: BSD-3-Clause
// Stores the values that a process commits, within the limits of the server. See modex.hpp.
#include <string>
#include <utility>

#include "core/exchange/command.hpp"
#include "core/exchange/exchange.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/exchange/peers.hpp"
#include "core/modex/modex.hpp"
#include "framework/base/compress.hpp"

namespace muster {
namespace {

/// The memory of a value in addition to its key and its owned memory.
constexpr size_t kValueOverhead = 128;
/// The memory of posted values is recounted at the earliest after this fraction of the limit.
constexpr size_t kLookAgain = 16;

size_t memory_of(const char* key, const pmix_value_t& value) {
    size_t size = 0;
    if (value_size(&value, &size) != PMIX_SUCCESS) size = sizeof value;
    return kValueOverhead + key_view(key).size() + size;
}

}  // namespace

bool Modex::has_room(LocalClient& client, size_t more) {
    const size_t limit = most_committed_;
    Committed& committed = client.committed;
    const auto fits = [&] {
        const size_t taken = committed.found + committed.since;
        return taken <= limit && more <= limit - taken;
    };
    if (fits()) return true;
    // The running sum counts replaced values twice, so that it is recounted.
    if (committed.since > limit / kLookAgain) {
        committed = {.refusing = committed.refusing};
        exchange_.store().find_posted(client.proc, View::All, [&](const Found& found) {
            committed.found += memory_of(found.key, found.value);
        });
        for (const std::string& key : client.deleted)
            committed.found += kValueOverhead + key.size();
        if (committed.found <= limit / 2) committed.refusing = false;
        if (fits()) return true;
    }
    if (!std::exchange(committed.refusing, true)) {
        MUSTER_LOG(exchange_.log(), Error,
                   "the committed data of %s takes %zu bytes: further data is refused "
                   "(server_base_max_committed)",
                   proc_text(client.proc).c_str(), committed.found + committed.since);
    }
    return false;
}

bool Modex::charge(const pmix_proc_t& proc, InfoView values, size_t times) {
    LocalClient* client = namespaces_.client(proc);
    if (client == nullptr) return true;  // counted where it is local
    size_t more = 0;
    for (const pmix_info_t& one : values)
        more += times * memory_of(one.key, one.value);
    if (!has_room(*client, more)) return false;
    client->committed.since += more;
    return true;
}

void Modex::told(const pmix_proc_t& proc, InfoView values) {
    if (waiting_.count(Proc(proc)) == 0) return;
    Fresh fresh{PMIX_QUALIFIED_VALUE};
    for (const pmix_info_t& one : values)
        fresh.emplace(key_view(one.key));
    retry(Proc(proc), false, &fresh);
}

pmix_status_t Modex::take_in(LocalClient* client, const pmix_proc_t& proc, Unpacker& body, Fresh* fresh) {
    Gds& store = exchange_.store();
    // A few bytes on the wire may expand to a thousand times as many.
    size_t room = most_at_once_;
    while (!body.at_end()) {
        pmix_scope_t scope = PMIX_SCOPE_UNDEF;
        ByteView section;
        BufferType buffer_type = BufferType::NonDescribed;
        if (!body.scope(scope) || !body.buffer(buffer_type, section)) return body.error();
        const bool deletes = scope == PMIX_DEL_LOCAL || scope == PMIX_DEL_REMOTE || scope == PMIX_DEL_GLOBAL;
        if (!deletes && scope != PMIX_LOCAL && scope != PMIX_REMOTE && scope != PMIX_GLOBAL)
            return PMIX_ERR_BAD_PARAM;
        Unpacker values = body.inside(buffer_type, section);
        while (!values.at_end()) {
            std::string key;
            Value value;
            if (!values.kval(key, value)) return values.error();
            // A process may not change the host's data about it.
            if (key_is_reserved(key.c_str()) && !key_is(key.c_str(), PMIX_QUALIFIED_VALUE)) continue;
            if (deletes) {
                if (const pmix_status_t status = take_deletion(client, proc, scope, key);
                    status != PMIX_SUCCESS)
                    return status;
                continue;
            }
            if (const pmix_status_t status = value_decompress(value.get(), &room); status != PMIX_SUCCESS)
                return status;
            const size_t memory = memory_of(key.c_str(), *value);
            if (client != nullptr && !has_room(*client, memory)) return PMIX_ERR_OUT_OF_RESOURCE;
            if (const pmix_status_t status = store.post(proc, scope, key.c_str(), *value);
                status != PMIX_SUCCESS) {
                // The log explains this status: here, or in has_room().
                if (status == PMIX_ERR_OUT_OF_RESOURCE) {
                    MUSTER_LOG(exchange_.log(), Error,
                               "the rest of a commit of %s is not stored: a value has more qualifiers, or "
                               "more values differ in qualifiers alone, than the store takes",
                               proc_text(proc).c_str());
                }
                return status;
            }
            if (client != nullptr) client->committed.since += memory;
            if (client != nullptr && scope != PMIX_LOCAL && !client->deleted.empty()) {
                if (const auto gone = client->deleted.find(key); gone != client->deleted.end())
                    client->deleted.erase(gone);
            }
            if (fresh != nullptr && scope != PMIX_REMOTE) fresh->insert(std::move(key));
        }
        body.count(values);
    }
    return PMIX_SUCCESS;
}

/// A process of this node deletes a key. Other nodes must get the deletion as long
/// as the process lives: each fence may reach other ones.
pmix_status_t Modex::take_deletion(LocalClient* client, const pmix_proc_t& proc, pmix_scope_t scope,
                                   const std::string& key) {
    if (client != nullptr && scope != PMIX_DEL_LOCAL && !client->deleted.contains(key)) {
        const size_t memory = kValueOverhead + key.size();
        if (!has_room(*client, memory)) return PMIX_ERR_OUT_OF_RESOURCE;
        client->deleted.insert(key);
        client->committed.since += memory;
    }
    if (exchange_.store().remove(proc, scope, key.c_str())) tell_deleted(proc, scope, key);
    return PMIX_SUCCESS;
}

void Modex::tell_deleted(const pmix_proc_t& proc, pmix_scope_t scope, const std::string& key) {
    for (const PeerPtr& peer : peers_.all()) {
        const bool listens = peer->version.can(Capability::DataDelete) ||
                             (peer->kind == PeerKind::Client && peer->version.at_least(7, 0));
        // A process has applied its own deletions.
        if (!listens || peer->finalized || proc_is(peer->proc, proc)) continue;
        if (!may_give(peer->proc, peer->uid, proc)) continue;
        Packer message = peer->packer();
        message.proc(proc).scope(scope).string(key.c_str());
        if (message.error() == PMIX_SUCCESS) peer->send_soon(tag::kDelete, message.take());
    }
}

void Modex::tell_deregistered(InfoView info) {
    for (const PeerPtr& peer : peers_.all()) {
        const bool ours = peer->version.can(Capability::DataDelete);
        if (peer->finalized || (!ours && !(peer->kind == PeerKind::Client && peer->version.at_least(7, 0))))
            continue;
        // Each key separately, for OpenPMIx; Muster reads the qualifiers after it.
        for (const pmix_info_t& entry : info) {
            Packer message = peer->packer();
            message.proc(make_proc(peer->proc.nspace, PMIX_RANK_WILDCARD)).scope(PMIX_DEL_INTERNAL);
            message.string(std::string(key_view(entry.key)).c_str());
            if (ours) message.infos({&entry, 1});
            if (message.error() == PMIX_SUCCESS) peer->send_soon(tag::kDelete, message.take());
        }
    }
}

pmix_status_t Modex::commit(const pmix_proc_t& proc, Unpacker& body) {
    LocalClient* client = namespaces_.client(proc);
    const Proc target(proc);
    Fresh fresh;
    const pmix_status_t status = take_in(client, proc, body, waiting_.count(target) != 0 ? &fresh : nullptr);
    // A client beyond its limit has posted the part that fits: requests for more wait no longer than after
    // any commit.
    if (status != PMIX_SUCCESS && status != PMIX_ERR_OUT_OF_RESOURCE) return status;
    if (client != nullptr) ++client->commits;
    retry(target, false, &fresh);
    request_again([&](const Proc& other) { return other == target; });
    return status;
}

}  // namespace muster
