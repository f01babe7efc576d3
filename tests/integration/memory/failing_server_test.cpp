// SPDX-License-Identifier: BSD-3-Clause
// A server whose allocations fail while it serves its clients: each request is answered, once. The
// allocations of the clients do not fail.
#include <gtest/gtest.h>

#include "core/exchange/exchange.hpp"
#include "framework/base/status.hpp"
#include "framework/ptl/frame_reader.hpp"
#include "tests/integration/memory/failing_malloc.hpp"
#include "tests/unit/core/in_memory/calls.hpp"
#include "tests/unit/core/in_memory/job.hpp"

namespace muster::testing_in_memory {
namespace {

using failing::How;

/// Every step-th allocation; all of them with MUSTER_ALL_ALLOCATIONS.
long step() {
    return ::getenv("MUSTER_ALL_ALLOCATIONS") == nullptr ? 7 : 1;
}

class FailingServer : public testing::TestWithParam<How> {
  protected:
    /// Starts the call that the two processes of a job make at the same time.
    using Start = std::function<Call(Process& process)>;

    /// Makes each allocation of the server fail in turn while it serves the call.
    void serve(const Start& start, const Start& prepare = nullptr) {
        long made = 0;
        for (long number = 1; number == 1 || made >= number; number += step()) {
            SCOPED_TRACE("allocation " + std::to_string(number));
            FakeNode<0> node;
            node.host.agreeable.insert({"publish", "lookup", "unpublish", "query", "notify_event", "group",
                                        "abort", "connect", "disconnect"});
            node.add_job("job", 2);
            for (const pmix_rank_t rank : {0U, 1U})
                node.add_client("job", rank);
            prepared_ = prepare != nullptr;
            if (prepare) run(node, prepare, 0);
            made = run(node, start, number);
            if (HasFailure()) return;
        }
    }

