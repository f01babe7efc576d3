// SPDX-License-Identifier: BSD-3-Clause
// The private directory of one run of muster, below TMPDIR: rendezvous files of the servers, session
// directories of the ranks. Mode 0700; removed with all that is in it when the run ends.
#pragma once

#include <string>

namespace muster::launcher {

/// Makes <TMPDIR or /tmp>/muster-XXXXXX. Throws JobError.
std::string make_session_dir();

/// Makes a directory, mode 0700; true also when it is there.
bool make_dir(const std::string& path);

/// Removes a directory that this run made, with its contents; links are removed, not followed.
void remove_session_dir(const std::string& path);

}  // namespace muster::launcher
