// SPDX-License-Identifier: BSD-3-Clause
// The library's own parameters: see library_parameters.hpp.
#include "framework/library_parameters.hpp"

#include <utility>

namespace muster {

void define_library_parameters(Parameters& parameters) {
    ParameterDefinition table[] = {
        {.framework = "server",
         .component = "base",
         .name = "max_wait",
         .type = ParameterType::Seconds,
         .default_value = "2",
         .unit = "seconds",
         .help =
             "How long a request without PMIX_TIMEOUT waits for a key that a process of this node, which has "
             "committed data already, may still post."},
        {.framework = "server",
         .component = "base",
         .name = "max_payload",
         .type = ParameterType::Size,
         .default_value = "1g",
         .unit = "bytes",
         .help =
             "Largest message that is accepted from a peer; a peer that sends a larger one is disconnected."},
        {.framework = "server",
         .component = "base",
         .name = "max_queued",
         .type = ParameterType::Size,
         .default_value = "512m",
         .unit = "bytes",
         .help =
             "How much may wait to be sent to one peer; a peer that does not read, so that more would wait, "
             "is disconnected. A single message is always sent, however long it is."},
        {.framework = "server",
         .component = "base",
         .name = "max_decoded",
         .type = ParameterType::Size,
         .default_value = "4g",
         .unit = "bytes",
         .help = "How much memory a message of a peer may take once it is read, beyond its own size; a "
                 "request that would take more is refused."},
        {.framework = "server",
         .component = "base",
         .name = "max_requests",
         .type = ParameterType::Size,
         .default_value = "65536",
         .help = "How many requests of one process, or of all tools of one user, may wait for their answer; "
                 "what is asked beyond is refused (PMIX_ERR_OUT_OF_RESOURCE)."},
        {.framework = "server",
         .component = "base",
         .name = "max_foreign_processes",
         .type = ParameterType::Size,
         .default_value = "4096",
         .help =
             "Of how many processes that belong to no job registered here what the host gave is kept; then "
             "the oldest is forgotten, and the host asked when somebody wants it again."},
        {.framework = "server",
         .component = "base",
         .name = "max_request_memory",
         .type = ParameterType::Size,
         .default_value = "512m",
         .unit = "bytes",
         .help = "How much memory these requests may take together, and what is found for one query."},
        {.framework = "server",
         .component = "base",
         .name = "max_group_memory",
         .type = ParameterType::Size,
         .default_value = "1g",
         .unit = "bytes",
         .help =
             "How much memory the groups that the processes of one job have made, or all tools of one user, "
             "may take together; more groups are refused (PMIX_ERR_OUT_OF_RESOURCE) until some are "
             "destructed."},
        {.framework = "server",
         .component = "base",
         .name = "max_committed",
         .type = ParameterType::Size,
         .default_value = "2g",
         .unit = "bytes",
         .help = "How much memory all that one process has committed may take together; what is committed "
                 "beyond is refused (PMIX_ERR_OUT_OF_RESOURCE where the process waits for an answer) and not "
                 "kept."},
        {.framework = "server",
         .component = "base",
         .name = "describe_node",
         .type = ParameterType::Bool,
         .default_value = "true",
         .help =
             "Give the hardware of the node as hwloc's XML to clients of this user that ask for it and are "
             "confined to the same resources, unless the host says that it is not to be shared."},
        {.framework = "server",
         .component = "base",
         .name = "handshake_timeout",
         .type = ParameterType::Seconds,
         .default_value = "30",
         .unit = "seconds",
         .help = "How long a connection may take to complete its handshake before it is dropped."},
        {.framework = "server",
         .component = "base",
         .name = "forward_environment",
         .help =
             "Comma list of environment variables of the launcher that a job's processes get; a name that "
             "ends in * stands for all that begin so."},
        {.framework = "pmix",
         .component = "",
         .name = "shared_barrier",
         .type = ParameterType::Bool,
         .default_value = "true",
         .help =
             "Whether the processes of a job that is on one node whole meet in shared memory, without their "
             "server, in fences without data and directives, and to make and end groups of all of them."},
        {.framework = "client",
         .component = "base",
         .name = "connect_timeout",
         .type = ParameterType::Seconds,
         .default_value = "60",
         .unit = "seconds",
         .help = "How long a client waits for its server to accept it."},
        {.framework = "tool",
         .component = "base",
         .name = "connect_attempts",
         .type = ParameterType::Unsigned,
         .default_value = "10",
         .help =
             "How often a tool looks for a server that it was told to connect to, where it does not say so "
             "itself (PMIX_CONNECT_MAX_RETRIES)."},
        {.framework = "tool",
         .component = "base",
         .name = "connect_delay",
         .type = ParameterType::Seconds,
         .default_value = "0.01",
         .unit = "seconds",
         .help = "How long a tool waits before it looks again (PMIX_CONNECT_RETRY_DELAY)."},
        {.framework = "tool",
         .component = "base",
         .name = "trust_foreign_files",
         .type = ParameterType::Bool,
         .default_value = "false",
         .help = "Whether a tool believes rendezvous files that belong neither to root nor to its own user."},
        {.framework = "pmix",
         .component = "event",
         .name = "cache_size",
         .type = ParameterType::Size,
         .default_value = "1m",
         .unit = "bytes",
         .help = "Room for events that are held for handlers which register later; the oldest give way."},
        {.framework = "pmix",
         .component = "event",
         .name = "queue_size",
         .type = ParameterType::Size,
         .default_value = "64m",
         .unit = "bytes",
         .help =
             "Room for events that wait to be taken by one process: what a server has still to send to it, "
             "and what its handlers have not completed; events beyond are given up and counted."},
        {.framework = "pmix",
         .component = "event",
         .name = "max_codes",
         .type = ParameterType::Size,
         .default_value = "4096",
         .help = "How many codes of events one client may have registered at a server; more are refused."},
        {.framework = "pmix",
         .component = "iof",
         .name = "cache_size",
         .type = ParameterType::Size,
         .default_value = "1m",
         .unit = "bytes",
         .help = "Room for forwarded output of each channel of a job that nobody has asked for yet; the "
                 "oldest gives "
                 "way. 0 keeps none."},
        {.framework = "pmix",
         .component = "iof",
         .name = "max_registrations",
         .type = ParameterType::Size,
         .default_value = "1024",
         .help = "How many requests for output one process may have open at a server."},
        {.framework = "pmix",
         .component = "progress",
         .name = "poll_time",
         .type = ParameterType::Unsigned,
         .default_value = "75",
         .unit = "microseconds",
         .help =
             "How long a call that waits for its reply, and a server that has just served something, look "
             "for what comes before they sleep, where this node has processors to spare. 0: they sleep at "
             "once."},
        {.framework = "pmix",
         .component = "",
         .name = "progress_thread_cpus",
         .help =
             "Processors to which the library's progress thread is bound, such as 0-3,8, where the program "
             "does not say so itself (PMIX_BIND_PROGRESS_THREAD)."},
        {.framework = "pmix",
         .component = "",
         .name = "bind_progress_thread_reqd",
         .type = ParameterType::Bool,
         .default_value = "false",
         .help = "Whether initialisation fails where that thread cannot be bound (PMIX_BIND_REQUIRED)."},
        {.framework = "pmix",
         .component = "hwloc",
         .name = "topo_file",
         .help = "File in hwloc's XML that describes this node, instead of looking at the machine."},
    };
    for (ParameterDefinition& definition : table) {
        [[maybe_unused]] const Result<void> defined = parameters.define(std::move(definition));
    }
}

}  // namespace muster
