// SPDX-License-Identifier: BSD-3-Clause
// The commands between the roles. The numbers are the wire's (docs/reference/wire.md, commands).
#pragma once

#include <cstdint>

namespace muster {

enum class Command : uint8_t {
    JobInfo = 0,
    Abort = 1,
    Commit = 2,
    Fence = 3,
    Get = 4,
    Finalize = 5,
    Publish = 6,
    Lookup = 7,
    Unpublish = 8,
    Spawn = 9,
    Connect = 10,
    Disconnect = 11,
    Notify = 12,
    RegisterEvents = 13,
    DeregisterEvents = 14,
    Query = 15,
    Log = 16,
    Allocate = 17,
    JobControl = 18,
    Monitor = 19,
    GetCredential = 20,
    ValidateCredential = 21,
    IofPull = 22,
    IofPush = 23,
    GroupConstruct = 24,
    GroupJoin = 25,  ///< only ours: the decision of a participant's handlers
    GroupInvite = 26,
    GroupLeave = 27,
    GroupDestruct = 28,
    IofDeregister = 29,
    FabricRegister = 30,
    FabricUpdate = 31,
    DeviceDistances = 32,
    RefreshCache = 33,
    ResourceBlock = 34,
    SessionControl = 35,
    ResolvePeers = 37,
    ResolveNodes = 38,
    Post = 200,           ///< only ours: a Commit that is not answered
    ConstructRuns = 201,  ///< likewise: a GroupConstruct with ranks of the sender's own namespace
    AllArrived = 202,     ///< likewise: in the barrier in memory; not answered
    Report = 203          ///< likewise: a Notify that is not answered
};

/// Frame tags with a fixed meaning; a request uses one of its own, from kFirstDynamic on.
namespace tag {
constexpr uint32_t kEvent = 0;
constexpr uint32_t kHeartbeat = 1;
constexpr uint32_t kIof = 2;
constexpr uint32_t kIofControl = 3;  ///< a server of OpenPMIx 7.0 suspends or resumes our input
constexpr uint32_t kDelete = 4;
constexpr uint32_t kFirstDynamic = 100;
}  // namespace tag

/// Name of a command for messages; "unknown" for a number that is none.
const char* command_name(uint8_t code);

}  // namespace muster
