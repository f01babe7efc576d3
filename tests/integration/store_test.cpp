// SPDX-License-Identifier: BSD-3-Clause
// gds/shmem between a server and its clients: job data and posted data are mapped, fall back to messages if
// that is impossible, and a killed process blocks no other process. Its client is store/store_client.cpp.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <system_error>
#include <thread>

#include "tests/integration/host.hpp"
#include "tests/integration/restricted.hpp"

namespace {

using integration::Host;
using integration::Process;

class StoreTest : public testing::Test {
  protected:
    StoreTest() { choose("shmem"); }
    ~StoreTest() override { unsetenv("PMIX_MCA_gds_shmem_limit"); }
    static void choose(const char* store) { setenv("PMIX_MCA_gds", store, 1); }
    static void limit(const char* bytes) { setenv("PMIX_MCA_gds_shmem_limit", bytes, 1); }

    /// Runs all ranks of a job; all must succeed.
    static void expect_life(Host& host, const Host::Job& job, const char* bytes, const char* how,
                            const std::vector<std::string>& more = {}) {
        std::vector<Process> processes;
        for (const pmix_rank_t rank : job.nodes[0]) {
            std::vector<std::string> words = {"life", std::to_string(job.size()), bytes, how};
            words.insert(words.end(), more.begin(), more.end());
            processes.push_back(host.start_program(job, rank, STORE_CLIENT, words));
        }
        for (Process& process : processes) {
            const int status = process.wait(60);
            EXPECT_EQ(status, 0) << process.line(0);
        }
    }
};

TEST_F(StoreTest, JobDataAndPostedDataAreMapped) {
    Host host;
    expect_life(host, host.start_job(4), "100", "mapped");
}

TEST_F(StoreTest, ByDefaultDataAreMapped) {
    unsetenv("PMIX_MCA_gds");
    Host host;
    expect_life(host, host.start_job(2), "100", "mapped");
}

TEST_F(StoreTest, DataAreSentWhenBothUseHash) {
    choose("hash");
    Host host;
    expect_life(host, host.start_job(2), "100", "sent");
}

TEST_F(StoreTest, AServerWithSharingDisabledSendsData) {
    limit("0");
    Host host;
    expect_life(host, host.start_job(2), "100", "sent");
}

/// Whether the process (any one for 0) maps the segment of this namespace, or has its descriptor.
bool somebody_maps(const std::string& nspace, pid_t only = 0) {
    namespace fs = std::filesystem;
    const std::string name = "memfd:pmix:" + nspace;
    std::error_code failed;
    for (const auto& process : fs::directory_iterator("/proc")) {
        const std::string pid = process.path().filename();
        if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
        if (only != 0 && pid != std::to_string(only)) continue;
        std::ifstream maps(process.path() / "maps");
        for (std::string line; std::getline(maps, line);) {
            if (line.find(name + " ") != std::string::npos) return true;
        }
        for (fs::directory_iterator fd(process.path() / "fd", failed), end; !failed && fd != end;
             fd.increment(failed)) {
            std::error_code gone;
            if (fs::read_symlink(fd->path(), gone).string().find(name + " ") != std::string::npos)
                return true;
        }
    }
    return false;
}

TEST_F(StoreTest, AServerWithoutMemfdCreateSendsData) {
    EXPECT_TRUE(well_apart([] {
        refuse(SYS_memfd_create, EPERM);
        Host host;
        expect_life(host, host.start_job(2), "100", "sent");
    }));
}

/// The kernel reports no space for more memory from this offset on, and does not populate mappings.
void let_memory_end(uint32_t from) {
    constexpr uint32_t kPopulate = 23;  // MADV_POPULATE_WRITE
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kPopulate, 0, 5),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EFAULT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, from, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSPC),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter = {std::size(program), program};
    EXPECT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    EXPECT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

TEST_F(StoreTest, DataAreSentWhenMemoryIsExhausted) {
    EXPECT_TRUE(well_apart([] {
        let_memory_end(0);
        Host host;
        expect_life(host, host.start_job(2), "100", "sent");
    }));
}

