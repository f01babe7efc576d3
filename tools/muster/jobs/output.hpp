// SPDX-License-Identifier: BSD-3-Clause
// Destinations of the ranks' output: muster's own standard output and error, with or without tags, and files.
// Lines of different ranks are not mixed; a line that is not ended is shown after a short while.
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "tools/muster/base/loop.hpp"
#include "tools/muster/jobs/job.hpp"

namespace muster::launcher {

class Output {
  public:
    /// `on_taken(node, bytes)`: so much of what write() was given has left (or was stored).
    /// `on_broken(what)`: standard output or error, or a file, can no longer be written.
    Output(Loop& loop, std::function<void(uint32_t node, uint64_t bytes)> on_taken,
           std::function<void(const std::string& what)> on_broken);
    ~Output();

    /// How the output of a job of that many ranks is to be treated. Comes before its output.
    void add_job(uint32_t job, const OutputPolicy& policy, uint32_t ranks);
    /// Output of a rank of node `node`.
    void write(uint32_t node, ProcId proc, bool error, std::string_view bytes);
    /// Shows words that are no rank's, as they are.
    void show_text(bool error, std::string_view text);
    /// Writes out all that is held back. `patience`: how long to wait for a reader that does not read;
    /// negative: for ever.
    void finish(std::chrono::milliseconds patience);

  private:
    /// One of muster's own descriptors.
    struct Stream {
        int fd = -1;
        bool regular = false;
        bool broken = false;
        std::string queue;
        size_t done = 0;
        Watch writable;
        /// The rank whose unfinished line was written last.
        std::unique_ptr<ProcId> unfinished;
    };
    /// One channel of one rank.
    struct Source {
        std::string line;    ///< the begin of a line, not shown yet
        bool begun = false;  ///< the begin of this line was shown
        FILE* file = nullptr;
    };

    void show(ProcId proc, bool error, Source& source, std::string_view text);
    void show_unfinished();
    void into_file(ProcId proc, bool error, Source& source, std::string_view bytes);
    std::string prefix(ProcId proc, bool error) const;
    void flush(Stream& stream);
    bool write_once(Stream& stream);
    void give_back();

    struct JobOutput {
        OutputPolicy policy;
        uint32_t ranks = 0;
        bool files_broken = false;
    };

    Loop& loop_;
    std::map<uint32_t, JobOutput> jobs_;
    std::function<void(uint32_t, uint64_t)> on_taken_;
    std::function<void(const std::string&)> on_broken_;
    Stream streams_[2];  ///< standard output, standard error
    std::map<std::pair<ProcId, bool>, Source> sources_;
    std::map<uint32_t, uint64_t> owed_;  ///< bytes by node that on_taken is still to be told of
    Watch unfinished_timer_;
};

}  // namespace muster::launcher
