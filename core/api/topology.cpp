// SPDX-License-Identifier: BSD-3-Clause
// C entry points for topologies, cpusets, localities and distances to devices. None of them needs a server;
// all but the non-blocking distances work on the caller's thread, and before PMIx_Init too.
#include "core/api/topology.hpp"

#include <hwloc.h>
#include <pmix.h>
#include <pmix_server.h>
#include <strings.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "core/api/call.hpp"
#include "core/runtime/lookup.hpp"
#include "core/setup/node_description.hpp"
#include "core/topology/cpuset.hpp"
#include "core/topology/distance.hpp"
#include "core/topology/locality.hpp"
#include "framework/base/info.hpp"
#include "framework/base/mutex.hpp"

namespace muster::api {

namespace {

constexpr const char* kOwnSource = "hwloc:" HWLOC_VERSION;

Mutex shared_value_lock;
std::optional<Value> shared_value MUSTER_GUARDED_BY(shared_value_lock);

std::optional<std::string> xml_in_job_data() {
    std::optional<std::string> xml;
    const Use use;
    if (!use) return xml;
    for (const char* key : kTopologyKeys) {
        Lookup lookup = lookup_of(use->self().nspace, PMIX_RANK_WILDCARD, key);
        const auto keep = [&](const Found& found) {
            if (const char* text = value_as_string(&found.value)) xml = text;
        };
        pmix_status_t status = use->store().find(lookup, keep);
        if (status == PMIX_ERR_INVALID_NAMESPACE) {
            // For a server or a tool: the host's data about the node.
            lookup.nspace = "";
            status = use->store().find(lookup, keep);
        }
        if (status == PMIX_SUCCESS && xml) return xml;
    }
    return xml;
}

std::optional<std::string> file_of_parameter() {
    const Use use;
    if (!use) return std::nullopt;
    auto path = use->runtime().parameters().raw("pmix_hwloc_topo_file");
    return path && !path->empty() ? path : std::nullopt;
}

}  // namespace

NodeTopology& node_topology() {
    // Never destroyed: threads may call while the process exits.
    static auto* topology = [] {
        auto* made = new NodeTopology;
        made->set_origins({xml_in_job_data, file_of_parameter});
        return made;
    }();
    return *topology;
}

Result<void> use_topology_of_host(InfoView directives) {
    const pmix_value_t* given = directives.value(PMIX_TOPOLOGY2);
    if (given != nullptr && given->type == PMIX_TOPO && given->data.topo != nullptr &&
        given->data.topo->topology != nullptr &&
        (given->data.topo->source == nullptr || is_hwloc_source(given->data.topo->source))) {
        return node_topology().provide(static_cast<hwloc_topology_t>(given->data.topo->topology));
    }
    given = directives.value(PMIX_TOPOLOGY);
    if (given != nullptr && given->type == PMIX_POINTER && given->data.ptr != nullptr) {
        return node_topology().provide(static_cast<hwloc_topology_t>(given->data.ptr));
    }
    return {};
}

void describe_node_to_clients(NodeDescription& description, const Parameters& parameters,
                              InfoView directives) {
    const bool sharing = directives.is_true(PMIX_SERVER_SHARE_TOPOLOGY);
    const bool unwanted = directives.has(PMIX_SERVER_SHARE_TOPOLOGY) && !sharing;
    const auto xml = [](bool version_1) { return node_topology().xml(version_1); };
    if (sharing) description.share_with_jobs(xml);
    if (!unwanted && parameters.boolean("server_base_describe_node")) description.set_source(xml);
}

Result<Value> topology_value() {
    auto local = node_topology().get();
    if (!local) return local.error();
    std::string source = kOwnSource;
    pmix_topology_t topology{source.data(), *local};
    auto copy = Value::of(PMIX_TOPO, &topology);
    if (copy.type() == PMIX_UNDEF) return Error{PMIX_ERR_NOMEM, "no memory for a copy of the topology"};
    return copy;
}

Result<pmix_value_t*> shared_topology_value() {
    const MutexLock guard(shared_value_lock);
    if (!shared_value) {
        auto made = topology_value();
        if (!made) return made.error();
        shared_value.emplace(std::move(*made));
    }
    return shared_value->get();
}

void forget_topology() {
    {
        const MutexLock guard(shared_value_lock);
        shared_value.reset();
    }
    node_topology().reset();
}

namespace {

char* duplicate(const std::string& text) {
    char* copy = strdup(text.c_str());
    if (copy == nullptr) throw std::bad_alloc();
    return copy;
}

// Hands a text to a C caller; an empty one as NULL.
pmix_status_t give(const Result<std::string>& text, char** to) {
    if (!text) return text.status();
    *to = text->empty() ? nullptr : duplicate(*text);
    return PMIX_SUCCESS;
}

pmix_status_t give(Result<Bitmap> bitmap, pmix_cpuset_t* to) {
    if (!bitmap) return bitmap.status();
    to->source = duplicate(kHwlocSource);
    to->bitmap = bitmap->release();
    return PMIX_SUCCESS;
}

// Compares the requested source ("hwloc", or "hwloc:2" for a version) with the available one.
bool satisfies(const std::string& have, const char* wanted) {
    return strncasecmp(have.c_str(), wanted, std::strlen(wanted)) == 0;
}

Result<std::vector<DeviceDistance>> compute(const pmix_topology_t* topology, const pmix_cpuset_t* cpuset,
                                            InfoView info) {
    hwloc_topology_t handle = nullptr;
    if (topology != nullptr && topology->topology != nullptr) {
        if (!is_hwloc_source(topology->source)) {
            return Error{PMIX_ERR_NOT_SUPPORTED, "the topology has another source than hwloc"};
        }
        handle = static_cast<hwloc_topology_t>(topology->topology);
    } else {
        auto local = node_topology().get();
        if (!local) return local.error();
        handle = *local;
    }
    DeviceFilter filter;
    for (const pmix_info_t& directive : info) {
        if (PMIx_Check_key(directive.key, PMIX_DEVICE_TYPE)) {
            if (const auto types = value_as_number<pmix_device_type_t>(&directive.value))
                filter.types |= *types;
        } else if (PMIx_Check_key(directive.key, PMIX_DEVICE_ID)) {
            if (const char* name = value_as_string(&directive.value)) filter.devices.emplace_back(name);
        } else if (PMIx_Check_key(directive.key, PMIX_DEVICE_DIST_ORIGIN)) {
            const char* name = value_as_string(&directive.value);
            if (name == nullptr || *name == '\0')
                return Error{PMIX_ERR_BAD_PARAM, "PMIX_DEVICE_DIST_ORIGIN must name a device"};
            filter.origin = name;
        }
    }
    Bitmap own;
    const hwloc_bitmap_s* units = nullptr;
    if (filter.origin) {
        // The process does not matter.
    } else if (cpuset != nullptr && cpuset->bitmap != nullptr) {
        if (!is_hwloc_source(cpuset->source))
            return Error{PMIX_ERR_NOT_SUPPORTED, "the cpuset has another source than hwloc"};
        units = static_cast<const hwloc_bitmap_s*>(cpuset->bitmap);
    } else {
        auto bound = current_binding(handle, PMIX_CPUBIND_PROCESS);
        if (!bound) return bound.error();
        own = std::move(*bound);
        units = own.get();
    }
    char hostname[256] = "localhost";
    gethostname(hostname, sizeof hostname - 1);
    return device_distances(handle, units, filter, hostname);
}

// An array for a C caller, which frees it with PMIx_Device_distance_free.
pmix_device_distance_t* to_array(const std::vector<DeviceDistance>& found) {
    auto* array = PMIx_Device_distance_create(found.size());
    if (array == nullptr) throw std::bad_alloc();
    for (size_t i = 0; i < found.size(); ++i) {
        array[i].uuid = strdup(found[i].uuid.c_str());
        array[i].osname = strdup(found[i].name.c_str());
        array[i].type = found[i].type;
        array[i].mindist = found[i].nearest;
        array[i].maxdist = found[i].farthest;
        if (array[i].uuid == nullptr || array[i].osname == nullptr) {
            PMIx_Device_distance_free(array, found.size());
            throw std::bad_alloc();
        }
    }
    return array;
}

}  // namespace
}  // namespace muster::api

