// SPDX-License-Identifier: BSD-3-Clause
// Registration of job data: the last checks, after all is read, and the change of the store.
#include "components/gds/hash/registration.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace muster::gds {

void put(Table& table, std::string_view key, Value value) {
    const auto at = table.find(key);
    (at != table.end() ? at : table.emplace(key, Value()).first)->second = std::move(value);
}

/// Removes a node's attributes that the map implies; an attribute that contradicts the map is an error.
Result<void> Registration::settle_node(const JobMap& map, uint32_t node, Table& facts) {
    if (node == JobMap::kNone || map.ranks_on(node).empty()) return {};
    const auto ranks = map.ranks_on(node);
    const auto contradicts = [&](const char* key, const std::string& said) {
        return Error{PMIX_ERR_BAD_PARAM, "attribute " + in_quotes(key) + " of namespace " +
                                             in_quotes(nspace_) + " says " + said + " for node " +
                                             in_quotes(map.node_name(node)) + ", which holds " +
                                             std::to_string(ranks.size()) + " processes of the job"};
    };
    if (const auto at = facts.find(PMIX_LOCAL_SIZE); at != facts.end()) {
        const std::optional<uint32_t> size = value_as_number<uint32_t>(at->second.get());
        if (strict() && size != ranks.size()) {
            return contradicts(PMIX_LOCAL_SIZE, size ? std::to_string(*size) : std::string("no number"));
        }
        if (size == ranks.size()) facts.erase(at);
    }
    if (const auto at = facts.find(PMIX_LOCAL_PEERS); at != facts.end()) {
        const char* peers = value_as_string(at->second.get());
        // All that are named were placed here, so it is the number that can differ.
        const auto named =
            peers == nullptr || *peers == '\0' ? 0 : std::count(peers, peers + std::strlen(peers), ',') + 1;
        const bool range = peers != nullptr && std::strchr(peers, '-') != nullptr;
        if (strict() && !range && static_cast<size_t>(named) != ranks.size()) {
            return contradicts(PMIX_LOCAL_PEERS, std::to_string(named) + " processes");
        }
        facts.erase(at);
    }
    if (const auto at = facts.find(PMIX_LOCALLDR); at != facts.end()) {
        if (value_as_number<uint32_t>(at->second.get()) == ranks.front()) facts.erase(at);
    }
    return {};
}

/// Greater than any number of processes.
static constexpr uint32_t kUnsaid = UINT32_MAX;

/// Node ranks continue after the processes of earlier jobs on a node; node ranks that the host gives for
/// single ranks take precedence.
void Registration::count_node_ranks(JobMapBuilder& map) {
    std::vector<uint32_t> next;
    for (const auto& [nspace, other] : store_.jobs_) {
        const JobMap& theirs = *other->map;
        theirs.each_node_name([&](uint32_t node, std::string_view name) {
            const size_t count = theirs.ranks_on(node).size();
            const uint32_t here = count != 0 ? map.find_node_named(name) : JobMap::kNone;
            if (here == JobMap::kNone) return;
            next.resize(map.node_count(), 0);
            next[here] += static_cast<uint32_t>(count);
        });
    }
    for (pmix_rank_t rank = 0; !next.empty() && rank < map.rank_end(); ++rank) {
        const uint32_t node = map.node_of(rank);
        if (node == JobMap::kNone) continue;
        const uint32_t node_rank = next[node]++;
        if (!map.has_node_rank(rank)) map.set_node_rank(rank, node_rank);
    }
}

