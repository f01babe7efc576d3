// SPDX-License-Identifier: BSD-3-Clause
// The shared-memory meeting, with threads in place of processes.
#include "core/groups/meeting.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/unit/components/bfrops/codec.hpp"

namespace muster {
namespace {

constexpr uint32_t kRanks = 5;
using Turn = Meeting::Turn;

class MeetingTest : public ::testing::Test {
  protected:
    void SetUp() override {
        memory_ = std::move(*RendezvousPage::create("test:meeting"));
        for (uint32_t rank = 0; rank < kRanks; ++rank) {
            auto memory = RendezvousPage::attach(UniqueFd(dup(memory_->descriptor())), getuid());
            ASSERT_TRUE(memory.ok());
            members_.push_back(std::make_shared<Meeting>(std::move(*memory), kRanks, rank));
        }
        memory_->open();
    }
    /// All threads arrive, each with its call; `last` acts for the process that sends the request for all.
    template <class Last>
    std::vector<Meeting::Visit> come(const std::vector<uint64_t>& calls, Last last) {
        std::vector<Meeting::Visit> visits(calls.size());
        std::vector<std::thread> threads;
        for (size_t i = 0; i < calls.size(); ++i) {
            threads.emplace_back([&, i] {
                visits[i] = members_[i]->meet(calls[i]);
                if (visits[i].turn == Turn::AskForAll) last(*members_[i]);
            });
        }
        for (std::thread& thread : threads)
            thread.join();
        return visits;
    }
    static size_t count(const std::vector<Meeting::Visit>& visits, Turn turn) {
        return static_cast<size_t>(std::count_if(visits.begin(), visits.end(),
                                                 [turn](const auto& one) { return one.turn == turn; }));
    }
    std::unique_ptr<RendezvousPage> memory_;
    std::vector<std::shared_ptr<Meeting>> members_;
};

TEST_F(MeetingTest, OneMemberCallsTheServerForAll) {
    for (uint64_t round = 1; round <= 200; ++round) {
        const auto visits = come(std::vector<uint64_t>(kRanks, round), [round](Meeting& one) {
            one.tell({PMIX_SUCCESS, round});
        });
        ASSERT_EQ(count(visits, Turn::AskForAll), 1U);
        ASSERT_EQ(count(visits, Turn::Told), kRanks - 1);
        for (const auto& visit : visits) {
            if (visit.turn != Turn::Told) continue;
            ASSERT_EQ(visit.result.context_id, round);
        }
    }
    const auto visits = come(std::vector<uint64_t>(kRanks, 1), [](Meeting& one) {
        one.tell({PMIX_ERR_EXISTS, std::nullopt});
    });
    for (const auto& visit : visits) {
        if (visit.turn == Turn::AskForAll) continue;
        EXPECT_EQ(visit.result.status, PMIX_ERR_EXISTS);
        EXPECT_FALSE(visit.result.context_id);
    }
}

TEST_F(MeetingTest, DifferentCallsFallBackToTheServer) {
    const auto visits = come({1, 1, 2, 1, 1}, [](Meeting&) { FAIL(); });
    EXPECT_EQ(count(visits, Turn::AskServer), kRanks);
    for (const auto& visit : visits)
        EXPECT_TRUE(visit.number);
    // Until the server opens it again.
    EXPECT_EQ(members_[0]->meet(1).turn, Turn::AskServer);
    EXPECT_FALSE(members_[0]->meet(1).number);
    memory_->open();
    const auto again = come(std::vector<uint64_t>(kRanks, 1), [](Meeting& one) { one.tell({}); });
    EXPECT_EQ(count(again, Turn::Told), kRanks - 1);
    EXPECT_NE(again[0].number, visits[0].number);
}

TEST_F(MeetingTest, TheCallingMemberMayCancel) {
    const auto visits = come(std::vector<uint64_t>(kRanks, 1), [](Meeting& one) { one.call_off(); });
    EXPECT_EQ(count(visits, Turn::AskServer), kRanks - 1);
}

TEST_F(MeetingTest, NoResultIsSharedAfterTheServerShutsIt) {
    const auto visits = come(std::vector<uint64_t>(kRanks, 1), [this](Meeting& one) {
        memory_->shut(kRanks);
        one.tell({PMIX_SUCCESS, 7});
    });
    EXPECT_EQ(count(visits, Turn::AskServer), kRanks - 1);
}

TEST_F(MeetingTest, ACallThroughTheServerReleasesTheWaitingThread) {
    Meeting::Visit visit;
    std::thread waits([&] { visit = members_[0]->meet(1); });
    while (page_arrived(memory_->word()) == 0)
        std::this_thread::yield();
    const auto away = members_[0]->by_server();
    waits.join();
    EXPECT_EQ(visit.turn, Turn::AskServer);
    EXPECT_TRUE(visit.number);
    memory_->open();
    EXPECT_EQ(members_[0]->meet(1).turn, Turn::AskServer) << "one way at a time";
}

TEST_F(MeetingTest, EndsWithTheConnection) {
    Meeting::Visit visit;
    std::thread waits([&] { visit = members_[0]->meet(1); });
    while (page_arrived(memory_->word()) == 0)
        std::this_thread::yield();
    members_[0]->close();
    waits.join();
    EXPECT_EQ(visit.turn, Turn::AskServer);
    memory_->open();
    EXPECT_EQ(members_[0]->meet(1).turn, Turn::AskServer);
}

TEST_F(MeetingTest, AMemberThatTimesOutMakesAllFallBackToTheServer) {
    // One process repeatedly resets the count to zero.
    std::vector<std::thread> threads;
    std::vector<Meeting::Visit> visits(2);
    std::atomic<uint32_t> back{0};
    const uint64_t empty = memory_->word();
    for (uint32_t rank = 0; rank < 2; ++rank) {
        auto memory = RendezvousPage::attach(UniqueFd(dup(memory_->descriptor())), getuid());
        ASSERT_TRUE(memory.ok());
        threads.emplace_back([&, rank,
                              one = std::make_shared<Meeting>(std::move(*memory), kRanks, rank,
                                                              std::chrono::milliseconds(50))] {
            visits[rank] = one->meet(1);
            ++back;
        });
    }
    while (back < 2) {
        uint64_t now = memory_->word();
        if (!page_shut(now)) memory_->word().compare_exchange_strong(now, empty);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(count(visits, Turn::AskServer), 2U);
    EXPECT_TRUE(page_shut(memory_->word()));
}

TEST_F(MeetingTest, CorruptPagesCauseNoHangAndNoOverrun) {
    for (const uint64_t word : {uint64_t{kRanks}, uint64_t{UINT32_MAX}, ~uint64_t{0} & ~kPageShut}) {
        memory_->word() = word;
        EXPECT_EQ(members_[0]->meet(1).turn, Turn::AskServer);
    }
}

TEST(MeetingNote, RoundTrips) {
    const WireFormat format{&test::codec(), BufferType::NonDescribed};
    for (const bool together : {false, true}) {
        MeetingNote note{true, together, 17};
        Packer out(format);
        note.pack(out);
        Unpacker in(format, out.view());
        MeetingNote read;
        ASSERT_TRUE(MeetingNote::read(in, read));
        EXPECT_TRUE(read.maps);
        EXPECT_EQ(read.together, together);
        EXPECT_EQ(read.number, 17U);
        // Truncated.
        Unpacker half(format, out.view().first(out.view().size() - 1));
        EXPECT_FALSE(MeetingNote::read(half, read));
    }
    MeetingNote none;
    Unpacker nothing(format, {});
    EXPECT_TRUE(MeetingNote::read(nothing, none));
    EXPECT_FALSE(none.maps);
    Packer bare(format);
    bare.byte(2);  // for all, without the number of the meeting
    Unpacker in(format, bare.view());
    EXPECT_FALSE(MeetingNote::read(in, none));
}

TEST(CallDigest, DistinguishesCalls) {
    const auto of = [](std::initializer_list<std::string_view> texts) {
        CallDigest digest;
        for (const std::string_view text : texts)
            digest.add(text);
        return digest.value();
    };
    EXPECT_EQ(of({"group", "1"}), of({"group", "1"}));
    EXPECT_NE(of({"group", "1"}), of({"group1"}));
    EXPECT_NE(of({"bench-1"}), of({"bench-2"}));
    EXPECT_NE(of({""}), of({}));
}

}  // namespace
}  // namespace muster
