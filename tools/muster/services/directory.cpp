// SPDX-License-Identifier: BSD-3-Clause
// The store of published data.
#include "tools/muster/services/directory.hpp"

#include <algorithm>
#include <utility>

namespace muster::launcher {
namespace {

bool names(const std::vector<ProcName>& procs, const ProcName& proc) {
    return std::any_of(procs.begin(), procs.end(), [&](const ProcName& one) {
        return one.nspace == proc.nspace && (one.rank == proc.rank || one.rank == PMIX_RANK_WILDCARD);
    });
}

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

std::optional<std::set<uint32_t>> read_ids(Reader& in) {
    if (in.u32() == 0) return std::nullopt;
    std::set<uint32_t> ids;
    for (uint32_t left = in.count(sizeof(uint32_t)); left > 0; --left)
        ids.insert(in.u32());
    return ids;
}

}  // namespace

void write_range(Writer& out, const PublishRange& range) {
    out.u32(range.range).names(range.procs);
}

PublishRange read_range(Reader& in) {
    PublishRange range;
    range.range = in.u32();
    range.procs = in.names();
    return range;
}

void Directory::asked(Asker asker, Reader& in) {
    const auto request = static_cast<Request>(in.u32());
    Party party;
    party.node = asker.node;
    party.proc = in.name();
    party.uid = in.u32();
    party.gid = in.u32();
    party.is_host = in.u32() != 0;
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

void Directory::publish(Asker asker, const Party& party, Reader& in) {
    Entry model;
    model.owner = party;
    model.range = read_range(in);
    model.persistence = in.u32();
    model.uids = read_ids(in);
    model.gids = read_ids(in);
    Entries added;
    for (uint32_t left = in.count(2 * sizeof(uint64_t)); left > 0 && in.ok(); --left) {
        Entry entry = model;
        entry.key = in.bytes();
        entry.value = in.bytes();
        added.push_back(std::move(entry));
    }
    if (!in.ok() || added.empty()) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    for (auto entry = added.begin(); entry != added.end(); ++entry) {
        auto taken = [&](const Entry& other) {
            return other.key == entry->key &&
                   same_range(other.range, other.owner, entry->range, entry->owner);
        };
        // All or nothing.
        if (std::any_of(entries_.begin(), entries_.end(), taken) ||
            std::any_of(added.begin(), entry, taken)) {
            return hub_.answer(asker, PMIX_ERR_DUPLICATE_KEY);
        }
    }
    entries_.splice(entries_.end(), added);
    hub_.answer(asker, PMIX_SUCCESS);
    serve_waiting();
}

void Directory::look_up(Asker asker, const Party& party, Reader& in) {
    Lookup lookup;
    lookup.asker = asker;
    lookup.party = party;
    if (in.u32() != 0) lookup.range = read_range(in);
    const bool wait = in.u32() != 0;
    const uint32_t wanted = in.u32();
    const uint32_t seconds = in.u32();
    for (uint32_t left = in.count(sizeof(uint64_t)); left > 0 && in.ok(); --left)
        lookup.keys.emplace_back(in.bytes());
    if (!in.ok() || lookup.keys.empty()) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    if (wait) {
        lookup.wanted = wanted == 0 ? lookup.keys.size() : std::min<size_t>(wanted, lookup.keys.size());
    }
    if (answer(lookup, !wait)) return;
    const auto kept = waiting_.insert(waiting_.end(), std::move(lookup));
    if (seconds > 0) {
        kept->timer = hub_.loop().after(std::chrono::seconds(seconds), [this, kept] {
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
    Writer body;
    body.u32(static_cast<uint32_t>(found.size()));
    for (const auto& entry : found)
        body.name(entry->owner.proc)
            .bytes(entry->key)
            .bytes(entry->value)
            .u32(entry->owner.uid)
            .u32(entry->owner.gid);
    hub_.answer(lookup.asker, status, body.body());
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

void Directory::unpublish(Asker asker, const Party& party, Reader& in) {
    std::optional<PublishRange> range;
    if (in.u32() != 0) range = read_range(in);
    std::set<std::string> keys;
    for (uint32_t left = in.count(sizeof(uint64_t)); left > 0 && in.ok(); --left)
        keys.emplace(in.bytes());
    if (!in.ok()) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    // Without keys it is all that the process has published; with keys the session's unless said otherwise.
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
    bool app_ended = true;
    for (uint32_t i = 0; i < program.ranks && app_ended; ++i)
        app_ended = job.ranks[program.first_rank + i].ended;
    entries_.remove_if([&](const Entry& entry) {
        if (entry.owner.proc.nspace != name.nspace) return false;
        if (entry.persistence == PMIX_PERSIST_PROC) return entry.owner.proc == name;
        return entry.persistence == PMIX_PERSIST_APP && app_ended && entry.owner.proc.rank < job.job.size() &&
               job.job.places[entry.owner.proc.rank].app == app;
    });
    forget_waiting(name);
}

void Directory::told(uint32_t, Reader& in) {
    const ProcName name = in.name();
    if (!in.ok() || hub_.jobs().find(name.nspace) != nullptr) return;
    // A tool is a program of its own.
    entries_.remove_if([&](const Entry& entry) {
        return entry.owner.proc == name &&
               (entry.persistence == PMIX_PERSIST_PROC || entry.persistence == PMIX_PERSIST_APP);
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
