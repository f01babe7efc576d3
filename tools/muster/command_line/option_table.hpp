// SPDX-License-Identifier: BSD-3-Clause
// The table of options: the spellings of muster and of other launchers, and the setting that each of them
// means. The parser, the help, the translations for other launchers and docs/reference/options.md are made of
// it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

/// The settings of the command line. Several spellings may mean one setting.
enum class Setting : unsigned char {
    // For one program.
    Ranks,
    Env,        ///< NAME or NAME=VALUE; of the first program: of all
    OwnEnv,     ///< NAME=VALUE
    KeepEnv,    ///< the only variables that are passed on, a comma list
    UnsetEnv,   ///< NAME, or NAME* for all that begin so
    AppendEnv,  ///< NAME[SEPARATOR], and the value
    PrependEnv,
    WorkingDirectory,
    SessionDirectory,
    ProcessSet,
    Hosts,
    Hostfile,
    AddedHosts,
    AddedHostfile,
    IndexArgv,
    MaxRestarts,
    PreloadProgram,
    PreloadFiles,
    // For the job.
    CommonEnv,      ///< NAME=VALUE
    CommonKeepEnv,  ///< as KeepEnv
    MapBy,          ///< a policy, or modifiers alone: ":PE=2"
    RankBy,
    BindTo,
    CpuList,
    Oversubscribe,
    NoOversubscribe,
    Nodes,
    Output,  ///< words
    Display,
    Input,
    Timeout,
    SpawnTimeout,
    TimeoutStates,
    TimeoutStacks,
    Recovery,
    Continuous,
    Runtime,  ///< words of PRRTE's --runtime-options
    ReportChildrenSeparately,
    DoNotLaunch,
    PmixParameter,
    OmpiParameter,
    AnyParameter,
    PrteParameter,
    // For muster itself.
    Report,
    ReportUri,
    Attach,
    Scheduler,
    Launcher,
    Quiet,
    Verbose,
    Version,
    Help,
    // Options of other launchers.
    Accepted,      ///< muster does so anyway
    Remote,        ///< of no effect on one machine: a warning
    Refused,       ///< the text is the cure
    OtherMeaning,  ///< a name that muster takes with another launcher's meaning
};

/// Launchers whose options are in the table.
enum Launchers : unsigned {
    kMuster = 1,    ///< listed by muster --help
    kOpenMpi4 = 2,  ///< mpirun of Open MPI 4
    kOpenMpi5 = 4,  ///< mpirun of Open MPI 5 and 6
    kPrrte = 8,     ///< prterun and prun
    kHydra = 16,    ///< mpiexec of MPICH
    kSlurm = 32,    ///< srun
    kOpenMpi = kOpenMpi4 | kOpenMpi5,
    kMpirun = kOpenMpi | kPrrte,
};

struct Spelling {
    /// Without dashes, separated by blanks; a name of one letter is written with one dash.
    std::string_view names;
    unsigned of;  ///< Launchers
    Setting setting;
    std::string_view takes;  ///< the words that follow, as the help names them; empty: none
    /// The value of the setting, in which each % is the next of these words; empty: the first word itself.
    std::string_view as;
    /// The effect, or the cure of a refused option. Empty: as the row before.
    std::string_view text;
};

/// The options that muster takes.
std::span<const Spelling> taken_options();
/// Options of other launchers that muster refuses, warns of or reads otherwise.
std::span<const Spelling> foreign_options();
/// Both.
std::vector<const Spelling*> all_options();

/// The option of this name (without dashes) on muster's command line; nullptr if there is none.
const Spelling* find_option(std::string_view name);

/// The words of a text that blanks separate.
std::vector<std::string_view> words_in(std::string_view text);
/// A name with its dashes.
std::string dashed(std::string_view name);

}  // namespace muster::launcher
