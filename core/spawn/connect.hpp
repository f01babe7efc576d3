// SPDX-License-Identifier: BSD-3-Clause
// Connect and disconnect as collective operations (Standard: Connecting and Disconnecting Processes): the
// host treats the participants as one, and each of them learns the job data of the other namespaces. On the
// loop.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/collective/collectives.hpp"
#include "core/exchange/exchange.hpp"

namespace muster {

class GroupTable;

/// The sets of processes that are connected, as far as processes of this node are in them.
class Connections {
  public:
    explicit Connections(Namespaces& namespaces) : namespaces_(namespaces) {}

    /// Participants are sorted, as Collective::participants().
    void add(std::vector<pmix_proc_t> participants);
    void remove(const std::vector<pmix_proc_t>& participants);
    bool has(const std::vector<pmix_proc_t>& participants) const;

  private:
    Namespaces& namespaces_;
    std::vector<std::vector<pmix_proc_t>> sets_;
};

/// The common part of connect and disconnect.
class ConnectionOperation : public CollectiveOperation {
  public:
    ConnectionOperation(Host& host, Collectives& collectives, std::shared_ptr<Connections> connections)
        : host_(host), collectives_(collectives), connections_(std::move(connections)) {}
    bool tolerates_departure(const Collective&, const pmix_proc_t&) override { return false; }

  protected:
    using Upcall = pmix_status_t (*)(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                     size_t ninfo, pmix_op_cbfunc_t cbfunc, void* cbdata);
    /// Passes it to the host, and answers the participants with the status; calls `done` on success.
    void ask_host(const char* name, Upcall upcall, const std::shared_ptr<Collective>& collective,
                  std::function<void()> done);

    Host& host_;
    Collectives& collectives_;
    std::shared_ptr<Connections> connections_;
};

class ConnectOperation : public ConnectionOperation {
  public:
    using ConnectionOperation::ConnectionOperation;
    void all_local_in(const std::shared_ptr<Collective>& collective) override;
};

class DisconnectOperation : public ConnectionOperation {
  public:
    using ConnectionOperation::ConnectionOperation;
    void all_local_in(const std::shared_ptr<Collective>& collective) override;
};

/// The calls of a client.
void connect(Exchange& exchange, std::vector<pmix_proc_t> procs, Info info, HostDone done);
void disconnect(Exchange& exchange, std::vector<pmix_proc_t> procs, Info info, HostDone done);

/// Registers the handlers of a server: Connect, Disconnect.
void serve_connections(CommandTable& commands, Runtime& runtime, Namespaces& namespaces,
                       Collectives& collectives, const GroupTable& groups);

}  // namespace muster
