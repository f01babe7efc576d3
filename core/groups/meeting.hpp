// SPDX-License-Identifier: BSD-3-Clause
// A process's part in the meetings in memory where all processes of a job on one node construct or destruct a
// group together (docs/explanation/groups.md): each says what it calls, one asks the server for all, and
// tells the others what it heard. The gate and its rules are those of the barrier
// (docs/explanation/barrier.md). Any thread.
#pragma once

#include <pmix_common.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "core/rendezvous/barrier_memory.hpp"
#include "framework/packer.hpp"

namespace muster {

/// How a process comes to its server with the call of a group: behind the request
/// (docs/reference/wire.md, 6.1).
struct MeetingNote {
    bool maps = false;               ///< it could have come by the meeting
    bool together = false;           ///< it asks for all processes of its job, who are in this meeting
    std::optional<uint32_t> number;  ///< of the meeting where it is, or had been with this call

    void pack(Packer& out) const;
    /// A request that ends here has none.
    static bool read(Unpacker& in, MeetingNote& note);
};

class Meeting : public std::enable_shared_from_this<Meeting> {
  public:
    /// More processes find no room there.
    static constexpr uint32_t kMost = 480;

    struct Result {
        pmix_status_t status = PMIX_SUCCESS;
        std::optional<uint64_t> context_id;
    };
    enum class Turn {
        Told,       ///< the result is there
        AskForAll,  ///< all are here: ask the server, then tell() or call_off()
        AskServer   ///< each asks for itself
    };
    struct Visit {
        Turn turn = Turn::AskServer;
        Result result;
        std::optional<uint32_t> number;  ///< of the meeting, where we have been in one
    };

    /// `size`: how many processes the job has, at most kMost; `rank`: our own.
    Meeting(std::unique_ptr<BarrierMemory> memory, uint32_t size, pmix_rank_t rank,
            std::chrono::milliseconds patience = BarrierMemory::kPatience);

    /// Comes with a call, of which all that must be the same is in `call`, and waits for the others.
    Visit meet(uint64_t call);
    /// Whoever asked for all tells the others what the server said.
    void tell(const Result& result);
    /// Or that each has to ask.
    void call_off();

    /// As long as one of these lives, a group's call is on its way by the server.
    using Away = std::shared_ptr<void>;
    /// Before such a call is sent. A thread that waits in a meeting will ask the server, too.
    Away by_server();

    uint32_t size() const { return size_; }

    /// From now on everything goes by the server; who waits in memory is woken.
    void close();

  private:
    struct Page;
    Page& page();
    bool enter(uint64_t call, bool& last);
    bool wait();
    void shut();
    void leave(Visit& visit, bool told);

    const std::unique_ptr<BarrierMemory> memory_;
    const uint32_t size_;
    const pmix_rank_t rank_;
    const std::chrono::milliseconds patience_;
    std::atomic<bool> closed_{false};
    std::mutex lock_;      // guards what follows
    size_t away_ = 0;      ///< calls that are with the server
    bool inside_ = false;  ///< a thread is in a meeting
    bool called_ = false;  ///< that thread has to ask the server, whatever it sees
    uint32_t number_ = 0;  ///< of that meeting
};

/// What calls have to agree upon, as a number: two that differ in it are different.
class CallDigest {
  public:
    void add(uint64_t value);
    void add(std::string_view text);
    uint64_t value() const { return state_; }

  private:
    uint64_t state_ = 0xcbf29ce484222325;
};

}  // namespace muster
