// SPDX-License-Identifier: BSD-3-Clause
// Registration of job data: infos about processes, and their placement.
#include "components/gds/hash/registration.hpp"

#include <cstring>

#include "framework/preg/name_list.hpp"
#include "framework/preg/rank_list.hpp"

namespace muster::gds {
namespace {

/// Whether it is that reserved key, a literal. Reads no byte after it: the next cache line may be uncached.
bool is_key(const char* key, std::string_view reserved) {
    const size_t size = reserved.size() + 1;
    if (size < sizeof(uint64_t)) return false;
    const auto differ = [&](size_t at) {
        return std::memcmp(key + at, reserved.data() + at, sizeof(uint64_t)) != 0;
    };
    for (size_t at = 0; at + sizeof(uint64_t) < size; at += sizeof(uint64_t)) {
        if (differ(at)) return false;
    }
    return !differ(size - sizeof(uint64_t));
}

}  // namespace

Result<void> Registration::place_peers(Staged& staged, uint32_t node, const pmix_info_t& entry,
                                       std::optional<uint32_t> app) {
    const char* text = value_as_string(&entry.value);
    if (text == nullptr) return attribute_error(PMIX_ERR_TYPE_MISMATCH, entry, nspace_, "must be a string");
    struct State {
        JobMapBuilder* map;
        uint32_t node;
        bool strict;
        std::optional<uint32_t> app;
    } state{&builder(staged), node, strict(), app};
    const muster_preg_rank_sink_t sink = {
        &state,
        [](void* data, uint32_t first, uint32_t last) -> pmix_status_t {
            return preg::call_on<State>(data, [&](const State& to) -> pmix_status_t {
                for (uint64_t r = first; r <= last; ++r) {
                    const auto rank = static_cast<pmix_rank_t>(r);
                    if (!(to.strict ? to.map->place(rank, to.node) : to.map->replace(rank, to.node)))
                        return PMIX_ERR_BAD_PARAM;
                    if (to.app) to.map->set_app(rank, *to.app);
                }
                return PMIX_SUCCESS;
            });
        },
        [](void*) -> pmix_status_t { return PMIX_SUCCESS; }};
    const pmix_status_t status = preg::parse_ranks(text, preg::kDefaultLimit, sink);
    if (status == PMIX_ERR_NOMEM) throw std::bad_alloc();
    if (status != PMIX_SUCCESS) {
        return attribute_error(status, entry, nspace_,
                               "is no list of ranks, or places one that is on another node already");
    }
    return {};
}

/// PMIX_LOCAL_PEERS without a node: this process's own.
Result<void> Registration::place_own_peers(Staged& staged, const pmix_info_t& entry) {
    const char* text = value_as_string(&entry.value);
    if (text == nullptr) return attribute_error(PMIX_ERR_TYPE_MISMATCH, entry, nspace_, "must be a string");
    const std::string& hostname = store_.context_.hostname;
    if (*text == '\0' || hostname.empty()) return {};
    JobMapBuilder& map = builder(staged);
    uint32_t node = map.find_node(hostname);
    for (const std::string& alias : store_.context_.aliases) {
        if (node == JobMapBuilder::kNone) node = map.find_node(alias);
    }
    if (node == JobMapBuilder::kNone) {
        // The map may use another name for this node than the system: a rank on it identifies the node.
        const auto first = static_cast<pmix_rank_t>(std::strtoul(text, nullptr, 10));
        node = map.placed(first) ? map.node_of(first) : map.node(hostname);
        map.add_alias(node, hostname);
    }
    return place_peers(staged, node, entry);
}

Result<void> Registration::read_proc(Staged& staged, const pmix_info_t& array, std::optional<uint32_t> app) {
    const Result<InfoView> infos = infos_of(array, nspace_);
    if (!infos) return infos.error();
    const pmix_info_t *rank_entry = nullptr, *proc_entry = nullptr, *host = nullptr;
    if (keys_.size() < (*infos).size) keys_.resize((*infos).size);
    for (size_t i = 0; i < (*infos).size; ++i) {
        const pmix_info_t& entry = (*infos)[i];
        if (keys_[i] == nullptr || !is_key(entry.key, keys_[i]->key))
            keys_[i] = &key_info(key_view(entry.key));
        const Fact fact = keys_[i]->fact;
        if (fact == Fact::Rank && rank_entry == nullptr) rank_entry = &entry;
        if (fact == Fact::ProcId && proc_entry == nullptr) proc_entry = &entry;
        if (fact == Fact::Hostname && host == nullptr) host = &entry;
    }
    std::optional<pmix_rank_t> rank;
    if (rank_entry != nullptr) rank = value_as_number<pmix_rank_t>(&rank_entry->value);
    if (proc_entry != nullptr && proc_entry->value.type == PMIX_PROC &&
        proc_entry->value.data.proc != nullptr) {
        const pmix_proc_t* proc = proc_entry->value.data.proc;
        if (rank && *rank != proc->rank) {
            return attribute_error(PMIX_ERR_BAD_PARAM, array, nspace_, "gives two different ranks");
        }
        rank = proc->rank;
    }
    if (!rank)
        return attribute_error(PMIX_ERR_BAD_PARAM, array, nspace_, "must contain PMIX_RANK or PMIX_PROCID");
    if (*rank >= JobMapBuilder::kMaxRank) {
        return attribute_error(PMIX_ERR_BAD_PARAM, array, nspace_,
                               "has rank " + std::to_string(*rank) + ", which is too high");
    }
    if (app) builder(staged).set_app(*rank, *app);
    // The node's name first: an id may be new.
    if (host != nullptr) {
        if (auto placed = place_on(staged, *rank, *host); !placed) return placed;
    }
    for (size_t i = 0; i < (*infos).size; ++i) {
        if (auto read = read_proc_entry(staged, *rank, (*infos)[i], keys_[i]->fact); !read) return read;
    }
    return {};
}

Result<void> Registration::read_proc_entry(Staged& staged, pmix_rank_t rank, const pmix_info_t& entry,
                                           Fact fact) {
    switch (fact) {
        case Fact::Rank:
        case Fact::ProcId:
        case Fact::Nspace:
        case Fact::Hostname:
            return {};
        case Fact::NodeId:
            return place_on_id(staged, rank, entry);
        case Fact::AppNumber:
        case Fact::AppRank:
        case Fact::LocalRank:
        case Fact::NodeRank:
        case Fact::GlobalRank: {
            const auto number = value_as_number<uint32_t>(&entry.value);
            if (!number) return attribute_error(PMIX_ERR_TYPE_MISMATCH, entry, nspace_, "must be a number");
            JobMapBuilder& map = builder(staged);
            if (fact == Fact::AppNumber) map.set_app(rank, *number);
            if (fact == Fact::AppRank) map.set_app_rank(rank, *number);
            if (fact == Fact::LocalRank) map.set_local_rank(rank, *number);
            if (fact == Fact::NodeRank) map.set_node_rank(rank, *number);
            if (fact == Fact::GlobalRank) map.set_global_rank(rank, *number);
            return {};
        }
        case Fact::QualifiedValue:
            return keep_qualified(staged.qualified[rank], entry);
        default:
            break;
    }
    return keep(staged.job->procs[rank], entry, nspace_);
}

Result<void> Registration::place_on(Staged& staged, pmix_rank_t rank, const pmix_info_t& entry) {
    const char* host = value_as_string(&entry.value);
    if (host == nullptr) return attribute_error(PMIX_ERR_TYPE_MISMATCH, entry, nspace_, "must be a string");
    JobMapBuilder& map = builder(staged);
    uint32_t node = map.node_of(rank);
    if (node != JobMapBuilder::kNone && map.node_name(node) == host) return {};
    node = map.find_node(host);
    if (node == JobMapBuilder::kNone && map.placed(rank)) {
        const uint32_t known = map.node_of(rank);
        if (map.node_name(known).empty()) {
            map.set_name(known, host);
        } else {
            // A separate host name for a process on a node with another name: kept for this process.
            put(staged.job->procs[rank], PMIX_HOSTNAME, Value::from(host));
        }
        return {};
    }
    if (node == JobMapBuilder::kNone) node = map.node(host);
    if (map.place(rank, node)) return {};
    if (strict()) {
        return attribute_error(PMIX_ERR_BAD_PARAM, entry, nspace_,
                               "puts rank " + std::to_string(rank) + " on " + in_quotes(host) +
                                   ", the maps on " + in_quotes(map.node_name(map.node_of(rank))));
    }
    map.replace(rank, node);
    return {};
}

Result<void> Registration::place_on_id(Staged& staged, pmix_rank_t rank, const pmix_info_t& entry) {
    const std::optional<uint32_t> id = value_as_number<uint32_t>(&entry.value);
    if (!id) return attribute_error(PMIX_ERR_TYPE_MISMATCH, entry, nspace_, "must be a number");
    JobMapBuilder& map = builder(staged);
    if (map.placed(rank)) {
        if (map.set_id(map.node_of(rank), *id)) return {};
        // Slurm gives each process the id of the server's own node: the maps take precedence, and the id is
        // kept.
        put(staged.job->procs[rank], PMIX_NODEID, Value::from(*id));
        return {};
    }
    uint32_t node = map.find_node_id(*id);
    if (node == JobMapBuilder::kNone) {
        node = map.add_node();
        map.set_id(node, *id);
    }
    map.place(rank, node);
    return {};
}

}  // namespace muster::gds
