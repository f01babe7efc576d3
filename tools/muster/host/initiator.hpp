// SPDX-License-Identifier: BSD-3-Clause
// A tool that has started muster, or guides it (Standard: Tools and Debuggers, Indirect launch): its
// address, and its directives.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/muster/exchange/buffer.hpp"
#include "tools/muster/jobs/job.hpp"

namespace muster::launcher {

/// The tool, as the environment of muster describes it.
struct Initiator {
    std::string uri;                       ///< PMIX_LAUNCHER_RNDZ_URI: where it waits for us
    std::string file;                      ///< PMIX_LAUNCHER_RNDZ_FILE: the tool's file, or the path of ours
    std::string nspace;                    ///< the name under which it knows us
    int keepalive = -1;                    ///< PMIX_KEEPALIVE_PIPE: closes when it ends
    bool pause = false;                    ///< PMIX_LAUNCHER_PAUSE_FOR_TOOL: a tool must release the launch
    bool names_server = false;             ///< the file exists: it names the server to join
    std::vector<std::string> environment;  ///< variables for the library, as "NAME=VALUE"

    bool waits_for_us() const { return !uri.empty() || names_server; }

    /// Read before the environment is cleaned of it.
    static Initiator from_environment();
};

/// The requests of the tool.
struct Guidance {
    std::optional<ProcName> parent;  ///< its name, where we are connected to it
    bool hold = false;               ///< launch nothing until PMIX_DEBUGGER_RELEASE
    std::string daemon;              ///< started as the nodes (PMIX_LAUNCHER_DAEMON); empty: muster
    Job request;                     ///< attributes for the job: its one program represents all
    static auto fields(auto& self) { return std::tie(self.parent, self.hold, self.daemon, self.request); }
};

/// Connects the server of this process with the initiator and reads its directives. A sentence if that
/// fails, else "".
std::string join_initiator(const Initiator& initiator, Guidance& guidance);

}  // namespace muster::launcher
