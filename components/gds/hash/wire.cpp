// SPDX-License-Identifier: BSD-3-Clause
// Job data between server and client: the reply to a client's request (docs/reference/wire.md 7.1), written
// for OpenPMIx's clients and, shorter, for our own, and read from all servers.
#include <algorithm>
#include <set>

#include "components/gds/hash/find.hpp"
#include "components/gds/hash/registration.hpp"
#include "framework/base/value.hpp"

namespace muster::gds {

class JobPacker {
  public:
    JobPacker(const HashStore& store, std::string_view nspace, const Job& job, Packer& out, bool compact)
        : store_(store),
          job_(job),
          finder_(store, nspace, &job),
          out_(out),
          compact_(compact),
          own_(store.own_node(*job.map)) {}

    pmix_status_t pack() {
        pack_job_level();
        pack_session();
        pack_nodes();
        pack_apps();
        if (compact_) pack_map();
        pack_procs();
        return out_.error();
    }

  private:
    void pack_job_level() {
        for (const auto& [key, value] : job_.facts) {
            // The maps are not sent: the client gets their content.
            if (key == PMIX_NODE_MAP || key == PMIX_PROC_MAP) continue;
            out_.kval(key.c_str(), *value.get());
        }
        for (const Fact fact : kDerivedJobFacts) {
            if (job_.facts.contains(key_of(fact))) continue;
            if (compact_ && fact == Fact::NodeList) continue;
            Derived derived;
            if (finder_.derive_job(fact, derived)) out_.kval(key_of(fact), derived.value);
        }
        for (const auto& [key, value] : store_.resources_.facts) {
            if (!job_.facts.contains(key)) out_.kval(key.c_str(), *value.get());
        }
        for (const Qualified& one : job_.qualified)
            out_.kval(PMIX_QUALIFIED_VALUE, *one.as_given());
    }

    static void copy(Info& entries, const Table* table) {
        if (table == nullptr) return;
        for (const auto& [key, value] : *table) {
            if (!entries.view().has(key.c_str())) entries.add_copy(key.c_str(), *value.get());
        }
    }
    void pack_array(const char* key, Info&& entries) {
        const Value array = std::move(entries).to_value();
        out_.kval(key, *array.get());
    }

    void pack_session() {
        Info entries;
        entries.add(PMIX_SESSION_ID, job_.session_id.value_or(UINT32_MAX));
        if (job_.session_id) copy(entries, table_in(store_.sessions_, *job_.session_id));
        copy(entries, &job_.session);
        Derived derived;
        if (!entries.view().has(PMIX_UNIV_SIZE) && finder_.derive_session(Fact::UniverseSize, derived)) {
            entries.add_copy(PMIX_UNIV_SIZE, derived.value);
        }
        pack_array(PMIX_SESSION_INFO_ARRAY, std::move(entries));
    }

    /// Adds the data of a node that the map does not imply.
    void add_node_facts(uint32_t node, Info& entries) {
        copy(entries, table_in(job_.nodes, node));
        if (node == own_) copy(entries, &job_.own_node);
        const ResourceNode* resource =
            store_.resources_.node(job_.map->node_name(node), job_.map->node_id(node));
        if (resource != nullptr) copy(entries, &resource->facts);
        const ResourceNode* in_session =
            store_.session_node(job_.session_id, job_.map->node_name(node), job_.map->node_id(node));
        if (in_session != nullptr) copy(entries, &in_session->facts);
    }

    void pack_nodes() {
        const JobMap& map = *job_.map;
        for (uint32_t node = 0; node < map.node_count(); ++node) {
            Info entries;
            Derived name, id, aliases;
            if (finder_.derive_node(Fact::Hostname, node, name)) entries.add_copy(PMIX_HOSTNAME, name.value);
            if (finder_.derive_node(Fact::NodeId, node, id)) entries.add_copy(PMIX_NODEID, id.value);
            const size_t identity = entries.size();
            add_node_facts(node, entries);
            if (!compact_) {
                for (const Fact fact : kDerivedNodeFacts) {
                    Derived derived;
                    if (!entries.view().has(key_of(fact)) && finder_.derive_node(fact, node, derived))
                        entries.add_copy(key_of(fact), derived.value);
                }
                if (!entries.view().has(PMIX_HOSTNAME_ALIASES) &&
                    finder_.derive_node(Fact::Aliases, node, aliases)) {
                    entries.add_copy(PMIX_HOSTNAME_ALIASES, aliases.value);
                }
            } else if (entries.size() == identity) {
                continue;
            }
            pack_array(PMIX_NODE_INFO_ARRAY, std::move(entries));
        }
        if (own_ == JobMap::kNone && !job_.own_node.empty() && !store_.context_.hostname.empty()) {
            // This node has no process of the job, but some registered data.
            Info entries;
            entries.add(PMIX_HOSTNAME, store_.context_.hostname.c_str());
            copy(entries, &job_.own_node);
            pack_array(PMIX_NODE_INFO_ARRAY, std::move(entries));
        }
    }

    void pack_apps() {
        std::set<uint32_t> numbers;
        for (const auto& [number, table] : job_.apps)
            numbers.insert(number);
        if (!job_.map->single_app()) {
            for (const JobMap::App& app : job_.map->apps())
                numbers.insert(app.number);
        }
        for (const uint32_t number : numbers) {
            Info entries;
            entries.add(PMIX_APPNUM, number);
            copy(entries, table_in(job_.apps, number));
            for (const Fact fact : {Fact::AppSize, Fact::AppLeader}) {
                Derived derived;
                if (!entries.view().has(key_of(fact)) && finder_.derive_app(fact, number, derived))
                    entries.add_copy(key_of(fact), derived.value);
            }
            pack_array(PMIX_APP_INFO_ARRAY, std::move(entries));
        }
    }

