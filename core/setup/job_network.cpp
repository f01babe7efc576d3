// SPDX-License-Identifier: BSD-3-Clause
// Networks and jobs: see job_network.hpp.
#include "core/setup/job_network.hpp"

#include <algorithm>
#include <cstring>

#include "core/exchange/namespaces.hpp"
#include "core/runtime/runtime.hpp"
#include "framework/base/value.hpp"
#include "framework/base/words.hpp"
#include "framework/pnet.hpp"
#include "framework/preg.hpp"
#include "framework/preg/name_list.hpp"
#include "framework/preg/regex2.hpp"

namespace muster {
namespace {

// Lower numbers are reserved for the host, whose fabrics share the attribute.
constexpr size_t kFirstFabric = size_t{1} << 16;

/// A map as provided by the host: text, or bytes in one of the compressed forms. `decoded` keeps decoded
/// text.
Result<ByteView> map_of(const pmix_value_t* value, std::string& decoded) {
    if (value == nullptr) return ByteView{};
    if (value->type == PMIX_REGEX2) {
        if (value->data.regex2 == nullptr) return ByteView{};
        Result<std::string> list = regex2_as_map(*value->data.regex2);
        if (!list) return list.error();
        decoded = std::move(*list);
        return ByteView{reinterpret_cast<const uint8_t*>(decoded.data()), decoded.size()};
    }
    if (value->type == PMIX_BYTE_OBJECT || value->type == PMIX_REGEX) return value_as_bytes(value);
    const char* text = value_as_string(value);
    return text == nullptr ? ByteView{} : ByteView{reinterpret_cast<const uint8_t*>(text), std::strlen(text)};
}

constexpr size_t kMaxNodes = size_t{1} << 24;
constexpr pmix_rank_t kMaxRanks = pmix_rank_t{1} << 28;

/// The job of the maps among the directives; without them, with no nodes.
Result<std::unique_ptr<PnetJob>> job_of_maps(Runtime& runtime, const char* nspace, InfoView directives) {
    std::vector<std::string> nodes;
    struct Ranks {
        std::vector<uint32_t> node_of;
        uint32_t node = 0;
    } ranks;
    const std::vector<Preg*> pregs = runtime.registry().pregs();
    std::string decoded;
    const Result<ByteView> node_map = map_of(directives.value(PMIX_NODE_MAP), decoded);
    if (!node_map) return node_map.error();
    if (const ByteView map = *node_map; map.size() > 0) {
        using Names = std::vector<std::string>;
        const auto add = [](void* to, const char* name, size_t size) noexcept {
            return preg::call_on<Names>(to, [&](Names& names) -> pmix_status_t {
                if (names.size() >= kMaxNodes) return PMIX_ERR_OUT_OF_RESOURCE;
                names.emplace_back(name, size);
                return PMIX_SUCCESS;
            });
        };
        const muster_preg_name_sink_t sink{&nodes, add};
        if (auto read = parse_node_regex(pregs, map, sink); !read) return read.error();
    }
    const Result<ByteView> proc_map = map_of(directives.value(PMIX_PROC_MAP), decoded);
    if (!proc_map) return proc_map.error();
    if (const ByteView map = *proc_map; map.size() > 0) {
        const auto add = [](void* to, uint32_t first, uint32_t last) noexcept {
            return preg::call_on<Ranks>(to, [&](Ranks& in) -> pmix_status_t {
                if (last >= kMaxRanks) return PMIX_ERR_OUT_OF_RESOURCE;
                if (last >= in.node_of.size()) in.node_of.resize(last + 1, MUSTER_PNET_UNKNOWN);
                for (uint32_t rank = first; rank <= last; ++rank)
                    in.node_of[rank] = in.node;
                return PMIX_SUCCESS;
            });
        };
        const auto next_node = [](void* to) noexcept -> pmix_status_t {
            ++static_cast<Ranks*>(to)->node;
            return PMIX_SUCCESS;
        };
        const muster_preg_rank_sink_t sink{&ranks, add, next_node};
        if (auto read = parse_ppn_regex(pregs, map, sink); !read) return read.error();
        if (ranks.node > nodes.size())
            return Error{PMIX_ERR_BAD_PARAM, "PMIX_PROC_MAP has more nodes than PMIX_NODE_MAP"};
    }
    return std::make_unique<PnetJob>(nspace, runtime.hostname(), std::move(nodes), std::move(ranks.node_of));
}

/// The job as it is registered here.
PnetJob job_of_store(Runtime& runtime, const char* nspace) {
    const Gds& store = runtime.store();
    std::string list;
    std::vector<std::string> nodes;
    std::vector<uint32_t> node_of;
    if (store.knows(nspace) && store.node_list_of(nspace, list) == PMIX_SUCCESS) {
        for (const std::string_view name : words_of(list, ','))
            nodes.emplace_back(name);
        node_of.assign(store.job_size(nspace).value_or(0), MUSTER_PNET_UNKNOWN);
        for (uint32_t node = 0; node < nodes.size(); ++node) {
            std::vector<pmix_proc_t> procs;
            if (store.peers_on(nodes[node].c_str(), nspace, procs) != PMIX_SUCCESS) continue;
            for (const pmix_proc_t& proc : procs) {
                if (proc.rank >= kMaxRanks) continue;
                if (proc.rank >= node_of.size()) node_of.resize(proc.rank + 1, MUSTER_PNET_UNKNOWN);
                node_of[proc.rank] = node;
            }
        }
    }
    return {nspace, runtime.hostname(), std::move(nodes), std::move(node_of)};
}

bool is_variable(const char* key) {
    return key_is(key, PMIX_SET_ENVAR) || key_is(key, PMIX_ADD_ENVAR);
}

/// Whether two registrations select the same fabric.
bool same_fabric(InfoView a, InfoView b) {
    for (const char* key :
         {PMIX_FABRIC_PLANE, PMIX_FABRIC_IDENTIFIER, PMIX_FABRIC_VENDOR, PMIX_FABRIC_DEVICE_TYPE}) {
        const char* left = a.string(key);
        const char* right = b.string(key);
        if ((left == nullptr) != (right == nullptr)) return false;
        if (left != nullptr && std::strcmp(left, right) != 0) return false;
    }
    return true;
}

}  // namespace

Result<void> JobNetworks::allocate(const char* nspace, InfoView directives, Info& result) {
    const std::vector<Pnet*> pnets = runtime_.registry().pnets();
    const bool all = directives.is_true(PMIX_SETUP_APP_ALL);
    const uint32_t what = (all || directives.is_true(PMIX_SETUP_APP_ENVARS) ? MUSTER_PNET_ENVARS : 0) |
                          (all || directives.is_true(PMIX_SETUP_APP_NONENVARS) ? MUSTER_PNET_NONENVARS : 0);
    const pmix_info_t* request = directives.find(PMIX_ALLOC_FABRIC);
    if (what == 0 && request == nullptr) return {};
    auto job = job_of_maps(runtime_, nspace, directives);
    if (!job) return job.error();
    bool answered = false;
    Result<void> refusal = Error{PMIX_ERR_NOT_SUPPORTED, "no pnet component supports PMIX_ALLOC_FABRIC"};
    for (const Pnet* pnet : pnets) {
        Result<void> done = pnet->allocate(**job, directives, what, result);
        if (done) {
            answered = true;
        } else if (done.status() != PMIX_ERR_NOT_AVAILABLE) {
            for (const Pnet* other : pnets)
                other->deregister(nspace);
            return done;
        } else if (request != nullptr) {
            MUSTER_LOG(runtime_.registry().log("pnet"), Info, "%s", done.error().text.c_str());
        }
    }
    if (request == nullptr || answered || (flags_of(*request) & PMIX_INFO_REQD) == 0) return {};
    return refusal;
}

Result<void> JobNetworks::setup_local(const char* nspace, InfoView info, Info& environment) {
    const PnetJob job = job_of_store(runtime_, nspace);
    Info added;
    for (const Pnet* pnet : runtime_.registry().pnets()) {
        Result<void> done = pnet->setup_local(job, info, added);
        if (!done && done.status() != PMIX_ERR_NOT_AVAILABLE) return done;
    }
    Info data;
    for (size_t i = 0; i < added.size(); ++i)
        (is_variable(added[i].key) ? environment : data).add_move(added[i]);
    if (data.empty()) return {};
    if (runtime_.store().knows(nspace)) return store(nspace, data);
    waiting_.insert_or_assign(nspace, std::move(data));
    return {};
}

Result<void> JobNetworks::store(const char* nspace, InfoView data) {
    Namespace* known = namespaces_.find(nspace);
    const int32_t nlocal = known == nullptr ? 0 : std::max<int32_t>(0, known->nlocal);
    auto stored = runtime_.store().register_job(nspace, nlocal, data);
    if (stored && known != nullptr) known->packed_job.clear();
    return stored;
}

void JobNetworks::registered(const char* nspace) {
    const auto found = waiting_.find(nspace);
    if (found == waiting_.end()) return;
    const Info data = std::move(found->second);
    waiting_.erase(found);
    if (const auto stored = store(nspace, data); !stored)
        MUSTER_LOG(runtime_.log(), Error, "%s", stored.error().text.c_str());
}

void JobNetworks::forget(const char* nspace) {
    waiting_.erase(nspace);
    for (const Pnet* pnet : runtime_.registry().pnets())
        pnet->deregister(nspace);
}

Result<void> JobNetworks::register_fabric(InfoView directives, Info& result) {
    for (Pnet* pnet : runtime_.registry().pnets()) {
        Info described;
        if (auto done = pnet->describe_fabric(directives, described); !done) {
            if (done.status() == PMIX_ERR_NOT_AVAILABLE) continue;
            return done;
        }
        auto kept = Info::copy_of(directives);
        if (!kept) return Error{PMIX_ERR_BAD_PARAM, "a directive of a fabric cannot be copied"};
        // A repeated registration gets the same number; numbers are never reused.
        size_t index = kFirstFabric;
        for (const auto& [number, fabric] : fabrics_) {
            if (fabric.pnet == pnet && same_fabric(fabric.directives, directives)) break;
            index = number + 1;
        }
        fabrics_.try_emplace(index, Fabric{pnet, std::move(*kept)});
        result = std::move(described);
        result.add(PMIX_FABRIC_INDEX, index);
        return {};
    }
    return Error{PMIX_ERR_NOT_SUPPORTED, "no pnet component knows that fabric"};
}

Result<void> JobNetworks::update_fabric(size_t index, Info& result) {
    const auto found = fabrics_.find(index);
    if (found == fabrics_.end())
        return Error{PMIX_ERR_NOT_FOUND, "no fabric has the number " + std::to_string(index)};
    Info described;
    auto done = found->second.pnet->describe_fabric(found->second.directives, described);
    if (!done) return done;
    result = std::move(described);
    result.add(PMIX_FABRIC_INDEX, index);
    return {};
}

}  // namespace muster
