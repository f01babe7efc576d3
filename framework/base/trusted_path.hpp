// SPDX-License-Identifier: BSD-3-Clause
// Decides whether a process may load code and settings from a file: only trusted users can change it
// (docs/decisions/0033). Trusted are root, the user of the process, the owner of the running library, and the
// owner of the root folder.
#pragma once

#include <sys/stat.h>

#include <string>

#include "framework/base/result.hpp"

namespace muster {

/// The required level of trust. `RootOnly` is for processes with raised privileges.
enum class Trust { Usual, RootOnly };

/// The reason why a file or folder with this status is not trusted, as words after its path; "" if it is
/// trusted. Group write access is allowed for the user's own files, unless the user is root, and for a group
/// that may write the running library's file. Any thread.
std::string why_not_trusted(const struct stat& status);

/// The path without links, if only trusted users can change it and all folders above it. A parent folder that
/// others may write must be sticky; the folder of the last part of the path must not be writable by others.
/// The error is one sentence; the caller adds the remedy. Any thread.
Result<std::string> trusted_path(const std::string& path, Trust trust);

}  // namespace muster
