// SPDX-License-Identifier: BSD-3-Clause
// What all services between a process and its host have in common: who asks, the request and its reply on
// both sides of the wire, and the time limit of a host's answer. All on the loop.
#pragma once

#include <functional>
#include <string>

#include "core/exchange/host.hpp"
#include "core/server/handlers.hpp"
#include "framework/base/info.hpp"
#include "framework/packer.hpp"

namespace muster {

class Client;
class Runtime;
class Server;

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

/// The client role when it is connected, else null.
Client* connected_client(Runtime& runtime);

/// Whether there is anybody to ask: a server that we are connected to, or a host of our own.
bool has_server(Runtime& runtime);

/// Reads what follows the status of a reply; a failure is the unpacker's to remember.
using ReadReply = std::function<void(Unpacker& in, HostAnswer& answer)>;
void read_infos(Unpacker& in, HostAnswer& answer);

/// Sends a request to our server and reads its reply: the status, and where anything follows, with `read`.
void ask(Client& client, Packer&& message, ReadReply read, HostDone done);

/// Writes what follows the status of a successful reply (or a partially successful one).
using WriteReply = std::function<void(Packer& out, const HostAnswer& answer)>;
void write_infos(Packer& out, const HostAnswer& answer);

/// What answers a client's request with the host's answer; the client may be gone by then.
HostDone reply_to(const Request& request, WriteReply write = {});

/// `done`, called at the latest when the time that PMIX_TIMEOUT of `directives` gives is over, with
/// PMIX_ERR_TIMEOUT; then one line says what was waited for (`what`, of whom). The host gets the attribute
/// too and so a second more.
HostDone bounded(Server& server, const char* what, const Caller& caller, InfoView directives, HostDone done);

}  // namespace muster
