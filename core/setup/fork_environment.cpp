// SPDX-License-Identifier: BSD-3-Clause
// The environment of processes: see fork_environment.hpp.
#include "core/setup/fork_environment.hpp"

#include <memory>

#include "core/runtime/lookup.hpp"
#include "core/runtime/runtime.hpp"
#include "core/setup/application.hpp"
#include "framework/pmdl.hpp"
#include "framework/pnet.hpp"
#include "framework/psec.hpp"
#include "framework/ptl/handshake.hpp"
#include "framework/ptl/transports.hpp"

namespace muster {
namespace {

/// Returns the stored facts of a process in the form of pmdl.
muster_pmdl_process_t model_facts(const Gds& store, const pmix_proc_t& proc, const char* const* env) {
    const auto number = [&](const char* key, pmix_rank_t rank) {
        return stored_number(store, proc.nspace, rank, key).value_or(MUSTER_PMDL_UNKNOWN);
    };
    muster_pmdl_process_t process{};
    process.struct_size = sizeof process;
    process.nspace = proc.nspace;
    process.rank = proc.rank;
    process.job_size = number(PMIX_JOB_SIZE, PMIX_RANK_WILDCARD);
    process.universe_size = number(PMIX_UNIV_SIZE, PMIX_RANK_WILDCARD);
    process.local_size = number(PMIX_LOCAL_SIZE, PMIX_RANK_WILDCARD);
    process.local_rank = number(PMIX_LOCAL_RANK, proc.rank);
    process.node_rank = number(PMIX_NODE_RANK, proc.rank);
    process.appnum = number(PMIX_APPNUM, proc.rank);
    process.env = env;
    return process;
}

}  // namespace

ForkEnvironment::~ForkEnvironment() {
    delete common_.load();
}

const ForkEnvironment::Common& ForkEnvironment::common() {
    if (const Common* known = common_.load()) return *known;
    auto made = std::make_unique<Common>();
    const auto set = [&](const char* name, std::string value) {
        made->variables.emplace_back(name, std::move(value));
    };
    const std::string self =
        std::string(runtime_.self().nspace) + "." + std::to_string(runtime_.self().rank) + ";";
    for (const std::string& uri : uris_()) {
        // OpenPMIx's clients do not read the name of the URI that only this library understands.
        if (transport_is(runtime_.registry(), &Ptl::universal, uri)) {
            // Under the names of all versions, as OpenPMIx has it: some programs look for one of the older
            // ones to find out whether there is a server (Flux: PMIX_SERVER_URI2).
            for (const char* name : {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3",
                                     "PMIX_SERVER_URI2", "PMIX_SERVER_URI21"})
                set(name, self + uri);
        } else {
            set("PMIX_MUSTER_URI", self + uri);
        }
    }
    std::string security;
    for (const Psec* module : runtime_.registry().psecs())
        security += (security.empty() ? "" : ",") + std::string(module->name());
    set("PMIX_SECURITY_MODE", security);
    set("PMIX_BFROP_BUFFER_TYPE", runtime_.own_format().buffer_type == BufferType::FullyDescribed
                                      ? "PMIX_BFROP_BUFFER_FULLY_DESC"
                                      : "PMIX_BFROP_BUFFER_NON_DESC");
    set("PMIX_GDS_MODULE", kWireStore);
    if (const std::string shared = runtime_.store().shared_form(); !shared.empty())
        set("PMIX_MUSTER_STORE", shared);
    set("PMIX_MUSTER_MAX_PAYLOAD", std::to_string(runtime_.parameters().size("server_base_max_payload")));
    set("PMIX_SERVER_TMPDIR", runtime_.session_directory());
    set("PMIX_SYSTEM_TMPDIR", runtime_.system_directory());
    set("PMIX_HOSTNAME", runtime_.hostname());
    set("PMIX_VERSION", own_wire_version());
    made->models = runtime_.registry().pmdls();
    for (Pnet* network : runtime_.registry().pnets()) {
        if (network->sets_variables()) made->networks.push_back(network);
    }
    common_ = made.get();
    return *made.release();
}

ForkEnvironment::Variables ForkEnvironment::build(const Common& common, const pmix_proc_t& proc,
                                                  const char* const* env, Threads threads) {
    Variables variables;
    variables.reserve(common.variables.size() + 16);
    variables.emplace_back("PMIX_NAMESPACE", proc.nspace);
    variables.emplace_back("PMIX_RANK", std::to_string(proc.rank));
    variables.insert(variables.end(), common.variables.begin(), common.variables.end());
    job_environments_.apply(proc.nspace, env, variables, threads == Threads::Many);
    for (const Pnet* network : common.networks) {
        const Result<void> added = network->setup_fork(proc, variables);
        if (!added && added.status() != PMIX_ERR_NOT_AVAILABLE)
            MUSTER_LOG(runtime_.log(), Error, "%s", added.error().text.c_str());
    }
    if (common.models.empty()) return variables;
    const muster_pmdl_process_t process = model_facts(runtime_.store(), proc, env);
    const auto set_up = [&] {
        for (const Pmdl* model : common.models) {
            if (const Result<void> added = model->setup_fork(process, variables); !added)
                MUSTER_LOG(runtime_.log(), Error, "%s", added.error().text.c_str());
        }
    };
    if (threads == Threads::Many) {
        const MutexLock lock(models_lock_);
        set_up();
    } else {
        set_up();
    }
    return variables;
}

ForkEnvironment::Variables ForkEnvironment::of(const pmix_proc_t& proc, const char* const* env) {
    return build(common(), proc, env, Threads::Many);
}

std::optional<ForkEnvironment::Variables> ForkEnvironment::of_beside_loop(const pmix_proc_t& proc,
                                                                          const char* const* env) {
    const Common* known = common_.load();
    if (known == nullptr || !known->networks.empty()) return std::nullopt;
    return build(*known, proc, env, Threads::Many);
}

ForkEnvironment::Variables ForkEnvironment::of_in_child(const pmix_proc_t& proc, const char* const* env) {
    return build(common(), proc, env, Threads::One);
}

}  // namespace muster
