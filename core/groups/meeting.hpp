// SPDX-License-Identifier: BSD-3-Clause
// A process's part in the meetings in memory where all processes of a job on one node construct or destruct a
// group together (docs/explanation/groups.md): each publishes its call, one asks the server for all, and
// publishes the result. The gate and its rules are those of the barrier
// (docs/explanation/barrier.md). Any thread.
#pragma once

#include <pmix_common.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/rendezvous/rendezvous_member.hpp"
#include "framework/packer.hpp"

namespace muster {

/// The note about the meeting after the request of a group call (docs/reference/wire.md, 6.1).
struct MeetingNote {
    bool maps = false;               ///< it could have used the meeting
    bool together = false;           ///< it asks for all processes of its job, which are in this meeting
    std::optional<uint32_t> number;  ///< of the meeting where it is, or had been with this call

    void pack(Packer& out) const;
    /// Reads the note of a request; a request that ends here has none.
    static bool read(Unpacker& in, MeetingNote& note);
};

class Meeting : public RendezvousMember {
  public:
    /// More processes find no room there.
    static constexpr uint32_t kMost = 480;

    struct Result {
        pmix_status_t status = PMIX_SUCCESS;
        std::optional<uint64_t> context_id;
    };
    enum class Turn {
        Told,       ///< the result is available
        AskForAll,  ///< all are here: ask the server, then tell() or call_off()
        AskServer   ///< each asks for itself
    };
    struct Visit {
        Turn turn = Turn::AskServer;
        Result result;
        std::optional<uint32_t> number;  ///< of the meeting, where we have been in one
    };

    /// `size`: how many processes the job has, at most kMost; `rank`: our own.
    Meeting(std::unique_ptr<RendezvousPage> page, uint32_t size, pmix_rank_t rank,
            std::chrono::milliseconds patience = RendezvousPage::kPatience)
        : RendezvousMember(std::move(page), size, patience), rank_(rank) {}

    /// Arrives with a call, whose common data is in `call`, and waits for the others.
    Visit meet(uint64_t call);
    /// The process that asked for all publishes the server's result to the others.
    void tell(const Result& result);
    /// Or that each must send its own request.
    void call_off();

  private:
    struct Content;
    Content& content() const;

    const pmix_rank_t rank_;
};

/// Digest of the parts of a call that all must give alike: different digests mean different calls.
class CallDigest {
  public:
    void add(uint64_t value);
    void add(std::string_view text);
    uint64_t value() const { return state_; }

  private:
    uint64_t state_ = 0xcbf29ce484222325;
};

}  // namespace muster
