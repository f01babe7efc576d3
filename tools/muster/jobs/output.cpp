// SPDX-License-Identifier: BSD-3-Clause
// Output: lines, marks, files, and not waiting for a slow reader.
#include "tools/muster/jobs/output.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "framework/base/output_file.hpp"

namespace muster::launcher {
namespace {

/// If more than this waits for a slow reader, the nodes get no further acknowledgements.
constexpr size_t kQueueLimit = 4 << 20;
constexpr size_t kLongestLine = 64 * 1024;
constexpr std::chrono::milliseconds kUnfinishedAfter{50};

}  // namespace

Output::Output(Loop& loop, std::function<void(uint32_t, uint64_t)> on_taken,
               std::function<void(const std::string&)> on_broken, std::function<pid_t(ProcId)> pid_of)
    : loop_(loop),
      on_taken_(std::move(on_taken)),
      on_broken_(std::move(on_broken)),
      pid_of_(std::move(pid_of)) {
    for (int i = 0; i < 2; ++i) {
        streams_[i].fd = i + 1;
        struct stat info;
        streams_[i].regular = fstat(streams_[i].fd, &info) == 0 && S_ISREG(info.st_mode);
    }
}

Output::~Output() = default;

void Output::add_job(const Job& job) {
    JobOutput& output = jobs_[job.number];
    output.policy = job.output;
    output.nspace = job.nspace;
    for (const Place& place : job.places)
        output.hosts.push_back(job.nodes[place.node]);
}

Output::Source& Output::source_of(const Channel& channel) {
    Source& source = sources_[channel];
    if (source.formatter) return source;
    const ProcId proc = channel.first;
    const JobOutput& job = jobs_[proc.job];
    const OutputStyle& style = job.policy.style;
    // A short mark names the job by its number.
    const bool short_name = style.tag && !style.full_name && !style.detailed && !style.xml;
    source.formatter = std::make_unique<LineFormatter>(
        style, to_pmix({short_name ? std::to_string(proc.job) : job.nspace, proc.rank}),
        channel.second ? PMIX_FWD_STDERR_CHANNEL : PMIX_FWD_STDOUT_CHANNEL,
        [&](const pmix_proc_t&) { return facts_of(proc); });
    return source;
}

SourceFacts Output::facts_of(ProcId proc) const {
    const JobOutput& job = jobs_.at(proc.job);
    const std::string& host = job.hosts.at(proc.rank);
    return {host, std::to_string(pid_of_(proc)), host, static_cast<pmix_rank_t>(job.hosts.size())};
}

void Output::write(uint32_t node, ProcId proc, bool error, std::string_view bytes, bool shown) {
    const Channel channel{proc, error};
    Source& source = source_of(channel);
    owed_[node] += bytes.size();
    source.shown = shown;
    std::string text;
    if (bytes.empty()) {
        source.formatter->show_held(text);
        text.insert(0, std::exchange(source.collected, {}));
        source.collecting.cancel();
        return put(channel, source, text);
    }
    source.formatter->feed(bytes, text);
    give(channel, source, std::move(text));
    if (source.formatter->holds() && !unfinished_timer_) {
        unfinished_timer_ = loop_.after(kUnfinishedAfter, [this] {
            unfinished_timer_.cancel();
            show_unfinished();
        });
    }
    give_back();
}

/// Shows text of a channel, or collects it until there is enough of it.
void Output::give(const Channel& channel, Source& source, std::string text) {
    const OutputPolicy& policy = jobs_[channel.first.job].policy;
    if (policy.buffer_size == 0 && policy.buffer_seconds == 0) return put(channel, source, text);
    source.collected += text;
    const bool enough = policy.buffer_size > 0 && source.collected.size() >= policy.buffer_size;
    if (enough || source.collected.size() > kLongestLine) {
        source.collecting.cancel();
        return put(channel, source, std::exchange(source.collected, {}));
    }
    if (policy.buffer_seconds == 0 || source.collecting || source.collected.empty()) return;
    source.collecting = loop_.after(std::chrono::seconds(policy.buffer_seconds), [this, channel] {
        Source& late = sources_[channel];
        late.collecting.cancel();
        put(channel, late, std::exchange(late.collected, {}));
    });
}

void Output::show_unfinished() {
    for (auto& [channel, source] : sources_) {
        std::string text;
        source.formatter->show_held(text);
        give(channel, source, std::move(text));
    }
}

/// Queues whole lines, or the begin of one, for muster's own output, and writes them into the files.
void Output::put(const Channel& channel, Source& source, std::string_view text) {
    if (text.empty()) return;
    const OutputStyle& style = jobs_[channel.first.job].policy.style;
    if (style.to_files()) into_file(channel, text);
    if (!source.shown || (style.to_files() && style.file_only)) return;
    Stream& stream = streams_[channel.second && !style.merge ? 1 : 0];
    if (stream.unfinished && *stream.unfinished != channel && style.marks()) {
        // A mark is at the beginning of a line, even if another rank's line is not terminated.
        stream.queue += '\n';
        sources_[*stream.unfinished].formatter->interrupt();
    }
    stream.queue += text;
    stream.unfinished = source.formatter->begun() ? std::make_unique<Channel>(channel) : nullptr;
    flush(stream);
}

void Output::show_text(bool error, std::string_view text) {
    Stream& stream = streams_[error ? 1 : 0];
    stream.queue += text;
    flush(stream);
}

void Output::into_file(const Channel& channel, std::string_view text) {
    JobOutput& job = jobs_[channel.first.job];
    const OutputStyle& style = job.policy.style;
    if (job.files_broken) return;
    const auto shown_on = style.shown_on(channel.second ? PMIX_FWD_STDERR_CHANNEL : PMIX_FWD_STDOUT_CHANNEL);
    const std::string path =
        style.path_for(to_pmix({job.nspace, channel.first.rank}), shown_on, facts_of(channel.first));
    auto& file = files_[path];
    if (!file) {
        UniqueFd opened = open_output_file(path, true);
        if (opened) file.reset(fdopen(opened.get(), "a"));
        if (file) opened.release();
    }
    // Written at once: the file is current while the job runs.
    if (!file || fwrite(text.data(), 1, text.size(), file.get()) != text.size() || fflush(file.get()) != 0) {
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
    for (auto& [channel, source] : sources_)
        put(channel, source, std::exchange(source.collected, {}));
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
