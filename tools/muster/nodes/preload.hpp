// SPDX-License-Identifier: BSD-3-Clause
// Files that a job requests on its nodes before it starts (PMIX_PRELOAD_BIN, PMIX_PRELOAD_FILES): copied into
// a private directory of the job.
#pragma once

#include <string>

namespace muster::launcher {

/// Copies the file `source`, an absolute path, into the directory `dir` under its last name. Returns "", or a
/// sentence about the failure. Refuses a source that is not a regular file, and an existing name. Root
/// follows no symbolic link of another user.
std::string preload(const std::string& source, const std::string& dir);

/// Makes the file `name` of `dir` appear in `other`, too, without a second copy where the file system can do
/// that. A sentence where that fails, else "".
std::string share_file(const std::string& dir, const std::string& name, const std::string& other);

}  // namespace muster::launcher
