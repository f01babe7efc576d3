// SPDX-License-Identifier: BSD-3-Clause
// Destinations of the ranks' output: muster's own standard output and error, with or without marks, and
// files. Lines of different ranks are not mixed; a line that is not ended is shown after a short while.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "framework/base/output_format.hpp"
#include "tools/muster/base/loop.hpp"
#include "tools/muster/jobs/job.hpp"

namespace muster::launcher {

class Output {
  public:
    /// `on_taken(node, bytes)`: number of bytes passed to write() that were written (or stored).
    /// `on_broken(what)`: standard output or error, or a file, can no longer be written. `pid_of`: of a
    /// process that has written output.
    Output(Loop& loop, std::function<void(uint32_t node, uint64_t bytes)> on_taken,
           std::function<void(const std::string& what)> on_broken, std::function<pid_t(ProcId)> pid_of);
    ~Output();

    /// The treatment of a job's output. Called before its output arrives.
    void add_job(const Job& job);
    /// Output of a rank of node `node`; none: its end. `shown`: false if a tool shows it, and only files get
    /// it.
    void write(uint32_t node, ProcId proc, bool error, std::string_view bytes, bool shown);
    /// Shows words that are no rank's, as they are.
    void show_text(bool error, std::string_view text);
    /// Writes all held-back output. `patience`: time limit for a reader that does not read; negative:
    /// unlimited.
    void finish(std::chrono::milliseconds patience);

  private:
    using Channel = std::pair<ProcId, bool>;  ///< whether it is standard error
    /// One of muster's own descriptors.
    struct Stream {
        int fd = -1;
        bool regular = false;
        bool broken = false;
        std::string queue;
        size_t done = 0;
        Watch writable;
        /// The channel whose unfinished line was written last.
        std::unique_ptr<Channel> unfinished;
    };
    struct JobOutput {
        OutputPolicy policy;
        std::string nspace;
        std::vector<std::string> hosts;  ///< by rank
        bool files_broken = false;
    };
    struct Source {
        std::unique_ptr<LineFormatter> formatter;
        std::string collected;  ///< formatted, not shown yet (OutputPolicy::buffer_size)
        bool shown = true;      ///< as the output that came last
        Watch collecting;
    };
    struct CloseFile {
        void operator()(FILE* file) const { fclose(file); }
    };

    Source& source_of(const Channel& channel);
    SourceFacts facts_of(ProcId proc) const;
    void give(const Channel& channel, Source& source, std::string text);
    void put(const Channel& channel, Source& source, std::string_view text);
    void show_unfinished();
    void into_file(const Channel& channel, std::string_view text);
    void flush(Stream& stream);
    bool write_once(Stream& stream);
    void give_back();

    Loop& loop_;
    std::map<uint32_t, JobOutput> jobs_;
    std::function<void(uint32_t, uint64_t)> on_taken_;
    std::function<void(const std::string&)> on_broken_;
    std::function<pid_t(ProcId)> pid_of_;
    Stream streams_[2];  ///< standard output, standard error
    std::map<Channel, Source> sources_;
    std::map<std::string, std::unique_ptr<FILE, CloseFile>> files_;
    std::map<uint32_t, uint64_t> owed_;  ///< bytes by node that are not yet reported to on_taken
    Watch unfinished_timer_;
};

}  // namespace muster::launcher
