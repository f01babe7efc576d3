// SPDX-License-Identifier: BSD-3-Clause
// The test's own munged, run as the test's user, with a new key and socket in a new folder. The destructor
// ends it and removes its folder.
#pragma once

#include <sys/types.h>

#include <string>

namespace integration {

class Munged {
  public:
    /// Waits until it answers. `error()` gives the reason if it does not.
    Munged();
    ~Munged();
    Munged(const Munged&) = delete;
    Munged& operator=(const Munged&) = delete;

    /// Whether this machine has the program.
    static bool installed();
    const std::string& socket() const { return socket_; }
    const std::string& error() const { return error_; }
    /// Kills it; the socket remains.
    void kill();

  private:
    std::string folder_, socket_, error_;
    pid_t pid_ = -1;
};

}  // namespace integration
