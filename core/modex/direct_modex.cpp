// SPDX-License-Identifier: BSD-3-Clause
// Direct modex: asking the host for the data of a process elsewhere, and answering it for one of this node.
// See modex.hpp.
#include <unistd.h>

#include <algorithm>

#include "core/exchange/exchange.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/modex/modex.hpp"
#include "core/runtime/lookup.hpp"
#include "framework/base/compress.hpp"

namespace muster {
namespace {

/// Interval between two requests to the host for data that a process of another node has not posted yet:
/// initial and maximum.
constexpr std::chrono::milliseconds kFirstPause{20};
constexpr std::chrono::milliseconds kLongestPause{1000};

}  // namespace

void Modex::ask_host(const pmix_proc_t& target) {
    const Proc key(target);
    if (closed_ || in_flight_.count(key) != 0) return;
    WaitingList& list = waiting_[key];
    // For one user at a time, because the host's permission depends on the user.
    auto first = std::ranges::find_if(list, [](const auto& waiting) { return !waiting->asked; });
    if (first == list.end()) {
        for (const auto& waiting : list)
            waiting->asked = false;
        first = list.begin();
    }
    const uint32_t user = first == list.end() ? geteuid() : user_of((*first)->request);
    in_flight_.emplace(key, user);
    Info info;
    for (const auto& waiting : list) {
        if (waiting->asked || user_of(waiting->request) != user) continue;
        waiting->asked = true;
        if (!info.empty()) continue;
        // The directives of the first; and the key, for hosts and servers that can use it.
        if (info.add_copies(waiting->request.info) != PMIX_SUCCESS) info.clear();
        if (waiting->request.key) info.add(PMIX_REQUIRED_KEY, waiting->request.key->c_str());
        // Checks the requestor's access to the data. Only the host knows the owners of remote processes.
        const PeerPtr peer = waiting->request.asker.lock();
        const Caller caller = peer ? Caller::of(*peer) : Caller::host(exchange_.runtime());
        caller.add_identity(info);
        info.add(PMIX_REQUESTOR, waiting->request.requester);
    }
    host_.direct_modex(target, std::move(info), [this, target](HostAnswer answer) {
        host_answered(target, answer.status, answer.data.view());
    });
}

void Modex::host_answered(const pmix_proc_t& target, pmix_status_t status, ByteView data) {
    const Proc key(target);
    // The namespace was deregistered meanwhile: its data must not be stored again.
    const auto asked = in_flight_.extract(key);
    if (asked.empty()) return;
    Gds& store = exchange_.store();
    if (status == PMIX_SUCCESS) {
        TextSet given;
        Unpacker values(exchange_.runtime().own_format(), data);
        while (!values.at_end()) {
            std::string name;
            Value value;
            if (!values.kval(name, value) || value_decompress(value.get()) != PMIX_SUCCESS) {
                MUSTER_LOG(exchange_.log(), Error, "direct modex for %s brought bytes that cannot be read",
                           key.text().c_str());
                break;
            }
            const pmix_status_t stored = store.post_remote(target, name.c_str(), *value);
            if (stored != PMIX_SUCCESS) break;
            given.insert(std::move(name));
        }
        if (values.at_end()) drop_withdrawn(target, given);
    }
    // may_give() needs this record only if the owner is unknown.
    if (status == PMIX_SUCCESS && !is_master(asked.mapped()) && !namespaces_.owner_of(key.to_c()))
        given_to_[key].insert(asked.mapped());
    if (status == PMIX_SUCCESS) keep_foreign(key);
    // This answer completes the requests that were made before it, except for those with a time limit. Later
    // requests are asked for again.
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) return;
    WaitingList list = std::move(found->second);
    waiting_.erase(found);
    WaitingList later;
    bool fresh = false;
    for (auto next = list.begin(); next != list.end();) {
        const auto at = next++;
        Waiting* const waiting = at->get();
        if (auto blob = try_answer(waiting->request)) {
            waiting->done(PMIX_SUCCESS, std::move(*blob));
        } else if (!waiting->asked) {
            fresh = true;
            later.splice(later.end(), list, at);
        } else if (status == PMIX_SUCCESS && waiting->patient) {
            later.splice(later.end(), list, at);
        } else {
            waiting->done(status == PMIX_SUCCESS ? PMIX_ERR_NOT_FOUND : status, {});
        }
    }
    if (later.empty()) {
        again_.erase(key);
        return;
    }
    waiting_[key].splice(waiting_[key].end(), later);
    fresh ? ask_host(target) : ask_again_later(target);
}

