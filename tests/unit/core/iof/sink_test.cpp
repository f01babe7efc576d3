// SPDX-License-Identifier: BSD-3-Clause
// Output on this process's own stdout, which stays blocking because other processes may share it: a reader
// that stops does not block the loop, and gets everything in order when it continues.
#include "core/iof/sink.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "framework/base/loop_thread.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;

constexpr size_t kPieces = 64;
constexpr size_t kPiece = size_t{64} << 10;

std::string piece(size_t number) {
    std::string text(kPiece, '\0');
    for (size_t i = 0; i < kPiece; ++i)
        text[i] = static_cast<char>('a' + (number * 31 + i * 7 + i / 977) % 26);
    return text;
}

std::string all_pieces() {
    std::string text;
    for (size_t i = 0; i < kPieces; ++i)
        text += piece(i);
    return text;
}

/// Both ends of a stream: stdout is the writer for the time of a test, and the test reads the other end.
struct Outlet {
    int reader = -1;
    int writer = -1;
};

Outlet pipe_outlet() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    return {ends[0], ends[1]};
}

Outlet socket_outlet() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    return {ends[0], ends[1]};
}

/// A terminal: the kernel does not report its free space.
Outlet terminal_outlet() {
    Outlet outlet;
    outlet.reader = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    EXPECT_GE(outlet.reader, 0);
    EXPECT_EQ(grantpt(outlet.reader), 0);
    EXPECT_EQ(unlockpt(outlet.reader), 0);
    outlet.writer = open(ptsname(outlet.reader), O_RDWR | O_NOCTTY | O_CLOEXEC);
    EXPECT_GE(outlet.writer, 0);
    termios raw{};
    EXPECT_EQ(tcgetattr(outlet.writer, &raw), 0);
    cfmakeraw(&raw);
    EXPECT_EQ(tcsetattr(outlet.writer, TCSANOW, &raw), 0);
    return outlet;
}

class ConsoleOutput : public testing::Test {
  protected:
    ~ConsoleOutput() override {
        if (thread_) close_console();
    }

    void open_console(const Outlet& outlet) {
        reader_ = outlet.reader;
        fflush(stdout);
        own_stdout_ = dup(STDOUT_FILENO);
        dup2(outlet.writer, STDOUT_FILENO);
        close(outlet.writer);
        thread_ = std::make_unique<LoopThread>(loop_, LoopThread::Beside::Nobody);
        thread_->start("console");
        on_loop([this] {
            console_ = std::make_unique<Console>(loop_, [this](pmix_iof_channel_t) { ++broken_; });
        });
    }
    void close_console() {
        close_reader();  // or the end would wait for it
        on_loop([this] { console_.reset(); });
        thread_->stop();
        thread_.reset();
        dup2(own_stdout_, STDOUT_FILENO);
        close(own_stdout_);
    }
    void close_reader() {
        if (reader_ >= 0) close(std::exchange(reader_, -1));
    }
    void on_loop(const std::function<void()>& task) {
        std::promise<void> done;
        loop_.post([&] {
            task();
            done.set_value();
        });
        auto ended = done.get_future();
        ASSERT_EQ(ended.wait_for(20s), std::future_status::ready) << "the loop is blocked";
        ended.get();
    }
    void write_all() {
        for (size_t i = 0; i < kPieces; ++i)
            on_loop([&] { console_->write(PMIX_FWD_STDOUT_CHANNEL, piece(i)); });
    }
    std::string read_all() const {
        std::string text(kPieces * kPiece, '\0');
        size_t have = 0;
        while (have < text.size()) {
            const ssize_t got = read(reader_, text.data() + have, text.size() - have);
            if (got <= 0) break;
            have += static_cast<size_t>(got);
        }
        text.resize(have);
        return text;
    }
    bool full() {
        bool full = false;
        on_loop([&] { full = console_->full(); });
        return full;
    }
    /// A reader that stops while everything is written, and then continues.
    void stop_and_go_on(const Outlet& outlet) {
        open_console(outlet);
        write_all();
        EXPECT_TRUE(full());
        std::promise<void> room;
        on_loop([&] { console_->on_room([&] { room.set_value(); }); });
        EXPECT_TRUE(read_all() == all_pieces()) << "the output is not what was written";
        EXPECT_EQ(room.get_future().wait_for(20s), std::future_status::ready);
        EXPECT_FALSE(full());
        close_console();
        EXPECT_EQ(broken_, 0);
    }

    EventLoop loop_;
    std::unique_ptr<LoopThread> thread_;
    std::unique_ptr<Console> console_;
    std::atomic<int> broken_{0};
    int reader_ = -1;

  private:
    int own_stdout_ = -1;
};

TEST_F(ConsoleOutput, WaitsForTheReaderOfAPipeWithoutBlocking) {
    stop_and_go_on(pipe_outlet());
}

TEST_F(ConsoleOutput, WaitsForTheReaderOfASocketWithoutBlocking) {
    stop_and_go_on(socket_outlet());
}

TEST_F(ConsoleOutput, ReachesATerminal) {
    open_console(terminal_outlet());
    std::string text;
    std::thread reader([&] { text = read_all(); });
    write_all();
    reader.join();
    EXPECT_TRUE(text == all_pieces()) << "the output is not what was written";
    close_console();
    EXPECT_EQ(broken_, 0);
}

TEST_F(ConsoleOutput, ReportsAReaderThatHasGoneOnce) {
    open_console(pipe_outlet());
    on_loop([&] { console_->write(PMIX_FWD_STDOUT_CHANNEL, piece(0)); });
    close_reader();
    write_all();
    EXPECT_FALSE(full());
    close_console();
    EXPECT_EQ(broken_, 1);
}

}  // namespace
}  // namespace muster
