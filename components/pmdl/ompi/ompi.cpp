// SPDX-License-Identifier: BSD-3-Clause
// pmdl/ompi: the environment of Open MPI's programs. A table of variables and their facts; see
// README.md.
#include <cstring>
#include <pmix/sdk/component.hpp>

namespace {

namespace sdk = muster::sdk;

struct Variable {
    const char* name;
    uint32_t muster_pmdl_process_t::*fact;
};
constexpr Variable kVariables[] = {
    {"OMPI_COMM_WORLD_RANK", &muster_pmdl_process_t::rank},
    {"OMPI_COMM_WORLD_SIZE", &muster_pmdl_process_t::job_size},
    {"OMPI_COMM_WORLD_LOCAL_RANK", &muster_pmdl_process_t::local_rank},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", &muster_pmdl_process_t::local_size},
    {"OMPI_COMM_WORLD_NODE_RANK", &muster_pmdl_process_t::node_rank},
    {"OMPI_UNIVERSE_SIZE", &muster_pmdl_process_t::universe_size},
};

// Open MPI before 5 detects these launchers: all variables of a row must be set.
constexpr const char* kLaunchers[][3] = {
    {"JSM_JSRUN_PORT", nullptr, nullptr},
    {"SLURM_NODELIST", "SLURM_JOBID", "SLURM_STEP_ID"},
    {"FLUX_JOB_ID", nullptr, nullptr},
    {"OMPI_MCA_orte_local_daemon_uri", nullptr, nullptr},
};
constexpr const char* kSign = "JSM_JSRUN_PORT";

bool has(const char* const* env, const char* name) {
    const size_t length = std::strlen(name);
    for (; env != nullptr && *env != nullptr; ++env) {
        if (**env == *name && std::strncmp(*env, name, length) == 0 && (*env)[length] == '=') return true;
    }
    return false;
}

bool launcher_known(const char* const* env) {
    for (const auto& row : kLaunchers) {
        bool all = true;
        for (const char* name : row)
            all = all && (name == nullptr || has(env, name));
        if (all) return true;
    }
    return false;
}

class OpenMpi {
  public:
    explicit OpenMpi(sdk::Host host) : enabled_(host.boolean("enable")) {}

    template <class Set>
    void setup_fork(const muster_pmdl_process_t& process, Set set) const {
        if (!enabled_) return;
        for (const Variable& variable : kVariables) {
            const uint32_t value = process.*variable.fact;
            if (value != MUSTER_PMDL_UNKNOWN) set(variable.name, std::to_string(value).c_str());
        }
        if (!launcher_known(process.env)) set(kSign, "0");
    }

  private:
    const bool enabled_;
};

constexpr muster_param_t kParams[] = {
    {"enable", MUSTER_PARAM_BOOL, "true", nullptr,
     "Whether processes get the variables by which Open MPI sees that it was launched", nullptr, nullptr}};

}  // namespace

MUSTER_COMPONENT(pmdl, ompi) {
    static const muster_component_t descriptor = sdk::pmdl_component<OpenMpi>(
        {.name = "ompi", .version = MUSTER_VERSION, .vendor = "Muster", .priority = 50, .params = kParams});
    return &descriptor;
}
