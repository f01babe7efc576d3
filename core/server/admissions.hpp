// SPDX-License-Identifier: BSD-3-Clause
// Admission of connecting processes, and the data that an admitted process gets. Belongs to the loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/exchange/exchange.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/exchange/peers.hpp"
#include "core/groups/meetings.hpp"
#include "core/rendezvous/barriers.hpp"
#include "framework/ptl.hpp"
#include "framework/ptl/handshake.hpp"

namespace muster {

/// The host's directives about tools.
struct ToolPolicy {
    bool allowed = false;
    bool system = false;   ///< this is the system server of its node
    bool remote = false;   ///< from other nodes
    bool foreign = false;  ///< of other users
};

class Admissions {
  public:
    /// The parts of the server that admissions use. All outlive the loop.
    struct Services {
        Exchange& exchange;
        Host& host;
        Namespaces& namespaces;
        Peers& peers;
        Barriers& barriers;
        Meetings& meetings;
        /// Completes the data of a job before its processes get them.
        std::function<void(Namespace& nspace)> describe;
        /// A frame of an admitted peer has arrived.
        std::function<void(const PeerPtr& peer, Frame frame)> on_frame;
        /// The connection of an admitted peer has ended without finalize.
        std::function<void(const PeerPtr& peer, const std::string& reason)> lost;
        /// Ends the connection of a peer that has finalized.
        std::function<void(const PeerPtr& peer)> drop;
        /// Removes a tool that has ended.
        std::function<void(const pmix_proc_t& proc)> forget_tool;
    };
    explicit Admissions(Services services) : services_(std::move(services)) {}
    Admissions(const Admissions&) = delete;
    Admissions& operator=(const Admissions&) = delete;

    /// Before the loop runs; until then no tool is admitted.
    void set_tool_policy(const ToolPolicy& policy) { tools_ = policy; }

    /// A handshake was read: decides on it and answers it. `early`: bytes received after the request.
    void admit(Socket socket, ConnectRequest request, Bytes early);

  private:
    /// A process that has asked to be admitted and waits for the decision.
    /// A user and a name, which tools choose for themselves, or have none.
    using Holder = std::pair<uint32_t, Proc>;

    struct Admission {
        Socket socket;
        ConnectRequest request;
        Bytes early;
        PeerPtr peer = std::make_shared<Peer>();
        Info info;                      ///< infos of the connect request
        bool registered = false;        ///< the host has registered it as a client
        Holder held_as;                 ///< its key in held_, while the host decides
        bool held = false;              ///< the host decides
        std::unique_ptr<Watch> leaves;  ///< if it takes long: whether the peer disconnects meanwhile

        std::string text() const {
            if (!is_tool(request.kind)) return "client " + peer->text();
            return peer->proc.nspace[0] == '\0' ? "a tool" : "tool " + peer->text();
        }
    };

    void admit_client(const std::shared_ptr<Admission>& admission);
    bool is_of_refused(const pmix_proc_t& proc) const;
    Result<void> check_client(Admission& admission);
    /// Whether the credential proves that the peer is this user and group.
    Result<void> check_credential(const Admission& admission, uint32_t uid, uint32_t gid);
    /// The module of that name among those that are active here, or null: a peer's word never activates one.
    Psec* security_module(const std::string& name);
    uint32_t proved_group(const Admission& admission);
    /// Before the upcall: limits the pending connections. False if the peer was refused.
    bool hold(const std::shared_ptr<Admission>& admission);
    /// The host has decided (or its answer is not awaited). False if the peer has disconnected meanwhile.
    bool release(Admission& admission);
    /// To be called when the host has been asked: notices when the process leaves before it answers.
    void watch_held(const std::shared_ptr<Admission>& admission);
    void complete_admission(std::shared_ptr<Admission> admission, pmix_status_t verdict);
    std::shared_ptr<Unanswered> unanswered_of(const Peer& peer);
    void refuse(const Socket& socket, const std::string& who, const std::string& why);
    Result<void> check_tool(Admission& admission);
    size_t tools_of(uint32_t uid) const;
    void admit_tool(const std::shared_ptr<Admission>& admission);
    /// `asked`: the newest namespace when the host was asked.
    void name_tool(const std::shared_ptr<Admission>& admission, pmix_status_t verdict,
                   const pmix_proc_t& assigned, uint64_t asked);
    void refuse_tool(const Admission& admission, pmix_status_t status, const std::string& why);
    void hear_goodbye(const pmix_proc_t& proc);
    Runtime& runtime() const { return services_.exchange.runtime(); }
    Log& log() const { return services_.exchange.log(); }

    const Services services_;
    ToolPolicy tools_;
    /// The unanswered requests by process, or by user (with "" for the namespace) for tools that choose their
    /// own names.
    std::map<std::pair<std::string, uint32_t>, std::weak_ptr<Unanswered>> unanswered_;
    std::map<Holder, size_t> held_;  ///< connections that wait for the host's decision
};

}  // namespace muster
