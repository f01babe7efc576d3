// SPDX-License-Identifier: BSD-3-Clause
// Decides whether a process may load code and settings from a file: only trusted users can change it
// (docs/decisions/0033). Trusted are root, the user of the process, the owner of the running library, and the
// owner of the root folder.
#pragma once

#include <sys/stat.h>

#include <string>

#include "framework/base/result.hpp"

namespace muster {

/// How much is demanded. `RootOnly` is for processes with raised privileges.
enum class Trust { Usual, RootOnly };

/// Why a file or folder with this status is not trusted, as words after its path; "" when it is. A group may
/// write what is the user's own, unless that is root, and where it may write the running library's file. Any
/// thread.
std::string why_not_trusted(const struct stat& status);

/// The path without links, if only trusted users can change it and all folders above it. A folder above that
/// others may write has to be sticky; the one that holds the last part of the path may not be written by
/// others at all. The error is one sentence; its cure is left to the caller. Any thread.
Result<std::string> trusted_path(const std::string& path, Trust trust);

}  // namespace muster
