// SPDX-License-Identifier: BSD-3-Clause
// Output: lines, tags, files, and not waiting for a slow reader.
#include "tools/muster/jobs/output.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "framework/base/output_file.hpp"

namespace muster::launcher {
namespace {

/// More than this waiting for a slow reader: the nodes are no longer told to go on.
constexpr size_t kQueueLimit = 4 << 20;
constexpr size_t kLongestLine = 64 * 1024;
constexpr std::chrono::milliseconds kUnfinishedAfter{50};

}  // namespace

Output::Output(Loop& loop, std::function<void(uint32_t, uint64_t)> on_taken,
               std::function<void(const std::string&)> on_broken)
    : loop_(loop), on_taken_(std::move(on_taken)), on_broken_(std::move(on_broken)) {
    for (int i = 0; i < 2; ++i) {
        streams_[i].fd = i + 1;
        struct stat info;
        streams_[i].regular = fstat(streams_[i].fd, &info) == 0 && S_ISREG(info.st_mode);
    }
}

Output::~Output() {
    for (auto& [key, source] : sources_) {
        if (source.file != nullptr) fclose(source.file);
    }
}

void Output::add_job(uint32_t job, const OutputPolicy& policy, uint32_t ranks) {
    jobs_[job] = {policy, ranks, false};
}

void Output::write(uint32_t node, ProcId proc, bool error, std::string_view bytes) {
    const OutputPolicy& policy = jobs_[proc.job].policy;
    Source& source = sources_[{proc, error}];
    owed_[node] += bytes.size();
    const bool files = !policy.directory.empty() || !policy.file.empty();
    if (files) into_file(proc, error, source, bytes);
    if (!files || policy.copy) {
        const size_t end = bytes.rfind('\n');
        if (end != std::string_view::npos) {
            source.line.append(bytes.substr(0, end + 1));
            show(proc, error, source, source.line);
            source.line.assign(bytes.substr(end + 1));
        } else {
            source.line.append(bytes);
        }
        if (source.line.size() > kLongestLine) {
            show(proc, error, source, source.line);
            source.line.clear();
        }
        if (!source.line.empty() && !unfinished_timer_) {
            unfinished_timer_ = loop_.after(kUnfinishedAfter, [this] {
                unfinished_timer_.cancel();
                show_unfinished();
            });
        }
    }
    give_back();
}

void Output::show_unfinished() {
    for (auto& [key, source] : sources_) {
        if (source.line.empty()) continue;
        show(key.first, key.second, source, source.line);
        source.line.clear();
    }
}

std::string Output::prefix(ProcId proc, bool error) const {
    std::string text;
    const OutputPolicy& policy = jobs_.at(proc.job).policy;
    if (policy.timestamp) {
        const auto now = std::chrono::system_clock::now();
        const auto millis =
            std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
        text = fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}",
                           fmt::localtime(std::chrono::system_clock::to_time_t(now)), millis);
        if (!policy.tag && !policy.rank) text += ' ';
    }
    const char* channel = error ? "stderr" : "stdout";
    if (policy.tag) {
        text += fmt::format("[{},{}]<{}>: ", proc.job, proc.rank, channel);
    } else if (policy.rank) {
        text += fmt::format("[{}]<{}>: ", proc.rank, channel);
    }
    return text;
}

/// Queues whole lines, or the begin of one, for muster's own output.
void Output::show(ProcId proc, bool error, Source& source, std::string_view text) {
    Stream& stream = streams_[error && !jobs_.at(proc.job).policy.merge ? 1 : 0];
    const std::string mark = prefix(proc, error);
    if (stream.unfinished && *stream.unfinished != proc && !mark.empty()) {
        // A tag stands at the begin of a line, also when another rank's line is not ended.
        stream.queue += '\n';
        const auto other = sources_.find({*stream.unfinished, error});
        if (other != sources_.end()) other->second.begun = false;
    }
    while (!text.empty()) {
        const size_t end = text.find('\n');
        const bool whole = end != std::string_view::npos;
        const std::string_view line = text.substr(0, whole ? end + 1 : text.size());
        if (!source.begun) stream.queue += mark;
        stream.queue += line;
        source.begun = !whole;
        text.remove_prefix(line.size());
    }
    stream.unfinished = source.begun ? std::make_unique<ProcId>(proc) : nullptr;
    flush(stream);
}