using namespace muster;
using namespace muster::api;

pmix_status_t PMIx_Load_topology(pmix_topology_t* topo) {
    if (topo == nullptr) return PMIX_ERR_BAD_PARAM;
    return guard([&]() -> pmix_status_t {
        const std::string source = kOwnSource;
        if (topo->source != nullptr && !satisfies(source, topo->source)) return PMIX_ERR_NOT_SUPPORTED;
        auto local = node_topology().get();
        if (!local) return local.status();
        if (topo->source == nullptr) topo->source = duplicate(source);
        topo->topology = *local;
        return PMIX_SUCCESS;
    });
}

pmix_status_t PMIx_Get_cpuset(pmix_cpuset_t* cpuset, pmix_bind_envelope_t ref) {
    if (cpuset == nullptr) return PMIX_ERR_BAD_PARAM;
    if (cpuset->source != nullptr && !is_hwloc_source(cpuset->source)) return PMIX_ERR_NOT_SUPPORTED;
    return guard([&]() -> pmix_status_t {
        auto local = node_topology().get();
        if (!local) return local.status();
        auto bound = current_binding(*local, ref);
        if (!bound) return bound.status();
        if (cpuset->source == nullptr) return give(std::move(bound), cpuset);
        cpuset->bitmap = bound->release();
        return PMIX_SUCCESS;
    });
}

