// SPDX-License-Identifier: BSD-3-Clause
// Which servers a tool could connect to: see available_servers.hpp.
#include "core/discovery/available_servers.hpp"

#include <algorithm>
#include <set>

#include "core/discovery/rendezvous_file.hpp"
#include "core/discovery/rendezvous_search.hpp"
#include "core/discovery/server_uri.hpp"

namespace muster {
namespace {

Value facts_of(const Rendezvous& rendezvous) {
    pmix_proc_t server{};
    std::string transport;
    const std::string& uri = rendezvous.uris.back();  // the one that tools of any library understand
    split_server_uri(uri, server, transport);
    Info facts;
    facts.add(PMIX_NSPACE, server.nspace);
    facts.add(PMIX_RANK, Value::rank(server.rank));
    facts.add(PMIX_SERVER_NSPACE, server.nspace);
    facts.add(PMIX_SERVER_RANK, Value::rank(server.rank));
    facts.add(PMIX_SERVER_URI, uri.c_str());
    facts.add(PMIX_VERSION_INFO, rendezvous.version.c_str());
    if (rendezvous.pid > 0) facts.add(PMIX_SERVER_PIDINFO, Value::pid(rendezvous.pid));
    if (rendezvous.user) facts.add(PMIX_USERID, *rendezvous.user);
    if (rendezvous.group) facts.add(PMIX_GRPID, *rendezvous.group);
    if (!rendezvous.started.empty()) facts.add(PMIX_SERVER_START_TIME, rendezvous.started.c_str());
    return std::move(facts).to_value();
}

}  // namespace

bool answer_available_servers(Runtime& runtime, const char* key, Info& found) {
    if (!key_is(key, PMIX_QUERY_AVAIL_SERVERS)) return false;
    const bool foreign = runtime.parameters().boolean("tool_base_trust_foreign_files");
    const auto hosts = rendezvous_hosts(runtime.hostname());
    const auto is_server = [&](const std::string& name) {
        return is_session_rendezvous(name, hosts) || std::ranges::any_of(hosts, [&](const std::string& host) {
                   return name == system_rendezvous_name(host);
               });
    };
    Info servers;
    std::set<std::string> seen;  // a server has several files
    for (const std::string& folder :
         std::set<std::string>{runtime.session_directory(), runtime.system_directory()}) {
        for (const std::string& path : search_rendezvous(folder, is_server)) {
            const auto file = read_rendezvous_file(path, foreign);
            if (file && seen.insert(file->uris.back()).second)
                servers.add(PMIX_SERVER_INFO_ARRAY, facts_of(*file));
        }
    }
    if (servers.empty()) return false;
    found.add(key, std::move(servers).to_value());
    return true;
}

}  // namespace muster
