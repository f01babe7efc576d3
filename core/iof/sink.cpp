// SPDX-License-Identifier: BSD-3-Clause
// Writing out: see sink.hpp.
#include "core/iof/sink.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>

#include "core/runtime/keys.hpp"
#include "framework/base/output_file.hpp"

namespace muster {
namespace {

constexpr size_t kRoom = size_t{1} << 20;
/// How long the end waits for a reader that does not read.
constexpr int kPatienceMs = 5000;

/// A write to a pipe without readers raises a signal that would end the program; here it only fails.
template <typename Write>
ssize_t write_quietly(const Write& write) {
    sigset_t pipe_signal, before;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    const ssize_t written = write();
    const int error = errno;
    if (written < 0 && error == EPIPE && sigismember(&before, SIGPIPE) == 0) {
        const timespec at_once{};
        sigtimedwait(&pipe_signal, nullptr, &at_once);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return written;
}

ssize_t write_quietly(int fd, const char* data, size_t size) {
    return write_quietly([=] { return ::write(fd, data, size); });
}

/// Writes as much as the reader has space for, although the descriptor blocks. EOPNOTSUPP if the kernel or
/// the file cannot do that.
ssize_t write_what_fits(int fd, const char* data, size_t size) {
    const iovec part{const_cast<char*>(data), size};
    return write_quietly([&] { return pwritev2(fd, &part, 1, -1, RWF_NOWAIT); });
}

size_t stream_index(pmix_iof_channel_t channel) {
    if ((channel & PMIX_FWD_STDOUT_CHANNEL) != 0) return 0;
    return (channel & PMIX_FWD_STDERR_CHANNEL) != 0 ? 1 : 2;
}

}  // namespace

Console::Console(EventLoop& loop, std::function<void(pmix_iof_channel_t)> on_broken)
    : loop_(loop), on_broken_(std::move(on_broken)) {
    for (size_t i = 0; i < streams_.size(); ++i)
        streams_[i].fd = static_cast<int>(i) + 1;
}

/// Checked at the first write: most processes write nothing.
bool Console::Stream::is_regular() {
    if (!regular) {
        struct stat info {};
        regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    }
    return *regular;
}

Console::~Console() {
    on_broken_ = nullptr;
    for (Stream& stream : streams_) {
        stream.writable.reset();
        drain(stream);
    }
}

bool Console::full() const {
    return std::ranges::any_of(
        streams_, [](const Stream& stream) { return stream.queue.size() - stream.done > kRoom; });
}

void Console::write(pmix_iof_channel_t channel, std::string_view text) {
    Stream& stream = streams_[(channel & PMIX_FWD_STDOUT_CHANNEL) != 0 ? 0 : 1];
    if (stream.broken) return;
    const bool waiting = stream.done < stream.queue.size();
    stream.queue += text;
    if (!waiting) flush(stream);
}

/// Writes as much as the reader has space for. -1 with EAGAIN: nothing now.
ssize_t Console::Stream::write_some() {
    const char* data = queue.data() + done;
    const size_t left = queue.size() - done;
    if (is_regular()) return write_quietly(fd, data, left);
    if (takes_what_fits) {
        const ssize_t written = write_what_fits(fd, data, left);
        if (written >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS)) return written;
        takes_what_fits = false;
    }
    // A pipe that is ready takes so much without blocking.
    pollfd ready{fd, POLLOUT, 0};
    if (poll(&ready, 1, 0) <= 0) {
        errno = EAGAIN;
        return -1;
    }
    return write_quietly(fd, data, std::min<size_t>(left, PIPE_BUF));
}

bool Console::write_once(Stream& stream) {
    if (stream.done == stream.queue.size() || stream.broken) return false;
    const ssize_t written = stream.write_some();
    if (written < 0) {
        if (errno == EINTR) return true;
        if (errno == EAGAIN) return false;
        stream.broken = true;
        stream.done = stream.queue.size();
        if (on_broken_) on_broken_(stream.fd == 1 ? PMIX_FWD_STDOUT_CHANNEL : PMIX_FWD_STDERR_CHANNEL);
        return false;
    }
    stream.done += static_cast<size_t>(written);
    return true;
}

void Console::flush(Stream& stream) {
    while (write_once(stream)) {
    }
    if (stream.done == stream.queue.size()) {
        stream.queue.clear();
        stream.done = 0;
        if (stream.writable) stream.writable->want_write(false);
    } else if (stream.writable) {
        stream.writable->want_write(true);
    } else {
        stream.writable = loop_.watch(stream.fd, [this, &stream](EventLoop::Ready) { flush(stream); });
        stream.writable->want_read(false);
        stream.writable->want_write(true);
    }
    // Not each time: the rest is moved.
    if (stream.done > kRoom && stream.done > stream.queue.size() / 2) {
        stream.queue.erase(0, stream.done);
        stream.done = 0;
    }
    if (room_.empty() || full()) return;
    for (const auto& callback : std::exchange(room_, {}))
        callback();
}

void Console::drain(Stream& stream) {
    while (!stream.broken && stream.done < stream.queue.size()) {
        pollfd ready{stream.fd, POLLOUT, 0};
        if (!stream.is_regular() && poll(&ready, 1, kPatienceMs) == 0) return;
        write_once(stream);
    }
}

bool OutputFiles::write(const std::string& path, std::string_view text) {
    const auto known = by_path_.find(path);
    if (known != by_path_.end() && known->second != open_.end()) {
        open_.splice(open_.begin(), open_, known->second);
    } else {
        const bool first = known == by_path_.end();
        UniqueFd file = open_output_file(path, first);
        if (!file) return false;
        if (open_.size() >= kMostOpen) {
            by_path_[open_.back().path] = open_.end();
            open_.pop_back();
        }
        open_.push_front({path, std::move(file)});
        by_path_[path] = open_.begin();
    }
    while (!text.empty()) {
        const ssize_t written = write_quietly(open_.front().fd.get(), text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        text.remove_prefix(static_cast<size_t>(written));
    }
    return true;
}

OutputSink::OutputSink(OutputStyle style, Console* console, FindFacts find_facts, OnFailure on_failure)
    : style_(std::move(style)),
      console_(style_.file_only && style_.to_files() ? nullptr : console),
      find_facts_(std::move(find_facts)),
      on_failure_(std::move(on_failure)) {}

OutputSink::Stream& OutputSink::stream_of(const pmix_proc_t& source, pmix_iof_channel_t channel) {
    auto& stream = streams_[Proc(source)][stream_index(channel)];
    if (!stream) {
        stream = std::make_unique<Stream>();
        stream->source = source;
        stream->channel = channel;
        stream->formatter = std::make_unique<LineFormatter>(style_, source, channel, find_facts_);
        if (style_.to_files()) {
            const SourceFacts facts = find_facts_ ? find_facts_(source) : SourceFacts();
            stream->path = style_.path_for(source, style_.shown_on(channel), facts);
        }
    }
    return *stream;
}

void OutputSink::show(Stream& stream, std::string_view text) {
    if (text.empty()) return;
    if (!stream.path.empty() && !files_.write(stream.path, text)) {
        stream.path.clear();
        if (on_failure_) on_failure_(stream.source, stream.channel);
    }
    if (console_ != nullptr && stream.on_console) console_->write(style_.shown_on(stream.channel), text);
}

void OutputSink::write(const OutputPiece& piece, bool on_console) {
    if (!on_console && !style_.to_files()) return;
    Stream& stream = stream_of(piece.source, piece.channel);
    stream.on_console = on_console;
    shown_.clear();
    stream.formatter->feed({reinterpret_cast<const char*>(piece.bytes.data()), piece.bytes.size()}, shown_);
    if (piece.completes()) stream.formatter->finish(shown_);
    show(stream, shown_);
    if (piece.completes()) end(piece.source, piece.channel);
}

void OutputSink::end(const pmix_proc_t& source, pmix_iof_channel_t channel) {
    const auto found = streams_.find(Proc(source));
    if (found == streams_.end()) return;
    found->second[stream_index(channel)].reset();
    for (const auto& stream : found->second) {
        if (stream) return;
    }
    streams_.erase(found);
}

void OutputSink::finish() {
    for (const auto& [source, streams] : streams_)
        finish(streams);
}

void OutputSink::forget(std::string_view nspace) {
    std::erase_if(streams_, [&](const auto& entry) {
        if (entry.first.nspace() != nspace) return false;
        finish(entry.second);
        return true;
    });
}

void OutputSink::finish(const Streams& streams) {
    for (const auto& stream : streams) {
        if (!stream) continue;
        shown_.clear();
        stream->formatter->finish(shown_);
        show(*stream, shown_);
    }
}

pmix_status_t read_style(InfoView directives, OutputStyle& style) {
    struct Flag {
        std::initializer_list<const char*> keys;
        bool* value;
    };
    const Flag flags[] = {
        {{PMIX_IOF_TAG_OUTPUT, PMIX_TAG_OUTPUT}, &style.tag},
        {{PMIX_IOF_TAG_FULLNAME_OUTPUT}, &style.full_name},
        {{PMIX_IOF_TAG_DETAILED_OUTPUT}, &style.detailed},
        {{PMIX_IOF_RANK_OUTPUT}, &style.rank},
        {{PMIX_IOF_TIMESTAMP_OUTPUT, PMIX_TIMESTAMP_OUTPUT}, &style.timestamp},
        {{PMIX_IOF_XML_OUTPUT}, &style.xml},
        {{PMIX_IOF_OUTPUT_RAW}, &style.raw},
        {{PMIX_IOF_MERGE_STDERR_STDOUT, PMIX_MERGE_STDERR_STDOUT}, &style.merge},
        {{PMIX_IOF_FILE_PATTERN}, &style.pattern},
        {{PMIX_IOF_FILE_ONLY, PMIX_OUTPUT_NOCOPY}, &style.file_only},
    };
    for (const pmix_info_t& info : directives) {
        for (const Flag& flag : flags) {
            if (!key_is_any(info.key, flag.keys)) continue;
            const auto value = value_as_bool(&info.value);
            if (!value) return PMIX_ERR_BAD_PARAM;
            *flag.value = *value;
        }
        if (key_is(info.key, PMIX_IOF_LOCAL_OUTPUT)) {
            style.local = value_as_bool(&info.value);
            if (!style.local) return PMIX_ERR_BAD_PARAM;
        }
        const bool is_file = key_is_any(info.key, {PMIX_IOF_OUTPUT_TO_FILE, PMIX_OUTPUT_TO_FILE});
        if (!is_file && !key_is_any(info.key, {PMIX_IOF_OUTPUT_TO_DIRECTORY, PMIX_OUTPUT_TO_DIRECTORY}))
            continue;
        const char* path = value_as_string(&info.value);
        if (path == nullptr || *path == '\0') return PMIX_ERR_BAD_PARAM;
        (is_file ? style.file : style.directory) = path;
    }
    return style.names_files() ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

}  // namespace muster
