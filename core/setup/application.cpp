// SPDX-License-Identifier: BSD-3-Clause
// Set-up of jobs: see application.hpp.
#include "core/setup/application.hpp"

#include <pmix/muster.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/runtime/runtime.hpp"
#include "core/setup/job_network.hpp"
#include "framework/base/value.hpp"
#include "framework/base/words.hpp"
#include "framework/pnet.hpp"

extern char** environ;

namespace muster {
namespace {

bool names_variable(const char* const* env, const std::string& name) {
    for (; env != nullptr && *env != nullptr; ++env) {
        if (std::strncmp(*env, name.c_str(), name.size()) == 0 && (*env)[name.size()] == '=') return true;
    }
    return false;
}

void forward_environment(Runtime& runtime, Info& result) {
    const std::string list = runtime.parameters().text("server_base_forward_environment");
    if (list.empty()) return;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const char* equals = std::strchr(*entry, '=');
        if (equals == nullptr) continue;
        std::string name(*entry, static_cast<size_t>(equals - *entry));
        if (!on_list(list, name)) continue;
        pmix_envar_t variable{name.data(), const_cast<char*>(equals + 1), ':'};
        result.add(PMIX_SET_ENVAR, Value::of(PMIX_ENVAR, &variable));
    }
}

}  // namespace

pmix_status_t setup_application(Runtime& runtime, JobNetworks& networks, const char* nspace,
                                InfoView directives, Info& result) {
    Info gathered;
    if (directives.is_true(PMIX_SETUP_APP_ENVARS) || directives.is_true(PMIX_SETUP_APP_ALL))
        forward_environment(runtime, gathered);
    // An allocation belongs to a job, which needs a name.
    const bool named = *nspace != '\0';
    if (!named && directives.has(PMIX_ALLOC_FABRIC)) return PMIX_ERR_BAD_PARAM;
    const auto allocated = networks.allocate(nspace, directives, gathered);
    if (!named) networks.forget(nspace);
    if (!allocated) {
        MUSTER_LOG(runtime.log(), Error, "%s", allocated.error().text.c_str());
        return allocated.status();
    }
    result = std::move(gathered);
    return PMIX_SUCCESS;
}

pmix_status_t setup_local_support(Runtime& runtime, JobEnvironments& environments, JobNetworks& networks,
                                  const char* nspace, InfoView info) {
    if (const pmix_status_t status = environments.add(nspace, info); status != PMIX_SUCCESS) return status;
    Info environment;
    if (const auto done = networks.setup_local(nspace, info, environment); !done) {
        MUSTER_LOG(runtime.log(), Error, "%s", done.error().text.c_str());
        return done.status();
    }
    return environments.add(nspace, environment);
}

pmix_status_t JobEnvironments::add(const char* nspace, InfoView info) {
    std::vector<Variable> variables;
    for (const pmix_info_t& entry : info) {
        const bool replace = key_is(entry.key, PMIX_SET_ENVAR);
        if (!replace && !key_is(entry.key, PMIX_ADD_ENVAR)) continue;
        const pmix_envar_t& variable = entry.value.data.envar;
        if (entry.value.type != PMIX_ENVAR || variable.envar == nullptr || *variable.envar == '\0')
            return PMIX_ERR_BAD_PARAM;
        variables.push_back({variable.envar, variable.value == nullptr ? "" : variable.value, replace});
    }
    if (variables.empty()) return PMIX_SUCCESS;
    const MutexLock lock(lock_);
    auto& known = by_nspace_[nspace];
    known.insert(known.end(), variables.begin(), variables.end());
    return PMIX_SUCCESS;
}

void JobEnvironments::forget(const char* nspace) {
    const MutexLock lock(lock_);
    by_nspace_.erase(nspace);
}

void JobEnvironments::apply(const char* nspace, const char* const* env,
                            std::vector<std::pair<std::string, std::string>>& variables, bool locks) const {
    if (!locks) return append(nspace, env, variables);
    const MutexLock lock(lock_);
    append(nspace, env, variables);
}

