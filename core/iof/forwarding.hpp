// SPDX-License-Identifier: BSD-3-Clause
// I/O forwarding of a process in any role: its readers (Puller), its pushed input (Pusher), and its own
// stdout and stderr. The Forwarder serves other processes. Belongs to the loop.
#pragma once

#include "core/iof/puller.hpp"
#include "core/iof/pusher.hpp"
#include "core/iof/sink.hpp"

namespace muster {

class Events;
class Forwarder;

class Forwarding {
  public:
    Forwarding(Exchange& exchange, Events& events);
    ~Forwarding();

    /// From now on output that `upstream` receives has its readers here. Before it connects.
    void attach(Upstream& upstream);
    /// Gives the forwarder of the server role of this process. On the loop, or before the loop runs.
    void serve(Forwarder& forwarder) { forwarder_ = &forwarder; }
    /// The forwarder of the server role of this process, or null.
    Forwarder* forwarder() const { return forwarder_; }

    /// Suspends or resumes the input of these producers: that of this process, where a server takes it, and
    /// that of the processes that push it to our own server.
    void control_input(const pmix_proc_t& producers, bool suspend);

    Puller& puller() { return puller_; }
    Pusher& pusher() { return pusher_; }
    Console& console() { return console_; }
    /// Returns a function that finds the location of a process in the store.
    FindFacts find_facts();
    /// Reports PMIX_ERR_IOF_FAILURE, an event of this process.
    OutputSink::OnFailure on_failure();
    /// Reports an event about one channel of a process.
    void raise(pmix_status_t code, const pmix_proc_t& affected, pmix_iof_channel_t channel);
    /// Bytes of input that were dropped.
    uint64_t dropped() const { return pusher_.dropped(); }
    /// The process ends: buffered output is delivered and shown.
    void finish();

  private:
    void receive_control(const Upstream& upstream, const Frame& frame);
    void resume_input();

    Exchange& exchange_;
    Events& events_;
    Forwarder* forwarder_ = nullptr;
    Console console_;
    Puller puller_;
    Pusher pusher_;
    bool relayed_ = false;  ///< a server of ours has suspended producers of our own server
};

}  // namespace muster