/// The host was asked for these keys, and the process does not have them (any more).
void Modex::drop_withdrawn(const pmix_proc_t& target, const TextSet& given) {
    const auto found = waiting_.find(Proc(target));
    if (found == waiting_.end()) return;
    for (const auto& waiting : found->second) {
        const auto& key = waiting->request.key;
        if (!key || key_is_reserved(key->c_str()) || given.contains(*key)) continue;
        if (exchange_.store().remove(target, PMIX_DEL_REMOTE, key->c_str()))
            tell_deleted(target, PMIX_DEL_REMOTE, *key);
    }
}

void Modex::keep_foreign(const Proc& target) {
    const pmix_proc_t proc = target.to_c();
    const auto registered = [this](const pmix_proc_t& one) {
        const Namespace* nspace = namespaces_.find(one.nspace);
        const auto size = exchange_.store().job_size(one.nspace);
        return nspace != nullptr && nspace->registered && (!size || one.rank < *size);
    };
    if (registered(proc) || std::ranges::find(foreign_, target) != foreign_.end()) return;
    foreign_.push_back(target);
    // At least the latest is kept, for the requests that wait for it.
    const size_t most =
        std::max<size_t>(exchange_.runtime().parameters().size("server_base_max_foreign_processes"), 1);
    while (foreign_.size() > most) {
        const Proc oldest = std::move(foreign_.front());
        foreign_.pop_front();
        if (registered(oldest.to_c())) continue;  // since then
        given_to_.erase(oldest);
        exchange_.store().forget(oldest.to_c());
    }
}

void Modex::ask_again_later(const pmix_proc_t& target) {
    Again& again = again_.try_emplace(Proc(target), Again{kFirstPause, nullptr}).first->second;
    again.timer = exchange_.loop().after(again.pause, [this, target] {
        const Proc key(target);
        if (waiting_.count(key) == 0) {
            again_.erase(key);  // with it this timer
        } else {
            ask_host(target);
        }
    });
    again.pause = std::min(2 * again.pause, kLongestPause);
}

void Modex::requested(const pmix_proc_t& proc, OnRequested done) {
    if (closed_) return done(PMIX_ERR_LOST_CONNECTION, {});
    const Gds& store = exchange_.store();
    Namespace* nspace = namespaces_.find(proc.nspace);
    Packer values(exchange_.runtime().own_format());
    if (proc.rank == PMIX_RANK_WILDCARD || proc.rank == PMIX_RANK_UNDEF) {
        if (nspace == nullptr || !nspace->registered) {
            requested_[Proc(proc)].push_back(std::move(done));
            return;
        }
        const Lookup lookup = lookup_of(proc.nspace, PMIX_RANK_WILDCARD);
        store.find(lookup, [&](const Found& found) { values.kval(found.key, found.value); });
        return done(values.error(), values.take());
    }
    const LocalClient* client = nspace == nullptr ? nullptr : nspace->client(proc.rank);
    const bool removed = nspace != nullptr && nspace->removed.contains(proc.rank);
    if (removed || (client != nullptr && (client->commits > 0 || client->gone()))) {
        const pmix_status_t status = store.find_posted(
            proc, View::Remote, [&](const Found& found) { values.kval(found.key, found.value); });
        if (values.error() != PMIX_SUCCESS) return done(values.error(), {});
        // A process that committed without any remote data has an answer, an empty one.
        if (status != PMIX_SUCCESS && (removed || client->commits == 0)) return done(PMIX_ERR_NOT_FOUND, {});
        return done(PMIX_SUCCESS, values.take());
    }
    if (nspace != nullptr && nspace->registered && !nspace->is_local(proc.rank) &&
        nspace->clients.size() >= nspace->local_count()) {
        return done(PMIX_ERR_NOT_FOUND, {});
    }
    requested_[Proc(proc)].push_back(std::move(done));
}

}  // namespace muster
