// SPDX-License-Identifier: BSD-3-Clause
// Input for others: see pusher.hpp.
#include "core/iof/pusher.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/iof/forwarder.hpp"
#include "core/iof/forwarding.hpp"

namespace muster {
namespace {

/// Bytes on the way to the host that it has not answered.
constexpr size_t kPushWindow = size_t{256} << 10;
constexpr size_t kMostUnanswered = 256;
/// Bytes of stdin read at once. PRRTE takes no more in one upcall: another daemon has a buffer of one page,
/// its own of two.
constexpr size_t kReadSize = size_t{4} << 10;
constexpr std::chrono::seconds kTerminalCheck{1};

/// Files and devices like /dev/null cannot: they are always ready.
bool can_be_watched(int fd) {
    const int probe = epoll_create1(EPOLL_CLOEXEC);
    epoll_event event{};
    const bool refused = epoll_ctl(probe, EPOLL_CTL_ADD, fd, &event) != 0 && errno == EPERM;
    if (probe >= 0) close(probe);
    return !refused;
}

/// PRRTE answers the end of the input with PMIX_ERR_IOF_COMPLETE, which is no failure.
bool is_taken(pmix_status_t status) {
    return status == PMIX_SUCCESS || status == PMIX_ERR_IOF_COMPLETE;
}

}  // namespace

/// Our own stdin while it is passed on.
struct Pusher::Stdin {
    std::vector<pmix_proc_t> targets;
    Info directives;
    size_t size = 1;                  ///< bytes that are collected before they go
    std::chrono::seconds longest{0};  ///< and how long that may take
    bool always_ready = false;        ///< a file or the like, which cannot be watched
    bool ended = false;
    bool busy = false;  ///< read bytes are in flight
    std::shared_ptr<Bytes> collected = std::make_shared<Bytes>();
    std::unique_ptr<Watch> readable;
    std::unique_ptr<Watch> timer;
    std::unique_ptr<Watch> later;
};

Pusher::Pusher(Exchange& exchange, Forwarding& forwarding) : exchange_(exchange), forwarding_(forwarding) {}
Pusher::~Pusher() = default;

void Pusher::push(std::vector<pmix_proc_t> targets, Info directives, ByteView bytes, HostDone done) {
    OverflowPolicy policy;
    if (const pmix_status_t status = policy.read(directives, kPushWindow); status != PMIX_SUCCESS)
        return done(answer_of(status));
    const bool waits = !queue_.empty() || !fits(bytes.size());
    const bool ends = bytes.empty() || directives.view().is_true(PMIX_IOF_COMPLETE);
    if (policy.when != OverflowPolicy::When::Wait && !bytes.empty() && waits && !make_room(policy, bytes) &&
        !ends)
        return done({});
    queued_ += bytes.size();
    queue_.push_back({std::move(targets), std::move(directives), policy, bytes, ends, std::move(done)});
    pump();
}

/// For a push with a limit, if others wait: drops bytes as the directives request. False if no new byte is
/// left.
bool Pusher::make_room(const OverflowPolicy& policy, ByteView& bytes) {
    const size_t keep = std::min(bytes.size(), policy.limit);
    if (policy.when == OverflowPolicy::When::DropOldest) {
        dropped_ += bytes.size() - keep;
        bytes = bytes.last(keep);
        std::vector<HostDone> given_up;
        for (auto item = queue_.begin(); item != queue_.end() && queued_ + keep > policy.limit;) {
            // Only what may be dropped; the end of an input is not.
            if (item->policy.when == OverflowPolicy::When::Wait || item->bytes.empty()) {
                ++item;
                continue;
            }
            const size_t excess = queued_ + keep - policy.limit;
            const size_t gone = std::min(item->bytes.size(), excess);
            item->bytes = item->bytes.subspan(gone);
            queued_ -= gone;
            dropped_ += gone;
            if (!item->bytes.empty()) break;
            if (item->ends) {
                ++item;
                continue;
            }
            given_up.push_back(std::move(item->done));
            item = queue_.erase(item);
        }
        for (const HostDone& done : given_up)
            done({});
    } else {
        const size_t free = policy.limit - std::min(queued_, policy.limit);
        const size_t taken = std::min(free, bytes.size());
        dropped_ += bytes.size() - taken;
        bytes = bytes.first(taken);
    }
    return !bytes.empty();
}

/// Whether that many bytes may be sent now.
bool Pusher::fits(size_t size) const {
    return !suspended_ && unanswered_ < kMostUnanswered &&
           (on_the_way_ == 0 || on_the_way_ + size <= kPushWindow);
}

void Pusher::pump() {
    while (!queue_.empty() && fits(queue_.front().bytes.size())) {
        Item item = std::move(queue_.front());
        queue_.pop_front();
        queued_ -= item.bytes.size();
        send(std::move(item));
    }
}

void Pusher::send(Item item) {
    const size_t size = item.bytes.size();
    on_the_way_ += size;
    ++unanswered_;
    HostDone answered = [this, size, done = std::move(item.done)](HostAnswer answer) {
        on_the_way_ -= size;
        --unanswered_;
        // The host has the bytes, and suspends the sender (servers of OpenPMIx 7.0).
        if (answer.status == PMIX_ERR_IOF_XOFF) {
            answer.status = PMIX_SUCCESS;
            suspend();
        }
        if (suspended_ && is_taken(answer.status)) {
            auto kept = std::make_shared<HostAnswer>(std::move(answer));
            held_.emplace_back([done, kept] { done(std::move(*kept)); });
        } else {
            done(std::move(answer));
        }
        pump();
    };
    if (Upstream* client = exchange_.upstream()) {
        Packer message = client->packer(Command::IofPush);
        message.procs(item.targets.data(), item.targets.size()).infos(item.directives).bytes(item.bytes);
        ask(*client, std::move(message), {}, std::move(answered));
    } else if (Forwarder* forwarder = forwarding_.forwarder()) {
        forwarder->push_by_host(std::move(item.targets), std::move(item.directives), item.bytes,
                                std::move(answered));
    } else {
        answered(answer_of(PMIX_ERR_UNREACH));
    }
}

void Pusher::suspend() {
    suspended_ = true;
    if (!stdin_) return;
    stdin_->later.reset();
    if (stdin_->readable) stdin_->readable->want_read(false);
}

void Pusher::resume() {
    if (!std::exchange(suspended_, false)) return;
    for (const auto& answer : std::exchange(held_, {}))
        answer();
    pump();
    watch_stdin();
}

// --- our own stdin

void Pusher::start_stdin(std::vector<pmix_proc_t> targets, Info directives, const HostDone& done) {
    if (stdin_) return done(answer_of(PMIX_ERR_EXISTS));
    auto started = std::make_shared<Stdin>();
    const InfoView view = directives;
    const auto size = view.number<uint32_t>(PMIX_IOF_BUFFERING_SIZE);
    const auto time = view.number<uint32_t>(PMIX_IOF_BUFFERING_TIME);
    if ((view.has(PMIX_IOF_BUFFERING_SIZE) && !size) || (view.has(PMIX_IOF_BUFFERING_TIME) && !time))
        return done(answer_of(PMIX_ERR_BAD_PARAM));
    if (fcntl(STDIN_FILENO, F_GETFD) < 0) return done(answer_of(PMIX_ERR_NOT_AVAILABLE));
    started->targets = std::move(targets);
    // PMIX_IOF_PUSH_STDIN names the source of the bytes, which does not concern the host.
    for (pmix_info_t& directive : std::span(directives.data(), directives.size())) {
        if (!key_is(directive.key, PMIX_IOF_PUSH_STDIN)) started->directives.add_move(directive);
    }
    started->size = std::max<size_t>(1, size.value_or(time ? kReadSize : 1));
    started->longest = std::chrono::seconds(time.value_or(0));
    started->always_ready = !can_be_watched(STDIN_FILENO);
    stdin_ = std::move(started);
    done({});
    watch_stdin();
}

/// Waits for something to read, unless enough was read already.
void Pusher::watch_stdin() {
    if (!stdin_ || stdin_->ended || stdin_->busy || suspended_) return;
    // A program in the background that reads from its terminal is stopped.
    if (isatty(STDIN_FILENO) != 0 && tcgetpgrp(STDIN_FILENO) != getpgrp()) {
        stdin_->readable.reset();
        stdin_->later = exchange_.loop().after(kTerminalCheck, [this] { watch_stdin(); });
        return;
    }
    if (stdin_->always_ready) {
        stdin_->later = exchange_.loop().after(std::chrono::milliseconds(0), [this] { read_stdin(); });
    } else if (!stdin_->readable) {
        stdin_->readable = exchange_.loop().watch(STDIN_FILENO, [this](EventLoop::Ready) { read_stdin(); });
    } else {
        stdin_->readable->want_read(true);
    }
}

void Pusher::read_stdin() {
    Bytes& collected = *stdin_->collected;
    const size_t before = collected.size();
    const ssize_t got = ::read(STDIN_FILENO, collected.extend(kReadSize), kReadSize);
    const int error = errno;
    collected.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && (error == EINTR || error == EAGAIN)) return watch_stdin();
    if (got <= 0) stdin_->ended = true;
    if (got < 0) forwarding_.raise(PMIX_ERR_IOF_FAILURE, exchange_.self(), PMIX_FWD_STDIN_CHANNEL);
    if (stdin_->ended || collected.size() >= stdin_->size) return pass_on_stdin();
    if (stdin_->longest.count() > 0 && !stdin_->timer)
        stdin_->timer = exchange_.loop().after(stdin_->longest, [this] { pass_on_stdin(); });
    watch_stdin();
}

