// SPDX-License-Identifier: BSD-3-Clause
// The targets of shown output: stdout and stderr of this process, and files. Belongs to the loop; created and
// destroyed also while no loop runs.
#pragma once

#include <array>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/iof/piece.hpp"
#include "framework/base/info.hpp"
#include "framework/base/keyed_hash.hpp"
#include "framework/base/loop.hpp"
#include "framework/base/output_format.hpp"
#include "framework/base/unique_fd.hpp"

namespace muster {

/// stdout and stderr of this process. Does not block for a slow reader, and does not make the descriptors,
/// which other programs may share, non-blocking.
class Console {
  public:
    /// `on_broken`: a descriptor accepts no more data; data for it is discarded.
    Console(EventLoop& loop, std::function<void(pmix_iof_channel_t channel)> on_broken);
    /// Writes the rest to a reader that reads.
    ~Console();

    void write(pmix_iof_channel_t channel, std::string_view text);
    /// Much data waits for the reader: callers with more should wait for on_room().
    bool full() const;
    /// Called once, when there is space again.
    void on_room(std::function<void()> callback) { room_.push_back(std::move(callback)); }

  private:
    struct Stream {
        int fd = -1;
        std::optional<bool> regular;
        bool is_regular();
        ssize_t write_some();
        bool broken = false;
        bool takes_what_fits = true;  ///< also where the descriptor blocks; until it turns out otherwise
        std::string queue;
        size_t done = 0;
        std::unique_ptr<Watch> writable;
    };
    bool write_once(Stream& stream);
    void flush(Stream& stream);
    void drain(Stream& stream);

    EventLoop& loop_;
    std::function<void(pmix_iof_channel_t)> on_broken_;
    std::array<Stream, 2> streams_;
    std::vector<std::function<void()>> room_;
};

/// The files of many processes; only a limited number is open at a time.
class OutputFiles {
  public:
    /// Appends to the file, which is emptied when it is met the first time, with the folders that lead to it.
    /// False, with errno, where that fails.
    bool write(const std::string& path, std::string_view text);

  private:
    static constexpr size_t kMostOpen = 128;
    struct File {
        std::string path;
        UniqueFd fd;
    };
    std::list<File> open_;                        ///< the one used last in front
    TextMap<std::list<File>::iterator> by_path_;  ///< open_.end(): not open now
};

/// Output shown in one style.
class OutputSink {
  public:
    using OnFailure = std::function<void(const pmix_proc_t& source, pmix_iof_channel_t channel)>;

    /// `console`: null for files only. `on_failure`: a file cannot be written; called once for each.
    OutputSink(OutputStyle style, Console* console, FindFacts find_facts, OnFailure on_failure);

    /// Drops the state of a channel that ends. `on_console`: false if another process shows it; files get it
    /// nevertheless.
    void write(const OutputPiece& piece, bool on_console = true);
    /// Shows the held-back output of all channels.
    void finish();
    /// The namespace has ended: shows its held-back output and keeps nothing.
    void forget(std::string_view nspace);

  private:
    struct Stream {
        pmix_proc_t source{};
        pmix_iof_channel_t channel = 0;
        std::unique_ptr<LineFormatter> formatter;
        std::string path;        ///< empty: no file
        bool on_console = true;  ///< as the piece that came last says
    };
    using Streams = std::array<std::unique_ptr<Stream>, 3>;  ///< stdout, stderr, stddiag
    Stream& stream_of(const pmix_proc_t& source, pmix_iof_channel_t channel);
    void show(Stream& stream, std::string_view text);
    void end(const pmix_proc_t& source, pmix_iof_channel_t channel);
    void finish(const Streams& streams);

    const OutputStyle style_;
    Console* console_;
    FindFacts find_facts_;
    OnFailure on_failure_;
    OutputFiles files_;
    std::unordered_map<Proc, Streams> streams_;
    std::string shown_;  ///< storage that is used again
};

/// Applies the directives, including former names of the attributes. PMIX_ERR_BAD_PARAM for a
/// value of the wrong type.
pmix_status_t read_style(InfoView directives, OutputStyle& style);

}  // namespace muster
