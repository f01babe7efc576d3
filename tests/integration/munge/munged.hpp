// SPDX-License-Identifier: BSD-3-Clause
// A munged of the test's own, as the test's user, with a new key and socket in a new folder. Ended, and its
// folder removed, by the destructor.
#pragma once

#include <sys/types.h>

#include <string>

namespace integration {

class Munged {
  public:
    /// Waits until it answers. `error()` says why it does not.
    Munged();
    ~Munged();
    Munged(const Munged&) = delete;
    Munged& operator=(const Munged&) = delete;

    /// Whether this machine has the program at all.
    static bool installed();
    const std::string& socket() const { return socket_; }
    const std::string& error() const { return error_; }
    /// Ends it, as its sudden death would; the socket stays behind.
    void kill();

  private:
    std::string folder_, socket_, error_;
    pid_t pid_ = -1;
};

}  // namespace integration
