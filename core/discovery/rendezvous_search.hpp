// SPDX-License-Identifier: BSD-3-Clause
// The names of rendezvous files, the search for them below a folder, and the servers that they name.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "core/discovery/rendezvous_file.hpp"
#include "core/runtime/runtime.hpp"

namespace muster {

/// Names of the files, without folder. `host` is one of rendezvous_hosts().
std::string system_rendezvous_name(const std::string& host);
std::string session_rendezvous_name(const std::string& host);
std::string session_rendezvous_name(const std::string& host, const std::string& nspace_or_pid);

/// Whether it is the name of a session file of one of the hosts.
bool is_session_rendezvous(const std::string& name, const std::vector<std::string>& hosts);

/// The scope of a search: the folder's own files, the files of its subfolders (to a bounded depth), or both.
enum class RendezvousDepth { Here, Further, All };

/// Paths below `folder` of the regular files whose name `matches`: the newest first. Links are not followed,
/// and folders that cannot be opened are skipped; the search ends after a large number of entries.
std::vector<std::string> search_rendezvous(const std::string& folder,
                                           const std::function<bool(const std::string& name)>& matches,
                                           RendezvousDepth depth = RendezvousDepth::All);

/// The answer to PMIX_QUERY_AVAIL_SERVERS (Standard: Query): the servers of this node whose rendezvous files
/// we may read and believe. Adds an array with one PMIX_SERVER_INFO_ARRAY a server, the newest first; each
/// begins with PMIX_NSPACE and holds PMIX_SERVER_URI. False if `key` is another key, or if no server is
/// found. Reads files: on any thread, within the bounds of search_rendezvous().
bool answer_available_servers(Runtime& runtime, const char* key, Info& found);

}  // namespace muster