  private:
    /// A group that none of its members has does not exist: its id can be used.
    void expect_no_new_group(FakeNode<0>& node) {
        node.on_loop([&] {
            const GroupTable& groups = node.server().queries().group_server().groups();
            EXPECT_TRUE(prepared_ || groups.find("group") == nullptr) << "the group exists";
        });
    }
    long run(FakeNode<0>& node, const Start& start, long number) {
        std::vector<Call> calls = {start(node.client(0)), start(node.client(1))};
        bool again[2] = {false, false};
        long made = 0;
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        while (!calls[0].there() || !calls[1].there()) {
            if (std::chrono::steady_clock::now() > limit) {
                for (const Call& one : calls)
                    ADD_FAILURE() << (one.there() ? status_text(one.status()) : "not answered");
                break;
            }
            for (const pmix_rank_t rank : {0U, 1U})
                node.client(rank).runtime().progress();
            for (const pmix_rank_t rank : {0U, 1U}) {
                // A participant that has failed calls again, because the other waits for it.
                if (calls[rank].there() && !calls[rank].good() && !calls[1 - rank].there() && !again[rank]) {
                    again[rank] = true;
                    calls[rank] = start(node.client(rank));
                }
            }
            const bool over = number != 0 && made >= number;
            failing::arm(over && GetParam() == How::AndAllLater ? 1 : number - made, GetParam());
            node.process().runtime().progress();
            made += failing::disarm();
        }
        for (int turn = 0; turn < 20; ++turn)
            node.turn();
        for (const Call& one : calls)
            EXPECT_EQ(one.answers(), 1);
        // Without any memory, replies to a complete construction cannot be created either.
        const bool failed = number != 0 && GetParam() == How::Once && !calls[0].good() && !calls[1].good();
        if (failed) expect_no_new_group(node);
        return made;
    }
    bool prepared_ = false;
};

std::vector<pmix_proc_t> everybody() {
    return {make_proc("job", PMIX_RANK_WILDCARD)};
}

TEST_P(FailingServer, AnswersFences) {
    serve([](Process& process) { return fence(process, everybody(), with_timeout(30)); });
}

TEST_P(FailingServer, AnswersFencesThatCollect) {
    serve([](Process& process) { return fence(process, everybody(), with(PMIX_COLLECT_DATA)); });
}

TEST_P(FailingServer, AnswersConnectAndDisconnect) {
    const auto connect = [](Process& process) { return connect_procs(process, everybody()); };
    serve(connect);
    serve([](Process& process) { return disconnect_procs(process, everybody()); }, connect);
}

TEST_P(FailingServer, AnswersGroups) {
    const auto made = [](Process& process) { return construct(process, "group", everybody()); };
    serve(made);
    serve([](Process& process) { return destruct(process, "group"); }, made);
}

TEST_P(FailingServer, KeepsAProcessSetWhoseEndItCannotTell) {
    long made = 0;
    for (long number = 1; number == 1 || made >= number; ++number) {
        FakeNode<0> node;
        node.add_job("job", 2);
        node.add_client("job", 0);
        node.on_loop([&] {
            ProcessSets& sets = node.server().queries().group_server().process_sets();
            ASSERT_EQ(sets.define("set", {make_proc("job", 0)}), PMIX_SUCCESS);
            bool removed = false;
            failing::arm(number, GetParam());
            try {
                removed = sets.remove("set") == PMIX_SUCCESS;
            } catch (const std::bad_alloc&) {
                removed = false;
            }
            made = failing::disarm();
            EXPECT_EQ(sets.find("set") == nullptr, removed) << "allocation " << number;
        });
    }
}

TEST_P(FailingServer, AnswersEvents) {
    serve([](Process& process) { return notify(process, PMIX_EXTERNAL_ERR_BASE, PMIX_RANGE_LOCAL); });
}

TEST_P(FailingServer, AnswersFinalize) {
    serve([](Process& process) {
        return call(process, [&process](const HostDone& done) {
            process.client()->finalize(std::chrono::seconds(30), false,
                                       [done](pmix_status_t status) { done(answer_of(status)); });
        });
    });
}

/// A request of one command, as sent by a client that lacks Muster's service.
auto ask_for(Command command, std::function<void(Packer&)> fill) {
    return [command, fill = std::move(fill)](Process& process) {
        return call(process, [&process, command, fill](HostDone done) {
            Packer message = process.client()->packer(command);
            fill(message);
            ask(
                *process.client(), std::move(message), [](Unpacker&, HostAnswer&) {}, std::move(done));
        });
    };
}

TEST_P(FailingServer, AnswersGets) {
    serve(ask_for(Command::Get, [](Packer& message) {
        message.string("job").rank(1).infos(with(PMIX_IMMEDIATE)).string("absent");
    }));
}

TEST_P(FailingServer, AnswersRegistrations) {
    serve(ask_for(Command::RegisterEvents, [](Packer& message) {
        const pmix_status_t code = PMIX_EXTERNAL_ERR_BASE;
        message.counted(&code, 1, PMIX_STATUS).infos({});
    }));
}

TEST_P(FailingServer, AnswersAborts) {
    serve(ask_for(Command::Abort,
                  [](Packer& message) { message.status(PMIX_ERROR).string("over").procs(nullptr, 0); }));
}

INSTANTIATE_TEST_SUITE_P(Memory, FailingServer, testing::Values(How::Once, How::AndAllLater),
                         [](const auto& one) { return one.param == How::Once ? "Once" : "AndAllLater"; });

TEST(FrameWithoutMemory, IsLostAloneAndTheNextIsRead) {
    std::vector<uint8_t> stream;
    for (const uint8_t tag : {1, 2}) {
        const uint8_t header[Frame::kHeaderSize] = {0, 0, 0, 0, 0, 0, 0, tag, 0, 0, 1, 0};
        stream.insert(stream.end(), std::begin(header), std::end(header));
        stream.resize(stream.size() + 256, tag);
    }
    FrameReader reader(1024);
    std::vector<uint8_t> spare(512);
    const auto read = [&](long number) {
        failing::arm(number, How::Once);
        size_t got = 0;
        for (const iovec& part : reader.room(spare)) {
            const size_t size = std::min(part.iov_len, stream.size() - got);
            std::memcpy(part.iov_base, stream.data() + got, size);
            got += size;
        }
        reader.took(got);
        failing::disarm();
        stream.erase(stream.begin(), stream.begin() + static_cast<long>(got));
    };
    Frame frame;
    read(1);
    ASSERT_EQ(reader.next(frame), FrameReader::Next::Frame);
    EXPECT_EQ(frame.tag, 1U);
    EXPECT_TRUE(frame.lost);
    EXPECT_TRUE(frame.payload.empty());
    while (reader.next(frame) != FrameReader::Next::Frame)
        read(0);
    EXPECT_EQ(frame.tag, 2U);
    EXPECT_FALSE(frame.lost);
    EXPECT_EQ(frame.payload.size(), 256U);
}

}  // namespace
}  // namespace muster::testing_in_memory
