// SPDX-License-Identifier: BSD-3-Clause
// The shared-memory barrier, with threads in place of processes, and a referee in place of the server.
#include "core/rendezvous/rendezvous_member.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace muster {
namespace {

constexpr uint32_t kRanks = 6;

/// A server's handling of fences of a whole job, without the rest of the server.
class Referee {
  public:
    Referee() : memory_(std::move(*RendezvousPage::create("test:barrier"))) {}

    std::shared_ptr<Barrier> client(uint32_t size = kRanks) {
        auto memory = RendezvousPage::attach(UniqueFd(dup(memory_->descriptor())), getuid());
        EXPECT_TRUE(memory.ok());
        return std::make_shared<Barrier>(std::move(*memory), size);
    }

    /// The fence of a process that called the server: waits until all have called. The second call of a
    /// process that has already called counts for the next fence.
    void fence(uint32_t rank, std::shared_ptr<void> away) {
        std::unique_lock lock(lock_);
        call_in_locked();
        const size_t mine = called_[rank]++;
        for (;;) {
            const size_t over = *std::min_element(std::begin(called_), std::end(called_));
            if (over > done_) {
                ++done_;
                ++by_server_;
                // Processes that have called again have entered the next fence.
                const bool more = std::any_of(std::begin(called_), std::end(called_),
                                              [&](size_t calls) { return calls > done_; });
                if (!more) {
                    memory_->open();
                    open_ = true;
                }
                changed_.notify_all();
            }
            if (done_ > mine) break;
            changed_.wait(lock);
        }
        away.reset();
    }

    void call_in() {
        const std::lock_guard lock(lock_);
        call_in_locked();
    }

    /// All have arrived in memory, one of them with new data: `take` stands for receiving the data.
    bool release(const std::function<void()>& take) {
        const std::lock_guard lock(lock_);
        if (!open_) return true;  // it was shut before
        take();
        memory_->release(kRanks);
        return true;
    }

    RendezvousPage& memory() { return *memory_; }
    size_t by_server() {
        const std::lock_guard lock(lock_);
        return by_server_;
    }

  private:
    void call_in_locked() {
        if (!std::exchange(open_, false)) return;
        memory_->shut(kRanks);
    }

    const std::unique_ptr<RendezvousPage> memory_;
    std::mutex lock_;
    std::condition_variable changed_;
    bool open_ = false;
    size_t called_[kRanks] = {};
    size_t done_ = 0;
    size_t by_server_ = 0;
};

bool nobody_to_tell() {
    return false;
}
Barrier::Passage pass(Barrier& barrier) {
    return barrier.pass(false, nobody_to_tell);
}

/// The progress of each rank; no rank may be behind a fence that another rank has left.
struct Progress {
    std::atomic<uint32_t> at[kRanks] = {};
    void expect_all(uint32_t round) {
        for (const auto& one : at)
            ASSERT_GE(one.load(), round);
    }
};

void run_ranks(const std::function<void(uint32_t rank)>& body) {
    std::vector<std::thread> ranks;
    for (uint32_t rank = 0; rank < kRanks; ++rank)
        ranks.emplace_back([rank, &body] { body(rank); });
    for (std::thread& one : ranks)
        one.join();
}

TEST(Barrier, SwitchesFromTheServerToMemory) {
    Referee referee;
    Progress progress;
    run_ranks([&](uint32_t rank) {
        const auto barrier = referee.client();
        for (uint32_t round = 1; round <= 300; ++round) {
            progress.at[rank] = round;
            if (pass(*barrier) == Barrier::Passage::AskServer) referee.fence(rank, barrier->by_server());
            progress.expect_all(round);
        }
    });
    EXPECT_EQ(referee.by_server(), 1U);
}

TEST(Barrier, RandomPathsAreNeverMixed) {
    Referee referee;
    Progress progress;
    std::atomic<uint32_t> running{kRanks};
    std::thread server([&] {  // shuts it at any moment
        std::mt19937 random(7);
        while (running > 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
            referee.call_in();
        }
    });
    run_ranks([&](uint32_t rank) {
        const auto barrier = referee.client();
        std::mt19937 random(rank);
        for (uint32_t round = 1; round <= 1500; ++round) {
            progress.at[rank] = round;
            if (random() % 40 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 100));
            if (random() % 60 == 0 || pass(*barrier) == Barrier::Passage::AskServer)
                referee.fence(rank, barrier->by_server());
            progress.expect_all(round);
        }
        --running;
    });
    server.join();
    EXPECT_GT(referee.by_server(), 1U);
    EXPECT_LT(referee.by_server(), 1500U) << "none was in memory";
}

