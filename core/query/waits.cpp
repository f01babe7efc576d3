// SPDX-License-Identifier: BSD-3-Clause
// Who waits for what: see waits.hpp.
#include "core/query/waits.hpp"

#include <cstring>

#include "core/server/server.hpp"

namespace muster {
namespace {

/// Names are added up to here; a fence of thousands names its first.
constexpr size_t kMostNames = 8;

std::string wait_in(const Collective& collective) {
    const std::string name =
        collective_name(collective.kind()) + (collective.id().empty() ? "" : " " + collective.id());
    if (collective.handed_over()) return name + ": all of this node are in, the host has not answered";
    size_t unnamed = 0;
    const std::vector<pmix_proc_t> missing = collective.missing(&unnamed);
    const size_t in = collective.arrivals().size();
    std::string text = name + ": " + std::to_string(in) + " of " +
                       std::to_string(in + missing.size() + unnamed) + " are in, not ";
    for (size_t i = 0; i < missing.size() && i < kMostNames; ++i)
        text += (i == 0 ? "" : " ") + proc_text(missing[i]);
    const size_t more = missing.size() - std::min(missing.size(), kMostNames) + unnamed;
    if (more > 0) text += (missing.empty() ? "" : " and ") + std::to_string(more) + " others";
    return text;
}

}  // namespace

bool answer_waits(Server& server, const Caller& caller, const char* key, InfoView qualifiers, Info& found) {
    if (!key_is(key, kWaitsKey)) return false;
    const pmix_value_t* only = qualifiers.value(PMIX_NSPACE);
    const char* nspace = only == nullptr ? nullptr : value_as_string(only);
    Info waits;
    const auto add = [&](const pmix_proc_t& proc, const std::string& what) {
        const LocalClient* client = server.namespaces().client(proc);
        if (client == nullptr || (nspace != nullptr && !nspace_is(proc.nspace, nspace))) return;
        if (caller.uid != 0 && caller.uid != client->uid) return;
        Info entry;
        entry.add(PMIX_PROCID, proc);
        entry.add(kWaitKey, what.c_str());
        waits.add(PMIX_PROC_INFO_ARRAY, std::move(entry).to_value());
    };
    for (const auto& collective : server.collectives().active()) {
        const std::string what = wait_in(*collective);
        for (const Arrival& arrival : collective->arrivals())
            add(arrival.proc, what);
    }
    server.modex().for_each_waiting([&](const GetRequest& request) {
        add(request.requester, "get: " + (request.key ? "'" + *request.key + "'" : std::string("all data")) +
                                   " of " + proc_text(request.target));
    });
    found.add(key, waits.empty() ? Value::adopt_array(nullptr, 0, PMIX_INFO) : std::move(waits).to_value());
    return true;
}

}  // namespace muster
