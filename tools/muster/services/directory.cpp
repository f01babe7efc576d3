// SPDX-License-Identifier: BSD-3-Clause
// The store of published data.
#include "tools/muster/services/directory.hpp"

#include <algorithm>
#include <utility>

namespace muster::launcher {
namespace {

/// Whether `who` is within the range, as seen from `from`.
bool within(const PublishRange& range, const Party& from, const Party& who) {
    switch (range.range) {
        case PMIX_RANGE_RM:
            return who.is_host;
        case PMIX_RANGE_LOCAL:
            return who.node == from.node;
        case PMIX_RANGE_NAMESPACE:
            return who.proc.nspace == from.proc.nspace;
        case PMIX_RANGE_PROC_LOCAL:
            return who.proc == from.proc;
        case PMIX_RANGE_CUSTOM:
            return names(range.procs, who.proc);
        default:  // the session is all that this host runs
            return true;
    }
}

/// Whether two publishers' ranges are the same set of processes.
bool same_range(const PublishRange& a, const Party& of_a, const PublishRange& b, const Party& of_b) {
    if (a != b) return false;
    switch (a.range) {
        case PMIX_RANGE_LOCAL:
            return of_a.node == of_b.node;
        case PMIX_RANGE_NAMESPACE:
            return of_a.proc.nspace == of_b.proc.nspace;
        case PMIX_RANGE_PROC_LOCAL:
            return of_a.proc == of_b.proc;
        default:
            return true;
    }
}

}  // namespace

void Directory::asked(Asker asker, Buffer& in) {
    Request request{};
    Party party;
    in.unpack(request, party);
    party.node = asker.node;
    switch (request) {
        case Request::Publish:
            return publish(asker, party, in);
        case Request::Lookup:
            return look_up(asker, party, in);
        case Request::Unpublish:
            return unpublish(asker, party, in);
    }
    hub_.answer(asker, PMIX_ERR_BAD_PARAM);
}

void Directory::publish(Asker asker, const Party& party, Buffer& in) {
    Publication given;
    if (!in.unpack(given)) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    Entries added;
    for (const auto& [key, value] : given.values)
        added.push_back({key, value, party, given.range, given.persistence, given.uids, given.gids});
    if (added.empty()) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    for (auto entry = added.begin(); entry != added.end(); ++entry) {
        auto taken = [&](const Entry& other) {
            return other.key == entry->key &&
                   same_range(other.range, other.owner, entry->range, entry->owner);
        };
        // All or nothing.
        if (std::ranges::any_of(entries_, taken) || std::any_of(added.begin(), entry, taken)) {
            return hub_.answer(asker, PMIX_ERR_DUPLICATE_KEY);
        }
    }
    entries_.splice(entries_.end(), added);
    hub_.answer(asker, PMIX_SUCCESS);
    serve_waiting();
}

void Directory::look_up(Asker asker, const Party& party, Buffer& in) {
    Lookup lookup;
    lookup.asker = asker;
    lookup.party = party;
    Wish wish;
    if (!in.unpack(wish) || wish.keys.empty()) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    lookup.range = wish.range;
    lookup.keys = wish.keys;
    if (wish.waits)
        lookup.wanted = wish.wanted == 0 ? wish.keys.size() : std::min<size_t>(wish.wanted, wish.keys.size());
    if (answer(lookup, !wish.waits)) return;
    const auto kept = waiting_.insert(waiting_.end(), std::move(lookup));
    if (wish.seconds > 0) {
        kept->timer = hub_.loop.after(std::chrono::seconds(wish.seconds), [this, kept] {
            const Asker who = kept->asker;
            waiting_.erase(kept);
            hub_.answer(who, PMIX_ERR_TIMEOUT);
        });
    }
}

/// Data that a lookup may have. `denied`: there is some that it may not.
Directory::Entries::iterator Directory::find(const Lookup& lookup, const std::string& key, bool& denied) {
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
        if (entry->key != key) continue;
        if (lookup.range && !within(*lookup.range, lookup.party, entry->owner)) continue;
        if (!within(entry->range, entry->owner, lookup.party)) continue;
        if ((entry->uids && !entry->uids->contains(lookup.party.uid)) ||
            (entry->gids && !entry->gids->contains(lookup.party.gid))) {
            denied = true;
            continue;
        }
        return entry;
    }
    return entries_.end();
}

