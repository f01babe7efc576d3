// SPDX-License-Identifier: BSD-3-Clause
// Usage as it is read from /proc: every statistic of each subject, and hostile or missing files.
#include "core/monitor/usage.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace muster {
namespace {

using Subject = UsageRequest::Subject;

class UsageTest : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string name = ::testing::TempDir() + "muster-proc-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        request_.root = name;
        request_.hostname = "here";
    }
    void TearDown() override { std::filesystem::remove_all(request_.root); }
    void file(const std::string& name, const std::string& text) {
        const std::filesystem::path path = request_.root + "/" + name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << text;
    }
    InfoView first(const Info& samples) {
        return value_as_infos(samples.empty() ? nullptr : &samples[0].value);
    }
    static float real(InfoView sample, const char* key) {
        return value_as_number<float>(sample.value(key)).value_or(-1);
    }
    static uint64_t whole(InfoView sample, const char* key) {
        return sample.number<uint64_t>(key).value_or(UINT64_MAX);
    }
    UsageRequest request_;
};

TEST_F(UsageTest, OfAProcessIsReadFromItsFolder) {
    request_.subject = Subject::Processes;
    request_.processes = {{make_proc("job", 3), 77}, {make_proc("job", 4), 78}};
    const auto ticks = static_cast<unsigned long>(sysconf(_SC_CLK_TCK));
    file("77/stat", "77 (a ) R (b) S 1 1 1 0 -1 0 0 0 0 0 " + std::to_string(3 * ticks) + " " +
                        std::to_string(ticks + ticks / 2) + " 0 0 20 0 5 0 " + std::to_string(10 * ticks) +
                        " 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 17 6 0 0\n");
    file("77/status", "Name:\tx\nVmPeak:\t 4096 kB\nVmSize:\t 2048 kB\nVmRSS:\t 512 kB\n");
    file("77/smaps_rollup", "0-1 ---p 0 0 0 [rollup]\nRss: 512 kB\nPss:  256 kB\n");
    file("77/cmdline", std::string("prog\0-n\0", 8));
    file("uptime", "100.00 7.00\n");
    const Info samples = measure(request_);
    ASSERT_EQ(samples.size(), 1U) << "a process that has ended is left out";
    EXPECT_TRUE(key_is(samples[0].key, PMIX_PROC_RESOURCE_USAGE));
    const InfoView sample = first(samples);
    ASSERT_TRUE(!sample.empty() && key_is(sample[0].key, PMIX_PROCID));
    EXPECT_EQ(proc_text(*sample.proc(PMIX_PROCID)), "job:3");
    EXPECT_EQ(whole(sample, PMIX_PROC_PID), 77U);
    EXPECT_STREQ(sample.string(PMIX_HOSTNAME), "here");
    EXPECT_STREQ(sample.string(PMIX_CMD_LINE), "prog -n");
    EXPECT_STREQ(sample.string(PMIX_PROC_OS_STATE), "S");
    const pmix_value_t* time = sample.value(PMIX_PROC_TIME);
    ASSERT_TRUE(time != nullptr && time->type == PMIX_TIMEVAL);
    EXPECT_EQ(time->data.tv.tv_sec, 4);
    EXPECT_EQ(time->data.tv.tv_usec, 500000);
    EXPECT_FLOAT_EQ(real(sample, PMIX_PROC_PERCENT_CPU), 5);
    EXPECT_EQ(whole(sample, PMIX_PROC_PRIORITY), 20U);
    EXPECT_EQ(whole(sample, PMIX_PROC_NUM_THREADS), 5U);
    EXPECT_EQ(whole(sample, PMIX_PROC_CPU), 6U);
    EXPECT_FLOAT_EQ(real(sample, PMIX_PROC_PEAK_VSIZE), 4);
    EXPECT_FLOAT_EQ(real(sample, PMIX_PROC_VSIZE), 2);
    EXPECT_FLOAT_EQ(real(sample, PMIX_PROC_RSS), 0.5);
    EXPECT_FLOAT_EQ(real(sample, PMIX_PROC_PSS), 0.25);
    EXPECT_TRUE(sample.has(PMIX_PROC_SAMPLE_TIME));
}