Result<void> Registration::finish(std::string_view nspace, Staged& staged) {
    nspace_ = nspace;
    Job& job = *staged.job;
    const Value* size = find(job.facts, PMIX_JOB_SIZE);
    if (size == nullptr && staged.known != nullptr) size = find(staged.known->facts, PMIX_JOB_SIZE);
    const uint32_t job_size =
        size != nullptr ? value_as_number<uint32_t>(size->get()).value_or(kUnsaid) : kUnsaid;
    if (job_size != kUnsaid && (staged.builder || staged.known == nullptr))
        builder(staged).set_rank_end(job_size);

    // Applications may be given by their size and first rank alone.
    if (job.apps.size() > 1) {
        uint64_t told = 0;
        for (const auto& [number, table] : job.apps) {
            const Value *count = find(table, PMIX_APP_SIZE), *leader = find(table, PMIX_APPLDR);
            if (count == nullptr || leader == nullptr) continue;
            const uint64_t first = value_as_number<uint32_t>(leader->get()).value_or(0);
            const uint64_t end = first + value_as_number<uint32_t>(count->get()).value_or(0);
            told += end - first;
            // More ranks than the job has: the applications overlap, and the counts are unusable.
            if (std::max(end, told) > builder(staged).rank_end()) continue;
            for (uint64_t rank = first; rank < end; ++rank) {
                if (!builder(staged).has_app(static_cast<pmix_rank_t>(rank))) {
                    builder(staged).set_app(static_cast<pmix_rank_t>(rank), number);
                }
            }
        }
    }
    const bool first_map = staged.known == nullptr || staged.known->map->rank_end() == 0;
    if (strict() && staged.builder && first_map) count_node_ranks(*staged.builder);
    if (staged.builder) job.map = std::make_shared<const JobMap>(std::move(*staged.builder).build());
    const JobMap& map = staged.builder ? *job.map : staged.known != nullptr ? *staged.known->map : *job.map;
    // OpenPMIx takes such a job, and its processes are those of the map.
    if (strict() && map.placed() > job_size) put(job.facts, PMIX_JOB_SIZE, Value::from(map.placed()));
    for (auto& [node, table] : job.nodes) {
        if (auto settled = settle_node(map, node, table); !settled) return settled;
    }
    return settle_node(map, store_.own_node(map), job.own_node);
}

namespace {

using gds::move_in;

/// Reserves space, so that only pointers remain to be moved.
void make_room(Table& into, const Table& from) {
    into.reserve(into.size() + from.size());
}

template <class Key>
void make_room(std::unordered_map<Key, Table>& into, const std::unordered_map<Key, Table>& from) {
    into.reserve(into.size() + from.size());
    for (const auto& [key, table] : from) {
        const auto known = into.find(key);
        if (known != into.end()) make_room(known->second, table);
    }
}

void move_in(std::vector<Qualified>& into, std::vector<Qualified>& from) {
    for (Qualified& qualified : from) {
        const auto known = std::find_if(into.begin(), into.end(), [&](const Qualified& other) {
            return other.key == qualified.key && same_qualifiers(other.qualifiers, qualified.qualifiers);
        });
        if (known != into.end()) {
            *known = std::move(qualified);
        } else {
            into.push_back(std::move(qualified));
        }
    }
}

}  // namespace

/// Adds and replaces; a new map replaces the old one.
void Registration::merge(Job& into, Job& from) {
    make_room(into.facts, from.facts);
    make_room(into.own_node, from.own_node);
    make_room(into.session, from.session);
    make_room(into.nodes, from.nodes);
    make_room(into.apps, from.apps);
    make_room(into.procs, from.procs);
    into.qualified.reserve(into.qualified.size() + from.qualified.size());
    // Nothing fails from here on.
    move_in(into.facts, from.facts);
    move_in(into.own_node, from.own_node);
    move_in(into.session, from.session);
    move_in(into.nodes, from.nodes);
    move_in(into.apps, from.apps);
    move_in(into.procs, from.procs);
    move_in(into.qualified, from.qualified);
    if (from.session_id) into.session_id = from.session_id;
    into.sessionless = !into.session_id && (into.sessionless || from.sessionless);
    if (from.local_procs) into.local_procs = from.local_procs;
}

Result<void> Registration::commit() {
    for (auto& [nspace, staged] : jobs_) {
        if (auto finished = finish(nspace, staged); !finished) return finished;
    }
    const std::unique_lock lock(store_.content_guard_);
    store_.jobs_.reserve(store_.jobs_.size() + jobs_.size());
    make_room(store_.sessions_, sessions_);
    std::vector<std::pair<Job*, Staged*>> known;
    NameIndex<std::unique_ptr<Job>> fresh;
    for (auto& [nspace, staged] : jobs_) {
        const auto at = store_.jobs_.find(nspace);
        Job* job = at != store_.jobs_.end()
                       ? at->second.get()
                       : fresh.emplace(nspace, std::make_unique<Job>()).first->second.get();
        known.emplace_back(job, &staged);
        for (auto& [rank, qualified] : staged.qualified) {
            std::vector<Qualified>& into = job->posted[rank].qualified;
            into.reserve(into.size() + qualified.size());
        }
    }
    for (const auto& [job, staged] : known) {
        merge(*job, *staged->job);
        if (staged->builder) job->map = std::move(staged->job->map);
        for (auto& [rank, qualified] : staged->qualified)
            move_in(job->posted[rank].qualified, qualified);
    }
    while (!fresh.empty())
        store_.jobs_.insert(fresh.extract(fresh.begin()));
    move_in(store_.sessions_, sessions_);
    return {};
}

}  // namespace muster::gds
