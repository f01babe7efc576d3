// SPDX-License-Identifier: BSD-3-Clause
// A process's part in a rendezvous in memory (docs/explanation/barrier.md): it enters the page and waits
// there, or the server has to be asked. Never both at once: while one of its operations is at the server, all
// of them are. The barrier or the meeting defines the content of the page. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/rendezvous/rendezvous_page.hpp"
#include "framework/base/mutex.hpp"
#include "framework/base/polling.hpp"

namespace muster {

class RendezvousMember : public std::enable_shared_from_this<RendezvousMember> {
  public:
    RendezvousMember(const RendezvousMember&) = delete;
    RendezvousMember& operator=(const RendezvousMember&) = delete;

    /// As long as one of these lives, an operation of the whole job is on its way by the server.
    using Away = std::shared_ptr<void>;
    /// Before such an operation is sent. A thread that waits in memory will ask the server, too.
    Away by_server();

    /// How many processes the job has.
    uint32_t size() const { return size_; }

    /// From now on all operations use the server; a thread that waits in memory is woken.
    void close();

  protected:
    enum class Entry {
        Refused,  ///< the gate is shut: ask the server
        Inside,   ///< wait(), then leave()
        Through   ///< the number of the rendezvous has changed: the others continue
    };

    RendezvousMember(std::unique_ptr<RendezvousPage> page, uint32_t size, std::chrono::milliseconds patience)
        : page_(std::move(page)), size_(size), patience_(patience) {}
    ~RendezvousMember() = default;

    /// Counts this process: `step` computes the next word from the current one, again after each concurrent
    /// change.
    template <class Step>
    Entry enter(const Step& step) {
        const MutexLock lock(lock_);
        if (closed_ || inside_ || away_ > 0) return Entry::Refused;
        std::atomic<uint64_t>& word = page_->word();
        uint64_t now = word.load(std::memory_order_acquire);
        for (int i = 0; i < kTries; ++i) {
            if (page_shut(now) || page_released(now) || page_arrived(now) >= size_) return Entry::Refused;
            const uint64_t next = step(now);
            if (word.compare_exchange_weak(now, next, std::memory_order_acq_rel)) {
                number_ = page_number(now);
                inside_ = page_number(next) == number_;
                return inside_ ? Entry::Inside : Entry::Through;
            }
        }
        return Entry::Refused;
    }
    /// Waits until the number changes. False if the gate was shut before.
    bool wait();
    /// Shuts the gate and wakes all: each asks the server.
    void shut();
    /// Whether this process, which was inside, need not ask the server: it is `through`, and was not
    /// called in.
    bool leave(bool through);

    RendezvousPage& page() const { return *page_; }
    /// The number of the rendezvous that this process is in; it does not change meanwhile.
    uint32_t number() const { return number_; }

  private:
    /// How often a change that others make at the same time is tolerated: an honest job needs few.
    static constexpr int kTries = 10000;

    const std::unique_ptr<RendezvousPage> page_;
    const uint32_t size_;
    const std::chrono::milliseconds patience_;
    std::atomic<bool> closed_{false};
    Mutex lock_;
    size_t away_ MUSTER_GUARDED_BY(lock_) = 0;      ///< operations of the whole job that are with the server
    bool inside_ MUSTER_GUARDED_BY(lock_) = false;  ///< a thread waits in memory
    bool called_ MUSTER_GUARDED_BY(lock_) = false;  ///< that thread must ask the server
    uint32_t number_ = 0;
};

/// The part in the barrier in memory (docs/explanation/barrier.md): a fence of the whole job. Any thread.
class Barrier : public RendezvousMember {
  public:
    enum class Passage {
        Passed,     ///< all have arrived
        AskServer,  ///< this fence uses the server
        Ended       ///< the namespace has been deregistered meanwhile
    };

    /// `size`: how many processes the job has.
    Barrier(std::unique_ptr<RendezvousPage> page, uint32_t size,
            std::chrono::milliseconds patience = RendezvousPage::kPatience)
        : RendezvousMember(std::move(page), size, patience) {}

    /// Sends the server the notice that all have arrived, so that it releases them; false if it cannot.
    using TellServer = std::function<bool()>;
    /// Arrives, and waits for all others. `posted`: this process has sent data to the server since the last
    /// time, so that no process may continue before the server has them; the last one of such a barrier calls
    /// `tell`, on this thread.
    Passage pass(bool posted, const TellServer& tell);
};

}  // namespace muster
