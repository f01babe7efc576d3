// SPDX-License-Identifier: BSD-3-Clause
// Words for the API's small numbers.

#include "framework/base/names.hpp"

#include <cstdint>
#include <span>

namespace muster {
namespace {

struct Word {
    std::uint64_t number;
    const char* text;
};

const char* find(std::span<const Word> words, std::uint64_t number, const char* otherwise) {
    for (const Word& word : words) {
        if (word.number == number) return word.text;
    }
    return otherwise;
}

// The words of all bits that are set, joined.
std::string join(std::span<const Word> words, std::uint64_t bits, char delimiter, const char* none) {
    std::string text;
    for (const Word& word : words) {
        if ((bits & word.number) == 0) continue;
        if (!text.empty()) text += delimiter;
        text += word.text;
    }
    return text.empty() ? none : text;
}

constexpr Word kProcStates[] = {
    {PMIX_PROC_STATE_UNDEF, "UNDEFINED"},
    {PMIX_PROC_STATE_PREPPED, "PREPPED"},
    {PMIX_PROC_STATE_LAUNCH_UNDERWAY, "LAUNCH UNDERWAY"},
    {PMIX_PROC_STATE_RESTART, "RESTART"},
    {PMIX_PROC_STATE_TERMINATE, "TERMINATE"},
    {PMIX_PROC_STATE_RUNNING, "RUNNING"},
    {PMIX_PROC_STATE_CONNECTED, "CONNECTED"},
    {PMIX_PROC_STATE_UNTERMINATED, "UNTERMINATED"},
    {PMIX_PROC_STATE_TERMINATED, "TERMINATED"},
    {PMIX_PROC_STATE_ERROR, "ERROR"},
    {PMIX_PROC_STATE_KILLED_BY_CMD, "KILLED BY CMD"},
    {PMIX_PROC_STATE_ABORTED, "ABORTED"},
    {PMIX_PROC_STATE_FAILED_TO_START, "FAILED TO START"},
    {PMIX_PROC_STATE_ABORTED_BY_SIG, "ABORTED BY SIGNAL"},
    {PMIX_PROC_STATE_TERM_WO_SYNC, "TERMINATED WITHOUT SYNC"},
    {PMIX_PROC_STATE_COMM_FAILED, "COMM FAILED"},
    {PMIX_PROC_STATE_SENSOR_BOUND_EXCEEDED, "SENSOR BOUND EXCEEDED"},
    {PMIX_PROC_STATE_CALLED_ABORT, "CALLED ABORT"},
    {PMIX_PROC_STATE_HEARTBEAT_FAILED, "HEARTBEAT FAILED"},
    {PMIX_PROC_STATE_MIGRATING, "MIGRATING"},
    {PMIX_PROC_STATE_CANNOT_RESTART, "CANNOT RESTART"},
    {PMIX_PROC_STATE_TERM_NON_ZERO, "TERMINATED NON-ZERO"},
    {PMIX_PROC_STATE_FAILED_TO_LAUNCH, "FAILED TO LAUNCH"},
    {PMIX_PROC_STATE_KILLED_BY_RELEASE, "KILLED BY RELEASE"},
};

constexpr Word kJobStates[] = {
    {PMIX_JOB_STATE_UNDEF, "UNDEFINED"},
    {PMIX_JOB_STATE_PREPPED, "PREPPED"},
    {PMIX_JOB_STATE_LAUNCH_UNDERWAY, "LAUNCH UNDERWAY"},
    {PMIX_JOB_STATE_RUNNING, "RUNNING"},
    {PMIX_JOB_STATE_SUSPENDED, "SUSPENDED"},
    {PMIX_JOB_STATE_CONNECTED, "CONNECTED"},
    {PMIX_JOB_STATE_UNTERMINATED, "UNTERMINATED"},
    {PMIX_JOB_STATE_TERMINATED, "TERMINATED"},
    {PMIX_JOB_STATE_TERMINATED_WITH_ERROR, "TERMINATED WITH ERROR"},
};

constexpr Word kScopes[] = {
    {PMIX_SCOPE_UNDEF, "UNDEFINED"}, {PMIX_LOCAL, "LOCAL"},       {PMIX_REMOTE, "REMOTE"},
    {PMIX_GLOBAL, "GLOBAL"},         {PMIX_INTERNAL, "INTERNAL"},
};

constexpr Word kPersistences[] = {
    {PMIX_PERSIST_INDEF, "INDEFINITE"}, {PMIX_PERSIST_FIRST_READ, "FIRST READ"},
    {PMIX_PERSIST_PROC, "PROCESS"},     {PMIX_PERSIST_APP, "APPLICATION"},
    {PMIX_PERSIST_SESSION, "SESSION"},  {PMIX_PERSIST_NSPACE, "NAMESPACE"},
    {PMIX_PERSIST_INVALID, "INVALID"},
};

constexpr Word kRanges[] = {
    {PMIX_RANGE_UNDEF, "UNDEFINED"}, {PMIX_RANGE_RM, "RESOURCE MANAGER"},
    {PMIX_RANGE_LOCAL, "LOCAL"},     {PMIX_RANGE_NAMESPACE, "NAMESPACE"},
    {PMIX_RANGE_SESSION, "SESSION"}, {PMIX_RANGE_GLOBAL, "GLOBAL"},
    {PMIX_RANGE_CUSTOM, "CUSTOM"},   {PMIX_RANGE_PROC_LOCAL, "PROCESS LOCAL"},
    {PMIX_RANGE_INVALID, "INVALID"},
};

constexpr Word kAllocDirectives[] = {
    {PMIX_ALLOC_NEW, "NEW"},
    {PMIX_ALLOC_EXTEND, "EXTEND"},
    {PMIX_ALLOC_RELEASE, "RELEASE"},
    {PMIX_ALLOC_REAQUIRE, "REACQUIRE"},
    {PMIX_ALLOC_REQ_CANCEL, "REQUEST CANCEL"},
    {PMIX_ALLOC_ACTIVATE, "ACTIVATE"},
};

constexpr Word kAllocInheritances[] = {
    {PMIX_ALLOC_INHERIT_NONE, "NONE"},
    {PMIX_ALLOC_INHERIT_CHILD, "CHILD"},
    {PMIX_ALLOC_INHERIT_DEFAULT, "DEFAULT"},
    {PMIX_ALLOC_INHERIT_CHILD_DEFAULT, "CHILD_DEFAULT"},
};

constexpr Word kResourceBlockDirectives[] = {
    {PMIX_RESOURCE_BLOCK_DEFINE, "DEFINE"},
    {PMIX_RESOURCE_BLOCK_EXTEND, "EXTEND"},
    {PMIX_RESOURCE_BLOCK_REMOVE, "REMOVE"},
    {PMIX_RESOURCE_BLOCK_DELETE, "DELETE"},
};

constexpr Word kLinkStates[] = {
    {PMIX_LINK_STATE_UNKNOWN, "UNKNOWN"},
    {PMIX_LINK_DOWN, "DOWN"},
    {PMIX_LINK_UP, "UP"},
};

constexpr Word kComparisons[] = {
    {PMIX_EQUAL, "EQUAL"},
    {PMIX_VALUE1_GREATER, "VALUE1 GREATER"},
    {PMIX_VALUE2_GREATER, "VALUE2 GREATER"},
    {PMIX_VALUE_TYPE_DIFFERENT, "TYPE DIFFERENT"},
    {PMIX_VALUE_INCOMPATIBLE_OBJECTS, "INCOMPATIBLE OBJECTS"},
    {PMIX_VALUE_COMPARISON_NOT_AVAIL, "COMPARISON NOT AVAILABLE"},
};

constexpr Word kGroupOperations[] = {
    {PMIX_GROUP_CONSTRUCT, "CONSTRUCT"},
    {PMIX_GROUP_DESTRUCT, "DESTRUCT"},
    {PMIX_GROUP_NONE, "NONE"},
    {PMIX_GROUP_CANCEL, "CANCEL"},
};

constexpr Word kDeviceTypes[] = {
    {PMIX_DEVTYPE_BLOCK, "BLOCK"},     {PMIX_DEVTYPE_GPU, "GPU"},
    {PMIX_DEVTYPE_NETWORK, "NETWORK"}, {PMIX_DEVTYPE_OPENFABRICS, "OPENFABRICS"},
    {PMIX_DEVTYPE_DMA, "DMA"},         {PMIX_DEVTYPE_COPROC, "COPROCESSOR"},
    {PMIX_DEVTYPE_MEMORY, "MEMORY"},   {PMIX_DEVTYPE_CORE, "CORE"},
    {PMIX_DEVTYPE_HWT, "HWTHREAD"},    {PMIX_DEVTYPE_CPU, "CPU"},
    {PMIX_DEVTYPE_NODE, "NODE"},
};

// Indexed by the four channel bits.
constexpr const char* kChannels[] = {
    "NONE",
    "STDIN",
    "STDOUT",
    "STDIN STDOUT",
    "STDERR",
    "STDIN STDERR",
    "STDOUT STDERR",
    "STDIN STDOUT STDERR",
    "STDDIAG",
    "STDIN STDDIAG",
    "STDOUT STDDIAG",
    "STDIN STDOUT STDDIAG",
    "STDERR STDDIAG",
    "STDIN STDERR STDDIAG",
    "STDOUT STDERR STDDIAG",
    "STDIN STDOUT STDERR STDDIAG",
};
static_assert(PMIX_FWD_STDIN_CHANNEL == 1 && PMIX_FWD_STDOUT_CHANNEL == 2 && PMIX_FWD_STDERR_CHANNEL == 4 &&
              PMIX_FWD_STDDIAG_CHANNEL == 8);

constexpr Word kInfoFlags[] = {
    {PMIX_INFO_REQD_PROCESSED, "PROCESSED"},
    {PMIX_INFO_ARRAY_END, "END"},
    {PMIX_INFO_QUALIFIER, "QUALIFIER"},
    {PMIX_INFO_PERSISTENT, "PERSISTENT"},
};

constexpr Word kSpecialRanks[] = {
    {PMIX_RANK_UNDEF, "PMIX_RANK_UNDEF"},           {PMIX_RANK_WILDCARD, "PMIX_RANK_WILDCARD"},
    {PMIX_RANK_LOCAL_NODE, "PMIX_RANK_LOCAL_NODE"}, {PMIX_RANK_LOCAL_PEERS, "PMIX_RANK_LOCAL_PEERS"},
    {PMIX_RANK_INVALID, "PMIX_RANK_INVALID"},
};

constexpr Word kLocalities[] = {
    {PMIX_LOCALITY_SHARE_HWTHREAD, "HWTHREAD"}, {PMIX_LOCALITY_SHARE_CORE, "CORE"},
    {PMIX_LOCALITY_SHARE_L1CACHE, "L1"},        {PMIX_LOCALITY_SHARE_L2CACHE, "L2"},
    {PMIX_LOCALITY_SHARE_L3CACHE, "L3"},        {PMIX_LOCALITY_SHARE_PACKAGE, "PACKAGE"},
    {PMIX_LOCALITY_SHARE_NUMA, "NUMA"},         {PMIX_LOCALITY_SHARE_NODE, "NODE"},
    {PMIX_LOCALITY_NONLOCAL, "NONLOCAL"},
};

constexpr Word kStorageMediums[] = {
    {PMIX_STORAGE_MEDIUM_UNKNOWN, "UNKNOWN"}, {PMIX_STORAGE_MEDIUM_TAPE, "TAPE"},
    {PMIX_STORAGE_MEDIUM_HDD, "HDD"},         {PMIX_STORAGE_MEDIUM_SSD, "SSD"},
    {PMIX_STORAGE_MEDIUM_NVME, "NVME"},       {PMIX_STORAGE_MEDIUM_PMEM, "PMEM"},
    {PMIX_STORAGE_MEDIUM_RAM, "RAM"},
};

constexpr Word kStorageAccessibilities[] = {
    {PMIX_STORAGE_ACCESSIBILITY_NODE, "NODE"},       {PMIX_STORAGE_ACCESSIBILITY_SESSION, "SESSION"},
    {PMIX_STORAGE_ACCESSIBILITY_JOB, "JOB"},         {PMIX_STORAGE_ACCESSIBILITY_RACK, "RACK"},
    {PMIX_STORAGE_ACCESSIBILITY_CLUSTER, "CLUSTER"}, {PMIX_STORAGE_ACCESSIBILITY_REMOTE, "REMOTE"},
};

constexpr Word kStoragePersistences[] = {
    {PMIX_STORAGE_PERSISTENCE_TEMPORARY, "TEMPORARY"}, {PMIX_STORAGE_PERSISTENCE_NODE, "NODE"},
    {PMIX_STORAGE_PERSISTENCE_SESSION, "SESSION"},     {PMIX_STORAGE_PERSISTENCE_JOB, "JOB"},
    {PMIX_STORAGE_PERSISTENCE_SCRATCH, "SCRATCH"},     {PMIX_STORAGE_PERSISTENCE_PROJECT, "PROJECT"},
    {PMIX_STORAGE_PERSISTENCE_ARCHIVE, "ARCHIVE"},
};

constexpr Word kStorageAccessTypes[] = {
    {PMIX_STORAGE_ACCESS_RD, "READ"},
    {PMIX_STORAGE_ACCESS_WR, "WRITE"},
};

/// The words of a type whose numbers are names.
struct WordTable {
    pmix_data_type_t type;
    std::span<const Word> words;
    const char* otherwise = "UNKNOWN";
    std::uint64_t external = UINT64_MAX;  // numbers from here on are the host's own
};

constexpr WordTable kNameTables[] = {
    {PMIX_PROC_STATE, kProcStates},
    {PMIX_JOB_STATE, kJobStates},
    {PMIX_SCOPE, kScopes},
    {PMIX_PERSIST, kPersistences},
    {PMIX_DATA_RANGE, kRanges},
    {PMIX_ALLOC_DIRECTIVE, kAllocDirectives, "UNSPECIFIED", PMIX_ALLOC_EXTERNAL},
    {PMIX_ALLOC_INHERIT, kAllocInheritances, "UNSPECIFIED"},
    {PMIX_RESBLOCK_DIRECTIVE, kResourceBlockDirectives, "UNSPECIFIED", PMIX_RESOURCE_BLOCK_EXTERNAL},
    {PMIX_LINK_STATE, kLinkStates},
};

/// The words of a type whose numbers are masks.
constexpr WordTable kMaskTables[] = {
    {PMIX_DEVTYPE, kDeviceTypes},
    {PMIX_LOCTYPE, kLocalities},
    {PMIX_STOR_MEDIUM, kStorageMediums},
    {PMIX_STOR_ACCESS, kStorageAccessibilities},
    {PMIX_STOR_PERSIST, kStoragePersistences},
    {PMIX_STOR_ACCESS_TYPE, kStorageAccessTypes},
};

}  // namespace

const char* number_name(pmix_data_type_t type, std::uint64_t number) {
    for (const WordTable& names : kNameTables) {
        if (names.type != type) continue;
        return find(names.words, number, number >= names.external ? "EXTERNAL" : names.otherwise);
    }
    return type == PMIX_IOF_CHANNEL ? kChannels[number & 15] : nullptr;
}

const char* value_comparison_name(pmix_value_cmp_t comparison) {
    return find(kComparisons, static_cast<std::uint64_t>(comparison), "UNKNOWN");
}
const char* group_operation_name(pmix_group_operation_t operation) {
    return find(kGroupOperations, static_cast<std::uint64_t>(operation), "UNKNOWN");
}
const char* device_type_name(pmix_device_type_t type) {
    const bool several = (type & (type - 1)) != 0;
    return find(kDeviceTypes, type, several ? "MIXED" : "UNKNOWN");
}

std::string info_directives_text(pmix_info_directives_t directives) {
    std::string text = (directives & PMIX_INFO_REQD) != 0 ? "REQUIRED" : "OPTIONAL";
    const std::string others = join(kInfoFlags, directives, ':', "");
    return others.empty() ? text : text + ":" + others;
}

std::string rank_text(pmix_rank_t rank) {
    const char* name = find(kSpecialRanks, rank, nullptr);
    return name != nullptr ? name : std::to_string(rank);
}

std::string number_text(pmix_data_type_t type, std::uint64_t number) {
    for (const WordTable& masks : kMaskTables) {
        if (masks.type == type) return join(masks.words, number, ':', masks.otherwise);
    }
    const char* name = number_name(type, number);
    return name != nullptr ? name : std::to_string(number);
}

}  // namespace muster