pmix_status_t PMIx_Parse_cpuset_string(const char* cpuset_string, pmix_cpuset_t* cpuset) {
    if (cpuset_string == nullptr || cpuset == nullptr) return PMIX_ERR_BAD_PARAM;
    return guard([&] { return give(parse_cpuset_string(cpuset_string), cpuset); });
}

pmix_status_t PMIx_Get_relative_locality(const char* locality1, const char* locality2,
                                         pmix_locality_t* locality) {
    if (locality1 == nullptr || locality2 == nullptr || locality == nullptr) return PMIX_ERR_BAD_PARAM;
    return guard([&]() -> pmix_status_t {
        const auto shared = relative_locality(locality1, locality2);
        if (!shared) return shared.status();
        *locality = *shared;
        return PMIX_SUCCESS;
    });
}

pmix_status_t PMIx_Compute_distances(pmix_topology_t* topo, pmix_cpuset_t* cpuset, pmix_info_t info[],
                                     size_t ninfo, pmix_device_distance_t* distances[], size_t* ndist) {
    if (distances == nullptr || ndist == nullptr) return PMIX_ERR_BAD_PARAM;
    *distances = nullptr;
    *ndist = 0;
    return guard([&]() -> pmix_status_t {
        // Needs no init, without which there is no log.
        const auto checked = check_directives(Function::ComputeDistances, {info, info == nullptr ? 0 : ninfo},
                                              false, Log("pmix"));
        if (!checked) return checked.status();
        const auto found = compute(topo, cpuset, {info, info == nullptr ? 0 : ninfo});
        if (!found) return found.status();
        *distances = to_array(*found);
        *ndist = found->size();
        return PMIX_SUCCESS;
    });
}

pmix_status_t PMIx_Compute_distances_nb(pmix_topology_t* topo, pmix_cpuset_t* cpuset, pmix_info_t info[],
                                        size_t ninfo, pmix_device_dist_cbfunc_t cbfunc, void* cbdata) {
    if (cbfunc == nullptr) return PMIX_ERR_BAD_PARAM;
    return with_process([&](const Use& use) -> pmix_status_t {
        const InfoView directives{info, info == nullptr ? 0 : ninfo};
        if (const pmix_status_t status = api::check(*use, Function::ComputeDistances, directives, true);
            status != PMIX_SUCCESS)
            return status;
        // Quick enough for the caller's thread, so that the arguments need not be copied.
        const auto found = compute(topo, cpuset, directives);
        if (!found) return found.status();
        struct Answer {
            ~Answer() { PMIx_Device_distance_free(distances, count); }
            pmix_device_distance_t* distances;
            size_t count;
        };
        auto answer = std::make_shared<std::unique_ptr<Answer>>(new Answer{to_array(*found), found->size()});
        return api::answer_by<pmix_status_t>(
            use,
            [answer, cbfunc, cbdata](pmix_status_t status) {
                Answer* given = answer->release();
                cbfunc(
                    status, given->distances, given->count, cbdata,
                    [](void* data) { delete static_cast<Answer*>(data); }, given);
            },
            [](const auto& done) { done(PMIX_SUCCESS); });
    });
}

pmix_status_t PMIx_server_generate_locality_string(const pmix_cpuset_t* cpuset, char** locality) {
    if (locality == nullptr) return PMIX_ERR_BAD_PARAM;
    *locality = nullptr;
    if (cpuset == nullptr || cpuset->source == nullptr) return PMIX_ERR_BAD_PARAM;
    if (!is_hwloc_source(cpuset->source)) return PMIX_ERR_NOT_SUPPORTED;
    return guard([&]() -> pmix_status_t {
        auto local = node_topology().get();
        if (!local) return local.status();
        return give(locality_string(*local, static_cast<const hwloc_bitmap_s*>(cpuset->bitmap)), locality);
    });
}

pmix_status_t PMIx_server_generate_cpuset_string(const pmix_cpuset_t* cpuset, char** cpuset_string) {
    if (cpuset_string == nullptr) return PMIX_ERR_BAD_PARAM;
    *cpuset_string = nullptr;
    if (cpuset == nullptr) return PMIX_ERR_BAD_PARAM;
    return guard([&] { return give(muster::cpuset_string(*cpuset), cpuset_string); });
}

pmix_status_t PMIx_server_generate_cpuset(const char* cpuset_string, pmix_cpuset_t* cpuset) {
    return PMIx_Parse_cpuset_string(cpuset_string, cpuset);
}
