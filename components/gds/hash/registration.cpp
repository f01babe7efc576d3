// SPDX-License-Identifier: BSD-3-Clause
// Registration of job data: reading and checking the attributes of register_job, and of a server's reply.
#include "components/gds/hash/registration.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "framework/base/complete.hpp"
#include "framework/base/info.hpp"
#include "framework/base/value.hpp"
#include "framework/base/words.hpp"
#include "framework/preg/regex2.hpp"

namespace muster::gds {
namespace {

/// Maximum nesting of arrays of infos.
constexpr int kMaxDepth = 16;

constexpr size_t kFacts = static_cast<size_t>(Fact::RegisterNoData) + 1;

/// The bytes of a map: a string, a regular expression or an encoded list. `decoded` keeps the last of these.
std::optional<ByteView> map_bytes(const pmix_value_t& value, std::string& decoded) {
    if (value.type == PMIX_REGEX2 && value.data.regex2 != nullptr) {
        Result<std::string> list = regex2_as_map(*value.data.regex2);
        if (!list) return std::nullopt;
        decoded = std::move(*list);
        return ByteView(reinterpret_cast<const uint8_t*>(decoded.data()), decoded.size());
    }
    if (const char* text = value_as_string(&value))
        return ByteView(reinterpret_cast<const uint8_t*>(text), std::strlen(text));
    const ByteView bytes = value.type == PMIX_REGEX ? value_as_bytes(&value) : ByteView();
    return bytes.empty() ? std::nullopt : std::optional(bytes);
}

/// Reads a byte, so that its cache line is there.
void touch(const void* at) {
    static_cast<void>(*static_cast<const volatile char*>(at));
}

/// Touches the data of that many arrays of processes before they are read: a dozen cache lines each,
/// scattered over the host's memory, each found through another one. Independent loads overlap; interleaved
/// with the work on each array they would not. (A prefetch is dropped where the page is not in the TLB, as
/// these mostly are not.)
constexpr size_t kTouched = 32;
void touch_arrays(std::span<const Registration::Entry> entries) {
    constexpr size_t kInfos = 12;
    const pmix_data_array_t* arrays[kTouched];
    size_t count = 0;
    for (const Registration::Entry& entry : entries.first(std::min(entries.size(), kTouched))) {
        const pmix_value_t& value = entry.info->value;
        if (entry.fact == Fact::ProcArray && value.type == PMIX_DATA_ARRAY && value.data.darray != nullptr)
            arrays[count++] = value.data.darray;
    }
    InfoView infos[kTouched];
    for (size_t i = 0; i < count; ++i) {
        if (arrays[i]->type == PMIX_INFO && arrays[i]->array != nullptr)
            infos[i] = {static_cast<const pmix_info_t*>(arrays[i]->array), std::min(arrays[i]->size, kInfos)};
    }
    for (size_t i = 0; i < count; ++i) {
        for (const pmix_info_t& info : infos[i]) {
            touch(info.key);
            touch(info.key + 15);
            touch(&info.value.type);  // another line than the next one's in every eighth info
            touch(&info.value.data);
        }
    }
}

}  // namespace

Error attribute_error(pmix_status_t code, const pmix_info_t& info, std::string_view where,
                      const std::string& what) {
    return {code,
            "attribute " + in_quotes(key_view(info.key)) + " of namespace " + in_quotes(where) + " " + what};
}

Result<void> keep(Table& table, const pmix_info_t& info, std::string_view where) {
    // The Python module gives regular expressions without their terminator; their size bounds them.
    const bool bounded = info.value.type == PMIX_REGEX && info.value.data.bo.bytes != nullptr;
    if (const pmix_status_t status = bounded ? PMIX_SUCCESS : value_complete(info.value);
        status != PMIX_SUCCESS)
        return attribute_error(
            status, info, where,
            "has a value of type " + std::string(data_type_name(info.value.type)) + " without its object");
    pmix_value_t copy;
    const pmix_status_t status = value_copy(&copy, &info.value);
    if (status == PMIX_ERR_NOMEM) throw std::bad_alloc();
    if (status != PMIX_SUCCESS)
        return attribute_error(status, info, where, "has a value that cannot be copied");
    put(table, key_view(info.key), Value::adopt(copy));
    return {};
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
    if (infos.empty()) return Error{PMIX_ERR_BAD_PARAM, "PMIX_QUALIFIED_VALUE must be an array of infos"};
    Qualified out;
    out.key = key_view(infos[0].key);
    std::optional<Value> copy = Value::copy_of(&infos[0].value);
    std::optional<Info> qualifiers = Info::copy_of(infos.data + 1, infos.size - 1);
    if (!copy || !qualifiers)
        return Error{PMIX_ERR_BAD_PARAM, "PMIX_QUALIFIED_VALUE has an entry that cannot be copied"};
    out.value = std::make_shared<const Value>(std::move(*copy));
    out.qualifiers = std::move(*qualifiers);
    return out;
}

Result<void> Registration::keep_qualified(std::vector<Qualified>& into, const pmix_info_t& entry) const {
    Result<Qualified> qualified = read_qualified(entry.value);
    if (!qualified)
        return attribute_error(qualified.status(), entry, nspace_, "is refused: " + qualified.error().text);
    into.push_back(std::move(*qualified));
    return {};
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
        staged.builder = staged.known != nullptr ? JobMapBuilder(*staged.known->map) : JobMapBuilder();
    }
    return *staged.builder;
}

