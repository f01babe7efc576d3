// SPDX-License-Identifier: BSD-3-Clause
// Input that this process passes on to others (PMIx_IOF_push): bytes from the program, and its own stdin on
// request (PMIX_IOF_PUSH_STDIN). Belongs to the loop.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "core/exchange/exchange.hpp"
#include "core/iof/piece_queue.hpp"
#include "framework/base/loop.hpp"

namespace muster {

class Forwarding;

class Pusher {
  public:
    Pusher(Exchange& exchange, Forwarding& forwarding);
    ~Pusher();

    /// Passes on bytes (none: the end of the input), which the caller owns until `done`. In order; at most a
    /// window of them is in flight, and the directives determine the treatment of the others.
    void push(std::vector<pmix_proc_t> targets, Info directives, ByteView bytes, HostDone done);
    /// Starts to pass on our own stdin. PMIX_ERR_EXISTS while that is done already.
    void start_stdin(std::vector<pmix_proc_t> targets, Info directives, const HostDone& done);
    bool reading_stdin() const { return stdin_ != nullptr; }
    /// Stops it: sends the read bytes and the end of the input. `done` waits for neither.
    void stop_stdin(const HostDone& done);
    /// The server's host accepts no input of this process until it resumes the process: nothing is sent,
    /// stdin is not read, and pushes that the host has accepted are not answered.
    void suspend();
    /// Resumes the input. Does nothing if it is not suspended.
    void resume();
    /// Bytes that were dropped.
    uint64_t dropped() const { return dropped_; }
    /// The process ends: nothing more is read.
    void finish();

  private:
    struct Item {
        std::vector<pmix_proc_t> targets;
        Info directives;
        OverflowPolicy policy;
        ByteView bytes;
        bool ends;  ///< the input, with these bytes or without any
        HostDone done;
    };
    struct Stdin;

    bool fits(size_t size) const;
    void pump();
    void send(Item item);
    bool make_room(const OverflowPolicy& policy, ByteView& bytes);
    void watch_stdin();
    void read_stdin();
    void pass_on_stdin();
    void push_stdin(const Stdin& from, const std::shared_ptr<Bytes>& bytes, HostDone done);
    void end_stdin(pmix_status_t status);

    Exchange& exchange_;
    Forwarding& forwarding_;
    std::deque<Item> queue_;
    size_t queued_ = 0;      ///< bytes of queue_
    size_t on_the_way_ = 0;  ///< bytes without answer yet
    size_t unanswered_ = 0;
    uint64_t dropped_ = 0;
    bool suspended_ = false;
    std::vector<std::function<void()>> held_;  ///< the answers of pushes that were taken, until resume()
    std::shared_ptr<Stdin> stdin_;
};

}  // namespace muster
