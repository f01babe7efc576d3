// SPDX-License-Identifier: BSD-3-Clause
// Forwarded output of a server: its readers, output that arrived before any reader, and the delivery of each
// piece to its readers, no faster than they read (Standard: IO Forwarding). Belongs to the loop.
//
// A piece is the host's until all waiting readers have it, which is how a slow reader slows the writer: the
// host's callback comes late. A reader that asked for a cache with a limit has its own copies instead.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/exchange/exchange.hpp"
#include "core/exchange/request.hpp"
#include "core/iof/input_gate.hpp"
#include "core/iof/messages.hpp"
#include "core/iof/piece_queue.hpp"
#include "core/iof/sink.hpp"
#include "framework/base/keyed_hash.hpp"

namespace muster {

class Forwarding;
class Namespaces;
class Peers;
class ProcessSets;

/// The channels of a request; PMIX_ERR_NOT_SUPPORTED if it names stdin, PMIX_ERR_BAD_PARAM for
/// none and for unknown ones.
Result<pmix_iof_channel_t> readable_channels(pmix_iof_channel_t channels);

class Forwarder {
  public:
    /// A reader in this process itself.
    using OnPiece = std::function<void(const OutputPiece& piece)>;
    using OnPulled = std::function<void(pmix_status_t status, size_t id)>;

    /// The services that the forwarder needs. All of them outlive the loop.
    struct Services {
        Runtime& runtime;
        Host& host;
        Namespaces& namespaces;
        Peers& peers;
        ProcessSets& process_sets;
        Forwarding& forwarding;
    };
    explicit Forwarder(const Services& services);
    ~Forwarder();

    /// The directives of PMIx_server_init: the style in which this server shows output delivered by the host.
    pmix_status_t set_style(InfoView directives);
    /// The directives of one job (PMIx_server_register_nspace).
    void registered(const std::string& nspace, InfoView info);
    void deregistered(const std::string& nspace);

    /// A connected process requests output. `done` runs once the host has accepted; cached output for the
    /// process follows afterwards.
    void pull(const PeerPtr& peer, PullRequest request, OnPulled done);
    /// The host asks for output itself.
    void pull(PullRequest request, OnPiece on_piece, OnPulled done);
    /// The other end of pull(), by the number that it gave. `peer`: null for the host.
    void stop(const PeerPtr& peer, size_t id, Info directives, const HostDone& done);
    /// The connection of a process has ended.
    void forget(const PeerPtr& peer);
    /// A process passes on input to others.
    void push(const PeerPtr& peer, PushRequest request, HostDone done);
    /// The host does.
    void push_by_host(std::vector<pmix_proc_t> targets, Info directives, ByteView bytes, HostDone done);

    /// PMIx_server_IOF_flow_control: input of these producers waits, or continues.
    void control_input(const pmix_proc_t& producers, bool suspend) { gate_.apply(producers, suspend); }

    /// The same for the output of these processes: output delivered by the host waits here.
    void control_output(const pmix_proc_t& sources, pmix_iof_channel_t channels, bool suspend);
    bool output_suspended(const pmix_proc_t& source, pmix_iof_channel_t channels) const {
        return output_gate(source, channels) != kOutputGates;
    }

    /// Whether a process accepts output of a job that it spawns in this way without a pull: tools of
    /// OpenPMIx, and tools that declare it (MUSTER_IOF_UNASKED).
    static bool takes_unasked(const Peer& peer, InfoView directives);
    /// Such a tool has started a job: it gets its output on these channels under reference 0.
    void spawned(const PeerPtr& peer, const std::string& nspace, pmix_iof_channel_t channels);

    /// PMIx_server_IOF_deliver.
    void deliver(const PiecePtr& piece);

    /// Number of dropped bytes, also of readers that have ended.
    uint64_t dropped() const;
    /// The server ends: ends all waits.
    void close();

  private:
    struct Registration;
    using RegistrationPtr = std::shared_ptr<Registration>;
    struct Job {
        std::vector<RegistrationPtr> readers;
        std::unique_ptr<OutputSink> sink;   ///< null: shown as the server's directives say
        bool quiet = false;                 ///< not shown by us
        std::unique_ptr<PieceQueue> early;  ///< output for which no reader has asked yet
        bool idle() const { return readers.empty() && !sink && !quiet && !early; }
    };

    void add(const RegistrationPtr& registration, PullRequest request, OnPulled done);
    pmix_status_t check(const Registration& registration, const PullRequest& request) const;
    void read_sources(Registration& registration, const std::vector<pmix_proc_t>& procs) const;
    void activate(const RegistrationPtr& registration);
    void remove(const RegistrationPtr& registration);
    void drop_over(uint32_t index);
    void stop_host(const Registration& registration, Info directives);
    void upcall_pull(Info directives, const Caller& caller, const Registration& registration, HostDone done);
    void push_from(const Caller& caller, std::vector<pmix_proc_t> targets, Info directives, Bytes bytes,
                   HostDone done);
    void upcall_push(const Caller& caller, std::vector<pmix_proc_t> targets, Info directives, Bytes bytes,
                     HostDone done);
    bool may_see(const Registration& registration, const pmix_proc_t& source) const;
    void show(Job* job, const PiecePtr& piece, bool on_console);
    static void leave_to_pulls(std::vector<RegistrationPtr>& readers);
    void keep_early(const PiecePtr& piece);
    void give(const RegistrationPtr& registration, const PiecePtr& piece);
    void give_to_tools(const OutputPiece& piece);
    void pump(const RegistrationPtr& registration);
    void send(const RegistrationPtr& registration, Peer& peer, const PiecePtr& piece);
    void wait_for_room(const RegistrationPtr& registration, Peer& peer);
    std::unique_ptr<OutputSink> make_sink(const OutputStyle& style);

    const Services services_;
    const size_t early_limit_;         ///< bytes for each channel of each job
    const size_t most_registrations_;  ///< of one process
    OutputStyle style_;
    std::unique_ptr<OutputSink> sink_;  ///< null: this server shows nothing, unless a job requests it
    std::unordered_map<size_t, RegistrationPtr> by_id_;
    TextMap<Job> jobs_;
    /// A holder's use: its registrations, and the single processes that they name.
    struct Share {
        size_t registrations = 0;
        size_t ranks = 0;
        size_t pushed = 0;  ///< bytes of input that the host has not taken yet
        bool paused = false;
    };
    std::unordered_map<uint32_t, Share> shares_;  ///< by the peer's index
    std::deque<PiecePtr> shown_late_;             ///< not answered until the console has space
    InputGate gate_;
    /// One a channel: stdout, stderr, stddiag.
    static constexpr size_t kOutputGates = 3;
    static constexpr pmix_iof_channel_t channel_of(size_t gate) {
        return static_cast<pmix_iof_channel_t>(PMIX_FWD_STDOUT_CHANNEL << gate);
    }
    /// The first that holds output of this source; kOutputGates for none.
    size_t output_gate(const pmix_proc_t& source, pmix_iof_channel_t channels) const;
    std::array<InputGate, kOutputGates> output_gates_;
    size_t next_id_ = 1;
    size_t early_bytes_ = 0;
    uint64_t dropped_before_ = 0;  ///< by readers that have ended
    bool closed_ = false;
};

/// Registers the handlers for forwarded input and output.
void serve_forwarding(CommandTable& commands, Forwarder& forwarder);

}  // namespace muster