Result<void> Registration::read(std::string_view nspace, InfoView info, std::optional<uint32_t> local_procs) {
    if (nspace.empty() || nspace.size() > PMIX_MAX_NSLEN) {
        return Error{PMIX_ERR_BAD_PARAM, "a namespace must have a name of 1 to 255 characters"};
    }
    if (info.data == nullptr && info.size != 0) {
        return Error{PMIX_ERR_BAD_PARAM,
                     "the array of infos for namespace " + in_quotes(nspace) + " is NULL"};
    }
    nspace_ = nspace;
    Staged& staged = stage(nspace);
    if (local_procs) staged.job->local_procs = local_procs;
    Entries entries;
    entries.reserve(info.size);
    Result<void> result = flatten(nspace, info, 0, entries);
    // Searched among the data already read, because another pass over the infos of a large job is expensive.
    const auto is_no_data = [](const Entry& entry) { return entry.fact == Fact::RegisterNoData; };
    if ((!result || std::any_of(entries.begin(), entries.end(), is_no_data)) &&
        info.is_true(PMIX_REGISTER_NODATA)) {
        jobs_.clear();
        sessions_.clear();
        stage(nspace).job->local_procs = local_procs;
        return {};
    }
    if (result) result = read_job(nspace, entries);
    return result;
}