    void pack_map() {
        Bytes bytes;
        job_.map->encode(bytes);
        pack_bytes(kJobMapKey, bytes);
    }

    void pack_bytes(const char* key, Bytes& bytes) {
        pmix_value_t value = {};
        value.type = PMIX_BYTE_OBJECT;
        value.data.bo = {reinterpret_cast<char*>(bytes.data()), bytes.size()};
        out_.kval(key, value);
    }

    void pack_proc(pmix_rank_t rank) {
        const Table* table = table_in(job_.procs, rank);
        const bool given = table != nullptr && !table->empty();
        if (compact_ && !given) return;
        Packer blob(out_.format());
        blob.rank(rank);
        bool any = given;
        if (!compact_) {
            for (const Fact fact : kDerivedProcFacts) {
                Derived derived;
                if (given && table->contains(key_of(fact))) continue;
                if (!finder_.derive_proc(fact, rank, derived)) continue;
                any = true;
                blob.kval(key_of(fact), derived.value);
            }
        }
        if (given) {
            for (const auto& [key, value] : *table)
                blob.kval(key.c_str(), *value.get());
        }
        if (!any) return;
        Bytes bytes = blob.take();
        pack_bytes(PMIX_PROC_BLOB, bytes);
    }

    void pack_procs() {
        if (compact_) {
            for (const auto& [rank, table] : job_.procs)
                pack_proc(rank);
            return;
        }
        const pmix_rank_t end = std::max(job_.map->rank_end(), store_.size_of(job_).value_or(0));
        for (pmix_rank_t rank = 0; rank < end && out_.error() == PMIX_SUCCESS; ++rank)
            pack_proc(rank);
    }

    const HashStore& store_;
    const Job& job_;
    Finder finder_;
    Packer& out_;
    bool compact_;
    uint32_t own_;
};

pmix_status_t HashStore::pack_job(const char* nspace, Packer& out, bool compact) const {
    if (nspace == nullptr) return PMIX_ERR_BAD_PARAM;
    try {
        const std::shared_lock lock(content_guard_);
        const Job* known = job(nspace_view(nspace));
        if (known == nullptr) return PMIX_ERR_INVALID_NAMESPACE;
        return JobPacker(*this, nspace_view(nspace), *known, out, compact).pack();
    } catch (const std::bad_alloc&) {
        return PMIX_ERR_NOMEM;
    }
}

namespace {

/// pmix.pblob: a rank and its values. Becomes the array that a host would give.
bool read_proc_blob(Unpacker in, Info& out) {
    pmix_rank_t rank = 0;
    if (!in.rank(rank)) return false;
    Info entries;
    entries.add(PMIX_RANK, Value::rank(rank));
    while (!in.at_end()) {
        std::string key;
        Value value;
        if (!in.kval(key, value)) return false;
        entries.add(key.c_str(), std::move(value));
    }
    out.add(PMIX_PROC_DATA, std::move(entries).to_value());
    return true;
}

/// pmix.mblob: the ranks of each node, by name.
bool read_map_blob(Unpacker in, Info& out) {
    size_t nodes = 0;
    if (!in.size(nodes)) return false;
    for (size_t i = 0; i < nodes; ++i) {
        std::string name;
        Value ranks;
        if (!in.kval(name, ranks)) return false;
        Info entries;
        entries.add(PMIX_HOSTNAME, name.c_str());
        entries.add(PMIX_LOCAL_PEERS, std::move(ranks));
        out.add(PMIX_NODE_INFO_ARRAY, std::move(entries).to_value());
    }
    return true;
}

}  // namespace

Result<void> HashStore::unpack_job(const char* nspace, Unpacker& in) {
    if (nspace == nullptr) return Error{PMIX_ERR_BAD_PARAM, "a namespace must have a name"};
    const auto broken = [&](const std::string& key) {
        return Error{PMIX_ERR_UNPACK_FAILURE, "the server's data of namespace \"" + std::string(nspace) +
                                                  "\" cannot be read at key \"" + key + "\""};
    };
    try {
        Info infos;
        while (!in.at_end()) {
            std::string key;
            Value value;
            if (!in.kval(key, value)) return broken(key);
            const bool proc_blob = key == PMIX_PROC_BLOB;
            if (!proc_blob && key != PMIX_MAP_BLOB) {
                infos.add(key.c_str(), std::move(value));
                continue;
            }
            if (value.type() != PMIX_BYTE_OBJECT) return broken(key);
            const Unpacker inside(in.format(), value_as_bytes(value.get()));
            if (!(proc_blob ? read_proc_blob(inside, infos) : read_map_blob(inside, infos)))
                return broken(key);
        }
        Registration registration(*this, Source::Peer);
        if (infos.size() == 1) registration.is_answer();
        Result<void> result = registration.read(nspace_view(nspace), infos);
        return result ? registration.commit() : result;
    } catch (const std::bad_alloc&) {
        return Error{PMIX_ERR_NOMEM, "no memory for the data of a namespace"};
    }
}

}  // namespace muster::gds
