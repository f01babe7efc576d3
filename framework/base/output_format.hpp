// SPDX-License-Identifier: BSD-3-Clause
// How output is shown: the style that the PMIX_IOF_* directives ask for, and the bytes of one channel of one
// process turned into marked lines (Standard: IO Forwarding attributes). For the library and for muster.
#pragma once

#include <pmix_common.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

/// "stdout", "stderr" or "stddiag" of the lowest bit that is set.
inline const char* channel_name(pmix_iof_channel_t channel) {
    if ((channel & PMIX_FWD_STDOUT_CHANNEL) != 0) return "stdout";
    return (channel & PMIX_FWD_STDERR_CHANNEL) != 0 ? "stderr" : "stddiag";
}

/// About a process, for detailed marks and for names of files.
struct SourceFacts {
    std::string host = "unknown";  ///< the node where it runs
    std::string pid = "unknown";
    std::string writer = "unknown";  ///< the node that writes its files
    pmix_rank_t ranks = 0;           ///< of its job; 0: not known
};

/// Whether each % of a name begins a conversion: %n the namespace, %r the rank, %R the rank with leading
/// zeros as the job's largest rank needs them, %h the node that writes the file, %% a percent sign.
bool is_file_pattern(std::string_view name);

struct OutputStyle {
    bool tag = false;        ///< namespace, rank and channel
    bool full_name = false;  ///< the same, asked for by another name
    bool detailed = false;   ///< and the node and the pid
    bool rank = false;       ///< rank and channel
    bool timestamp = false;  ///< time of receipt
    bool xml = false;
    bool raw = false;           ///< do not wait for the end of a line
    bool merge = false;         ///< stderr goes with stdout
    bool pattern = false;       ///< `file` has conversions: see is_file_pattern
    bool file_only = false;     ///< nothing besides the files
    std::optional<bool> local;  ///< write to this process's own stdout and stderr
    std::string file;
    std::string directory;

    bool operator==(const OutputStyle&) const = default;
    /// Whether anything is added to the bytes.
    bool marks() const { return tag || full_name || detailed || rank || timestamp || xml; }
    bool to_files() const { return !file.empty() || !directory.empty(); }
    /// False if the name of the file is a pattern with an unknown conversion.
    bool names_files() const { return !pattern || is_file_pattern(file); }
    /// The path for one channel of one process; a namespace cannot lead out of the directory.
    std::string path_for(const pmix_proc_t& source, pmix_iof_channel_t channel,
                         const SourceFacts& facts) const;
    /// The channel that one is shown on.
    pmix_iof_channel_t shown_on(pmix_iof_channel_t channel) const {
        return merge ? PMIX_FWD_STDOUT_CHANNEL : channel;
    }
};

using FindFacts = std::function<SourceFacts(const pmix_proc_t&)>;

/// One channel of one process.
class LineFormatter {
  public:
    /// `style` must outlive it. `find_facts` may be null.
    LineFormatter(const OutputStyle& style, const pmix_proc_t& source, pmix_iof_channel_t channel,
                  const FindFacts& find_facts);

    /// Appends the text that can be shown now to `out`: whole lines, unless the style is raw.
    void feed(std::string_view bytes, std::string& out);
    /// Whether the begin of a line is held back.
    bool holds() const { return !held_.empty(); }
    /// Appends the begin of a line that is held back; the rest of the line follows.
    void show_held(std::string& out);
    /// Another writer has ended the line that was begun: the rest of it is marked again.
    void interrupt() { begun_ = false; }
    /// Whether a line was begun and not ended.
    bool begun() const { return begun_; }
    /// Appends held-back text. A marked line is terminated; nothing is added to bytes without marks.
    void finish(std::string& out);

  private:
    void emit(std::string_view text, bool ended, std::string& out);
    void emit_xml(std::string_view text, std::string& out) const;
    std::string now() const;

    const OutputStyle& style_;
    const char* channel_;
    std::string mark_;    ///< without the time
    std::string held_;    ///< the begin of a line
    bool begun_ = false;  ///< the begin of this line was shown
};

/// Appends `text` so that it is well-formed character data; bytes that are not XML characters become U+FFFD.
void append_xml(std::string_view text, std::string& out);

}  // namespace muster
