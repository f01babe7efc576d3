// SPDX-License-Identifier: BSD-3-Clause
// Opening files that output of processes goes to, also where others may have prepared the folder.
#pragma once

#include <sys/types.h>

#include <string>

#include "framework/base/unique_fd.hpp"

namespace muster {

/// Opens the file for appending and makes it, with the folders that lead to it, where it is missing (modes as
/// the umask says). `empty`: truncates it. Root follows only links of root's. Root opens nothing
/// but regular files of its own with one name. On failure nothing is open and errno says why: ELOOP for a
/// link of another user, EPERM for a file that root leaves alone. Any thread.
UniqueFd open_output_file(const std::string& path, bool empty);

/// Goes down to a folder in the same way, makes what is missing with this mode (less the umask), and opens it
/// for what is done relative to it (O_PATH).
UniqueFd open_output_folder(const std::string& path, mode_t mode);

}  // namespace muster