/// Sends the collected input. Nothing more is read before the host has taken it, so that a slow target slows
/// the writer of our stdin.
void Pusher::pass_on_stdin() {
    stdin_->timer.reset();
    stdin_->later.reset();
    if (stdin_->readable) stdin_->readable->want_read(false);
    if (stdin_->busy) return;
    const auto bytes = std::exchange(stdin_->collected, std::make_shared<Bytes>());
    if (bytes->empty() && stdin_->ended) return end_stdin(PMIX_SUCCESS);
    stdin_->busy = true;
    push_stdin(*stdin_, bytes, [this, reading = std::weak_ptr(stdin_)](const HostAnswer& answer) {
        if (!stdin_ || reading.lock() != stdin_) return;
        stdin_->busy = false;
        if (!is_taken(answer.status)) return end_stdin(answer.status);
        // The targets need no more input.
        if (answer.status == PMIX_ERR_IOF_COMPLETE) stdin_->ended = true;
        if (stdin_->ended) return pass_on_stdin();
        watch_stdin();
    });
}

void Pusher::push_stdin(const Stdin& from, const std::shared_ptr<Bytes>& bytes, HostDone done) {
    Info directives;
    directives.add_copies(from.directives);
    push(from.targets, std::move(directives), bytes->view(),
         [bytes, done = std::move(done)](HostAnswer answer) { done(std::move(answer)); });
}

