// SPDX-License-Identifier: BSD-3-Clause
// The functions of the API that take attributes. The blocking and the non-blocking form are one function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace muster {

enum class Function : uint8_t {
    Init,
    Finalize,
    Get,
    Fence,
    Publish,
    Lookup,
    Unpublish,
    Spawn,
    Connect,
    Disconnect,
    QueryInfo,
    Log,
    AllocationRequest,
    JobControl,
    SessionControl,
    ResourceBlock,
    ProcessMonitor,
    GetCredential,
    ValidateCredential,
    RegisterEventHandler,
    DeregisterEventHandler,
    NotifyEvent,
    IofPull,
    IofPush,
    IofDeregister,
    GroupConstruct,
    GroupDestruct,
    GroupInvite,
    GroupJoin,
    GroupLeave,
    FabricRegister,
    ComputeDistances,
    Abort,
    ToolInit,
    ToolAttachToServer,
    ToolSetServer,
    ServerInit,
    ServerRegisterNspace,
    ServerRegisterResources,
    ServerSetupApplication,
    ServerSetupLocalSupport,
    ServerCollectInventory,
    ServerDeliverInventory,
    ServerIofDeliver,
    ServerIofFlowControl,
};
constexpr size_t kFunctions = static_cast<size_t>(Function::ServerIofFlowControl) + 1;

/// "PMIx_Fence".
const char* function_name(Function function);
/// The function that leads to the upcall of this name ("fence_nb"), by which hosts register attributes.
std::optional<Function> function_of_upcall(std::string_view upcall);

}  // namespace muster
