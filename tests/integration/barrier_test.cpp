// SPDX-License-Identifier: BSD-3-Clause
// The shared-memory barrier (docs/explanation/barrier.md) between a server and its clients. A fence completes
// when some processes call it in memory and others at the server. A process that dies, finalizes or writes
// wrong values into the page harms no other process. The client is barrier/barrier_client.cpp.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pmix.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/integration/host.hpp"

namespace {

using integration::Host;
using integration::Process;

/// The progress of each process, in a file that all processes map.
class Notes {
  public:
    Notes() {
        const char* folder = getenv("TMPDIR");
        path_ = std::string(folder == nullptr ? "/tmp" : folder) + "/barrier.XXXXXX";
        const int fd = mkstemp(path_.data());
        EXPECT_EQ(ftruncate(fd, 4096), 0);
        at = static_cast<std::atomic<uint32_t>*>(
            mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
        close(fd);
    }
    ~Notes() {
        munmap(at, 4096);
        unlink(path_.c_str());
    }
    Notes(const Notes&) = delete;
    /// Waits until the first `ranks` processes have made that progress.
    bool reached(uint32_t ranks, uint32_t value) const {
        for (int i = 0; i < 20000; ++i) {
            uint32_t there = 0;
            while (there < ranks && at[there] >= value)
                ++there;
            if (there == ranks) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return false;
    }
    const std::string& path() const { return path_; }
    std::atomic<uint32_t>* at = nullptr;

  private:
    std::string path_;
};

/// Processes that map the store get the barrier's page, whatever this run tests.
struct WithSharedStore {
    WithSharedStore() { setenv("PMIX_MCA_gds", "shmem", 1); }
};

class BarrierTest : private WithSharedStore, public testing::Test {
  protected:
    Process start(const Host::Job& job, pmix_rank_t rank, const std::string& what,
                  const std::vector<std::string>& more = {}, const std::vector<std::string>& env = {}) {
        std::vector<std::string> words = {what, std::to_string(job.size()), notes.path()};
        words.insert(words.end(), more.begin(), more.end());
        return host.start_program(job, rank, BARRIER_CLIENT, words, env);
    }
    std::vector<Process> start_all(const Host::Job& job, const std::string& what,
                                   const std::vector<std::string>& more = {}) {
        std::vector<Process> processes;
        for (const pmix_rank_t rank : job.nodes[0])
            processes.push_back(start(job, rank, what, more));
        return processes;
    }
    static void expect_well(std::vector<Process>& processes) {
        for (Process& process : processes) {
            const int status = process.wait(60);
            EXPECT_EQ(status, 0) << process.line(0);
        }
    }
    void expect_meeting(const std::vector<std::string>& more, uint32_t size = 4) {
        auto processes = start_all(host.start_job(size), "meet", more);
        expect_well(processes);
    }
    /// All ranks of a job of `size` except the last, ready to wait for the last in memory.
    std::vector<Process> wait_for_last(const Host::Job& job, Process& last) {
        std::vector<Process> waiting;
        for (pmix_rank_t rank = 0; rank + 1 < job.size(); ++rank)
            waiting.push_back(start(job, rank, "alone", {"0"}));
        EXPECT_EQ(last.line(), "ready");
        for (Process& process : waiting) {
            EXPECT_EQ(process.line(), "ready");
            process.go_on();
        }
        EXPECT_TRUE(notes.reached(job.size() - 1, 1));
        std::this_thread::sleep_for(std::chrono::milliseconds(5));  // mostly they wait then; right either way
        return waiting;
    }

    Notes notes;
    Host host;
};

TEST_F(BarrierTest, EveryFenceSynchronizesAllRanks) {
    expect_meeting({"300", "pf"}, 8);
}

TEST_F(BarrierTest, RanksMayMixTheFormsOfAFence) {
    expect_meeting({"200", "ppppppftcnow"});
}

TEST_F(BarrierTest, SynchronizesManyProcesses) {
    expect_meeting({"60", "ppppppppppppppppt"}, 32);
}

TEST_F(BarrierTest, CommittedDataIsVisibleAfterTheFence) {
    auto processes = start_all(host.start_job(4), "posts", {"40"});
    expect_well(processes);
}

TEST_F(BarrierTest, HandlersRunWhileTheirProcessWaits) {
    auto processes = start_all(host.start_job(3), "handles");
    expect_well(processes);
}

TEST_F(BarrierTest, FallsBackToTheServerWhenAProcessCannotMapIt) {
    for (const char* without :
         {"PMIX_MCA_gds=hash", "PMIX_MCA_pmix_shared_barrier=false", "PMIX_MCA_ptl=tcp"}) {
        const auto job = host.start_job(3);
        std::vector<Process> processes;
        for (pmix_rank_t rank = 0; rank < 3; ++rank) {
            processes.push_back(
                start(job, rank, "meet", {"40", "pppptcn"},
                      rank == 1 ? std::vector<std::string>{without} : std::vector<std::string>{}));
        }
        expect_well(processes);
        for (int rank = 0; rank < 3; ++rank)
            notes.at[rank] = 0;
    }
}

TEST_F(BarrierTest, ASecondProcessWithTheSameNameIsNotCounted) {
    const auto job = host.start_job(3);
    auto processes = start_all(job, "meet", {"300", "p"});
    EXPECT_TRUE(notes.reached(3, 1));  // the first thread counts
    Process clone = start(job, 1, "visits");
    EXPECT_EQ(clone.wait(), 0);
    expect_well(processes);
}

TEST_F(BarrierTest, AFenceFailsWhenAParticipantDies) {
    const auto job = host.start_job(4);
    Process last = start(job, 3, "late");
    auto waiting = wait_for_last(job, last);
    last.signal(SIGKILL);
    for (Process& process : waiting) {
        EXPECT_EQ(process.line(), PMIx_Error_string(PMIX_ERR_LOST_CONNECTION));
        EXPECT_EQ(process.wait(), 0);
    }
}

TEST_F(BarrierTest, AFenceFailsWhenAParticipantIsDeregistered) {
    const auto job = host.start_job(4);
    Process last = start(job, 3, "leaves");
    auto waiting = wait_for_last(job, last);
    last.go_on();
    EXPECT_EQ(last.wait(), 0);
    host.deregister_client(job, 3);
    for (Process& process : waiting) {
        EXPECT_EQ(process.line(), PMIx_Error_string(PMIX_ERR_LOST_CONNECTION));
        EXPECT_EQ(process.wait(), 0);
    }
}

TEST_F(BarrierTest, AParticipantThatDiesInTheBarrierIsNotWaitedFor) {
    const auto job = host.start_job(4);
    Process last = start(job, 3, "late");
    auto waiting = wait_for_last(job, last);
    waiting[0].signal(SIGKILL);
    EXPECT_EQ(waiting[0].wait(), 128 + SIGKILL);
    for (size_t i = 1; i < waiting.size(); ++i)
        EXPECT_EQ(waiting[i].line(), PMIx_Error_string(PMIX_ERR_LOST_CONNECTION));
}

TEST_F(BarrierTest, AQueryListsTheWaitingProcesses) {
    const auto job = host.start_job(3);
    Process last = start(job, 2, "late");
    auto waiting = wait_for_last(job, last);
    const auto waits = [] {
        pmix_query_t query;
        PMIX_QUERY_CONSTRUCT(&query);
        PMIx_Argv_append_nosize(&query.keys, "muster.waits");
        pmix_info_t* found = nullptr;
        size_t count = 0;
        size_t entries = 0;
        if (PMIx_Query_info(&query, 1, &found, &count) == PMIX_SUCCESS && count == 1)
            entries = found[0].value.data.darray->size;
        PMIX_INFO_FREE(found, count);
        PMIX_QUERY_DESTRUCT(&query);
        return entries;
    };
    size_t entries = 0;
    for (int i = 0; i < 2000 && entries < 2; ++i) {
        entries = waits();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(entries, 2U);
    last.go_on();
    for (Process& process : waiting)
        EXPECT_EQ(process.line(), PMIx_Error_string(PMIX_SUCCESS));
}

TEST_F(BarrierTest, AProcessThatCorruptsItDoesNotAffectOtherJobs) {
    const auto ruined = host.start_job(3);
    std::vector<Process> victims;
    victims.push_back(start(ruined, 0, "ruins"));
    victims.push_back(start(ruined, 1, "alone", {"100000"}));
    victims.push_back(start(ruined, 2, "alone", {"100000"}));
    for (Process& victim : victims)
        EXPECT_EQ(victim.line(), "ready");
    victims[1].go_on();
    victims[2].go_on();
    for (int rank = 0; rank < 4; ++rank)
        notes.at[rank] = 0;
    expect_meeting({"200", "pppppt"});
    for (Process& victim : victims)
        victim.signal(SIGKILL);
    for (Process& victim : victims)
        victim.wait();
    for (int rank = 0; rank < 4; ++rank)
        notes.at[rank] = 0;
    expect_meeting({"20", "pt"});
}

/// The server is stopped, so no fence uses it; then it is killed while all wait.
TEST(Barrier, WorksWithAStoppedServerAndFailsWithAKilledOne) {
    Notes notes;
    setenv("PMIX_MCA_gds", "shmem", 1);
    int lines[2];
    ASSERT_EQ(pipe(lines), 0);
    const pid_t server = fork();
    if (server == 0) {
        Host host;
        const auto job = host.start_job(4);
        std::vector<Process> processes;
        for (pmix_rank_t rank = 0; rank < 4; ++rank) {
            // The last one does not call the last fence.
            processes.push_back(host.start_program(job, rank, BARRIER_CLIENT,
                                                   {"alone", "4", notes.path(), rank == 3 ? "499" : "500"}));
        }
        for (Process& process : processes)
            process.line(60);
        // All are ready; they begin when this process is stopped, or almost.
        for (Process& process : processes)
            process.go_on();
        [[maybe_unused]] const ssize_t written = write(lines[1], "r", 1);
        for (;;)
            pause();
    }
    close(lines[1]);
    char ready = 0;
    EXPECT_EQ(read(lines[0], &ready, 1), 1);
    kill(server, SIGSTOP);
    EXPECT_TRUE(notes.reached(3, 1)) << "they did not meet without their server";
    EXPECT_FALSE(notes.at[0] > 1);
    kill(server, SIGKILL);
    kill(server, SIGCONT);
    int status = 0;
    waitpid(server, &status, 0);
    EXPECT_TRUE(notes.reached(3, 2)) << "they still wait, though nobody can tell them to go";
    close(lines[0]);
}

}  // namespace
