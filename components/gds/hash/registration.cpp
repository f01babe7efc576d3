// SPDX-License-Identifier: BSD-3-Clause
// Taking job data in: reading and checking the attributes of register_job, and of a server's reply.
#include "components/gds/hash/registration.hpp"

#include <algorithm>

#include "framework/preg/name_list.hpp"
#include "framework/preg/rank_list.hpp"

namespace muster::gds {
namespace {

/// Arrays of infos may stand in each other this deep.
constexpr int kMaxDepth = 16;

std::string quoted(std::string_view key) {
    return "\"" + std::string(key) + "\"";
}

/// The bytes of a map: a string or a regular expression.
std::optional<ByteView> map_bytes(const pmix_value_t& value) {
    if (value.type == PMIX_STRING && value.data.string != nullptr) {
        return ByteView(reinterpret_cast<const uint8_t*>(value.data.string), std::strlen(value.data.string));
    }
    if (value.type == PMIX_REGEX && value.data.bo.bytes != nullptr && value.data.bo.size != 0) {
        return ByteView(reinterpret_cast<const uint8_t*>(value.data.bo.bytes), value.data.bo.size);
    }
    return std::nullopt;
}

void put(Table& table, std::string_view key, Value value) {
    const auto at = table.find(key);
    if (at != table.end()) {
        at->second = std::move(value);
    } else {
        table.emplace(key, std::move(value));
    }
}

}  // namespace

Error attribute_error(pmix_status_t code, const pmix_info_t& info, std::string_view where,
                      const std::string& what) {
    return {code, "attribute " + quoted(key_view(info.key)) + " of namespace " + quoted(where) + " " + what};
}

Result<Value> copy_value(const pmix_info_t& info, std::string_view where) {
    pmix_value_t copy;
    const pmix_status_t status = value_copy(&copy, &info.value);
    if (status == PMIX_ERR_NOMEM) throw std::bad_alloc();
    if (status != PMIX_SUCCESS)
        return attribute_error(status, info, where, "has a value that cannot be copied");
    return Value::adopt(copy);
}

Result<InfoView> infos_of(const pmix_info_t& info, std::string_view where) {
    const pmix_data_array_t* array = info.value.type == PMIX_DATA_ARRAY ? info.value.data.darray : nullptr;
    if (array == nullptr || (array->size != 0 && (array->type != PMIX_INFO || array->array == nullptr))) {
        return attribute_error(PMIX_ERR_TYPE_MISMATCH, info, where,
                               "must be an array of infos (PMIX_DATA_ARRAY)");
    }
    return InfoView{static_cast<const pmix_info_t*>(array->array), array->size};
}

Result<Qualified> read_qualified(const pmix_value_t& value) {
    const InfoView infos = value_as_infos(&value);
    if (infos.empty()) return Error{PMIX_ERR_BAD_PARAM, "a qualified value must be an array of infos"};
    Qualified out;
    out.key = key_view(infos[0].key);
    std::optional<Value> copy = Value::copy_of(&infos[0].value);
    std::optional<Info> qualifiers = Info::copy_of(infos.data + 1, infos.size - 1);
    if (!copy || !qualifiers) return Error{PMIX_ERR_BAD_PARAM, "a qualified value cannot be copied"};
    out.value = std::make_shared<const Value>(std::move(*copy));
    out.qualifiers = std::move(*qualifiers);
    return out;
}

Registration::Staged& Registration::stage(std::string_view nspace) {
    const auto known = jobs_.find(nspace);
    if (known != jobs_.end()) return known->second;
    Staged& staged = jobs_[std::string(nspace)];
    staged.known = store_.job(nspace);
    return staged;
}

JobMapBuilder& Registration::builder(Staged& staged) {
    if (!staged.builder) {
        if (staged.known != nullptr) {
            staged.builder.emplace(*staged.known->map);
        } else {
            staged.builder.emplace();
        }
    }
    return *staged.builder;
}

Result<void> Registration::read(std::string_view nspace, InfoView info, std::optional<uint32_t> local_procs) {
    if (nspace.empty() || nspace.size() > PMIX_MAX_NSLEN) {
        return Error{PMIX_ERR_BAD_PARAM, "a namespace must have a name of 1 to 255 characters"};
    }
    if (info.data == nullptr && info.size != 0) {
        return Error{PMIX_ERR_BAD_PARAM, "the array of infos for namespace " + quoted(nspace) + " is NULL"};
    }
    nspace_ = nspace;
    Staged& staged = stage(nspace);
    if (local_procs) staged.job->local_procs = local_procs;
    if (info.is_true(PMIX_REGISTER_NODATA)) return {};
    Entries entries;
    Result<void> result = flatten(nspace, info, 0, entries);
    if (result) result = read_job(nspace, entries, 0);
    return result;
}

/// Collects the attributes of a job, also those in job arrays; sets other jobs and sessions apart.
Result<void> Registration::flatten(std::string_view nspace, InfoView info, int depth, Entries& out) {
    for (const pmix_info_t& entry : info) {
        const Fact fact = key_info(key_view(entry.key)).fact;
        if (fact != Fact::JobArray && fact != Fact::SessionArray) {
            out.push_back(&entry);
            continue;
        }
        if (depth == kMaxDepth)
            return attribute_error(PMIX_ERR_BAD_PARAM, entry, nspace, "is nested too deep");
        if (fact == Fact::SessionArray) {
            Result<void> result = read_session(nspace, entry, depth + 1);
            if (!result) return result;
            continue;
        }
        const Result<InfoView> inside = infos_of(entry, nspace);
        if (!inside) return inside.error();
        const char* other = (*inside).string(PMIX_NSPACE);
        Result<void> result;
        if (other == nullptr || nspace == other) {
            result = flatten(nspace, *inside, depth + 1, out);
        } else {
            Entries entries;
            result = flatten(other, *inside, depth + 1, entries);
            if (result) result = read_job(other, entries, depth + 1);
        }
        if (!result) return result;
    }
    return {};
}

Result<void> Registration::read_session(std::string_view nspace, const pmix_info_t& array, int depth) {
    const Result<InfoView> infos = infos_of(array, nspace);
    if (!infos) return infos.error();
    const std::optional<uint32_t> id = (*infos).number<uint32_t>(PMIX_SESSION_ID);
    if (strict() && !id) {
        return attribute_error(PMIX_ERR_BAD_PARAM, array, nspace, "must contain PMIX_SESSION_ID, a number");
    }
    Staged& staged = stage(nspace);
    const bool has_id = id && *id != UINT32_MAX;
    if (has_id) {
        Result<void> result = read_session_id(staged, *(*infos).find(PMIX_SESSION_ID));
        if (!result) return result;
    }
    Table& table = has_id ? sessions_[*id] : staged.job->session;
    Entries job_entries;
    for (const pmix_info_t& entry : *infos) {
        const Fact fact = key_info(key_view(entry.key)).fact;
        if (fact == Fact::SessionId) continue;
        if (fact == Fact::JobArray || fact == Fact::SessionArray) {
            Result<void> result = flatten(nspace, {&entry, 1}, depth, job_entries);
            if (!result) return result;
            continue;
        }
        if (fact == Fact::NodeArray || fact == Fact::AppArray || fact == Fact::ProcArray) {
            job_entries.push_back(&entry);
            continue;
        }
        Result<Value> copy = copy_value(entry, nspace);
        if (!copy) return copy.error();
        put(table, key_view(entry.key), std::move(*copy));
    }
    return read_job(nspace, job_entries, depth);
}

Result<void> Registration::read_session_id(Staged& staged, const pmix_info_t& entry) {
    const std::optional<uint32_t> id = value_as_number<uint32_t>(&entry.value);
    if (!id) return attribute_error(PMIX_ERR_TYPE_MISMATCH, entry, nspace_, "must be a number");
    if (*id == UINT32_MAX) return {};
    std::optional<uint32_t> before = staged.job->session_id;
    if (!before && staged.known != nullptr) before = staged.known->session_id;
    if (strict() && before && *before != *id) {
        return attribute_error(
            PMIX_ERR_BAD_PARAM, entry, nspace_,
            "says " + std::to_string(*id) + ", but the job belongs to session " + std::to_string(*before));
    }
    staged.job->session_id = id;
    sessions_.try_emplace(*id);
    return {};
}

Result<void> Registration::read_maps(Staged& staged, const Entries& entries) {
    const pmix_info_t *nodes = nullptr, *procs = nullptr, *raw_nodes = nullptr, *raw_procs = nullptr,
                      *anl = nullptr;
    for (const pmix_info_t* entry : entries) {
        if (key_view(entry->key) == kJobMapKey) {
            const pmix_value_t& value = entry->value;
            if (value.type != PMIX_BYTE_OBJECT)
                return attribute_error(PMIX_ERR_TYPE_MISMATCH, *entry, nspace_, "must be bytes");
            Result<JobMap> map =
                JobMap::decode({reinterpret_cast<const uint8_t*>(value.data.bo.bytes), value.data.bo.size});
            if (!map) return map.error();
            staged.builder.emplace(*map);
        }
        switch (key_info(key_view(entry->key)).fact) {
            case Fact::NodeMap:
                nodes = entry;
                break;
            case Fact::ProcMap:
                procs = entry;
                break;
            case Fact::NodeMapRaw:
                raw_nodes = entry;
                break;
            case Fact::ProcMapRaw:
                raw_procs = entry;
                break;
            case Fact::AnlMap:
                anl = entry;
                break;
            default:
                break;
        }
    }
    if (nodes == nullptr) nodes = raw_nodes;
    if (procs == nullptr) procs = raw_procs;
    const auto bytes = [](const pmix_info_t* entry) {
        return entry != nullptr ? map_bytes(entry->value) : std::optional<ByteView>();
    };
    for (const pmix_info_t* entry : {nodes, procs}) {
        if (entry != nullptr && !bytes(entry)) {
            return attribute_error(PMIX_ERR_TYPE_MISMATCH, *entry, nspace_,
                                   "must be a string or a regular expression");
        }
    }
    if (anl != nullptr && value_as_string(&anl->value) == nullptr) {
        return attribute_error(PMIX_ERR_TYPE_MISMATCH, *anl, nspace_, "must be a string");
    }
    const std::vector<Preg*>& pregs = store_.context_.pregs;
    Result<void> result;
    if (nodes != nullptr && procs != nullptr) {
        result = builder(staged).read_maps(pregs, *bytes(nodes), *bytes(procs));
    } else if (nodes != nullptr) {
        result = builder(staged).read_node_map(pregs, *bytes(nodes));
    }
    if (!result) {
        const pmix_info_t& about =
            procs != nullptr && result.error().text.starts_with("the process map") ? *procs : *nodes;
        return attribute_error(result.status(), about, nspace_, "is refused: " + result.error().text);
    }
    staged.node_map_given = staged.node_map_given || nodes != nullptr;
    if (anl != nullptr && procs == nullptr) {
        result = builder(staged).read_anl_map(value_as_string(&anl->value));
        if (!result)
            return attribute_error(result.status(), *anl, nspace_, "is refused: " + result.error().text);
    }
    return {};
}

Result<void> Registration::read_job(std::string_view nspace, const Entries& entries, int /*depth*/) {
    const std::string outer = std::exchange(nspace_, std::string(nspace));
    Staged& staged = stage(nspace);
    Result<void> result = read_maps(staged, entries);
    // Nodes before processes: what a process says of its node needs them.
    for (const pmix_info_t* entry : entries) {
        if (!result) return result;
        if (key_info(key_view(entry->key)).fact == Fact::NodeArray) result = read_node(staged, *entry);
    }
    for (const pmix_info_t* entry : entries) {
        if (!result) return result;
        switch (key_info(key_view(entry->key)).fact) {
            case Fact::NodeArray:
                break;
            case Fact::AppArray:
                result = read_app(staged, *entry);
                break;
            case Fact::ProcArray:
                result = read_proc(staged, *entry, {});
                break;
            default:
                result = read_single(staged, *entry);
                break;
        }
    }
    nspace_ = outer;
    return result;
}

/// An attribute outside of any array: the realm is that of its key.
Result<void> Registration::read_single(Staged& staged, const pmix_info_t& entry) {
    Job& job = *staged.job;
    const std::string_view key = key_view(entry.key);
    const KeyInfo& info = key_info(key);
    if (key.empty()) return attribute_error(PMIX_ERR_BAD_PARAM, entry, nspace_, "has no key");
    if (key == kJobMapKey) return {};
    switch (info.fact) {
        case Fact::SessionId:
            return read_session_id(staged, entry);
        case Fact::RegisterNoData:
            return {};
        case Fact::Nspace:
            if (strict() &&
                (value_as_string(&entry.value) == nullptr || nspace_ != value_as_string(&entry.value))) {
                return attribute_error(PMIX_ERR_BAD_PARAM, entry, nspace_, "names another namespace");
            }
            return {};
        case Fact::JobSize:
        case Fact::NumNodes:
        case Fact::MaxProcs:
        case Fact::NumSlots:
        case Fact::JobApps:
        case Fact::UniverseSize:
        case Fact::Offset: {
            // Of whatever integer type: kept as the Standard says.
            const std::optional<uint32_t> number = value_as_number<uint32_t>(&entry.value);
            if (!number) return attribute_error(PMIX_ERR_TYPE_MISMATCH, entry, nspace_, "must be a number");
            if (info.fact == Fact::JobSize && *number > JobMapBuilder::kMaxRank) {
                return attribute_error(PMIX_ERR_OUT_OF_RESOURCE, entry, nspace_, "is too large");
            }
            if (info.fact == Fact::Offset) builder(staged).set_global_offset(*number);
            if (info.fact == Fact::UniverseSize) {
                put(job.session, key, Value::from(*number));
            } else {
                put(job.facts, key, info.fact == Fact::Offset ? Value::rank(*number) : Value::from(*number));
            }
            return {};
        }
        case Fact::LocalPeers: {
            Result<void> result = place_own_peers(staged, entry);
            if (!result) return result;
            break;
        }
        case Fact::QualifiedValue: {
            Result<Qualified> qualified = read_qualified(entry.value);
            if (!qualified)
                return attribute_error(qualified.status(), entry, nspace_,
                                       "is refused: " + qualified.error().text);
            job.qualified.push_back(std::move(*qualified));
            return {};
        }
        default:
            break;
    }
    Result<Value> copy = copy_value(entry, nspace_);
    if (!copy) return copy.error();
    switch (info.realm) {
        case Lookup::Realm::Session:
            put(job.session, key, std::move(*copy));
            break;
        case Lookup::Realm::Node:
            put(job.own_node, key, std::move(*copy));
            break;
        case Lookup::Realm::App:
            put(job.apps[0], key, std::move(*copy));
            break;
        default:
            put(job.facts, key, std::move(*copy));
            break;
    }
    return {};
}

Result<void> Registration::read_node(Staged& staged, const pmix_info_t& array) {
    const Result<InfoView> infos = infos_of(array, nspace_);
    if (!infos) return infos.error();
    const pmix_info_t* host_entry = (*infos).find(PMIX_HOSTNAME);
    const pmix_info_t* id_entry = (*infos).find(PMIX_NODEID);
    const char* host = host_entry != nullptr ? value_as_string(&host_entry->value) : nullptr;
    const std::optional<uint32_t> id =
        id_entry != nullptr ? value_as_number<uint32_t>(&id_entry->value) : std::nullopt;
    if ((host_entry != nullptr && (host == nullptr || *host == '\0')) || (id_entry != nullptr && !id)) {
        return attribute_error(PMIX_ERR_TYPE_MISMATCH, array, nspace_,
                               "names its node by something else than a string or number");
    }
    if (host == nullptr && !id) {
        return attribute_error(PMIX_ERR_BAD_PARAM, array, nspace_,
                               "must contain PMIX_HOSTNAME or PMIX_NODEID");
    }
    JobMapBuilder& map = builder(staged);
    uint32_t node = host != nullptr ? map.find_node(host) : map.find_node_id(*id);
    if (node == JobMapBuilder::kNone && host != nullptr && id) {
        const uint32_t by_id = map.find_node_id(*id);
        if (by_id != JobMapBuilder::kNone && map.node_name(by_id).empty()) {
            map.set_name(by_id, host);
            node = by_id;
        }
    }
    if (node == JobMapBuilder::kNone) node = host != nullptr ? map.node(host) : map.add_node();
    if (id && !map.set_id(node, *id) && strict()) {
        return attribute_error(PMIX_ERR_BAD_PARAM, array, nspace_,
                               "gives node " + quoted(map.node_name(node)) + " the id " +
                                   std::to_string(*id) + ", which contradicts what was said before");
    }
    Table& table = staged.job->nodes[node];
    for (const pmix_info_t& entry : *infos) {
        switch (key_info(key_view(entry.key)).fact) {
            case Fact::Hostname:
            case Fact::NodeId:
                continue;
            case Fact::Aliases:
                if (const char* aliases = value_as_string(&entry.value)) {
                    for_each_part(aliases, [&](std::string_view alias) { map.add_alias(node, alias); });
                } else {
                    return attribute_error(PMIX_ERR_TYPE_MISMATCH, entry, nspace_, "must be a string");
                }
                continue;
            case Fact::LocalPeers: {
                Result<void> result = place_peers(staged, node, entry);
                if (!result) return result;
                break;
            }
            default:
                break;
        }
        Result<Value> copy = copy_value(entry, nspace_);
        if (!copy) return copy.error();
        put(table, key_view(entry.key), std::move(*copy));
    }
    return {};
}

Result<void> Registration::place_peers(Staged& staged, uint32_t node, const pmix_info_t& entry) {
    const char* text = value_as_string(&entry.value);
    if (text == nullptr) return attribute_error(PMIX_ERR_TYPE_MISMATCH, entry, nspace_, "must be a string");
    struct State {
        JobMapBuilder* map;
        uint32_t node;
        bool strict;
    } state{&builder(staged), node, strict()};
    const muster_preg_rank_sink_t sink = {
        &state,
        [](void* data, uint32_t first, uint32_t last) -> pmix_status_t {
            const auto* self = static_cast<State*>(data);
            try {
                for (uint64_t r = first; r <= last; ++r) {
                    const auto rank = static_cast<pmix_rank_t>(r);
                    if (!(self->strict ? self->map->place(rank, self->node)
                                       : self->map->replace(rank, self->node))) {
                        return PMIX_ERR_BAD_PARAM;
                    }
                }
            } catch (const std::bad_alloc&) {
                return PMIX_ERR_NOMEM;
            }
            return PMIX_SUCCESS;
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
        // The map may know this node by a name that the system does not: its ranks tell which one it is.
        const auto first = static_cast<pmix_rank_t>(std::strtoul(text, nullptr, 10));
        node = map.placed(first) ? map.node_of(first) : map.node(hostname);
        map.add_alias(node, hostname);
    }
    return place_peers(staged, node, entry);
}

Result<void> Registration::read_app(Staged& staged, const pmix_info_t& array) {
    const Result<InfoView> infos = infos_of(array, nspace_);
    if (!infos) return infos.error();
    const std::optional<uint32_t> number = (*infos).number<uint32_t>(PMIX_APPNUM);
    if (!number) {
        return attribute_error(PMIX_ERR_BAD_PARAM, array, nspace_, "must contain PMIX_APPNUM, a number");
    }
    Table& table = staged.job->apps[*number];
    for (const pmix_info_t& entry : *infos) {
        switch (key_info(key_view(entry.key)).fact) {
            case Fact::AppNumber:
                continue;
            case Fact::ProcArray: {
                Result<void> result = read_proc(staged, entry, number);
                if (!result) return result;
                continue;
            }
            case Fact::NodeArray: {
                Result<void> result = read_node(staged, entry);
                if (!result) return result;
                continue;
            }
            case Fact::AppSize:
            case Fact::AppLeader:
                if (!value_as_number<uint32_t>(&entry.value)) {
                    return attribute_error(PMIX_ERR_TYPE_MISMATCH, entry, nspace_, "must be a number");
                }
                break;
            default:
                break;
        }
        Result<Value> copy = copy_value(entry, nspace_);
        if (!copy) return copy.error();
        put(table, key_view(entry.key), std::move(*copy));
    }
    return {};
}

Result<void> Registration::read_proc(Staged& staged, const pmix_info_t& array, std::optional<uint32_t> app) {
    const Result<InfoView> infos = infos_of(array, nspace_);
    if (!infos) return infos.error();
    std::optional<pmix_rank_t> rank = (*infos).number<pmix_rank_t>(PMIX_RANK);
    if (const pmix_proc_t* proc = (*infos).proc(PMIX_PROCID)) {
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
    if (const pmix_info_t* host = (*infos).find(PMIX_HOSTNAME)) {
        Result<void> result = place_on(staged, *rank, *host);
        if (!result) return result;
    }
    for (const pmix_info_t& entry : *infos) {
        Result<void> result = read_proc_entry(staged, *rank, entry);
        if (!result) return result;
    }
    return {};
}

Result<void> Registration::read_proc_entry(Staged& staged, pmix_rank_t rank, const pmix_info_t& entry) {
    const std::string_view key = key_view(entry.key);
    const Fact fact = key_info(key).fact;
    const auto number = [&] { return value_as_number<uint32_t>(&entry.value); };
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
            if (!number()) return attribute_error(PMIX_ERR_TYPE_MISMATCH, entry, nspace_, "must be a number");
            JobMapBuilder& map = builder(staged);
            if (fact == Fact::AppNumber) map.set_app(rank, *number());
            if (fact == Fact::AppRank) map.set_app_rank(rank, *number());
            if (fact == Fact::LocalRank) map.set_local_rank(rank, *number());
            if (fact == Fact::NodeRank) map.set_node_rank(rank, *number());
            if (fact == Fact::GlobalRank) map.set_global_rank(rank, *number());
            return {};
        }
        case Fact::QualifiedValue: {
            Result<Qualified> qualified = read_qualified(entry.value);
            if (!qualified)
                return attribute_error(qualified.status(), entry, nspace_,
                                       "is refused: " + qualified.error().text);
            staged.qualified[rank].push_back(std::move(*qualified));
            return {};
        }
        default:
            break;
    }
    Result<Value> copy = copy_value(entry, nspace_);
    if (!copy) return copy.error();
    put(staged.job->procs[rank], key, std::move(*copy));
    return {};
}

Result<void> Registration::place_on(Staged& staged, pmix_rank_t rank, const pmix_info_t& entry) {
    const char* host = value_as_string(&entry.value);
    if (host == nullptr) return attribute_error(PMIX_ERR_TYPE_MISMATCH, entry, nspace_, "must be a string");
    JobMapBuilder& map = builder(staged);
    uint32_t node = map.find_node(host);
    if (node == JobMapBuilder::kNone) {
        if (map.placed(rank) && !map.node_name(map.node_of(rank)).empty()) {
            // A name of its own for a process on a node that has another: kept for this process.
            put(staged.job->procs[rank], PMIX_HOSTNAME, Value::from(host));
            return {};
        }
        if (map.placed(rank)) {
            map.set_name(map.node_of(rank), host);
            return {};
        }
        node = map.node(host);
    }
    if (map.place(rank, node)) return {};
    if (strict()) {
        return attribute_error(PMIX_ERR_BAD_PARAM, entry, nspace_,
                               "puts rank " + std::to_string(rank) + " on " + quoted(host) +
                                   ", the maps on " + quoted(map.node_name(map.node_of(rank))));
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
        if (strict()) {
            return attribute_error(PMIX_ERR_BAD_PARAM, entry, nspace_,
                                   "puts rank " + std::to_string(rank) + " on node " + std::to_string(*id) +
                                       ", which is not its node in the maps");
        }
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

/// What a node's attributes say of its processes goes when the map says it too, and must not contradict it.
Result<void> Registration::settle_node(const JobMap& map, uint32_t node, Table& facts) {
    if (node == JobMap::kNone || map.ranks_on(node).empty()) return {};
    const auto ranks = map.ranks_on(node);
    const auto contradicts = [&](const char* key, const std::string& said) {
        return Error{PMIX_ERR_BAD_PARAM, "attribute " + quoted(key) + " of namespace " + quoted(nspace_) +
                                             " says " + said + " for node " + quoted(map.node_name(node)) +
                                             ", which holds " + std::to_string(ranks.size()) +
                                             " processes of the job"};
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

Result<void> Registration::finish(std::string_view nspace, Staged& staged) {
    nspace_ = nspace;
    Job& job = *staged.job;
    const Value* size = find(job.facts, PMIX_JOB_SIZE);
    if (size == nullptr && staged.known != nullptr) size = find(staged.known->facts, PMIX_JOB_SIZE);
    const std::optional<uint32_t> job_size =
        size != nullptr ? value_as_number<uint32_t>(size->get()) : std::nullopt;
    if (job_size && (staged.builder || staged.known == nullptr)) builder(staged).set_rank_end(*job_size);

    // Applications may be told by their size and first rank alone.
    if (job.apps.size() > 1) {
        for (const auto& [number, table] : job.apps) {
            const Value *count = find(table, PMIX_APP_SIZE), *leader = find(table, PMIX_APPLDR);
            if (count == nullptr || leader == nullptr) continue;
            const uint64_t first = value_as_number<uint32_t>(leader->get()).value_or(0);
            const uint64_t end = first + value_as_number<uint32_t>(count->get()).value_or(0);
            if (end > builder(staged).rank_end()) continue;
            for (uint64_t rank = first; rank < end; ++rank) {
                if (!builder(staged).has_app(static_cast<pmix_rank_t>(rank))) {
                    builder(staged).set_app(static_cast<pmix_rank_t>(rank), number);
                }
            }
        }
    }
    if (staged.builder) job.map = std::make_shared<const JobMap>(std::move(*staged.builder).build());
    const JobMap& map = staged.builder ? *job.map : staged.known != nullptr ? *staged.known->map : *job.map;
    if (strict() && job_size && map.placed() > *job_size) {
        return Error{PMIX_ERR_BAD_PARAM, "attribute " + quoted(PMIX_JOB_SIZE) + " of namespace " +
                                             quoted(nspace) + " says " + std::to_string(*job_size) +
                                             ", but the maps place " + std::to_string(map.placed()) +
                                             " processes"};
    }
    for (auto& [node, table] : job.nodes) {
        Result<void> result = settle_node(map, node, table);
        if (!result) return result;
    }
    return settle_node(map, store_.own_node(map), job.own_node);
}

namespace {

/// Makes room, so that moving nothing but pointers remains.
void make_room(Table& into, const Table& from) {
    into.reserve(into.size() + from.size());
}

void move_in(Table& into, Table& from) {
    while (!from.empty()) {
        auto entry = from.extract(from.begin());
        const auto known = into.find(entry.key());
        if (known != into.end()) {
            known->second = std::move(entry.mapped());
        } else {
            into.insert(std::move(entry));
        }
    }
}

template <class Key>
void make_room(std::unordered_map<Key, Table>& into, const std::unordered_map<Key, Table>& from) {
    into.reserve(into.size() + from.size());
    for (const auto& [key, table] : from) {
        const auto known = into.find(key);
        if (known != into.end()) make_room(known->second, table);
    }
}

template <class Key>
void move_in(std::unordered_map<Key, Table>& into, std::unordered_map<Key, Table>& from) {
    while (!from.empty()) {
        auto entry = from.extract(from.begin());
        const auto known = into.find(entry.key());
        if (known != into.end()) {
            move_in(known->second, entry.mapped());
        } else {
            into.insert(std::move(entry));
        }
    }
}

bool same_qualifiers(InfoView a, InfoView b) {
    if (a.size != b.size) return false;
    for (const pmix_info_t& entry : a) {
        const pmix_info_t* other = b.find(entry.key);
        if (other == nullptr || value_compare(&entry.value, &other->value) != PMIX_EQUAL) return false;
    }
    return true;
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

/// Adds and replaces; a new map stands in for the old one.
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
    if (from.local_procs) into.local_procs = from.local_procs;
}

Result<void> Registration::commit() {
    for (auto& [nspace, staged] : jobs_) {
        Result<void> result = finish(nspace, staged);
        if (!result) return result;
    }
    const std::unique_lock lock(store_.content_guard_);
    store_.jobs_.reserve(store_.jobs_.size() + jobs_.size());
    make_room(store_.sessions_, sessions_);
    std::vector<std::pair<Job*, Staged*>> known;
    TextMap<std::unique_ptr<Job>> fresh;
    for (auto& [nspace, staged] : jobs_) {
        const auto at = store_.jobs_.find(nspace);
        Job* job = nullptr;
        if (at != store_.jobs_.end()) {
            job = at->second.get();
        } else {
            job = fresh.emplace(nspace, std::make_unique<Job>()).first->second.get();
        }
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
