// SPDX-License-Identifier: BSD-3-Clause
// Connect and disconnect as collective operations (Standard: Connecting and Disconnecting Processes): the
// host treats the participants as one, and each of them learns the job data of the other namespaces. On the
// loop.
#pragma once

#include <memory>
#include <vector>

#include "core/collective/collectives.hpp"
#include "core/exchange/exchange.hpp"

namespace muster {

/// The sets of processes that are connected, as far as processes of this node are in them.
class Connections {
  public:
    explicit Connections(Server& server) : server_(server) {}

    /// Participants are sorted, as Collective::participants().
    void add(std::vector<pmix_proc_t> participants);
    void remove(const std::vector<pmix_proc_t>& participants);
    bool has(const std::vector<pmix_proc_t>& participants) const;

  private:
    Server& server_;
    std::vector<std::vector<pmix_proc_t>> sets_;
};

class ConnectOperation : public CollectiveOperation {
  public:
    ConnectOperation(Server& server, std::shared_ptr<Connections> connections)
        : server_(server), connections_(std::move(connections)) {}
    void all_local_in(const std::shared_ptr<Collective>& collective) override;
    bool tolerates_departure(const Collective& collective, const pmix_proc_t& proc) override;

  private:
    Server& server_;
    std::shared_ptr<Connections> connections_;
};

class DisconnectOperation : public CollectiveOperation {
  public:
    DisconnectOperation(Server& server, std::shared_ptr<Connections> connections)
        : server_(server), connections_(std::move(connections)) {}
    void all_local_in(const std::shared_ptr<Collective>& collective) override;
    bool tolerates_departure(const Collective& collective, const pmix_proc_t& proc) override;

  private:
    Server& server_;
    std::shared_ptr<Connections> connections_;
};

/// The calls of a client.
void connect(Runtime& runtime, std::vector<pmix_proc_t> procs, Info info, HostDone done);
void disconnect(Runtime& runtime, std::vector<pmix_proc_t> procs, Info info, HostDone done);

}  // namespace muster
