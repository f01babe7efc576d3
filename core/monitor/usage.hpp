// SPDX-License-Identifier: BSD-3-Clause
// The resource usage of processes, the node, its disks and its network interfaces: read from /proc, and
// returned under the keys of PMIx (PMIX_PROC_RESOURCE_USAGE and related keys). Any thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "framework/base/info.hpp"
#include "framework/base/keyed_hash.hpp"
#include "framework/base/status.hpp"

namespace muster {

struct UsageRequest {
    enum class Subject : uint8_t { Processes, Node, Disks, Networks };
    struct Process {
        pmix_proc_t proc{};
        pid_t pid = 0;
    };

    Subject subject = Subject::Node;
    TextSet keys;                    ///< of the statistics that are wanted; empty: all
    TextSet disks, networks;         ///< names of those that are wanted; empty: all
    std::vector<Process> processes;  ///< Subject::Processes
    std::string hostname;
    std::string root = "/proc";
};

/// Whether the key of a monitor asks for usage.
bool asks_for_usage(const char* key);

/// Reads PMIX_MONITOR_{PROC,NODE,DISK,NET}_RESOURCE_USAGE and the directives that name disks and networks.
/// PMIX_ERR_BAD_PARAM for a value of the wrong type.
pmix_status_t read_usage_request(const pmix_info_t& monitor, InfoView directives, UsageRequest& request);

/// One entry for each existing subject: an array that names it first, then the requested values, and the time
/// of the sample last. Ended processes, and files that the kernel does not have, are omitted.
Info measure(const UsageRequest& request);

}  // namespace muster