TEST_F(UsageTest, HasWhatWasAskedForAlone) {
    Info wanted;
    wanted.add(PMIX_NODE_LOAD_AVG5, true);
    wanted.add(PMIX_NODE_SWAP_TOTAL, true);
    Info monitor;
    monitor.add(PMIX_MONITOR_NODE_RESOURCE_USAGE, std::move(wanted).to_value());
    ASSERT_EQ(read_usage_request(monitor[0], {}, request_), PMIX_SUCCESS);
    file("loadavg", "0.25 0.50 0.75 1/2 3\n");
    file("meminfo", "MemTotal: 1024 kB\nSwapTotal: 3072 kB\n");
    file("net/dev", "lo: 1 2 3 0 0 0 0 0 4 5 6 0 0 0 0 0\n");
    const Info samples = measure(request_);
    const InfoView sample = first(samples);
    ASSERT_EQ(sample.size, 4U);
    EXPECT_STREQ(sample.string(PMIX_HOSTNAME), "here");
    EXPECT_FLOAT_EQ(real(sample, PMIX_NODE_LOAD_AVG5), 0.5);
    EXPECT_FLOAT_EQ(real(sample, PMIX_NODE_SWAP_TOTAL), 3);
    EXPECT_TRUE(sample.has(PMIX_NODE_SAMPLE_TIME));
}

TEST_F(UsageTest, OfANodeHasItsNetworksAndDisks) {
    request_.subject = Subject::Node;
    file("loadavg", "0.25 0.50 0.75 1/2 3\n");
    file("meminfo",
         "MemTotal: 1024 kB\nMemFree: 2048 kB\nBuffers: 3072 kB\nCached: 4096 kB\nSwapCached: 5120 kB\n"
         "SwapTotal: 6144 kB\nSwapFree: 7168 kB\nMapped: 8192 kB\n");
    file("net/dev", "Inter-| Receive | Transmit\n eth0: 1 2 3 0 0 0 0 0 4 5 6 0 0 0 0 0\n");
    file("diskstats", "7 0 loop0 1 1 1 1 1 1 1 1 1 1 1\n8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n8 1 cut 1 2\n");
    const Info samples = measure(request_);
    const InfoView sample = first(samples);
    const char* const sizes[] = {PMIX_NODE_MEM_TOTAL,     PMIX_NODE_MEM_FREE,        PMIX_NODE_MEM_BUFFERS,
                                 PMIX_NODE_MEM_CACHED,    PMIX_NODE_MEM_SWAP_CACHED, PMIX_NODE_SWAP_TOTAL,
                                 PMIX_NODE_MEM_SWAP_FREE, PMIX_NODE_MEM_MAPPED};
    for (size_t i = 0; i < std::size(sizes); ++i)
        EXPECT_FLOAT_EQ(real(sample, sizes[i]), static_cast<float>(i + 1)) << sizes[i];
    EXPECT_FLOAT_EQ(real(sample, PMIX_NODE_LOAD_AVG), 0.25);
    EXPECT_FLOAT_EQ(real(sample, PMIX_NODE_LOAD_AVG15), 0.75);
    const InfoView network = sample.infos(PMIX_NETWORK_RESOURCE_USAGE);
    EXPECT_STREQ(network.string(PMIX_NETWORK_ID), "eth0");
    const char* const counters[] = {PMIX_NET_RECVD_BYTES, PMIX_NET_RECVD_PCKTS, PMIX_NET_RECVD_ERRS,
                                    PMIX_NET_SENT_BYTES,  PMIX_NET_SENT_PCKTS,  PMIX_NET_SENT_ERRS};
    for (size_t i = 0; i < std::size(counters); ++i)
        EXPECT_EQ(whole(network, counters[i]), i + 1) << counters[i];
    const InfoView disk = sample.infos(PMIX_DISK_RESOURCE_USAGE);
    EXPECT_STREQ(disk.string(PMIX_DISK_ID), "sda");
    const char* const operations[] = {
        PMIX_DISK_READ_COMPLETED,  PMIX_DISK_READ_MERGED,  PMIX_DISK_READ_SECTORS,  PMIX_DISK_READ_MILLISEC,
        PMIX_DISK_WRITE_COMPLETED, PMIX_DISK_WRITE_MERGED, PMIX_DISK_WRITE_SECTORS, PMIX_DISK_WRITE_MILLISEC,
        PMIX_DISK_IO_IN_PROGRESS,  PMIX_DISK_IO_MILLISEC,  PMIX_DISK_IO_WEIGHTED};
    for (size_t i = 0; i < std::size(operations); ++i)
        EXPECT_EQ(whole(disk, operations[i]), i + 1) << operations[i];
}

