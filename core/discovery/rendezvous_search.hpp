// SPDX-License-Identifier: BSD-3-Clause
// Where rendezvous files are: the names that servers give them, and the search below a folder.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "core/discovery/rendezvous_file.hpp"

namespace muster {

/// Names of the files, without folder. `host` is one of rendezvous_hosts().
std::string system_rendezvous_name(const std::string& host);
std::string session_rendezvous_name(const std::string& host);
std::string session_rendezvous_name(const std::string& host, const std::string& nspace_or_pid);

/// Whether it is the name of a session file of one of the hosts.
bool is_session_rendezvous(const std::string& name, const std::vector<std::string>& hosts);

/// Where in a folder is looked: at its own files, at those of the folders in it (at any depth up to a bound),
/// or at all.
enum class RendezvousDepth { Here, Further, All };

/// Paths below `folder` of the regular files whose name `matches`: the newest first. Links are not followed,
/// and folders that cannot be opened are passed over; the search ends after a large number of entries.
std::vector<std::string> search_rendezvous(const std::string& folder,
                                           const std::function<bool(const std::string& name)>& matches,
                                           RendezvousDepth depth = RendezvousDepth::All);

}  // namespace muster
