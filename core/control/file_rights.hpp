// SPDX-License-Identifier: BSD-3-Clause
// File operations on behalf of a user. A root server executes its clients' requests with their rights, so
// that they reach only files that they could reach themselves.
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

    /// False if the system refused: no file may be accessed then.
    bool good() const { return good_; }

  private:
    bool changed_ = false;
    bool good_ = true;
    std::vector<gid_t> groups_;  // to go back to
};

}  // namespace muster
