// SPDX-License-Identifier: BSD-3-Clause
// A tool's session with a server: the options that select the server, and the connection, which ends with the
// object. The options are those of OpenPMIx's tools.
#pragma once

#include <pmix_tool.h>

#include <optional>
#include <string>
#include <vector>

#include "tools/session/command_line.hpp"

namespace muster::tools {

/// The options about the server and the output.
struct SessionOptions {
    std::string uri;
    std::string nspace;
    std::string pid;  ///< a number, or "file:PATH"
    bool system_first = false;
    bool system_only = false;
    bool do_not_connect = false;
    std::string tmpdir;
    std::optional<uint32_t> delay;
    std::optional<uint32_t> attempts;
    std::vector<std::string> parameters;  ///< names and values by turns
    bool json = false;
    bool verbose = false;
};

/// The behaviour of a tool if no option names a server.
enum class Otherwise { SystemFirst, Optional };

void define_session_options(CommandLine& line, SessionOptions& options);

class Session {
  public:
    /// Connects. On failure, or for a wrong option, one message is written to standard error and ok() is
    /// false.
    Session(const char* program, const SessionOptions& options, Otherwise otherwise);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    bool ok() const { return ok_; }
    const pmix_proc_t& self() const { return self_; }
    /// Reports the failure on standard error; returns the exit status.
    int failed(const char* what, pmix_status_t status) const;

  private:
    const char* program_;
    bool ok_ = false;
    pmix_proc_t self_{};
};

}  // namespace muster::tools
