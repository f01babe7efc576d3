// SPDX-License-Identifier: BSD-3-Clause
// Shared by transports over stream sockets: connecting within a time, accepting, and the text of an error.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <string>

#include "framework/ptl.hpp"

namespace muster {

/// An Error from errno: `what` and the system's text for it. PMIX_ERR_OUT_OF_RESOURCE for exhausted
/// descriptors or buffers, PMIX_ERR_TIMEOUT, PMIX_ERR_NO_PERMISSIONS and PMIX_ERR_UNREACH for their errno
/// values, otherwise PMIX_ERROR.
Error system_error(const std::string& what, int error);

/// A new stream socket, non-blocking and close-on-exec.
Result<UniqueFd> stream_socket(int family);

/// Connects a new socket, waiting at most `limit`. `peer` names the other end, in the error's sentence, too.
/// Any thread.
Result<Socket> connect_stream(const sockaddr* address, socklen_t length, std::chrono::milliseconds limit,
                              const std::string& peer);

/// A listening socket. It refuses connections when the process has no descriptor left: one is kept in reserve
/// for that, so that the socket does not stay readable.
class StreamListener : public Listener {
  public:
    StreamListener(UniqueFd fd, std::string uri);
    int fd() const override { return fd_.get(); }
    const std::string& uri() const override { return uri_; }

  protected:
    /// The next connection, non-blocking and close-on-exec. PMIX_ERR_NOT_FOUND when none waits;
    /// PMIX_ERR_OUT_OF_RESOURCE if one was refused, or had to wait, for lack of descriptors or memory.
    Result<UniqueFd> next();

  private:
    void fill_reserve();
    UniqueFd fd_, reserve_;
    std::string uri_;
};

}  // namespace muster