/// The input has ended, or (with an error) no target takes it.
void Pusher::end_stdin(pmix_status_t status) {
    const auto ended = std::exchange(stdin_, nullptr);
    if (status != PMIX_SUCCESS) {
        forwarding_.raise(PMIX_ERR_IOF_FAILURE, exchange_.self(), PMIX_FWD_STDIN_CHANNEL);
        return;
    }
    Info directives = std::move(ended->directives);
    if (!directives.view().has(PMIX_IOF_COMPLETE)) directives.add(PMIX_IOF_COMPLETE, true);
    push(std::move(ended->targets), std::move(directives), {}, [this](const HostAnswer& answer) {
        const pmix_status_t code = is_taken(answer.status) ? PMIX_ERR_IOF_COMPLETE : PMIX_ERR_IOF_FAILURE;
        forwarding_.raise(code, exchange_.self(), PMIX_FWD_STDIN_CHANNEL);
    });
}

/// Pushes the read bytes, then the end of the input, and waits for neither: the caller may be the host's
/// thread, which would have to accept them.
void Pusher::stop_stdin(const HostDone& done) {
    if (!stdin_) return done(answer_of(PMIX_ERR_NOT_FOUND));
    if (!stdin_->collected->empty()) push_stdin(*stdin_, stdin_->collected, [](const HostAnswer&) {});
    end_stdin(PMIX_SUCCESS);
    done({});
}

void Pusher::finish() {
    stdin_.reset();
    for (const auto& answer : std::exchange(held_, {}))
        answer();
    for (Item& item : std::exchange(queue_, {}))
        item.done(answer_of(PMIX_ERR_LOST_CONNECTION));
    queued_ = 0;
}

}  // namespace muster
