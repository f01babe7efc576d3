// SPDX-License-Identifier: BSD-3-Clause
// Names of the commands.
#include "core/exchange/command.hpp"

namespace muster {

const char* command_name(uint8_t code) {
    switch (static_cast<Command>(code)) {
        case Command::JobInfo:
            return "job info";
        case Command::Abort:
            return "abort";
        case Command::Commit:
            return "commit";
        case Command::Fence:
            return "fence";
        case Command::Get:
            return "get";
        case Command::Finalize:
            return "finalize";
        case Command::Publish:
            return "publish";
        case Command::Lookup:
            return "lookup";
        case Command::Unpublish:
            return "unpublish";
        case Command::Spawn:
            return "spawn";
        case Command::Connect:
            return "connect";
        case Command::Disconnect:
            return "disconnect";
        case Command::Notify:
            return "notify";
        case Command::RegisterEvents:
            return "register events";
        case Command::DeregisterEvents:
            return "deregister events";
        case Command::Query:
            return "query";
        case Command::Log:
            return "log";
        case Command::Allocate:
            return "allocate";
        case Command::JobControl:
            return "job control";
        case Command::Monitor:
            return "monitor";
        case Command::GetCredential:
            return "get credential";
        case Command::ValidateCredential:
            return "validate credential";
        case Command::IofPull:
            return "iof pull";
        case Command::IofPush:
            return "iof push";
        case Command::GroupConstruct:
            return "group construct";
        case Command::GroupJoin:
            return "group join";
        case Command::GroupInvite:
            return "group invite";
        case Command::GroupLeave:
            return "group leave";
        case Command::GroupDestruct:
            return "group destruct";
        case Command::IofDeregister:
            return "iof deregister";
        case Command::FabricRegister:
            return "fabric register";
        case Command::FabricUpdate:
            return "fabric update";
        case Command::DeviceDistances:
            return "device distances";
        case Command::RefreshCache:
            return "refresh cache";
        case Command::ResourceBlock:
            return "resource block";
        case Command::SessionControl:
            return "session control";
        case Command::ResolvePeers:
            return "resolve peers";
        case Command::ResolveNodes:
            return "resolve nodes";
        case Command::Post:
            return "post";
        case Command::ConstructRuns:
            return "group construct by runs";
        case Command::AllArrived:
            return "all arrived";
        case Command::Report:
            return "report";
    }
    return "unknown";
}

}  // namespace muster
