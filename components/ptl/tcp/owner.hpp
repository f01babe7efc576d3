// SPDX-License-Identifier: BSD-3-Clause
// Asks the kernel for the user of the other end of a connection from this machine.
#pragma once

#include <sys/types.h>

#include <optional>

#include "framework/base/internet_address.hpp"
#include "framework/base/unique_fd.hpp"

namespace muster::tcp {

/// Asks through sock_diag (linux/inet_diag.h), by the exact pair of addresses and ports.
class OwnerQuery {
  public:
    /// The user that created the socket at `peer` that is connected to `own` (this end). Nothing if the
    /// kernel does not report it: the peer is on another machine or in another network namespace, has closed
    /// its end already, or sock_diag is unavailable (kernel without it, or a filter of system calls).
    std::optional<uid_t> owner(const InternetAddress& own, const InternetAddress& peer);

  private:
    UniqueFd netlink_;
    uint32_t sequence_ = 0;
};

}  // namespace muster::tcp
