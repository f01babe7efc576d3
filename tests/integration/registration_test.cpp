// SPDX-License-Identifier: BSD-3-Clause
// Registrations whose array the library reads until it calls back, while the host deregisters the namespace
// or ends the server. A host may free its array in the callback: here the array is unreadable from then on.
#include <gtest/gtest.h>
#include <pmix.h>
#include <pmix_server.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/covers.hpp"
#include "tests/integration/host.hpp"

namespace {

/// Arrays of a job's processes in pages of their own, which the callback of the registration closes.
class Description {
  public:
    static constexpr uint32_t kRanks = 500;
    static constexpr size_t kFacts = 3;

    Description() {
        void* pages = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT_NE(pages, MAP_FAILED);
        infos_ = static_cast<pmix_info_t*>(pages);
        auto* facts = infos_ + kRanks;
        arrays_ = std::make_unique<pmix_data_array_t[]>(kRanks);
        for (uint32_t rank = 0; rank < kRanks; ++rank, facts += kFacts) {
            const auto local = static_cast<uint16_t>(rank);
            PMIx_Info_load(&facts[0], PMIX_RANK, &rank, PMIX_PROC_RANK);
            PMIx_Info_load(&facts[1], PMIX_LOCAL_RANK, &local, PMIX_UINT16);
            PMIx_Info_load(&facts[2], PMIX_APP_RANK, &rank, PMIX_PROC_RANK);
            arrays_[rank].type = PMIX_INFO;
            arrays_[rank].size = kFacts;
            arrays_[rank].array = facts;
            PMIx_Load_key(infos_[rank].key, PMIX_PROC_INFO_ARRAY);
            infos_[rank].value.type = PMIX_DATA_ARRAY;
            infos_[rank].value.data.darray = &arrays_[rank];
        }
    }
    ~Description() { munmap(infos_, kSize); }
    Description(const Description&) = delete;
    Description& operator=(const Description&) = delete;

    pmix_status_t register_as(const std::string& nspace) {
        return PMIx_server_register_nspace(nspace.c_str(), static_cast<int>(kRanks), infos_, kRanks, done,
                                           this);
    }
    int calls() const { return calls_; }

  private:
    static constexpr size_t kSize = kRanks * (1 + kFacts) * sizeof(pmix_info_t);
    static void done(pmix_status_t, void* self) {
        auto* description = static_cast<Description*>(self);
        ++description->calls_;
        mprotect(description->infos_, kSize, PROT_NONE);
    }
    pmix_info_t* infos_ = nullptr;
    std::unique_ptr<pmix_data_array_t[]> arrays_;
    int calls_ = 0;  ///< read once the server has ended
};

TEST(Registration, ReadsTheArrayUntilItCallsBackOnly) {
    covers("SRV-09");
    Description jobs[8];
    int gone = 0;
    {
        integration::Host host;
        for (size_t i = 0; i < std::size(jobs); ++i) {
            const std::string name = "taken-" + std::to_string(i);
            ASSERT_EQ(jobs[i].register_as(name), PMIX_SUCCESS);
            // The namespace is deregistered while the array may still be read.
            PMIx_server_deregister_nspace(
                name.c_str(), [](pmix_status_t, void* count) { ++*static_cast<int*>(count); }, &gone);
        }
        const auto job = host.start_job(1);
        EXPECT_EQ(host.start(job, 0, {"fence", "1", "collect"}).wait(), 0);
    }
    EXPECT_EQ(gone, static_cast<int>(std::size(jobs)));
    for (const Description& job : jobs)
        EXPECT_EQ(job.calls(), 1);
}

TEST(Registration, IsCompletedOnceWhereTheServerEnds) {
    Description jobs[8];
    {
        const integration::Host host;
        for (size_t i = 0; i < std::size(jobs); ++i)
            ASSERT_EQ(jobs[i].register_as("ended-" + std::to_string(i)), PMIX_SUCCESS);
    }
    for (const Description& job : jobs)
        EXPECT_EQ(job.calls(), 1);
}

TEST(Registration, IsCompletedOnceWhereTheThreadIsStopped) {
    Description jobs[8];
    {
        const integration::Host host;
        for (size_t i = 0; i < std::size(jobs); ++i) {
            ASSERT_EQ(jobs[i].register_as("stopped-" + std::to_string(i)), PMIX_SUCCESS);
            if (i == std::size(jobs) / 2) PMIx_Progress_thread_stop(nullptr, 0);
        }
    }
    for (const Description& job : jobs)
        EXPECT_EQ(job.calls(), 1);
}

/// An array in an array, many levels deep.
class Nest {
  public:
    Nest(const char* key, pmix_data_type_t type, size_t levels) : infos_(levels), arrays_(levels) {
        for (size_t level = 0; level < levels; ++level) {
            pmix_info_t& info = infos_[level];
            PMIx_Load_key(info.key, key);
            info.value.type = PMIX_DATA_ARRAY;
            info.value.data.darray = &arrays_[level];
            arrays_[level] = {PMIX_INFO, 1,
                              &infos_[level + 1 < levels ? level + 1 : 0]};  // the last holds the first
            if (type != PMIX_INFO) arrays_[level] = {type, 1, &arrays_[level + 1 < levels ? level + 1 : 0]};
        }
    }
    pmix_info_t* data() { return infos_.data(); }

  private:
    std::vector<pmix_info_t> infos_;
    std::vector<pmix_data_array_t> arrays_;
};

TEST(Registration, OfEndlessArraysIsAnsweredOnce) {
    struct Answer {
        std::atomic<int> calls{0};
        pmix_status_t status = PMIX_SUCCESS;
    };
    integration::Host host;
    for (const pmix_data_type_t type : {PMIX_INFO, PMIX_DATA_ARRAY}) {
        for (const char* key :
             {PMIX_PROC_INFO_ARRAY, PMIX_JOB_INFO_ARRAY, PMIX_NODE_INFO_ARRAY, "muster.test.nest"}) {
            SCOPED_TRACE(std::string(key) + (type == PMIX_INFO ? " of infos" : " of arrays"));
            Nest nest(key, type, 3);
            Answer answer;
            const pmix_status_t status = PMIx_server_register_nspace(
                "nested", 1, nest.data(), 1,
                [](pmix_status_t said, void* data) {
                    auto* to = static_cast<Answer*>(data);
                    to->status = said;
                    ++to->calls;
                },
                &answer);
            if (status == PMIX_SUCCESS) {
                while (answer.calls == 0)
                    std::this_thread::yield();
                EXPECT_NE(answer.status, PMIX_SUCCESS);
            }
            // The namespace may be registered again with valid data.
            const auto job = host.start_job(1);
            EXPECT_EQ(host.start(job, 0, {"fence", "1", "collect"}).wait(), 0);
            EXPECT_EQ(answer.calls, status == PMIX_SUCCESS ? 1 : 0);
        }
    }
}

}  // namespace