/// Collects the attributes of a job, also those in job arrays; sets other jobs and sessions apart.
Result<void> Registration::flatten(std::string_view nspace, InfoView info, int depth, Entries& out) {
    for (const pmix_info_t& entry : info) {
        const Fact fact =
            info_is(entry, PMIX_PROC_INFO_ARRAY) ? Fact::ProcArray : key_info(key_view(entry.key)).fact;
        if (fact != Fact::JobArray && fact != Fact::SessionArray) {
            out.push_back({&entry, fact});
            continue;
        }
        if (depth == kMaxDepth)
            return attribute_error(PMIX_ERR_BAD_PARAM, entry, nspace, "is nested too deep");
        if (fact == Fact::SessionArray) {
            if (auto read = read_session(nspace, entry, depth + 1); !read) return read;
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
            if (result) result = read_job(other, entries);
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
    if (!strict() && id == UINT32_MAX) staged.job->sessionless = true;
    const Job* known = staged.known;
    // An answer may be about a session that the job is not in.
    const bool of_job = !answer_ || known == nullptr || !(known->session_id || known->sessionless);
    if (has_id && !of_job) {
        sessions_.try_emplace(*id);
    } else if (has_id) {
        if (auto read = read_session_id(staged, *(*infos).find(PMIX_SESSION_ID)); !read) return read;
    }
    Table& table = has_id ? sessions_[*id] : staged.job->session;
    Entries job_entries;
    for (const pmix_info_t& entry : *infos) {
        const Fact fact = key_info(key_view(entry.key)).fact;
        if (fact == Fact::SessionId) continue;
        if (fact == Fact::JobArray || fact == Fact::SessionArray) {
            if (auto read = flatten(nspace, {&entry, 1}, depth, job_entries); !read) return read;
            continue;
        }
        if (fact == Fact::NodeArray || fact == Fact::AppArray || fact == Fact::ProcArray) {
            job_entries.push_back({&entry, fact});
            continue;
        }
        if (auto kept = keep(table, entry, nspace); !kept) return kept;
    }
    return read_job(nspace, job_entries);
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
    std::array<const pmix_info_t*, kFacts> last{};
    for (const auto& [entry, fact] : entries) {
        last[static_cast<size_t>(fact)] = entry;
        if (fact == Fact::None && key_view(entry->key) == kJobMapKey) {
            const pmix_value_t& value = entry->value;
            if (value.type != PMIX_BYTE_OBJECT)
                return attribute_error(PMIX_ERR_TYPE_MISMATCH, *entry, nspace_, "must be bytes");
            Result<JobMap> map = JobMap::decode(value_as_bytes(&value));
            if (!map) return map.error();
            staged.builder.emplace(*map);
        }
    }
    const auto given = [&](Fact fact) { return last[static_cast<size_t>(fact)]; };
    const pmix_info_t* anl = given(Fact::AnlMap);
    const pmix_info_t* nodes = given(given(Fact::NodeMap) != nullptr ? Fact::NodeMap : Fact::NodeMapRaw);
    const pmix_info_t* procs = given(given(Fact::ProcMap) != nullptr ? Fact::ProcMap : Fact::ProcMapRaw);
    std::string decoded_nodes, decoded_procs;
    std::optional<ByteView> node_bytes, proc_bytes;
    if (nodes != nullptr) node_bytes = map_bytes(nodes->value, decoded_nodes);
    if (procs != nullptr) proc_bytes = map_bytes(procs->value, decoded_procs);
    if ((nodes != nullptr && !node_bytes) || (procs != nullptr && !proc_bytes)) {
        return attribute_error(PMIX_ERR_TYPE_MISMATCH, nodes != nullptr && !node_bytes ? *nodes : *procs,
                               nspace_, "must be a string, a regular expression or an encoded list");
    }
    if (anl != nullptr && value_as_string(&anl->value) == nullptr) {
        return attribute_error(PMIX_ERR_TYPE_MISMATCH, *anl, nspace_, "must be a string");
    }
    const std::vector<Preg*>& pregs = store_.context_.pregs;
    Result<void> result;
    if (nodes != nullptr && procs != nullptr) {
        result = builder(staged).read_maps(pregs, *node_bytes, *proc_bytes);
    } else if (nodes != nullptr &&
               (strict() || staged.known == nullptr || staged.known->map->placed() == 0)) {
        // A server's answer about the map adds nothing to the nodes of a job whose map is known.
        result = builder(staged).read_node_map(pregs, *node_bytes);
    }
    if (!result) {
        const pmix_info_t& about =
            procs != nullptr && result.error().text.starts_with("the process map") ? *procs : *nodes;
        return attribute_error(result.status(), about, nspace_, "is refused: " + result.error().text);
    }
    if (anl != nullptr && procs == nullptr) {
        result = builder(staged).read_anl_map(value_as_string(&anl->value));
        if (!result)
            return attribute_error(result.status(), *anl, nspace_, "is refused: " + result.error().text);
    }
    return {};
}

Result<void> Registration::read_job(std::string_view nspace, const Entries& entries) {
    const std::string outer = std::exchange(nspace_, std::string(nspace));
    Staged& staged = stage(nspace);
    Result<void> result = read_maps(staged, entries);
    // Nodes before processes: a process's data about its node needs them.
    for (const auto& [entry, fact] : entries) {
        if (!result) return result;
        if (fact == Fact::NodeArray) result = read_node(staged, *entry, {});
    }
    size_t touched = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
        if (!result) return result;
        const auto& [entry, fact] = entries[i];
        switch (fact) {
            case Fact::NodeArray:
                break;
            case Fact::AppArray:
                result = read_app(staged, *entry);
                break;
            case Fact::ProcArray:
                if (i >= touched) {
                    touch_arrays(std::span(entries).subspan(i));
                    touched = i + kTouched;
                }
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
            // Any integer type is accepted, and stored as the Standard's type.
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
        case Fact::LocalPeers:
            if (auto placed = place_own_peers(staged, entry); !placed) return placed;
            break;
        case Fact::QualifiedValue:
            return keep_qualified(job.qualified, entry);
        default:
            break;
    }
    switch (info.realm) {
        case Lookup::Realm::Session:
            return keep(job.session, entry, nspace_);
        case Lookup::Realm::Node:
            return keep(job.own_node, entry, nspace_);
        case Lookup::Realm::App:
            return keep(job.apps[0], entry, nspace_);
        default:
            return keep(job.facts, entry, nspace_);
    }
}

Result<void> Registration::read_node(Staged& staged, const pmix_info_t& array, std::optional<uint32_t> app) {
    const Result<InfoView> infos = infos_of(array, nspace_);
    if (!infos) return infos.error();
    const char* host = (*infos).string(PMIX_HOSTNAME);
    const std::optional<uint32_t> id = (*infos).number<uint32_t>(PMIX_NODEID);
    if (((*infos).has(PMIX_HOSTNAME) && (host == nullptr || *host == '\0')) ||
        ((*infos).has(PMIX_NODEID) && !id)) {
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
                               "gives node " + in_quotes(map.node_name(node)) + " the id " +
                                   std::to_string(*id) + ", which contradicts what was said before");
    }
    Table& table = staged.job->nodes[node];
    for (const pmix_info_t& entry : *infos) {
        switch (key_info(key_view(entry.key)).fact) {
            case Fact::Hostname:
            case Fact::NodeId:
                continue;
            case Fact::Aliases:
                if (value_as_string(&entry.value) == nullptr)
                    return attribute_error(PMIX_ERR_TYPE_MISMATCH, entry, nspace_, "must be a string");
                for (const std::string_view alias : words_of(value_as_string(&entry.value), ','))
                    map.add_alias(node, alias);
                break;  // given out as the host gave it
            case Fact::LocalPeers:
                if (auto placed = place_peers(staged, node, entry, app); !placed) return placed;
                if (app) continue;
                break;
            case Fact::LocalSize:
            case Fact::LocalLeader:
                if (!app) break;
                // The map implies an application's data of a node; the node's own data are those of the job.
                if (!value_as_number<uint32_t>(&entry.value))
                    return attribute_error(PMIX_ERR_TYPE_MISMATCH, entry, nspace_, "must be a number");
                continue;
            default:
                break;
        }
        if (auto kept = keep(table, entry, nspace_); !kept) return kept;
    }
    return {};
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
            case Fact::ProcArray:
                if (auto read = read_proc(staged, entry, number); !read) return read;
                continue;
            case Fact::NodeArray:
                if (auto read = read_node(staged, entry, number); !read) return read;
                continue;
            case Fact::AppSize:
            case Fact::AppLeader:
                if (!value_as_number<uint32_t>(&entry.value)) {
                    return attribute_error(PMIX_ERR_TYPE_MISMATCH, entry, nspace_, "must be a number");
                }
                break;
            default:
                break;
        }
        if (auto kept = keep(table, entry, nspace_); !kept) return kept;
    }
    return {};
}

}  // namespace muster::gds
