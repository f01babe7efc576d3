// SPDX-License-Identifier: BSD-3-Clause
// The base of all services: the server and the host that a process can ask, the groups that it knows, the
// caller of a service, and the request and its reply on both sides of the wire.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "core/attribute/directives.hpp"
#include "core/exchange/group_table.hpp"
#include "core/exchange/host.hpp"
#include "core/exchange/request.hpp"
#include "core/exchange/upstream.hpp"
#include "core/runtime/runtime.hpp"
#include "framework/base/info.hpp"
#include "framework/packer.hpp"

namespace muster {

/// The runtime of a process, and the peers of its services: a server, a host, both or none.
class Exchange {
  public:
    explicit Exchange(Runtime& runtime) : runtime_(runtime) {}
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    Runtime& runtime() const { return runtime_; }
    EventLoop& loop() const { return runtime_.loop(); }
    Gds& store() const { return runtime_.store(); }
    Log& log() const { return runtime_.log(); }
    const pmix_proc_t& self() const { return runtime_.self(); }

    /// The server that this process is connected to, or null. Any thread.
    Upstream* upstream() const {
        Upstream* upstream = attached();
        return upstream != nullptr && upstream->connected() ? upstream : nullptr;
    }
    /// The client role of this process, connected or not; null if it has none. Any thread.
    Upstream* attached() const { return upstream_.load(std::memory_order_acquire); }
    /// The host of the server role of this process, or null. Any thread.
    Host* host() const { return host_.load(std::memory_order_acquire); }
    /// Whether there is a server or a host to ask. Any thread.
    bool can_ask() const { return host() != nullptr || upstream() != nullptr; }

    /// The groups that this process knows, in all its roles.
    GroupTable& groups() { return groups_; }

    /// Each is called once, on the loop or before it starts. The argument outlives the loop.
    void attach(Upstream& upstream) { upstream_.store(&upstream, std::memory_order_release); }
    void serve(Host& host) { host_.store(&host, std::memory_order_release); }

  private:
    Runtime& runtime_;
    GroupTable groups_;
    std::atomic<Upstream*> upstream_{nullptr};
    std::atomic<Host*> host_{nullptr};
};

/// The caller of a service: a connected process, or the host of this server.
struct Caller {
    pmix_proc_t proc{};
    uint32_t uid = 0;
    uint32_t gid = 0;
    bool tool = false;

    static Caller of(const Peer& peer);
    static Caller host(const Runtime& runtime);

    /// Adds PMIX_USERID and PMIX_GRPID, and replaces the caller's own claims.
    void add_identity(Info& info) const;
};

/// Given to the host with a request of a caller, until it has answered.
struct HostRequest {
    Info info;           ///< the directives
    pmix_proc_t proc{};  ///< the caller; set by ask_host()
};

/// Passes a caller's request to the host. `call(asked, cbdata)` makes the upcall; its directives then have
/// the caller's identity and a time limit (Host::bounded() has `what`). PMIX_ERR_NOT_SUPPORTED where `upcall`
/// is null.
template <class Upcall, class Asked, class Call>
void ask_host(Host& host, const Caller& caller, const char* name, const char* what, Upcall* upcall,
              Asked asked, HostDone done, Call call) {
    if (upcall == nullptr) return done(answer_of(PMIX_ERR_NOT_SUPPORTED));
    const auto kept = std::make_shared<Asked>(std::move(asked));
    kept->proc = caller.proc;
    caller.add_identity(kept->info);
    mark_processed(name, kept->info);
    done = host.bounded(what, caller.proc, kept->info, std::move(done));
    host.upcall(name, kept, std::move(done), [&](void* cbdata) { return call(*kept, cbdata); });
}

/// Reads the fields after the status of a reply; the unpacker records a failure.
using ReadReply = std::function<void(Unpacker& in, HostAnswer& answer)>;
void read_infos(Unpacker& in, HostAnswer& answer);

/// Sends a request to our server and reads its reply: the status, and where anything follows, with `read`.
void ask(Upstream& upstream, Packer&& message, ReadReply read, HostDone done);

/// Writes the fields after the status of a successful (or partially successful) reply.
using WriteReply = std::function<void(Packer& out, const HostAnswer& answer)>;
void write_infos(Packer& out, const HostAnswer& answer);

/// Returns a function that replies to the client with the host's answer, if the client still exists.
HostDone reply_to(const Request& request, WriteReply write = {});

}  // namespace muster
