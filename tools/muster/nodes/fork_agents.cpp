// SPDX-License-Identifier: BSD-3-Clause
// Fork/exec agents: see fork_agents.hpp.
#include "tools/muster/nodes/fork_agents.hpp"

#include <fmt/format.h>
#include <pmix.h>
#include <pmix_server.h>
#include <unistd.h>

#include "tools/muster/exchange/attributes.hpp"
#include "tools/muster/jobs/words.hpp"
#include "tools/muster/nodes/environment.hpp"

namespace muster::launcher {
namespace {

bool done(pmix_status_t status) {
    return status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED;
}

/// The process that an agent starts: its name, words, folder and environment.
InfoList directives(const Job& job, uint32_t rank, const ProcessSpec& spec) {
    InfoList info;
    info.proc(PMIX_PROCID, {job.nspace, rank});
    std::string line;
    std::vector<char*> words;
    for (const std::string& word : spec.argv) {
        // The first word is the program to execute.
        const std::string& said = words.empty() && !spec.program.empty() ? spec.program : word;
        line += (line.empty() ? "" : " ") + said;
        words.push_back(const_cast<char*>(said.c_str()));
    }
    info.text(PMIX_CMD_LINE, line);
    info.array(PMIX_APP_ARGV, words.data(), words.size(), PMIX_STRING);
    info.text(PMIX_WDIR, spec.wdir);
    for (const std::string& variable : spec.env) {
        const size_t equals = variable.find('=');
        std::string name = variable.substr(0, equals), value = variable.substr(equals + 1);
        pmix_envar_t entry{name.data(), value.data(), ':'};
        info.add(PMIX_SET_ENVAR, &entry, PMIX_ENVAR);
    }
    return info;
}

}  // namespace

std::string agents_nspace(const Job& job) {
    return job.nspace + ".agents";
}

std::string register_agents(const Job& job, uint32_t node, const JobDirs& dirs,
                            const std::string& server_nspace,
                            const std::map<uint32_t, ProcessSpec>& programs) {
    Job agents = job;
    agents.nspace = agents_nspace(job);
    agents.stops = {};
    for (App& app : agents.apps) {
        app.argv = words_of(app.agents.fork);
        app.pset.clear();
        app.daemons = {true, 0, 0, ProcName{job.nspace, PMIX_RANK_WILDCARD}};
    }
    InfoList info = job_data(agents, node, dirs, server_nspace);
    for (const auto& [rank, spec] : programs) {
        InfoList own;
        own.rank(PMIX_RANK, rank);
        own.array(PMIX_LAUNCH_DIRECTIVES, directives(job, rank, spec));
        info.array(PMIX_PROC_INFO_ARRAY, own);
    }
    pmix_status_t status = PMIx_server_register_nspace(
        agents.nspace.c_str(), static_cast<int>(programs.size()), info.data(), info.size(), nullptr, nullptr);
    for (const auto& [rank, spec] : programs) {
        if (!done(status)) break;
        const pmix_proc_t proc = to_pmix({agents.nspace, rank});
        status = PMIx_server_register_client(&proc, geteuid(), getegid(), nullptr, nullptr, nullptr);
    }
    if (done(status)) return {};
    return fmt::format("the PMIx server refused the fork/exec agents: {}", PMIx_Error_string(status));
}

bool replace_by_agent(const Job& job, uint32_t rank, ProcessSpec& spec, StartFailure& failure) {
    const App& app = job.apps[job.places[rank].app];
    spec.program.clear();
    spec.argv = words_of(app.agents.fork);
    spec.env.clear();
    spec.stop_on_exec = false;  // the agent is responsible for that
    if (spec.argv.empty()) spec.argv = {app.agents.fork};
    const pmix_proc_t proc = to_pmix({agents_nspace(job), rank});
    const pmix_status_t status = server_environment(proc, app, spec.wdir, {}, spec.env);
    if (status == PMIX_SUCCESS) return true;
    failure.text = fmt::format("the PMIx server gave no environment for the fork/exec agent: {}",
                               PMIx_Error_string(status));
    return false;
}

}  // namespace muster::launcher
