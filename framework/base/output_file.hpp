// SPDX-License-Identifier: BSD-3-Clause
// Opening output files, also in folders that other users may have prepared.
#pragma once

#include <sys/types.h>

#include <string>

#include "framework/base/unique_fd.hpp"

namespace muster {

/// Opens the file for appending, and creates it and its folders if they are missing (modes by the umask).
/// `empty`: truncates it. Root follows only root's links. Root opens only its own regular files with one
/// name. On failure nothing is open and errno has the reason: ELOOP for a link of another user, EPERM for a
/// file that root refuses. Any thread.
UniqueFd open_output_file(const std::string& path, bool empty);

/// Opens a folder in the same way with O_PATH, and creates missing folders with this mode (less the umask).
UniqueFd open_output_folder(const std::string& path, mode_t mode);

}  // namespace muster
