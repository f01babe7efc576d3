// SPDX-License-Identifier: BSD-3-Clause
// The connection settings of a tool: the attributes of PMIx_tool_init and PMIx_tool_attach_to_server, and the
// environment variables of PMIx_tool_init (Standard: Tools, Rendezvousing with a local server).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "core/runtime/runtime.hpp"
#include "framework/ptl/handshake.hpp"

namespace muster {

/// The requested server, and the time limit.
struct ToolDirectives {
    std::string attachment_file;
    std::string uri;        ///< "nspace.rank;transport", or "file:PATH"
    bool tcp_only = false;  ///< the URI came as PMIX_TCP_URI
    std::optional<pid_t> server_pid;
    std::string server_nspace;
    bool system_only = false;
    bool system_first = false;
    std::string host;  ///< PMIX_SERVER_HOSTNAME; empty: this one
    std::string session_directory;
    std::string system_directory;

    bool primary = false;
    bool optional = false;
    bool do_not_connect = false;
    uint32_t attempts = 1;
    std::chrono::milliseconds delay{0};
    std::chrono::milliseconds limit{0};  ///< of all attempts together

    /// Whether one particular server is meant.
    bool names_server() const {
        return !attachment_file.empty() || !uri.empty() || server_pid || !server_nspace.empty() ||
               system_only;
    }

    /// PMIX_ERR_BAD_PARAM for values of a wrong type, and for both kinds of URI.
    static Result<ToolDirectives> read(Runtime& runtime, InfoView info);
};

/// The identity of the tool.
struct ToolIdentity {
    bool launcher = false;
    bool scheduler = false;
    bool from_environment = false;  ///< a server started us as a client
    std::string nspace;             ///< empty: the server, or else we ourselves, will find one
    pmix_rank_t rank = PMIX_RANK_UNDEF;

    PeerKind kind() const;
    /// PMIX_ERR_BAD_PARAM for a rank without namespace, and for a broken environment.
    static Result<ToolIdentity> read(InfoView info);
};

}  // namespace muster
