// SPDX-License-Identifier: BSD-3-Clause
// What all services between a process and its host have in common: who asks, the request and its reply on
// both sides of the wire, and the time limit of a host's answer. All on the loop.
#pragma once

#include <functional>
#include <string>

#include "core/exchange/command_table.hpp"
#include "core/exchange/host.hpp"
#include "core/exchange/upstream.hpp"
#include "framework/base/info.hpp"
#include "framework/packer.hpp"

namespace muster {

class Runtime;

/// Who asks for a service: a connected process, or the host of this server itself.
struct Caller {
    pmix_proc_t proc{};
    uint32_t uid = 0;
    uint32_t gid = 0;
    bool tool = false;

    static Caller of(const Peer& peer);
    static Caller host(Runtime& runtime);

    /// Adds PMIX_USERID and PMIX_GRPID, in place of what the caller may have claimed itself.
    void add_identity(Info& info) const;
};

/// An answer that is a status alone.
HostAnswer answer_of(pmix_status_t status);

/// The server that this process is connected to, or null.
Upstream* upstream_of(Runtime& runtime);
/// The host of this process's own server role, or null.
Host* host_of(Runtime& runtime);

/// Whether there is anybody to ask: a server that we are connected to, or a host of our own.
bool has_server(Runtime& runtime);

/// Reads what follows the status of a reply; a failure is the unpacker's to remember.
using ReadReply = std::function<void(Unpacker& in, HostAnswer& answer)>;
void read_infos(Unpacker& in, HostAnswer& answer);

/// Sends a request to our server and reads its reply: the status, and where anything follows, with `read`.
void ask(Upstream& upstream, Packer&& message, ReadReply read, HostDone done);

/// Writes what follows the status of a successful reply (or a partially successful one).
using WriteReply = std::function<void(Packer& out, const HostAnswer& answer)>;
void write_infos(Packer& out, const HostAnswer& answer);

/// What answers a client's request with the host's answer; the client may be gone by then.
HostDone reply_to(const Request& request, WriteReply write = {});

}  // namespace muster