TEST_F(StoreTest, DataAreRequestedWhenMemoryIsExhaustedLater) {
    EXPECT_TRUE(well_apart([] {
        let_memory_end(1);
        Host host;
        expect_life(host, host.start_job(3), "60000", "mapped");
        // Others are not affected.
        expect_life(host, host.start_job(2), "100", "mapped");
    }));
}

TEST_F(StoreTest, ClientsWithoutDescriptorsFallBackOrNameTheShortage) {
    Host host;
    setenv("PMIX_MCA_client_base_verbose", "2", 1);
    size_t lived = 0, with_less = 0;  // the latter if the barrier's descriptor exceeds the limit
    for (int files = 4; files < 24; ++files) {
        const auto job = host.start_job(2);
        std::vector<Process> processes;
        for (const pmix_rank_t rank : job.nodes[0]) {
            processes.push_back(host.start_program(job, rank, STORE_CLIENT, {"life", "2", "100", "any"},
                                                   {"STORE_CLIENT_FILES=" + std::to_string(files)}));
        }
        for (Process& process : processes) {
            std::string said;
            for (std::string line = process.line(); !line.empty(); line = process.line())
                said += line + "\n";
            const int status = process.wait();
            EXPECT_TRUE(status == 0 || (status == 1 && !said.empty()))
                << files << " descriptors: " << status << ", " << said;
            if (status == 0) ++lived;
            if (status == 0 && said.find("no descriptor is left") != std::string::npos) ++with_less;
        }
        host.deregister_job(job);
    }
    unsetenv("PMIX_MCA_client_base_verbose");
    EXPECT_GT(lived, with_less) << "with some more all is as always";
    RecordProperty("with_less", std::to_string(with_less));  // depends on the build of the library
}

TEST_F(StoreTest, AClientWithoutAddressSpaceIsSentItsData) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer needs more address space";
#endif
    Host host;
    const auto job = host.start_job(2);
    std::vector<Process> processes;
    // One of them has less address space than the segment's maximum.
    processes.push_back(host.start_program(job, 0, STORE_CLIENT, {"life", "2", "100", "mapped"}));
    processes.push_back(host.start_program(
        job, 1, STORE_CLIENT, {"life", "2", "100", "sent"},
        {"STORE_CLIENT_SPACE=" + std::to_string(512U << 20), "PMIX_MCA_client_base_verbose=2"}));
    std::string said;
    for (std::string line = processes[1].line(60); !line.empty(); line = processes[1].line())
        said += line + "\n";
    for (Process& process : processes)
        EXPECT_EQ(process.wait(60), 0) << said;
    EXPECT_NE(said.find("asking for job data"), std::string::npos) << said;
}

TEST_F(StoreTest, AServerWithAFileSizeLimitUsesASmallerSegment) {
    for (const rlim_t bytes : {1 << 20, 1 << 10}) {
        EXPECT_TRUE(well_apart([bytes] {
            const rlimit files = {bytes, bytes};
            ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &files), 0);
            Host host;
            expect_life(host, host.start_job(2), "100", bytes > 10000 ? "mapped" : "sent");
        })) << bytes;
    }
}

TEST_F(StoreTest, EachOfSeveralJobsIsMapped) {
    Host host;
    for (int i = 0; i < 3; ++i) {
        const auto job = host.start_job(1);
        expect_life(host, job, "100", "mapped");
        host.deregister_job(job);
    }
}

TEST_F(StoreTest, DataAreSentOverTcp) {
    Host host;
    const auto job = host.start_job(2);
    setenv("PMIX_MCA_ptl", "tcp", 1);
    expect_life(host, job, "100", "sent");
    unsetenv("PMIX_MCA_ptl");
}

TEST_F(StoreTest, AClientWithAnotherStoreIsSentItsData) {
    Host host;
    choose("hash");
    expect_life(host, host.start_job(2), "100", "sent");
}

TEST_F(StoreTest, AServerWithAnotherStoreSendsAClientItsData) {
    choose("hash");
    Host host;
    choose("shmem");
    expect_life(host, host.start_job(2), "100", "sent");
}

TEST_F(StoreTest, AClientOfAnotherLayoutIsSentItsData) {
    Host host;
    expect_life(host, host.start_job(2), "100", "sent", {"PMIX_MUSTER_STORE=muster-shmem-999"});
}

