// SPDX-License-Identifier: BSD-3-Clause
// Forwarding of requested output from the ranks' nodes to the tools', and of tools' input to the ranks.
// muster itself does not show output that a tool pulls, unless the tool requests a copy.
#pragma once

#include <deque>
#include <list>
#include <map>
#include <vector>

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

/// Topic::Forward. A node asks, by Request; a piece of output is sent to a node with a number, which the node
/// returns when the piece has been delivered.
class Forwards final : public Service {
  public:
    enum class Request : uint32_t {
        Pull = 1,  ///< processes, channels, whether a copy is enough
        Stop,      ///< the same again: no more
        Push,      ///< processes, whether this is the end of their input, bytes
    };

    explicit Forwards(Hub& hub) : Service(hub) {}
    void asked(Asker asker, Buffer& in) override;
    void told(uint32_t node, Buffer& in) override;
    void proc_ended(JobRecord& job, uint32_t rank) override;
    void node_gone(uint32_t node) override;

    /// Output of a process (none: its end): forwarded to its readers, kept for a tool that will request it,
    /// or shown.
    void output(uint32_t node, ProcId proc, uint32_t channel, std::string_view bytes);
    /// Messages of the launcher about a job: for the tool that requests its standard error, otherwise shown
    /// unchanged.
    void note(const JobRecord& record, std::string_view text);
    /// There will be no further request.
    void release();
    /// Ranks have taken (or dropped) input. How many of these bytes were not ours.
    uint64_t input_taken(uint64_t bytes);

  private:
    struct Pull {
        uint32_t node = 0;  ///< to which the tool is connected
        std::vector<ProcName> procs;
        uint32_t channels = 0;
        bool copy = false;
        bool wants(const ProcName& proc, uint32_t channel) const;
    };
    /// A piece that the tools' nodes have not all taken.
    struct Piece {
        uint32_t source = 0;  ///< the node that waits
        uint64_t size = 0;
        std::vector<uint32_t> nodes;
    };
    /// Output of a job whose spawner is about to request it. Its node sends at most its window.
    struct Held {
        struct Output {
            uint32_t node = 0;
            ProcId proc;
            uint32_t channel = 0;
            std::string bytes;
        };
        std::list<Output> pieces;
        std::map<uint32_t, uint64_t> sizes;  ///< by channel
        Watch limit;                         ///< by then it has changed its mind
    };
    bool hold(const JobRecord& job, uint32_t node, ProcId proc, uint32_t channel, std::string_view bytes);
    void release(uint32_t job);
    void pull(Asker asker, Buffer& in, bool stop);
    void push(Asker asker, Buffer& in);
    void taken(uint64_t number, uint32_t node);
    void answer_pushes();

    std::vector<Pull> pulls_;
    std::map<uint64_t, Piece> pieces_;
    std::map<uint32_t, Held> held_;  ///< by the job's number
    uint64_t next_piece_ = 1;
    uint64_t pushed_ = 0;        ///< bytes of input that the ranks have not taken
    std::deque<Asker> waiting_;  ///< pushes beyond the window
};

}  // namespace muster::launcher