TEST(Barrier, APostingThreadIsReleasedOnceTheServerHasTheData) {
    Referee referee;
    std::atomic<uint32_t> sent{0}, taken{0}, released{0};
    run_ranks([&](uint32_t rank) {
        const auto barrier = referee.client();
        const auto tell = [&] {
            ++released;
            return referee.release([&] { taken = sent.load(); });
        };
        std::mt19937 random(rank);
        uint32_t own = 0;
        for (uint32_t round = 0; round < 500; ++round) {
            const bool posts = round % 3 == 0 || random() % 4 == 0;
            if (posts) own = ++sent;
            if (barrier->pass(posts, tell) == Barrier::Passage::AskServer) {
                referee.fence(rank, barrier->by_server());
            } else if (posts) {
                ASSERT_GE(taken, own);
            }
        }
    });
    EXPECT_EQ(referee.by_server(), 1U);
    EXPECT_GE(released, 100U);
}

TEST(Barrier, PathsThatChangeDuringAReleaseAreNeverMixed) {
    Referee referee;
    Progress progress;
    std::atomic<uint32_t> running{kRanks}, released{0};
    std::thread server([&] {
        std::mt19937 random(11);
        while (running > 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
            referee.call_in();
        }
    });
    run_ranks([&](uint32_t rank) {
        const auto barrier = referee.client();
        std::mt19937 random(rank);
        const auto tell = [&] {
            ++released;
            // If a process is killed before it has notified the server, the server detects it and shuts the
            // gate.
            if (random() % 4 == 0) return false;
            return referee.release([&] {
                if (random() % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
            });
        };
        for (uint32_t round = 1; round <= 1000; ++round) {
            progress.at[rank] = round;
            // Another thread of the process calls a fence at the server, at any moment.
            std::thread other;
            const bool two = random() % 50 == 0;
            if (two) other = std::thread([&] { barrier->by_server(); });
            const bool posts = random() % 8 == 0;
            if (random() % 60 == 0 || barrier->pass(posts, tell) == Barrier::Passage::AskServer)
                referee.fence(rank, barrier->by_server());
            progress.expect_all(round);
            if (two) other.join();
        }
        --running;
    });
    server.join();
    EXPECT_GT(referee.by_server(), 1U);
    EXPECT_GT(released, 0U);
}

TEST(Barrier, EachThreadOfAProcessCountsForItsOwnFence) {
    Referee referee;
    run_ranks([&](uint32_t rank) {
        const auto barrier = referee.client();
        const auto fence = [&](bool by_server) {
            if (by_server || pass(*barrier) == Barrier::Passage::AskServer)
                referee.fence(rank, barrier->by_server());
        };
        for (int round = 0; round < 200; ++round) {
            std::thread other([&] { fence(rank % 2 == 0); });
            fence(rank == 1 && round % 3 == 0);
            other.join();
        }
    });
    // If one call counted for two, or two for one, a process would hang.
}

TEST(Barrier, CloseReleasesItsWaitingThread) {
    Referee referee;
    referee.memory().open();
    const auto barrier = referee.client();
    std::thread waits([&] { EXPECT_EQ(pass(*barrier), Barrier::Passage::AskServer); });
    while (page_arrived(referee.memory().word()) == 0)
        std::this_thread::yield();
    barrier->close();
    waits.join();
    EXPECT_EQ(pass(*barrier), Barrier::Passage::AskServer);
}

/// Whether a thread of the test waits.
bool asleep(pid_t thread) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string text;
    std::getline(file, text);
    const size_t name = text.rfind(") ");
    return name != std::string::npos && text.compare(name + 2, 1, "S") == 0;
}

TEST(Barrier, WakeUpsArePassedOn) {
    constexpr uint32_t kProcesses = 16;
    constexpr int kRounds = 8;
    Referee referee;
    referee.memory().open();
    std::atomic<bool> all_are_here{false};
    std::atomic<uint32_t> overslept{0};
    std::vector<std::shared_ptr<Barrier>> barriers;
    for (uint32_t rank = 0; rank < kProcesses; ++rank) {
        auto memory = RendezvousPage::attach(UniqueFd(dup(referee.memory().descriptor())), getuid());
        ASSERT_TRUE(memory.ok());
        (*memory)->on_long_wait([&] { overslept += all_are_here ? 1 : 0; });
        barriers.push_back(std::make_shared<Barrier>(std::move(*memory), kProcesses));
    }
    for (int round = 0; round < kRounds; ++round) {
        all_are_here = false;
        std::vector<std::atomic<pid_t>> threads(kProcesses - 1);
        std::vector<std::thread> others;
        for (uint32_t rank = 0; rank + 1 < kProcesses; ++rank) {
            others.emplace_back([&, rank] {
                threads[rank] = gettid();
                EXPECT_EQ(pass(*barriers[rank]), Barrier::Passage::Passed);
            });
        }
        while (page_arrived(referee.memory().word()) + 1 < kProcesses ||
               !std::all_of(threads.begin(), threads.end(), [](const auto& one) { return asleep(one); }))
            std::this_thread::yield();
        all_are_here = true;
        EXPECT_EQ(pass(*barriers.back()), Barrier::Passage::Passed);
        for (std::thread& one : others)
            one.join();
    }
    // Occasionally one of them, on a machine that does not schedule it; without the forwarding, ten in each
    // round.
    EXPECT_LT(overslept, kProcesses);
}

