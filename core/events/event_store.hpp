// SPDX-License-Identifier: BSD-3-Clause
// Events cached for later handlers: in order, bounded in bytes; the oldest are dropped and counted.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "core/events/event.hpp"

namespace muster {

class EventStore {
  public:
    struct Held {
        EventPtr event;
        uint64_t number = 0;  ///< by arrival
        bool for_defaults = true;
    };

    explicit EventStore(size_t max_bytes) : max_bytes_(max_bytes) {}

    void add(EventPtr event, uint64_t number, bool for_defaults) {
        const size_t cost = event->cost();
        if (cost > max_bytes_) {
            ++dropped_;
            return;
        }
        while (bytes_ + cost > max_bytes_) {
            bytes_ -= held_.front().event->cost();
            held_.pop_front();
            ++dropped_;
        }
        bytes_ += cost;
        held_.push_back({std::move(event), number, for_defaults});
    }

    /// Removes the events for which `unwanted(held)` holds, which are not counted as dropped.
    template <class Unwanted>
    void remove_if(Unwanted unwanted) {
        std::erase_if(held_, [&](const Held& held) {
            if (!unwanted(held)) return false;
            bytes_ -= held.event->cost();
            return true;
        });
    }

    const std::deque<Held>& held() const { return held_; }
    /// Events dropped for lack of space.
    size_t dropped() const { return dropped_; }

  private:
    const size_t max_bytes_;
    size_t bytes_ = 0;
    size_t dropped_ = 0;
    std::deque<Held> held_;
};

}  // namespace muster