bool Directory::answer(Lookup& lookup, bool at_once) {
    std::vector<Entries::iterator> found;
    size_t denied_keys = 0;
    for (const std::string& key : lookup.keys) {
        bool denied = false;
        const auto entry = find(lookup, key, denied);
        if (entry != entries_.end()) {
            found.push_back(entry);
        } else if (denied) {
            ++denied_keys;
        }
    }
    if (!at_once && found.size() < lookup.wanted) return false;
    int32_t status = PMIX_SUCCESS;
    if (found.empty()) {
        status = denied_keys == lookup.keys.size() ? PMIX_ERR_NO_PERMISSIONS : PMIX_ERR_NOT_FOUND;
    } else if (found.size() < lookup.keys.size()) {
        status = PMIX_ERR_PARTIAL_SUCCESS;
    }
    std::vector<Found> answer;
    for (const auto& entry : found)
        answer.push_back({entry->owner.proc, entry->key, entry->value, entry->owner.uid, entry->owner.gid});
    hub_.answer(lookup.asker, status, pack(answer));
    // A key may have been asked for twice.
    std::set<const Entry*> read;
    for (const auto& entry : found) {
        if (entry->persistence == PMIX_PERSIST_FIRST_READ) read.insert(&*entry);
    }
    entries_.remove_if([&](const Entry& entry) { return read.contains(&entry); });
    return true;
}

void Directory::serve_waiting() {
    for (auto lookup = waiting_.begin(); lookup != waiting_.end();) {
        lookup = answer(*lookup, false) ? waiting_.erase(lookup) : std::next(lookup);
    }
}

void Directory::unpublish(Asker asker, const Party& party, Buffer& in) {
    std::optional<PublishRange> range;
    std::set<std::string> keys;
    if (!in.unpack(range, keys)) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    // Without keys it is all data that the process has published; with keys the default range is the session.
    if (!range && !keys.empty()) range = PublishRange{PMIX_RANGE_SESSION, {}};
    const size_t removed = entries_.remove_if([&](const Entry& entry) {
        return entry.owner.proc == party.proc && (keys.empty() || keys.contains(entry.key)) &&
               (!range || *range == entry.range);
    });
    hub_.answer(asker, removed > 0 || keys.empty() ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
}

void Directory::proc_ended(JobRecord& job, uint32_t rank) {
    const ProcName name{job.job.nspace, rank};
    // The application: the ranks of the same program.
    const uint32_t app = job.job.places[rank].app;
    const App& program = job.job.apps[app];
    const auto ended = [](const RankState& state) { return state.ended && !state.restarting; };
    const auto first = job.ranks.begin() + program.first_rank;
    const bool app_ended = std::all_of(first, first + program.ranks, ended);
    const bool job_ended = app_ended && std::all_of(job.ranks.begin(), job.ranks.end(), ended);
    entries_.remove_if([&](const Entry& entry) {
        if (entry.owner.proc.nspace != name.nspace) return false;
        if (entry.persistence == PMIX_PERSIST_PROC) return entry.owner.proc == name;
        if (entry.persistence == PMIX_PERSIST_NSPACE) return job_ended;
        return entry.persistence == PMIX_PERSIST_APP && app_ended && entry.owner.proc.rank < job.job.size() &&
               job.job.places[entry.owner.proc.rank].app == app;
    });
    forget_waiting(name);
}

void Directory::told(uint32_t, Buffer& in) {
    ProcName name;
    if (!in.unpack(name) || hub_.jobs.find(name.nspace) != nullptr) return;
    // A tool is a separate program.
    entries_.remove_if([&](const Entry& entry) {
        return entry.owner.proc == name &&
               (entry.persistence == PMIX_PERSIST_PROC || entry.persistence == PMIX_PERSIST_APP ||
                entry.persistence == PMIX_PERSIST_NSPACE);
    });
    forget_waiting(name);
}

void Directory::forget_waiting(const ProcName& name) {
    // The node drops the answer.
    for (auto lookup = waiting_.begin(); lookup != waiting_.end();) {
        const auto next = std::next(lookup);
        if (lookup->party.proc == name) {
            hub_.answer(lookup->asker, PMIX_ERR_LOST_CONNECTION);
            waiting_.erase(lookup);
        }
        lookup = next;
    }
}

void Directory::node_gone(uint32_t node) {
    waiting_.remove_if([&](const Lookup& lookup) { return lookup.asker.node == node; });
}

}  // namespace muster::launcher
