// SPDX-License-Identifier: BSD-3-Clause
// The queue of pieces of forwarded output: order, bounds.
#include "core/iof/piece_queue.hpp"
#include "tests/covers.hpp"

#include <gtest/gtest.h>

#include <string>

namespace muster {
namespace {

PiecePtr piece(const std::string& text, pmix_iof_channel_t channel = PMIX_FWD_STDOUT_CHANNEL) {
    auto made = std::make_shared<OutputPiece>();
    made->source = make_proc("job", 0);
    made->channel = channel;
    made->own_bytes = Bytes(ByteView(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
    made->bytes = made->own_bytes.view();
    return made;
}

std::string all(PieceQueue& queue) {
    std::string text;
    while (const PiecePtr next = queue.pop()) {
        text += next->bytes.empty()
                    ? std::string("$")
                    : std::string(reinterpret_cast<const char*>(next->bytes.data()), next->bytes.size());
    }
    return text;
}

TEST(PieceQueue, KeepsTheOrderOfAllChannels) {
    PieceQueue queue({});
    queue.push(piece("a"));
    queue.push(piece("b", PMIX_FWD_STDERR_CHANNEL));
    queue.push(piece("c", PMIX_FWD_STDDIAG_CHANNEL));
    queue.push(piece("d"));
    EXPECT_EQ(queue.bytes(), 4u);
    EXPECT_EQ(all(queue), "abcd");
    EXPECT_TRUE(queue.empty());
}

TEST(PieceQueue, DropsTheOldestBytes) {
    covers("IOF-21");
    PieceQueue queue({OverflowPolicy::When::DropOldest, 5});
    queue.push(piece("abcd"));
    queue.push(piece("efg"));
    EXPECT_EQ(queue.bytes(), 5u);
    EXPECT_EQ(queue.dropped(), 2u);
    queue.push(piece("0123456789"));
    EXPECT_EQ(queue.dropped(), 12u);
    EXPECT_EQ(all(queue), "56789");
}

TEST(PieceQueue, DropsTheNewestBytes) {
    covers("IOF-22");
    PieceQueue queue({OverflowPolicy::When::DropNewest, 5});
    queue.push(piece("abcd"));
    queue.push(piece("efg"));
    queue.push(piece("h"));
    EXPECT_EQ(queue.dropped(), 3u);
    EXPECT_EQ(all(queue), "abcde");
    queue.push(piece("again"));
    EXPECT_EQ(all(queue), "again");
}

TEST(PieceQueue, LimitsEachChannelSeparately) {
    covers("IOF-20");
    PieceQueue queue({OverflowPolicy::When::DropOldest, 3});
    queue.push(piece("abc"));
    queue.push(piece("def", PMIX_FWD_STDERR_CHANNEL));
    EXPECT_EQ(queue.dropped(), 0u);
    EXPECT_EQ(all(queue), "abcdef");
}

TEST(PieceQueue, KeepsTheEndOfAChannel) {
    for (const auto when : {OverflowPolicy::When::DropOldest, OverflowPolicy::When::DropNewest}) {
        PieceQueue queue({when, 2});
        queue.push(piece(""));
        queue.push(piece("abcd"));
        queue.push(piece(""));
        EXPECT_EQ(all(queue), when == OverflowPolicy::When::DropOldest ? "$cd$" : "$ab$");
    }
}

TEST(PieceQueue, TinyPiecesAreBounded) {
    PieceQueue queue({OverflowPolicy::When::DropOldest, size_t{1} << 30});
    for (int i = 0; i < 100000; ++i)
        queue.push(piece("x"));
    EXPECT_LE(queue.bytes(), 65536u);
    EXPECT_EQ(queue.bytes() + queue.dropped(), 100000u);
}

TEST(OverflowPolicy, IsReadFromDirectives) {
    const auto read = [](std::initializer_list<const char*> flags, uint32_t size, OverflowPolicy& policy) {
        Info info;
        for (const char* flag : flags)
            info.add(flag, true);
        if (size > 0) info.add(PMIX_IOF_CACHE_SIZE, size);
        return policy.read(info, 1000);
    };
    OverflowPolicy policy;
    EXPECT_EQ(read({}, 0, policy), PMIX_SUCCESS);
    EXPECT_EQ(policy.when, OverflowPolicy::When::Wait);
    EXPECT_EQ(read({}, 10, policy), PMIX_SUCCESS);
    EXPECT_EQ(policy.when, OverflowPolicy::When::DropNewest);  // the default, by the Standard
    EXPECT_EQ(policy.limit, 10u);
    EXPECT_EQ(read({PMIX_IOF_DROP_OLDEST}, 0, policy), PMIX_SUCCESS);
    EXPECT_EQ(policy.when, OverflowPolicy::When::DropOldest);
    EXPECT_EQ(policy.limit, 1000u);
    EXPECT_EQ(read({PMIX_IOF_DROP_OLDEST, PMIX_IOF_DROP_NEWEST}, 0, policy), PMIX_ERR_BAD_PARAM);
}

}  // namespace
}  // namespace muster
