// SPDX-License-Identifier: BSD-3-Clause
// The library's own parameters: see library_parameters.hpp.
#include "framework/library_parameters.hpp"

#include <utility>

namespace muster {

void define_library_parameters(Parameters& parameters) {
    using enum ParameterType;
    ParameterDefinition table[] = {
        {"server", "base", "max_wait", Seconds, "2", "seconds",
         "How long a request without PMIX_TIMEOUT waits for a key that a process of this node, which has "
         "committed data already, may still post."},
        {"server", "base", "max_payload", Size, "1g", "bytes",
         "Largest message that is accepted from a peer; a peer that sends a larger one is disconnected."},
        {"server", "base", "max_queued", Size, "512m", "bytes",
         "How much may wait to be sent to one peer; a peer that does not read, so that more would wait, is "
         "disconnected. A single message is always sent, however long it is."},
        {"server", "base", "max_decoded", Size, "4g", "bytes",
         "How much memory a message of a peer may take once it is read, beyond its own size; a request that "
         "would take more is refused."},
        {"server", "base", "max_requests", Size, "65536", "",
         "How many requests of one process, or of all tools of one user, may wait for their answer; what is "
         "asked beyond is refused (PMIX_ERR_OUT_OF_RESOURCE)."},
        {"server", "base", "max_foreign_processes", Size, "4096", "",
         "Number of processes of unregistered jobs whose data from the host is cached; then the oldest entry "
         "is dropped, and the next request for it goes to the host."},
        {"server", "base", "max_request_memory", Size, "512m", "bytes",
         "How much memory these requests may take together, and what is found for one query."},
        {"server", "base", "max_group_memory", Size, "1g", "bytes",
         "How much memory the groups that the processes of one job have made, or all tools of one user, may "
         "take together; more groups are refused (PMIX_ERR_OUT_OF_RESOURCE) until some are destructed."},
        {"server", "base", "max_committed", Size, "2g", "bytes",
         "How much memory all that one process has committed may take together; what is committed beyond is "
         "refused (PMIX_ERR_OUT_OF_RESOURCE where the process waits for an answer) and not kept."},
        {"server",
         "base",
         "contribution_form",
         Choice,
         "auto",
         "",
         "The form of what this server contributes to fences over several nodes. auto: once a server on "
         "OpenPMIx has contributed to a fence of the job, its form; before, one that all accept and only "
         "this "
         "library reads, so that the others ask for each process. 4.2 or 6.0, where OpenPMIx of that or the "
         "next versions serves other nodes, saves that. All forms are read.",
         {"auto", "4.2", "6.0"}},
        {"server", "base", "describe_node", Bool, "true", "",
         "Give the hardware of the node as hwloc's XML to clients of this user that ask for it and are "
         "confined to the same resources, unless the host says that it is not to be shared."},
        {"server", "base", "handshake_timeout", Seconds, "30", "seconds",
         "How long a connection may take to complete its handshake before it is dropped."},
        {"server", "base", "forward_environment", String, "", "",
         "Comma list of environment variables of the launcher that a job's processes get; a name that ends "
         "in * stands for all that begin so."},
        {"pmix", "", "shared_barrier", Bool, "true", "",
         "Whether the processes of a job that is on one node whole meet in shared memory, without their "
         "server, in fences without data and directives, and to make and end groups of all of them."},
        {"client", "base", "connect_timeout", Seconds, "60", "seconds",
         "How long a client waits for its server to accept it."},
        {"tool", "base", "connect_attempts", Unsigned, "10", "",
         "How often a tool looks for the server that it has to connect to, unless the tool sets "
         "PMIX_CONNECT_MAX_RETRIES."},
        {"tool", "base", "connect_delay", Seconds, "0.01", "seconds",
         "How long a tool waits before it looks again (PMIX_CONNECT_RETRY_DELAY)."},
        {"tool", "base", "trust_foreign_files", Bool, "false", "",
         "Whether a tool trusts rendezvous files that belong neither to root nor to its own user."},
        {"pmix", "event", "cache_size", Size, "1m", "bytes",
         "Room for events that are held for handlers which register later; the oldest give way."},
        {"pmix", "event", "queue_size", Size, "64m", "bytes",
         "Room for events that wait to be taken by one process: what a server has still to send to it, and "
         "what its handlers have not completed; events beyond are given up and counted."},
        {"pmix", "event", "max_codes", Size, "4096", "",
         "How many codes of events one client may have registered at a server; more are refused."},
        {"pmix", "group", "report_time", Seconds, "1", "seconds",
         "How long the event that a member of a group has failed waits for the host's report about the end "
         "of "
         "its process, which the event carries. 0: not at all."},
        {"pmix", "iof", "cache_size", Size, "1m", "bytes",
         "Room for forwarded output of each channel of a job that has no reader yet; the oldest output is "
         "dropped. 0 keeps none."},
        {"pmix", "iof", "max_registrations", Size, "1024", "",
         "How many requests for output one process may have open at a server."},
        {"pmix", "progress", "poll_time", Unsigned, "75", "microseconds",
         "How long a call that waits for its reply, and a server that has just served something, look for "
         "what comes before they sleep: a call if each process of the job on this node has a processor, a "
         "server if it has more than one, and both not where others compute. 0: they sleep at once."},
        {"pmix", "", "progress_thread_cpus", String, "", "",
         "Processors to which the library's progress thread is bound, such as 0-3,8, where the program does "
         "not say so itself (PMIX_BIND_PROGRESS_THREAD)."},
        {"pmix", "", "bind_progress_thread_reqd", Bool, "false", "",
         "Whether initialisation fails where that thread cannot be bound (PMIX_BIND_REQUIRED)."},
        {"pmix", "hwloc", "topo_file", String, "", "",
         "File in hwloc's XML that describes this node, instead of looking at the machine."},
    };
    for (ParameterDefinition& definition : table) {
        [[maybe_unused]] const Result<void> defined = parameters.define(std::move(definition));
    }
}

}  // namespace muster
