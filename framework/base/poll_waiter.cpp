// SPDX-License-Identifier: BSD-3-Clause
// A waiter on poll(2): see waiter.hpp. A turn checks all descriptors, which are few.
#include <poll.h>

#include <algorithm>
#include <vector>

#include "framework/base/waiter.hpp"

namespace muster {
namespace {

class PollWaiter : public Waiter {
  public:
    void set(Watch::Impl& watch) override {
        if (!watch.on_time) {
            if (std::find(watched_.begin(), watched_.end(), &watch) != watched_.end()) return;
            // A turn must not allocate memory.
            polled_.reserve(watched_.size() + 1);
            asked_.reserve(watched_.size() + 1);
            return watched_.push_back(&watch);
        }
        std::erase(times_, &watch);
        const auto earlier = [](const Watch::Impl* a, const Watch::Impl* b) {
            return a->deadline < b->deadline;
        };
        times_.insert(std::upper_bound(times_.begin(), times_.end(), &watch, earlier), &watch);
    }

    void remove(Watch::Impl& watch) noexcept override {
        std::erase(watched_, &watch);
        std::erase(times_, &watch);
        std::replace(polled_.begin(), polled_.end(), &watch, static_cast<Watch::Impl*>(nullptr));
    }

    void turn(bool wait) override {
        polled_ = watched_;
        asked_.clear();
        bool doubts = false;
        for (const Watch::Impl* watch : polled_) {
            asked_.push_back({watch->interest != 0 ? watch->fd : -1, watch->interest, 0});
            doubts = doubts || watch->doubted;
        }
        timespec limit{};
        const bool timed = !times_.empty();
        if (wait && timed) limit = until(times_.front()->deadline);
        const bool looks = wait && doubts && (!timed || limit.tv_sec >= silence_.count());
        if (looks) limit = {silence_.count(), 0};
        const bool endless = wait && !timed && !looks;
        const int ready = ::ppoll(asked_.data(), asked_.size(), endless ? nullptr : &limit, nullptr);
        if (ready > 0) {
            silence_ = kFirstSilence;
            fire_ready();
        } else if (ready == 0 && looks) {
            silence_ = std::min(2 * silence_, kLongestSilence);
            look();
        }
        if (!times_.empty()) fire_times();
    }

    void look() override {
        polled_ = watched_;
        for (size_t i = 0; i < polled_.size(); ++i) {
            if (polled_[i] != nullptr && polled_[i]->doubted) polled_[i]->fire(POLLIN);
        }
    }

  private:
    using Clock = std::chrono::steady_clock;

    static timespec until(Clock::time_point deadline) {
        constexpr int64_t kSecond = 1000000000;
        const auto left = std::max<int64_t>(std::chrono::nanoseconds(deadline - Clock::now()).count(), 0);
        return {left / kSecond, left % kSecond};
    }

    void fire_ready() {
        for (size_t i = 0; i < polled_.size(); ++i) {
            Watch::Impl* watch = polled_[i];
            if (watch == nullptr || asked_[i].revents == 0) continue;
            // Reading or writing reports the error of a closed descriptor. An earlier callback may have
            // changed the wanted events.
            const bool over = (asked_[i].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
            const int ready = over ? POLLIN | POLLOUT : asked_[i].revents;
            if (const int wanted = ready & watch->interest; wanted != 0)
                watch->fire(static_cast<short>(wanted));
        }
    }

    /// Fires the timers that are due now, but none that their callbacks add.
    void fire_times() {
        const Clock::time_point now = Clock::now();
        while (!times_.empty() && times_.front()->deadline <= now) {
            Watch::Impl* watch = times_.front();
            times_.erase(times_.begin());
            watch->fire(0);
        }
    }

    std::vector<Watch::Impl*> watched_;
    std::vector<Watch::Impl*> times_;               // by their deadlines
    std::vector<Watch::Impl*> polled_;              // those of this turn, and their events
    std::chrono::seconds silence_ = kFirstSilence;  ///< the next one that is waited for
    std::vector<pollfd> asked_;
};

}  // namespace

std::unique_ptr<Waiter> make_poll_waiter() {
    return std::make_unique<PollWaiter>();
}

}  // namespace muster