TEST_F(StoreTest, JobDataBeyondTheSegmentLimitAreSent) {
    limit("64k");
    Host host;
    const auto job = host.start_job(2, 0, [](void* list) {
        const std::string big(100000, 'x');
        PMIx_Info_list_add(list, "big", big.c_str(), PMIX_STRING);
    });
    expect_life(host, job, "100", "sent");
}

TEST_F(StoreTest, PostedDataBeyondTheSegmentLimitAreRequested) {
    limit("256k");
    Host host;
    expect_life(host, host.start_job(3), "60000", "mapped");
}

TEST_F(StoreTest, AKilledReaderDoesNotBlockOthers) {
    Host host;
    const auto job = host.start_job(6);
    std::vector<Process> readers;
    for (const pmix_rank_t rank : job.nodes[0])
        readers.push_back(host.start_program(job, rank, STORE_CLIENT, {"reads", "6"}));
    for (Process& reader : readers)
        EXPECT_EQ(reader.line(), "ready");
    Process other = std::move(readers.back());
    readers.pop_back();
    for (Process& reader : readers) {
        reader.go_on();
        EXPECT_EQ(reader.line(), "still");  // it reads, and does nothing else
        reader.signal(SIGKILL);
        EXPECT_EQ(reader.wait(), 128 + SIGKILL);
        other.go_on();
        EXPECT_EQ(other.line(), "still") << "it does not read any more";
    }
    expect_life(host, host.start_job(2), "100", "mapped");
    other.go_on();
    EXPECT_EQ(other.line(), "still");
    other.signal(SIGKILL);
    EXPECT_EQ(other.wait(), 128 + SIGKILL) << "it went on until it was killed";
}

TEST_F(StoreTest, AReaderKeepsItsMappingWhenTheJobIsDeregistered) {
    const auto folder = std::filesystem::temp_directory_path() / ("store_away." + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    const std::string file = (folder / "said").string();
    Host host;
    const auto job = host.start_job(1);
    Process client = host.start_program(job, 0, STORE_CLIENT, {"outlives", "1", file});
    EXPECT_EQ(client.line(), "ready");
    // The server releases its descriptor and its mapping, and loses the connection.
    host.deregister_job(job);
    EXPECT_FALSE(somebody_maps(job.nspace, getpid())) << "the server keeps the memory of a job that is gone";
    client.go_on();
    EXPECT_EQ(client.wait(), 0);
    std::string result;
    std::ifstream(file) >> result;
    EXPECT_EQ(result, "went");
    EXPECT_FALSE(somebody_maps(job.nspace)) << "the memory outlives its last reader";
    std::filesystem::remove_all(folder);
}

TEST_F(StoreTest, ReadersKeepTheirMappingWhenTheServerIsKilled) {
    const auto folder = std::filesystem::temp_directory_path() / ("store_test." + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    const std::string file = (folder / "said").string();
    int lines[2];
    ASSERT_EQ(pipe(lines), 0);
    const pid_t server = fork();
    if (server == 0) {
        Host host;
        const auto job = host.start_job(1);
        Process client = host.start_program(job, 0, STORE_CLIENT, {"outlives", "1", file});
        const std::string line = client.line(60) + " " + job.nspace + "\n";
        [[maybe_unused]] const ssize_t written = write(lines[1], line.data(), line.size());
        pause();
        _exit(0);
    }
    close(lines[1]);
    std::string said(200, '\0');
    said.resize(static_cast<size_t>(std::max<ssize_t>(read(lines[0], said.data(), said.size()), 0)));
    ASSERT_EQ(said.substr(0, 6), "ready ");
    const std::string nspace = said.substr(6, said.size() - 7);
    EXPECT_TRUE(somebody_maps(nspace));
    kill(server, SIGKILL);
    int status = 0;
    waitpid(server, &status, 0);
    close(lines[0]);
    std::string result;
    for (int i = 0; i < 3000 && result.empty(); ++i) {
        std::ifstream(file) >> result;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(result, "went");
    for (int i = 0; i < 2000 && somebody_maps(nspace); ++i)  // it is about to end
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(somebody_maps(nspace)) << "the memory outlives its last reader";
    std::filesystem::remove_all(folder);
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
        EXPECT_EQ(entry.path().filename().string().find("pmix:"), std::string::npos) << entry.path();
}

}  // namespace
