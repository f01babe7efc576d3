// SPDX-License-Identifier: BSD-3-Clause
// pmdl/ompi: the variables of a process.
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "framework/pmdl.hpp"
#include "framework/registry.hpp"

MUSTER_COMPONENT(pmdl, ompi);

namespace muster {
namespace {

class PmdlOmpi : public ::testing::Test {
  protected:
    std::map<std::string, std::string> variables(
        const char* const* env, std::vector<std::pair<std::string, std::string>> program = {}) {
        static constexpr ComponentEntry entries[] = {muster_component_pmdl_ompi, nullptr};
        Parameters parameters(Parameters::Sources{.environment = false, .program = std::move(program)});
        Registry registry(parameters, Registry::Options{.linked = entries});
        muster_pmdl_process_t process{};
        process.struct_size = sizeof process;
        process.nspace = "job";
        process.rank = 5;
        process.job_size = 8;
        process.universe_size = 16;
        process.local_size = 4;
        process.local_rank = 1;
        process.node_rank = MUSTER_PMDL_UNKNOWN;
        process.env = env;
        std::vector<std::pair<std::string, std::string>> list;
        const std::vector<Pmdl*> models = registry.pmdls();
        EXPECT_EQ(models.size(), 1u);
        for (const Pmdl* model : models)
            EXPECT_TRUE(model->setup_fork(process, list).ok());
        return {list.begin(), list.end()};
    }
};

TEST_F(PmdlOmpi, SetsTheVariablesOfTheJob) {
    const auto got = variables(nullptr);
    EXPECT_EQ(got.at("OMPI_COMM_WORLD_RANK"), "5");
    EXPECT_EQ(got.at("OMPI_COMM_WORLD_SIZE"), "8");
    EXPECT_EQ(got.at("OMPI_COMM_WORLD_LOCAL_RANK"), "1");
    EXPECT_EQ(got.at("OMPI_COMM_WORLD_LOCAL_SIZE"), "4");
    EXPECT_EQ(got.at("OMPI_UNIVERSE_SIZE"), "16");
    EXPECT_FALSE(got.contains("OMPI_COMM_WORLD_NODE_RANK"));
}

TEST_F(PmdlOmpi, PretendsALauncherOutsideOfOne) {
    EXPECT_EQ(variables(nullptr).at("JSM_JSRUN_PORT"), "0");
    const char* of_an_allocation[] = {"SLURM_NODELIST=a", "SLURM_JOBID=1", "PATH=/bin", nullptr};
    EXPECT_TRUE(variables(of_an_allocation).contains("JSM_JSRUN_PORT"));
    const char* of_a_step[] = {"SLURM_NODELIST=a", "SLURM_JOBID=1", "SLURM_STEP_ID=0", nullptr};
    EXPECT_FALSE(variables(of_a_step).contains("JSM_JSRUN_PORT"));
    const char* alike[] = {"JSM_JSRUN_PORTER=1", nullptr};
    EXPECT_TRUE(variables(alike).contains("JSM_JSRUN_PORT"));
    const char* its_own[] = {"JSM_JSRUN_PORT=77", nullptr};
    EXPECT_FALSE(variables(its_own).contains("JSM_JSRUN_PORT"));
}

TEST_F(PmdlOmpi, IsTurnedOffByItsParameter) {
    EXPECT_TRUE(variables(nullptr, {{"pmdl_ompi_enable", "false"}}).empty());
}

}  // namespace
}  // namespace muster