void Output::show_text(bool error, std::string_view text) {
    Stream& stream = streams_[error ? 1 : 0];
    stream.queue += text;
    flush(stream);
}

void Output::into_file(ProcId proc, bool error, Source& source, std::string_view bytes) {
    JobOutput& job = jobs_[proc.job];
    const OutputPolicy& policy = job.policy;
    if (job.files_broken) return;
    Source& target = error && policy.merge ? sources_[{proc, false}] : source;
    std::string path;
    if (!policy.directory.empty()) {
        const size_t digits = std::to_string(job.ranks - 1).size();
        path = fmt::format("{}/{}/rank.{:0{}}", policy.directory, proc.job, proc.rank, digits);
        path += &target == &source && error ? "/stderr" : "/stdout";
    } else {
        path = fmt::format("{}.{}.{}", policy.file, proc.rank, &target == &source && error ? "err" : "out");
    }
    if (target.file == nullptr) {
        UniqueFd file = open_output_file(path, true);
        if (file && (target.file = fdopen(file.get(), "a")) != nullptr) file.release();
    }
    // Written at once: who looks into the file while the job runs sees what there is.
    if (target.file == nullptr || fwrite(bytes.data(), 1, bytes.size(), target.file) != bytes.size() ||
        fflush(target.file) != 0) {
        job.files_broken = true;
        const bool foreign = geteuid() == 0 && (errno == EPERM || errno == ELOOP);
        on_broken_(fmt::format(
            "'{}' cannot be written: {}", path,
            foreign ? "root writes to no file, and follows no link, of another user" : strerror(errno)));
    }
}

/// One write that does not block for long; false when nothing more can be written now.
bool Output::write_once(Stream& stream) {
    const size_t left = stream.queue.size() - stream.done;
    if (left == 0 || stream.broken) return false;
    // The descriptor may be shared with other programs, so it is not made non-blocking; a pipe that is ready
    // takes a whole page.
    pollfd ready{stream.fd, POLLOUT, 0};
    if (!stream.regular && poll(&ready, 1, 0) <= 0) return false;
    const size_t size = stream.regular ? left : std::min<size_t>(left, PIPE_BUF);
    const ssize_t n = ::write(stream.fd, stream.queue.data() + stream.done, size);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return errno == EINTR;
    if (n < 0) {
        stream.broken = true;
        on_broken_(fmt::format("standard {} cannot be written: {}", stream.fd == 1 ? "output" : "error",
                               strerror(errno)));
        return false;
    }
    stream.done += static_cast<size_t>(n);
    return true;
}

void Output::flush(Stream& stream) {
    while (write_once(stream)) {
    }
    if (stream.broken || stream.done == stream.queue.size()) {
        stream.queue.clear();
        stream.done = 0;
        stream.writable.cancel();
        return;
    }
    if (stream.done > kLongestLine) {
        stream.queue.erase(0, stream.done);
        stream.done = 0;
    }
    if (!stream.writable) {
        stream.writable = loop_.on_writable(stream.fd, [this, &stream] {
            flush(stream);
            give_back();
        });
    }
}

void Output::give_back() {
    if (streams_[0].queue.size() + streams_[1].queue.size() > kQueueLimit) return;
    for (auto& [node, bytes] : owed_) {
        if (bytes > 0) on_taken_(node, bytes);
        bytes = 0;
    }
}

void Output::finish(std::chrono::milliseconds patience) {
    show_unfinished();
    const auto until = std::chrono::steady_clock::now() + patience;
    for (Stream& stream : streams_) {
        for (flush(stream); stream.writable; flush(stream)) {
            if (patience.count() >= 0 && std::chrono::steady_clock::now() > until) break;
            pollfd ready{stream.fd, POLLOUT, 0};
            poll(&ready, 1, 100);
        }
    }
}

}  // namespace muster::launcher