void JobEnvironments::append(const char* nspace, const char* const* env,
                             std::vector<std::pair<std::string, std::string>>& variables) const {
    const auto found = by_nspace_.find(nspace);
    if (found == by_nspace_.end()) return;
    for (const Variable& variable : found->second) {
        if (variable.replace || !names_variable(env, variable.name))
            variables.emplace_back(variable.name, variable.value);
    }
}

pmix_status_t collect_inventory(Runtime& runtime, InfoView directives, const std::string& topology,
                                Info& inventory) {
    Info node;
    node.add(PMIX_HOSTNAME, runtime.hostname().c_str());
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page_size > 0) {
        node.add(PMIX_AVAIL_PHYS_MEMORY,
                 Value::uint64(static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_size)));
    }
    if (!topology.empty()) node.add(PMIX_HWLOC_XML_V2, topology.c_str());
    for (const Pnet* network : runtime.registry().pnets()) {
        const auto collected = network->collect_inventory(directives, node);
        if (!collected && collected.status() != PMIX_ERR_NOT_AVAILABLE)
            MUSTER_LOG(runtime.log(), Error, "%s", collected.error().text.c_str());
    }
    Info nodes;
    nodes.add(PMIX_NODE_INFO_ARRAY, std::move(node).to_value());
    Packer packed(runtime.own_format());
    packed.infos(nodes);
    if (packed.error() != PMIX_SUCCESS) return packed.error();
    Bytes bytes = packed.take();
    inventory.add(MUSTER_INVENTORY, pmix_byte_object_t{reinterpret_cast<char*>(bytes.data()), bytes.size()});
    return PMIX_SUCCESS;
}

namespace {

void tell_networks(Runtime& runtime, InfoView node) {
    const char* name = node.string(PMIX_HOSTNAME);
    if (name == nullptr) return;
    for (const Pnet* network : runtime.registry().pnets()) {
        const auto told = network->deliver_inventory(name, node);
        if (!told && told.status() != PMIX_ERR_NOT_AVAILABLE)
            MUSTER_LOG(runtime.log(), Error, "%s", told.error().text.c_str());
    }
}

}  // namespace

pmix_status_t deliver_inventory(Runtime& runtime, InfoView info) {
    for (const pmix_info_t& entry : info) {
        if (!key_is(entry.key, MUSTER_INVENTORY) || entry.value.type != PMIX_BYTE_OBJECT) continue;
        Unpacker packed(runtime.own_format(), value_as_bytes(&entry.value));
        Info nodes;
        if (!packed.infos(nodes)) return packed.error();
        if (const auto stored = runtime.store().register_resources(nodes); !stored) {
            MUSTER_LOG(runtime.log(), Error, "the inventory of another node is refused: %s",
                       stored.error().text.c_str());
            return stored.status();
        }
        for (const pmix_info_t& node : nodes)
            tell_networks(runtime, value_as_infos(&node.value));
    }
    return PMIX_SUCCESS;
}

pmix_status_t collect_job_info(Runtime& runtime, const std::vector<pmix_proc_t>& procs, Bytes& packed) {
    const WireFormat format = runtime.own_format();
    Packer all(format);
    std::vector<std::string> done;
    bool any = false;
    for (const pmix_proc_t& proc : procs) {
        std::string name(nspace_view(proc.nspace));
        if (std::ranges::find(done, name) != done.end()) continue;
        Packer job(format);
        job.string(name);
        if (runtime.store().knows(name.c_str()) &&
            runtime.store().pack_job(name.c_str(), job, false) == PMIX_SUCCESS) {
            if (job.error() != PMIX_SUCCESS) return job.error();
            all.bytes(job.view());
            any = true;
        }
        done.push_back(std::move(name));
    }
    if (!any) return PMIX_ERR_NOT_FOUND;
    if (all.error() != PMIX_SUCCESS) return all.error();
    packed = all.take();
    return PMIX_SUCCESS;
}

}  // namespace muster
