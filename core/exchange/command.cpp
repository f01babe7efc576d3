// SPDX-License-Identifier: BSD-3-Clause
// Names of the commands.
#include "core/exchange/command.hpp"

#include <algorithm>
#include <iterator>

namespace muster {

namespace {

struct Name {
    Command command;
    const char* text;
};

constexpr Name kNames[] = {
    {Command::JobInfo, "job info"},
    {Command::Abort, "abort"},
    {Command::Commit, "commit"},
    {Command::Fence, "fence"},
    {Command::Get, "get"},
    {Command::Finalize, "finalize"},
    {Command::Publish, "publish"},
    {Command::Lookup, "lookup"},
    {Command::Unpublish, "unpublish"},
    {Command::Spawn, "spawn"},
    {Command::Connect, "connect"},
    {Command::Disconnect, "disconnect"},
    {Command::Notify, "notify"},
    {Command::RegisterEvents, "register events"},
    {Command::DeregisterEvents, "deregister events"},
    {Command::Query, "query"},
    {Command::Log, "log"},
    {Command::Allocate, "allocate"},
    {Command::JobControl, "job control"},
    {Command::Monitor, "monitor"},
    {Command::GetCredential, "get credential"},
    {Command::ValidateCredential, "validate credential"},
    {Command::IofPull, "iof pull"},
    {Command::IofPush, "iof push"},
    {Command::GroupConstruct, "group construct"},
    {Command::GroupJoin, "group join"},
    {Command::GroupInvite, "group invite"},
    {Command::GroupLeave, "group leave"},
    {Command::GroupDestruct, "group destruct"},
    {Command::IofDeregister, "iof deregister"},
    {Command::FabricRegister, "fabric register"},
    {Command::FabricUpdate, "fabric update"},
    {Command::DeviceDistances, "device distances"},
    {Command::RefreshCache, "refresh cache"},
    {Command::ResourceBlock, "resource block"},
    {Command::SessionControl, "session control"},
    {Command::ResolvePeers, "resolve peers"},
    {Command::ResolveNodes, "resolve nodes"},
    {Command::Post, "post"},
    {Command::ConstructRuns, "group construct by runs"},
    {Command::AllArrived, "all arrived"},
    {Command::Report, "report"},
};

}  // namespace

const char* command_name(uint8_t code) {
    const auto* found = std::ranges::find(kNames, static_cast<Command>(code), &Name::command);
    return found != std::end(kNames) ? found->text : "unknown";
}

}  // namespace muster
