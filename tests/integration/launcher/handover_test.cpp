// SPDX-License-Identifier: BSD-3-Clause
// The command lines of srun and prterun, translated from muster's.
#include "tools/muster/handover/handover.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pmix.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tools/muster/command_line/option_table.hpp"
#include "tools/muster/handover/command.hpp"

namespace muster::launcher {
namespace {

using Words = std::vector<std::string>;

Options read(const Words& arguments) {
    CommandLine line = read_command_line(arguments);
    EXPECT_TRUE(line.options.has_value()) << line.text;
    return line.options.value_or(Options{});
}

SlurmAllocation nodes(unsigned count) {
    SlurmAllocation allocation;
    allocation.nodes = count;
    return allocation;
}

std::string without(std::string text, const std::string& part) {
    const size_t at = text.find(part);
    EXPECT_NE(at, std::string::npos) << text << " has no " << part;
    return at == std::string::npos ? text : text.erase(at, part.size());
}

/// The arguments of srun, except the common ones.
std::string srun(const Words& arguments, unsigned count = 3) {
    std::string text = srun_command(read(arguments), nodes(count)).text();
    for (const char* part : {"srun --mpi=pmix", " --kill-on-bad-exit=1", " --export=ALL"})
        text = without(text, part);
    return text;
}

std::string prterun(const Words& arguments) {
    return without(prterun_command(read(arguments)).text(), "prterun ");
}

template <class Call>
std::string refusal(Call call) {
    try {
        call();
    } catch (const UsageError& error) {
        return error.what();
    }
    return "not refused";
}

std::string srun_refuses(const Words& arguments) {
    return refusal([&] { srun_command(read(arguments), nodes(3)); });
}

std::string prterun_refuses(const Words& arguments) {
    return refusal([&] { prterun_command(read(arguments)); });
}

using Changes = std::vector<std::pair<std::string, std::optional<std::string>>>;

std::optional<std::string> set_in(const Changes& changes, const std::string& name) {
    std::optional<std::string> value;
    for (const auto& [one, now] : changes) {
        if (one == name) value = now;
    }
    return value;
}

std::string text_of(const std::string& file) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

TEST(LauncherSrun, RanksFillTheNodesOfTheAllocation) {
    EXPECT_EQ(srun({"-n", "4", "p", "-n", "x y"}), " -n4 -N3 --input=0 p -n 'x y'");
    EXPECT_EQ(srun({"-n", "2", "p"}), " -n2 -N2 --input=0 p");
    // As many as the allocation has.
    EXPECT_EQ(srun({"p"}), " -N3 --input=0 p");
    EXPECT_EQ(srun({"--nodes", "2", "-n", "4", "p"}), " -n4 -N2 --input=0 p");
    EXPECT_EQ(srun({"-n", "4", "p"}, 0), " -n4 --input=0 p");
}

TEST(LauncherSrun, RanksOfEachNode) {
    EXPECT_EQ(srun({"-N", "2", "p"}), " --ntasks-per-node=2 -n6 -N3 --input=0 p");
    EXPECT_EQ(srun({"-N", "2", "-n", "4", "p"}), " --ntasks-per-node=2 -n4 -N2 --input=0 p");
    EXPECT_EQ(srun({"-N", "2", "-n", "5", "p"}), " -n5 -N3 -mplane=2 --input=0 p");
    EXPECT_NE(srun_refuses({"-N", "1", "-n", "4", "p"}).find("room for 3 ranks on 3 nodes, not for 4"),
              std::string::npos);
    // The allocation's number would contradict that of the command line.
    const Command command = srun_command(read({"-N", "2", "p"}), nodes(3));
    const auto unset =
        std::pair<std::string, std::optional<std::string>>("SLURM_NTASKS_PER_NODE", std::nullopt);
    EXPECT_NE(std::ranges::find(command.environment, unset), command.environment.end());
}

TEST(LauncherSrun, PoliciesOfPlacing) {
    EXPECT_EQ(srun({"-n", "6", "--map-by", "node:PE=2", "p"}),
              " --cpus-per-task=2 -n6 -N3 -mcyclic --input=0 p");
    EXPECT_EQ(srun({"-n", "6", "--map-by", "socket", "p"}), " -n6 -N3 -mblock:cyclic --input=0 p");
    EXPECT_EQ(srun({"-n", "6", "--map-by", "ppr:2:package", "p"}),
              " --ntasks-per-socket=2 -n6 -N3 --input=0 p");
    EXPECT_EQ(srun({"-n", "6", "--rank-by", "node", "p"}), " -n6 -N3 -mcyclic --input=0 p");
    EXPECT_EQ(srun({"-n", "6", "--use-hwthread-cpus", "--oversubscribe", "p"}),
              " --hint=multithread --overcommit -n6 -N3 --input=0 p");
    EXPECT_EQ(srun({"-n", "6", "--nolocal", "p"}), " --relative=1 -n6 -N2 --input=0 p");
    EXPECT_EQ(srun({"-n", "6", "--bind-to", "core", "--report-bindings", "p"}),
              " -n6 -N3 --cpu-bind=verbose,cores --input=0 p");
    EXPECT_EQ(srun({"-n", "6", "--cpu-list", "0,2-3,9", "p"}),
              " -n6 -N3 --cpu-bind=mask_cpu:0x20d --input=0 p");
    EXPECT_EQ(srun({"-n", "6", "--map-by", ":PE-LIST=5", "p"}),
              " -n6 -N3 --cpu-bind=mask_cpu:0x20 --input=0 p");
    EXPECT_EQ(
        srun_refuses({"--map-by", "node", "--rank-by", "slot", "p"}),
        "--rank-by: srun beside -m cyclic has no such option; leave one of both out (--launcher muster keeps "
        "the job on this machine)");
    EXPECT_NE(srun_refuses({"--bind-to", "core", "--cpu-set", "0", "p"}), "not refused");
    EXPECT_NE(srun_refuses({"--cpu-set", "1", "--map-by", ":PE-LIST=0", "p"}), "not refused");
    EXPECT_NE(srun_refuses({"--map-by", "l3cache", "p"}), "not refused");
}

TEST(LauncherSrun, HostsWithoutSlotsAreAListOfNodes) {
    EXPECT_EQ(srun({"--host", "a,b", "p"}), " -wa,b -N2 --input=0 p");
}

TEST(LauncherSrun, HostsWithSlotsNameTheNodeOfEachRank) {
    const Command command = srun_command(read({"-n", "4", "--host", "b:3,a:2", "p"}), nodes(3));
    // Slurm refuses -N beside this order.
    EXPECT_NE(command.text().find(" -n4 -marbitrary "), std::string::npos) << command.text();
    EXPECT_EQ(command.text().find("-N"), std::string::npos) << command.text();
    EXPECT_EQ(text_of(set_in(command.environment, "SLURM_HOSTFILE").value_or("")), "b\nb\nb\na\n");
    const std::string file = testing::TempDir() + "muster_hosts";
    std::ofstream(file) << "a slots=1\nc slots=2\n";
    const Command of_file = srun_command(read({"--hostfile", file, "p"}), nodes(3));
    EXPECT_NE(of_file.text().find(" -n3 "), std::string::npos) << of_file.text();
    EXPECT_EQ(text_of(set_in(of_file.environment, "SLURM_HOSTFILE").value_or("")), "a\nc\nc\n");
    std::filesystem::remove(file);
}

TEST(LauncherSrun, TheEnvironmentAndTheDirectory) {
    const Command command = srun_command(read({"-n", "1", "-x", "A=1 2", "--mca", "btl", "self", "--pmixmca",
                                               "gds", "hash", "--unset-env", "HOME", "--wdir", "/usr", "p"}),
                                         nodes(2));
    EXPECT_EQ(set_in(command.environment, "A"), "1 2");
    EXPECT_EQ(set_in(command.environment, "OMPI_MCA_btl"), "self");
    EXPECT_EQ(set_in(command.environment, "PMIX_MCA_gds"), "hash");
    EXPECT_NE(std::ranges::find(command.environment, "HOME", &Changes::value_type::first),
              command.environment.end());
    EXPECT_NE(command.text().find(" --export=ALL --chdir=/usr p"), std::string::npos) << command.text();
    const Command chosen =
        srun_command(read({"-n", "1", "-genvlist", "PATH,HOME", "-genv", "A", "1", "p"}), nodes(2));
    EXPECT_NE(chosen.text().find(" --export=PATH,HOME,A p"), std::string::npos) << chosen.text();
    const Command none = srun_command(read({"-n", "1", "-genvnone", "p"}), nodes(2));
    EXPECT_NE(none.text().find(" --export=NONE p"), std::string::npos) << none.text();
}

TEST(LauncherSrun, OutputInputAndTheEnd) {
    EXPECT_EQ(srun({"-n", "2", "-l", "--stdin", "all", "-q", "p"}), " --label --input=all --quiet -n2 -N2 p");
    EXPECT_EQ(srun({"-n", "2", "--stdin", "1", "--timeout", "90", "-v", "p"}),
              " --input=1 --time=1:30 -v -n2 -N2 p");
    EXPECT_EQ(srun({"-n", "2", "--output", "file=/x/o", "p"}),
              " --output=/x/o.slurm.pmix.%j.%s.%t.stdout --error=/x/o.slurm.pmix.%j.%s.%t.stderr -n2 -N2 "
              "--input=0 p");
    const std::string recovers = srun_command(read({"--enable-recovery", "p"}), nodes(3)).text();
    EXPECT_NE(recovers.find("--kill-on-bad-exit=0"), std::string::npos) << recovers;
    EXPECT_NE(srun_refuses({"--output", "timestamp", "p"}).find("'ts'"), std::string::npos);
    EXPECT_NE(srun_refuses({"--display", "map", "p"}).find("scontrol show job"), std::string::npos);
    EXPECT_EQ(srun_refuses({"--pset", "a", "p"}),
              "--pset: srun has no such option; leave it out: Slurm has no process sets (--launcher muster "
              "keeps the "
              "job on this machine)");
}

TEST(LauncherSrun, SeveralProgramsAreLinesOfAFile) {
    const Options options = read({"-n", "1", "-x", "A=it's", "--unset-env", "B", "p", "a b", "%t", "", ":",
                                  "-n", "3", "--wdir", "/usr", "q", "\\x"});
    EXPECT_EQ(multi_prog_lines(options),
              "0 /usr/bin/env -u B 'A=it'\\''s' p 'a b' '%t' ''\n"
              "1-3 /usr/bin/env -C /usr 'A=it'\\''s' q '\\x'\n");
    const Command command = srun_command(options, nodes(2));
    EXPECT_NE(command.text().find(" -n4 -N2 "), std::string::npos) << command.text();
    EXPECT_EQ(command.words[command.words.size() - 2], "--multi-prog");
    EXPECT_EQ(text_of(command.words.back()), multi_prog_lines(options));
    EXPECT_EQ(srun_refuses({"-n", "1", "p", ":", "q"}), "with several programs each needs its -n");
    EXPECT_NE(srun_refuses({"-n", "1", "p", "a\nb", ":", "-n", "1", "q"}).find("line break"),
              std::string::npos);
    EXPECT_NE(
        srun_refuses({"-n", "1", "p", std::string(20000, 'x'), ":", "-n", "1", "q"}).find("by a script"),
        std::string::npos);
    Words many = {"-n", "1", "q", ":", "-n", "1", "p"};
    many.insert(many.end(), 126, "x");
    EXPECT_NE(srun_refuses(many).find("program 2 has 127 words"), std::string::npos) << srun_refuses(many);
    EXPECT_NE(srun_refuses({"-n", "1", "-envnone", "p", ":", "-n", "1", "q"}).find("jobs of their own"),
              std::string::npos);
}

TEST(LauncherPrterun, Programs) {
    EXPECT_EQ(prterun({"-n", "2", "--host", "a:2,b", "-x", "A=1", "--wdir", "/usr", "p", "x y", ":", "-n",
                       "1", "--pset", "s", "q"}),
              "-n 2 --host a:2,b --wdir /usr -x A=1 p 'x y' : -n 1 --pset s -x A=1 q");
    EXPECT_EQ(prterun({"--hostfile", "f", "-s", "p"}), "--hostfile f --preload-binary p");
}

TEST(LauncherPrterun, OptionsOfTheJob) {
    EXPECT_EQ(prterun({"-N", "2", "--cpus-per-rank", "2", "--nooversubscribe", "--host", "a", "p"}),
              "--map-by ppr:2:node:PE=2:NOOVERSUBSCRIBE --host a p");
    EXPECT_EQ(prterun({"--bind-to", "core:report", "--rank-by", "slot", "p"}),
              "--bind-to core --rank-by slot --display bind p");
    EXPECT_EQ(prterun({"--display-map", "--report-bindings", "--tag-output", "--timeout", "1.5", "p"}),
              "--timeout 2 --output tag --display map,bind p");
    EXPECT_EQ(prterun({"--enable-recovery", "--continuous", "p"}),
              "--runtime-options recoverable,continuous p");
    EXPECT_EQ(prterun({"--mca", "plm", "rsh", "--mca", "btl", "self", "--pmixmca", "gds", "hash", "--prtemca",
                       "a", "b", "p"}),
              "--prtemca plm rsh --pmixmca gds hash --prtemca a b -x OMPI_MCA_btl=self p");
    EXPECT_EQ(prterun({"--allow-run-as-root", "--prefix", "/x", "--unset-env", "A", "p"}),
              "--allow-run-as-root --prefix /x p");
}

/// prterun does not start with Muster's library, but ranks need it.
TEST(LauncherPrterun, TheLibraryIsThatOfTheRanksAlone) {
    Dl_info library{};
    ASSERT_NE(dladdr(reinterpret_cast<const void*>(&PMIx_Get_version), &library), 0);
    const std::string folder = std::filesystem::path(library.dli_fname).parent_path();
    const char* before = getenv("LD_LIBRARY_PATH");
    const std::string kept = before == nullptr ? "" : before;
    setenv("LD_LIBRARY_PATH", ("/a:" + folder + ":/b").c_str(), 1);
    const Command command = prterun_command(read({"-n", "1", "p"}));
    EXPECT_EQ(set_in(command.environment, "LD_LIBRARY_PATH"), "/a:/b");
    EXPECT_EQ(command.text(), "prterun -n 1 -x LD_LIBRARY_PATH=/a:" + folder + ":/b p");
    setenv("LD_LIBRARY_PATH", folder.c_str(), 1);
    const Changes alone = prterun_command(read({"p"})).environment;
    ASSERT_EQ(alone.size(), 1u);
    EXPECT_EQ(alone[0], Changes::value_type("LD_LIBRARY_PATH", std::nullopt));
    setenv("LD_LIBRARY_PATH", "/a", 1);
    EXPECT_TRUE(prterun_command(read({"p"})).environment.empty());
    if (before == nullptr) {
        unsetenv("LD_LIBRARY_PATH");
    } else {
        setenv("LD_LIBRARY_PATH", kept.c_str(), 1);
    }
}

/// PRRTE refuses such a list after another policy.
TEST(LauncherPrterun, AListOfProcessorsIsAPolicy) {
    EXPECT_EQ(prterun({"--cpu-list", "0,1", "--oversubscribe", "p"}), "--map-by PE-LIST=0,1:OVERSUBSCRIBE p");
    EXPECT_EQ(prterun({"--map-by", "pe-list=0,1:HWTCPUS", "p"}), "--map-by pe-list=0,1:HWTCPUS p");
    EXPECT_EQ(prterun({"--map-by", "slot", "p"}), "--map-by slot p");
    EXPECT_NE(prterun_refuses({"--map-by", "core", "--cpu-list", "0", "p"}), "not refused");
    EXPECT_NE(prterun_refuses({"--map-by", "PE-LIST=1", "--cpu-list", "0", "p"}), "not refused");
}

TEST(LauncherPrterun, Refusals) {
    EXPECT_EQ(
        prterun_refuses({"--nodes", "2", "p"}),
        "--nodes: prterun has no such option; name the nodes by --host (--launcher muster keeps the job on "
        "this machine)");
    for (const Words& arguments :
         {Words{"-genvnone", "p"}, Words{"--report", "p"}, Words{"--scheduler", "u", "p"},
          Words{"--index-argv-by-rank", "p"}, Words{"--unset-env", "A", "p", ":", "q"}})
        EXPECT_NE(prterun_refuses(arguments).find(arguments[0] + ": prterun "), std::string::npos)
            << arguments[0];
}

/// A setting without a row is undefined behaviour of the search.
TEST(LauncherHandover, EachSettingHasOneRowOfEachLauncher) {
    for (const std::vector<Rendering>* rows : {&srun_renderings(), &prterun_renderings()}) {
        for (unsigned setting = 0; setting <= static_cast<unsigned>(Setting::OtherMeaning); ++setting) {
            EXPECT_EQ(std::ranges::count(*rows, static_cast<Setting>(setting), &Rendering::setting), 1)
                << setting;
        }
        for (const Rendering& row : *rows)
            EXPECT_NE(row.becomes.empty(), row.cure.empty()) << static_cast<unsigned>(row.setting);
    }
}

TEST(LauncherHandover, ThePageHasALineForEachOption) {
    const std::string page = options_page();
    EXPECT_EQ(static_cast<size_t>(std::ranges::count(page, '\n')), all_options().size() + 2);
    EXPECT_NE(page.find("| `--pset NAME` | muster, Open MPI 5, PRRTE | taken: "), std::string::npos);
    EXPECT_EQ(page.find("refused:  |"), std::string::npos) << "a refusal without a cure";
}

}  // namespace
}  // namespace muster::launcher
