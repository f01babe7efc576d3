// SPDX-License-Identifier: BSD-3-Clause
// Touching files in the name of a user. A server of root's does what its clients ask for with their rights,
// so that they reach nothing that they could not reach themselves.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace muster {

/// While it lives, the file system treats the calling thread (and no other) as that user with that group
/// alone, where the process is root's; elsewhere nothing changes. To be destroyed on the same thread, without
/// anything in between that may not run with these rights.
class FileRights {
  public:
    FileRights(uint32_t uid, uint32_t gid);
    ~FileRights();
    FileRights(const FileRights&) = delete;
    FileRights& operator=(const FileRights&) = delete;

    /// False where the system did not allow it: nothing is to be touched then.
    bool good() const { return good_; }

  private:
    bool changed_ = false;
    bool good_ = true;
    std::vector<gid_t> groups_;  // to go back to
};

}  // namespace muster