TEST(Barrier, SurvivesAMemberThatDiesBeforeWakingOthers) {
    Referee referee;
    referee.memory().open();
    const auto barrier = referee.client(2);
    std::thread waits([&] { EXPECT_EQ(pass(*barrier), Barrier::Passage::Passed); });
    std::atomic<uint64_t>& word = referee.memory().word();
    while (page_arrived(word) == 0)
        std::this_thread::yield();
    word = page_next(word);         // the last one arrives, and is killed there
    referee.memory().shut(kRanks);  // its server detects that
    waits.join();
}

TEST(Barrier, FallsBackToTheServerOnImpossibleCounts) {
    Referee referee;
    const auto barrier = referee.client(4);
    std::atomic<uint64_t>& word = referee.memory().word();
    for (const uint64_t arrived : {uint64_t{4}, uint64_t{5}, uint64_t{0xffffffff}}) {
        word = arrived;
        EXPECT_EQ(pass(*barrier), Barrier::Passage::AskServer) << arrived;
    }
    word = kPageReleased;  // nobody has arrived
    EXPECT_EQ(pass(*barrier), Barrier::Passage::AskServer);
    word = ~uint64_t{0};
    EXPECT_EQ(pass(*barrier), Barrier::Passage::AskServer);
    // The numbers restart.
    word = (uint64_t{0xfffffffc} << 32) | 3;
    EXPECT_EQ(pass(*barrier), Barrier::Passage::Passed);
    EXPECT_EQ(word.load(), 0U);
}

TEST(Barrier, FallsBackToTheServerOnCorruptMemory) {
    // One process of the job continuously resets the count, or changes the word.
    for (const uint64_t spoilt : {uint64_t{0}, kPageReleased}) {
        Referee referee;
        referee.memory().open();
        std::atomic<uint64_t>& word = referee.memory().word();
        const uint64_t number = word.load();
        std::atomic<uint32_t> asking{0};
        std::vector<std::thread> waiting;
        for (int i = 0; i < 2; ++i) {
            auto memory = RendezvousPage::attach(UniqueFd(dup(referee.memory().descriptor())), getuid());
            ASSERT_TRUE(memory.ok());
            waiting.emplace_back([&, barrier = std::make_shared<Barrier>(std::move(*memory), 4,
                                                                         std::chrono::milliseconds(50))] {
                EXPECT_EQ(pass(*barrier), Barrier::Passage::AskServer);
                ++asking;
            });
        }
        while (asking < 2) {
            if (!page_shut(word)) word = number | (spoilt != 0 && page_released(word) ? 0 : spoilt);
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
        for (std::thread& one : waiting)
            one.join();
    }
}

TEST(Barrier, TheServerSurvivesLossOfTheMemory) {
    Referee referee;
    const int fd = referee.memory().descriptor();
    EXPECT_NE(ftruncate(fd, 0), 0) << "it can shrink";
    EXPECT_NE(ftruncate(fd, 1 << 20), 0) << "it can grow";
    // The page can be cleared; the server's calls continue without it.
    ASSERT_EQ(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, sysconf(_SC_PAGESIZE)), 0);
    referee.memory().shut(kRanks);
    referee.memory().open();
    EXPECT_EQ(page_arrived(referee.memory().word()), 0U);
    EXPECT_FALSE(page_shut(referee.memory().word() & 0));
}

TEST(Barrier, MemoryThatCouldVanishIsRefused) {
    const auto page = static_cast<off_t>(sysconf(_SC_PAGESIZE));
    const auto attach = [](int fd, std::optional<uid_t> owner) {
        return RendezvousPage::attach(UniqueFd(fd), owner).status();
    };
    const int open = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ASSERT_EQ(ftruncate(open, page), 0);
    EXPECT_EQ(attach(dup(open), getuid()), PMIX_ERR_BAD_PARAM);
    ASSERT_EQ(fcntl(open, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    EXPECT_EQ(attach(dup(open), getuid() + 1), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(attach(open, getuid()), PMIX_SUCCESS);

    const int large = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ASSERT_EQ(ftruncate(large, 2 * page), 0);
    ASSERT_EQ(fcntl(large, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    EXPECT_EQ(attach(large, getuid()), PMIX_ERR_BAD_PARAM);

    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    EXPECT_EQ(attach(ends[0], getuid()), PMIX_ERR_BAD_PARAM);
    close(ends[1]);
}

}  // namespace
}  // namespace muster