TEST_F(UsageTest, OfNamedDevicesLeavesOutTheOthers) {
    file("diskstats", "7 0 loop0 1 1 1 1 1 1 1 1 1 1 1\n8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n");
    file("net/dev", "lo: 1 2 3 0 0 0 0 0 4 5 6 0\neth0: 1 2 3 0 0 0 0 0 4 5 6 0\n");
    Info id;
    id.add(PMIX_DISK_ID, "loop0");
    Info monitor;
    monitor.add(PMIX_MONITOR_DISK_RESOURCE_USAGE, std::move(id).to_value());
    ASSERT_EQ(read_usage_request(monitor[0], {}, request_), PMIX_SUCCESS);
    const Info disks = measure(request_);
    ASSERT_EQ(disks.size(), 1U);
    EXPECT_STREQ(first(disks).string(PMIX_DISK_ID), "loop0");

    Info all, directives;
    all.add(PMIX_MONITOR_NET_RESOURCE_USAGE, Value());
    char name[] = "eth0";
    char* names[] = {name};
    directives.add(PMIX_MONITOR_TARGET_NETS, Value::array(names, 1, PMIX_STRING));
    ASSERT_EQ(read_usage_request(all[0], directives, request_), PMIX_SUCCESS);
    const Info networks = measure(request_);
    ASSERT_EQ(networks.size(), 1U);
    EXPECT_STREQ(first(networks).string(PMIX_NETWORK_ID), "eth0");
}

TEST_F(UsageTest, OfNothingIsEmpty) {
    for (const Subject subject : {Subject::Processes, Subject::Disks, Subject::Networks}) {
        request_.subject = subject;
        request_.processes = {{make_proc("job", 0), 1}};
        EXPECT_TRUE(measure(request_).empty());
    }
    file("1/stat", "1 (no fields");
    EXPECT_TRUE(measure(request_).empty());
}

TEST_F(UsageTest, RequestsOfTheWrongTypeAreRefused) {
    Info monitor;
    monitor.add(PMIX_MONITOR_PROC_RESOURCE_USAGE, 7);
    monitor.add(PMIX_MONITOR_DISK_RESOURCE_USAGE, Value::array(&monitor, 0, PMIX_PROC));
    const int number = 5;
    monitor.add(PMIX_MONITOR_DISK_RESOURCE_USAGE, Value::array(&number, 1, PMIX_INT));
    Info id;
    id.add(PMIX_NETWORK_ID, 3);
    monitor.add(PMIX_MONITOR_NET_RESOURCE_USAGE, std::move(id).to_value());
    EXPECT_EQ(read_usage_request(monitor[0], {}, request_), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(read_usage_request(monitor[1], {}, request_), PMIX_SUCCESS);
    EXPECT_EQ(read_usage_request(monitor[2], {}, request_), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(read_usage_request(monitor[3], {}, request_), PMIX_ERR_BAD_PARAM);
    EXPECT_FALSE(asks_for_usage(PMIX_MONITOR_FILE));
}

}  // namespace
}  // namespace muster
