// SPDX-License-Identifier: BSD-3-Clause
// A request of a connected process, as the handler of its command gets it. A handler unpacks the request
// through the bounds-checked reader, calls its service, and answers with the request's tag, now or later.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "core/exchange/command.hpp"
#include "core/exchange/peer.hpp"

namespace muster {

class GroupTable;

struct Request {
    const PeerPtr& peer;
    uint32_t tag;
    Unpacker& in;
    /// Created if the answer is deferred.
    mutable std::shared_ptr<OpenRequest> open = nullptr;

    /// Memory that the server keeps for the request, in bytes, in addition to its message and the decoded
    /// fields.
    mutable size_t beside = 0;

    /// The peer to answer later. The request counts as one that waits for as long as the Asker lives.
    Asker asker() const {
        if (!open) open = std::make_shared<OpenRequest>(peer, tag);
        return Asker(open);
    }
    /// The handler has returned. A request that waits for its answer counts from now on with these bytes.
    void handled(size_t memory) const {
        if (open.use_count() > 1) open->count(memory + beside);
    }
    /// Replaces groups by their members, and counts the list. False if there is no such group, or the
    /// members are too many: the request has been answered.
    bool expand(const GroupTable& groups, const Log& log, std::vector<pmix_proc_t>& procs) const;
    /// Replaces groups in directives: `expand` gets the bytes that the members may take
    /// (GroupTable::expand()), at first `room`. Returns what `expand` returns, and answers nothing.
    pmix_status_t expand_infos(const Log& log, size_t room,
                               const std::function<pmix_status_t(size_t& room)>& expand) const;
    /// Counts a list of processes for which the message has only a few bytes.
    void keeps(size_t procs) const { beside += procs * sizeof(pmix_proc_t); }
    /// Answers a request whose bytes cannot be read.
    void malformed() const { peer->reply_status(tag, in.failed() ? in.error() : PMIX_ERR_UNPACK_FAILURE); }
};

/// A function that answers the request with a status, at any time; no effect once the peer has disconnected.
std::function<void(pmix_status_t)> answer_later(const Request& request);

/// When a request is answered. Only those that may wait are bounded in number.
enum class AnswerTime : uint8_t { MayWait, AtOnce, Never };

/// The commands that a server answers (docs/reference/wire.md, commands). Each service registers its handlers
/// when the server is made; the server looks one up for each frame.
class CommandTable {
  public:
    using Handle = std::function<void(const Request&)>;
    struct Handler {
        Handle run;
        AnswerTime answer = AnswerTime::MayWait;
    };

    /// Before the first frame. A command has one handler.
    void add(Command command, Handle run, AnswerTime answer = AnswerTime::MayWait) {
        handlers_[static_cast<uint8_t>(command)] = {std::move(run), answer};
    }
    /// The handler of a command's number, or null.
    const Handler* find(uint8_t code) const {
        const Handler& found = handlers_[code];
        return found.run ? &found : nullptr;
    }

  private:
    std::array<Handler, 256> handlers_;
};

}  // namespace muster
