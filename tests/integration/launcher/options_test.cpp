// SPDX-License-Identifier: BSD-3-Clause
// The command line of muster.
#include "tools/muster/command_line/options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/muster/command_line/option_table.hpp"
#include "tools/muster/jobs/topology.hpp"

namespace muster::launcher {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Options read(std::vector<std::string> arguments) {
    CommandLine line = read_command_line(arguments);
    EXPECT_TRUE(line.options.has_value()) << line.text;
    return line.options.value_or(Options{});
}

Job read_job(std::vector<std::string> arguments) {
    Options options = read(std::move(arguments));
    options.forget_variables();
    return options.job;
}

TEST(LauncherOptions, OptionsEndAtTheProgram) {
    const Job job = read_job({"-n", "3", "prog", "-n", "4", "--bind-to", "x"});
    ASSERT_EQ(job.apps.size(), 1u);
    EXPECT_EQ(job.apps[0].ranks, 3u);
    EXPECT_EQ(job.apps[0].argv, (std::vector<std::string>{"prog", "-n", "4", "--bind-to", "x"}));
}

TEST(LauncherOptions, SpellingsOfMpirun) {
    for (const char* name : {"-n", "-np", "--np", "-c", "--n"}) {
        EXPECT_EQ(read_job({name, "5", "prog"}).apps[0].ranks, 5u) << name;
    }
    EXPECT_EQ(read_job({"-wdir", "/x", "prog"}).apps[0].wdir, "/x");
    EXPECT_TRUE(read_job({"--tag-output", "prog"}).output.style.tag);
    EXPECT_TRUE(read_job({"--enable-recovery", "prog"}).wishes.recoverable);
    EXPECT_EQ(read_job({"--bind-to=core", "prog"}).bind_to, "core");
    EXPECT_EQ(read_job({"-map-by", "socket:PE=2", "prog"}).map_by, "socket:PE=2");
    EXPECT_EQ(read_job({"-n", "1", "--", "--odd-name"}).apps[0].argv[0], "--odd-name");
}

TEST(LauncherOptions, NumbersMayStandAtTheirOption) {
    EXPECT_EQ(read_job({"-n2", "prog"}).apps[0].ranks, 2u);
    EXPECT_EQ(read_job({"--np=3", "prog"}).apps[0].ranks, 3u);
    EXPECT_EQ(read_job({"-N2", "prog"}).map_by, "ppr:2:node");
    EXPECT_FALSE(read_command_line({"-nx", "prog"}).options.has_value());
}

TEST(LauncherOptions, PartsOfTheMappingMayBeGivenAlone) {
    EXPECT_EQ(read_job({"--npernode", "2", "p"}).map_by, "ppr:2:node");
    EXPECT_EQ(read_job({"--cpus-per-rank", "2", "--map-by", "core", "--use-hwthread-cpus", "p"}).map_by,
              "core:PE=2:HWTCPUS");
    EXPECT_EQ(read_job({"--ppr", "2:socket", "p"}).map_by, "ppr:2:socket");
    EXPECT_EQ(read_job({"--map-by", "ppr:2:l3cache:PE=2", "p"}).map_by, "ppr:2:l3cache:PE=2");
    EXPECT_EQ(read_job({"-N", "1", "-n", "1", "p", ":", "-N", "1", "-n", "1", "q"}).map_by, "ppr:1:node");
    const CommandLine two = read_command_line({"--map-by", "core", "-N", "2", "p"});
    EXPECT_FALSE(two.options.has_value());
    EXPECT_NE(two.text.find("-N: ranks are mapped by core (--map-by) already"), std::string::npos)
        << two.text;
    const MapPolicy policy = read_map_policy("core:SPAN:NOLOCAL:HWTCPUS:PE-LIST=0,2-3:OVERSUBSCRIBE");
    EXPECT_TRUE(policy.span && policy.not_on_head && policy.hwthreads);
    EXPECT_EQ(policy.cpu_list, "0,2-3");
    EXPECT_EQ(read_job({"--map-by", "PE-LIST=0,1:SPAN", "--map-by", "core", "p"}).map_by,
              "core:PE-LIST=0,1:SPAN");
    EXPECT_FALSE(read_command_line({"--map-by", "pe-list=0,1:ordered", "p"}).options.has_value());
}

TEST(LauncherOptions, VariablesOfHydra) {
    ASSERT_EQ(setenv("MUSTER_TEST_KEPT", "1", 1), 0);
    ASSERT_EQ(setenv("MUSTER_TEST_DROPPED", "1", 1), 0);
    const Job job = read_job({"-genv", "A", "1=2", "-envlist", "MUSTER_TEST_KEPT", "-n", "1", "p", ":",
                              "-env", "B", "3", "-n", "1", "q"});
    EXPECT_EQ(job.apps[0].env, (Pairs{{"A", "1=2"}}));
    EXPECT_EQ(job.apps[1].env, (Pairs{{"A", "1=2"}, {"B", "3"}}));
    const auto unset = [](const App& app, const std::string& name) {
        return std::ranges::any_of(app.env_changes, [&](const EnvChange& change) {
            return change.kind == EnvChange::Kind::Unset && change.name == name;
        });
    };
    EXPECT_TRUE(unset(job.apps[0], "MUSTER_TEST_DROPPED"));
    EXPECT_FALSE(unset(job.apps[0], "MUSTER_TEST_KEPT"));
    EXPECT_TRUE(job.apps[1].env_changes.empty());
    EXPECT_TRUE(unset(read_job({"-genvnone", "p"}).apps[0], "MUSTER_TEST_KEPT"));
}

TEST(LauncherOptions, SynonymsOfHydra) {
    for (const char* name : {"-hostlist", "-machine", "-machines", "-machinelist"}) {
        EXPECT_EQ(read_job({name, "n1,n2", "p"}).apps[0].hosts,
                  read_job({"-hosts", "n1,n2", "p"}).apps[0].hosts)
            << name;
        EXPECT_EQ(read_job({name, "n1,n2", "p"}).apps[0].hosts.size(), 2u) << name;
    }
    EXPECT_EQ(read({"-bootstrap", "slurm", "p"}).handler, Handler::Srun);
    EXPECT_FALSE(read_command_line({"-bootstrap", "moon", "p"}).options.has_value());
    EXPECT_FALSE(read_job({"-enable-auto-cleanup", "p"}).wishes.recoverable);
    EXPECT_EQ(read({"-bootstrap-exec", "ssh", "-enable-hostname-propagation", "p"}).warnings,
              (std::vector<std::string>{"-bootstrap-exec, -enable-hostname-propagation: of no effect here"}));
}

TEST(LauncherOptions, RefusedOptionsOfHydraNameTheCure) {
    for (const auto& [name, cure] :
         Pairs{{"-output-from", "write --output file=NAME,nocopy"},
               {"-outfile", "write --output file=NAME,nocopy"},
               {"-errfile", "write --output file=NAME,nocopy"},
               {"-gpu-subdevs-per-proc", "set the variable of the GPU's library by -x"}}) {
        const CommandLine line = read_command_line({name, "1", "p"});
        EXPECT_FALSE(line.options.has_value()) << name;
        EXPECT_NE(line.text.find(cure), std::string::npos) << line.text;
    }
}

TEST(LauncherOptions, MisspeltFrameworksOfParametersAreNamedOnce) {
    EXPECT_EQ(read({"--mca", "psce", "native", "--mca", "psce", "none", "p"}).warnings,
              (std::vector<std::string>{"--mca psce: no framework is called psce; did you mean psec?"}));
    EXPECT_EQ(
        read({"--mca", "gd_base_verbose", "1", "p"}).warnings,
        (std::vector<std::string>{"--mca gd_base_verbose: no framework is called gd; did you mean gds?"}));
    for (const char* fine :
         {"psec", "btl", "mtl", "pml_ob1_verbose", "coll", "plm_x", "sec", "mca_base_verbose", "orte_x"}) {
        const auto warnings = read({"--mca", fine, "1", "p"}).warnings;
        EXPECT_TRUE(warnings.empty() || warnings.front().find("did you mean") == std::string::npos) << fine;
    }
    EXPECT_TRUE(read({"--omca", "psce", "1", "p"}).warnings.empty());
}

TEST(LauncherOptions, OptionsOfOtherMachinesAreNamedOnce) {
    const Options options = read({"--prtemca", "a", "b", "--prtemca", "c", "d", "--noprefix", "p"});
    EXPECT_EQ(options.warnings, (std::vector<std::string>{"--noprefix, --prtemca: of no effect here"}));
}

TEST(LauncherOptions, OutputInPrrtesWords) {
    const OutputStyle style = read_job({"--output", "tag-detailed,dir=logs:nocopy", "p"}).output.style;
    EXPECT_TRUE(style.detailed);
    EXPECT_EQ(style.directory, "logs");
    EXPECT_TRUE(style.file_only);
    EXPECT_EQ(read_job({"--output", "file=a:b", "p"}).output.style.file, "a:b");
    EXPECT_TRUE(read_job({"-l", "p"}).output.style.rank);
    EXPECT_TRUE(read_job({"--bind-to", "core:report", "p"}).bind_to == "core:report");
}

TEST(LauncherOptions, RuntimeOptionsOfPrrte) {
    const Job job = read_job({"--rtos", "recoverable,error-nonzero-status=0,max-restarts=2", "p"});
    EXPECT_TRUE(job.wishes.recoverable && job.wishes.nonzero_is_fine);
    EXPECT_EQ(job.apps[0].max_restarts, 2u);
    EXPECT_FALSE(read_command_line({"--rtos", "moon", "p"}).options.has_value());
}

TEST(LauncherOptions, NamesAreUniqueAndEachHasATreatment) {
    std::vector<std::string> names;
    for (const Spelling* spelling : all_options()) {
        EXPECT_NE(spelling->of, 0u) << spelling->names;
        for (const std::string_view name : words_in(spelling->names)) {
            if (spelling->setting == Setting::OtherMeaning) {
                EXPECT_NE(find_option(name), nullptr) << name;
            } else {
                names.emplace_back(name);
            }
        }
    }
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    EXPECT_TRUE(twice == names.end()) << *twice;
}

TEST(LauncherOptions, NodesAreOfOneProgram) {
    const Job job = read_job({"--host", "a:4,b", "-H", "c", "-n", "1", "p", ":", "--hostfile", "f",
                              "--nooversubscribe", "-n", "1", "q"});
    EXPECT_EQ(job.apps[0].hosts, (std::vector<std::string>{"a:4", "b", "c"}));
    EXPECT_EQ(job.apps[0].hostfile, "");
    EXPECT_TRUE(job.apps[1].hosts.empty());
    EXPECT_EQ(job.apps[1].hostfile, "f");
    EXPECT_TRUE(job.no_oversubscribe);
}

TEST(LauncherOptions, ProgramsAreSplitAtColons) {
    const Job job = read_job({"-x", "A=1", "-n", "1", "a", ":", "-x", "B=2", "-n", "2", "b", "c"});
    ASSERT_EQ(job.apps.size(), 2u);
    EXPECT_EQ(job.apps[0].env.size(), 1u);
    EXPECT_EQ(job.apps[1].env.size(), 2u);
    EXPECT_EQ(job.apps[1].argv.size(), 2u);
}

TEST(LauncherOptions, ParametersArePassedToTheirLibrary) {
    const Options options = read({"--mca",
                                  "gds",
                                  "hash",
                                  "--mca",
                                  "btl_tcp_if_include",
                                  "lo",
                                  "--mca",
                                  "server_base_max_wait",
                                  "1",
                                  "--mca",
                                  "client_base_x",
                                  "1",
                                  "--mca",
                                  "tool_base_x",
                                  "1",
                                  "--pmixmca",
                                  "x",
                                  "y",
                                  "--omca",
                                  "ptl",
                                  "z",
                                  "prog"});
    std::vector<std::string> names;
    for (const auto& [name, value] : options.parameters)
        names.push_back(name + "=" + value);
    std::sort(names.begin(), names.end());
    EXPECT_EQ(names, (std::vector<std::string>{"OMPI_MCA_btl_tcp_if_include=lo", "OMPI_MCA_ptl=z",
                                               "PMIX_MCA_client_base_x=1", "PMIX_MCA_gds=hash",
                                               "PMIX_MCA_server_base_max_wait=1", "PMIX_MCA_tool_base_x=1",
                                               "PMIX_MCA_x=y"}));
    EXPECT_EQ(options.job.apps[0].env, options.parameters);
}

TEST(LauncherOptions, PoliciesAreRead) {
    EXPECT_EQ(read_bind_policy("core").level, Level::Core);
    EXPECT_EQ(read_map_policy("socket:PE=2").cpus, 2u);
    EXPECT_EQ(read_map_policy("ppr:3:node").per_resource, 3u);
    EXPECT_EQ(read_map_policy(Job().map_by).level, Level::Slot);
    EXPECT_EQ(read_bind_policy(Job().bind_to).level, Level::None);
    EXPECT_THROW(read_map_policy("moon"), std::runtime_error);
    EXPECT_THROW(read_bind_policy(""), std::runtime_error);
}

TEST(LauncherOptions, WrongOptionsAreNamed) {
    const std::vector<std::vector<std::string>> wrong = {{},
                                                         {"-n"},
                                                         {"-n", "0", "p"},
                                                         {"-n", "99999999999", "p"},
                                                         {"-n", "-1", "p"},
                                                         {"--timeout", "x", "p"},
                                                         {"--timeout", "-1", "p"},
                                                         {"--output", "tag,", "p"},
                                                         {"--output", "dir=", "p"},
                                                         {"--output", "dir=a,file=b", "p"},
                                                         {"--stdin", "some", "p"},
                                                         {"--map-by", "ppr:2", "p"},
                                                         {"--map-by", "moon", "p"},
                                                         {"--nodes", "0", "p"},
                                                         {"--rank-by", "moon", "p"},
                                                         {"--cpu-list", "1-", "p"},
                                                         {"p", ":"},
                                                         {"-x", "=1", "p"},
                                                         {"--mca", "only_name"},
                                                         {"-zz", "p"}};
    for (const auto& arguments : wrong) {
        const CommandLine line = read_command_line(arguments);
        EXPECT_FALSE(line.options.has_value()) << (arguments.empty() ? "nothing" : arguments[0] + " ...");
        EXPECT_EQ(line.status, 2);
        EXPECT_TRUE(line.text.starts_with("muster: ")) << line.text;
    }
}

}  // namespace
}  // namespace muster::launcher
