// SPDX-License-Identifier: BSD-3-Clause
// ptl: the transport between processes. A component makes connected stream sockets of one kind; framing
// (ptl/channel.hpp) and the handshake (ptl/handshake.hpp) are the same for all kinds.
// C++ interface, locked to this version of the library.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "framework/base/descriptor_claim.hpp"
#include "framework/base/result.hpp"
#include "framework/base/unique_fd.hpp"

namespace muster {

/// Version of this interface: muster_component_t::interface_version.
constexpr uint16_t kPtlInterface = 1;

/// The identity of the peer, from the kernel.
struct PeerCredentials {
    static constexpr gid_t kNoGid = static_cast<gid_t>(-1);

    uid_t uid = 0;
    gid_t gid = kNoGid;  ///< kNoGid where the transport does not know it (TCP)
    pid_t pid = 0;       ///< 0 if the transport does not know it
};

/// A connected stream socket, non-blocking and close-on-exec.
struct Socket {
    DescriptorClaim claim;                       ///< in programs that may close unknown descriptors
    UniqueFd fd;                                 ///< after that: it ends before
    std::optional<PeerCredentials> credentials;  ///< nothing if the kernel does not report them
    bool local = true;                           ///< the peer runs on this machine
    std::string peer;                            ///< for messages: an address, "pid 17", ...
};

struct ListenOptions {
    std::string directory;   ///< session directory, for transports with a name in the file system
    bool remote = false;     ///< also reachable from other machines
    uint16_t port = 0;       ///< 0: the component's parameters, by default any
    std::string interfaces;  ///< comma list of interfaces or address/prefix to use; empty: the parameters
};

/// A bound, listening socket. The destructor removes its files.
class Listener {
  public:
    virtual ~Listener() = default;
    /// To be watched for readability.
    virtual int fd() const = 0;
    /// Transport part of the URI, for example "tcp4://127.0.0.1:4711" or "usock:///run/x/pmix.s".
    virtual const std::string& uri() const = 0;
    /// The next waiting connection. PMIX_ERR_NOT_FOUND if there is none now; other errors concern one
    /// connection, or exhausted descriptors (PMIX_ERR_OUT_OF_RESOURCE), and leave the listener usable.
    virtual Result<Socket> accept() = 0;
};

class Ptl {
  public:
    virtual ~Ptl() = default;
    virtual const char* name() const = 0;
    /// Whether connect() understands this transport part of a URI.
    virtual bool accepts(std::string_view uri) const = 0;
    /// Whether all PMIx libraries have this transport; else only this library has it.
    virtual bool universal() const = 0;
    /// Whether an address disappears with its server; otherwise another process may get it.
    virtual bool gone_with_server() const = 0;
    virtual Result<std::unique_ptr<Listener>> listen(const ListenOptions& options) = 0;
    /// Connects, waiting at most `limit`. Any thread.
    virtual Result<Socket> connect(std::string_view uri, std::chrono::milliseconds limit) = 0;
};

}  // namespace muster
