// SPDX-License-Identifier: BSD-3-Clause
// Report of waits: see waits.hpp.
#include "core/query/waits.hpp"

#include <pmix/muster.h>

#include <algorithm>

#include "core/collective/collectives.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/groups/construct.hpp"
#include "core/groups/group_server.hpp"
#include "core/modex/modex.hpp"
#include "core/query/query_server.hpp"
#include "core/rendezvous/barriers.hpp"

namespace muster {
namespace {

/// Names are added up to here; a fence of thousands names its first.
constexpr size_t kMostNames = 8;

std::string names_of(const std::vector<pmix_proc_t>& procs, size_t unnamed = 0) {
    std::string text;
    for (size_t i = 0; i < procs.size() && i < kMostNames; ++i)
        text += (i == 0 ? "" : " ") + proc_text(procs[i]);
    const size_t more = procs.size() - std::min(procs.size(), kMostNames) + unnamed;
    if (more > 0) text += (procs.empty() ? "" : " and ") + std::to_string(more) + " others";
    return text;
}

std::string wait_in(QueryServer& server, const Collective& collective) {
    const std::string name =
        collective_name(collective.kind()) + (collective.id().empty() ? "" : " " + collective.id());
    if (collective.handed_over()) {
        std::vector<pmix_proc_t> undecided;
        if (collective.kind() == CollectiveKind::GroupConstruct)
            undecided = server.group_server().group_construct().undecided(collective.id());
        if (!undecided.empty())
            return name + ": a member has failed, what to do is not decided by " + names_of(undecided);
        return name + ": all of this node are in, the host has not answered";
    }
    size_t unnamed = 0;
    const std::vector<pmix_proc_t> missing = collective.missing(&unnamed);
    const size_t in = collective.arrivals().size();
    return name + ": " + std::to_string(in) + " of " + std::to_string(in + missing.size() + unnamed) +
           " are in, not " + names_of(missing, unnamed);
}

/// The wait of processes that have answered the invitation to a group, and of its leader.
std::string wait_in(QueryServer& server, const OpenInvitation& open) {
    const std::string name = "group invitation " + open.id + ": ";
    if (open.leader_lost) return name + "its leader has failed, who leads is not decided";
    // Answers go to the leader's server.
    if (!server.namespaces().is_local(open.leader))
        return name + "not completed by " + proc_text(open.leader);
    const size_t all = open.answered.size() + open.awaited.size();
    if (open.awaited.empty()) return name + "all have answered, not completed by " + proc_text(open.leader);
    return name + std::to_string(open.answered.size()) + " of " + std::to_string(all) +
           " have answered, not " + names_of(open.awaited);
}

}  // namespace

bool answer_waits(QueryServer& server, const Caller& caller, const char* key, InfoView qualifiers,
                  Info& found) {
    if (!key_is(key, MUSTER_WAITS)) return false;
    const pmix_value_t* only = qualifiers.value(PMIX_NSPACE);
    const char* nspace = only == nullptr ? nullptr : value_as_string(only);
    Info waits;
    // The text takes time to build: only for processes that the caller may see.
    const auto is_told = [&](const pmix_proc_t& proc) {
        if (nspace != nullptr && !nspace_is(proc.nspace, nspace)) return false;
        const LocalClient* client = server.namespaces().client(proc);
        return client != nullptr && (caller.uid == 0 || caller.uid == client->uid);
    };
    const auto add = [&](const pmix_proc_t& proc, std::string& what, const auto& find_out) {
        if (!is_told(proc)) return;
        if (what.empty()) what = find_out();
        Info entry;
        entry.add(PMIX_PROCID, proc);
        entry.add(MUSTER_WAIT, what.c_str());
        waits.add(PMIX_PROC_INFO_ARRAY, std::move(entry).to_value());
    };
    // Processes at shared-memory barriers fall back to the server, and the next query shows them.
    server.barriers().call_in_all();
    server.group_server().meetings().call_in_all();
    for (const auto& collective : server.collectives().active()) {
        std::string what;
        for (const Arrival& arrival : collective->arrivals())
            add(arrival.proc, what, [&] { return wait_in(server, *collective); });
    }
    for (const OpenInvitation& open : server.group_server().invitation_watch().open()) {
        std::string what;
        const auto find_out = [&] { return wait_in(server, open); };
        if (!open.leader_lost) add(open.leader, what, find_out);
        for (const pmix_proc_t& proc : open.answered)
            add(proc, what, find_out);
    }
    server.modex().for_each_waiting([&](const GetRequest& request) {
        std::string what;
        add(request.requester, what, [&] {
            return "get: " + (request.key ? "'" + *request.key + "'" : std::string("all data")) + " of " +
                   proc_text(request.target);
        });
    });
    found.add(key, waits.empty() ? Value::adopt_array(nullptr, 0, PMIX_INFO) : std::move(waits).to_value());
    return true;
}

}  // namespace muster
