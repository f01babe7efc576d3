// SPDX-License-Identifier: BSD-3-Clause
// The messages between the servers of a group: round trips, and foreign bytes.
#include "core/groups/group_part.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/covers.hpp"
#include "tests/unit/components/bfrops/codec.hpp"

namespace muster {
namespace {

WireFormat format() {
    return {&test::codec(), BufferType::NonDescribed};
}

GroupPart part_of(pmix_rank_t rank) {
    GroupPart part;
    part.status = PMIX_GROUP_MEMBER_FAILED;
    part.notify_termination = true;
    part.present = {make_proc("job", rank)};
    part.order = {make_proc("job", 1), make_proc("job", 0)};
    part.leaders = part.present;
    part.infos.add("told", "something");
    const std::string bytes = "posted";
    part.posted = Bytes(ByteView(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
    part.jobs.emplace_back(part.posted.view());
    return part;
}

TEST(GroupPart, PartsOfSeveralServersMayBeConcatenated) {
    covers("GRP-61");
    Bytes all;
    for (const pmix_rank_t rank : {4, 9}) {
        Bytes one;
        ASSERT_EQ(pack_group_part(format(), part_of(rank), one), PMIX_SUCCESS);
        all.append(one.view());
    }
    std::vector<GroupPart> parts;
    ASSERT_EQ(unpack_group_parts(format(), all.view(), parts), PMIX_SUCCESS);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[1].status, PMIX_GROUP_MEMBER_FAILED);
    EXPECT_EQ(parts[1].present.front().rank, 9U);
    EXPECT_EQ(parts[0].order.size(), 2U);
    EXPECT_TRUE(parts[0].notify_termination);
    EXPECT_STREQ(parts[0].infos.view().string("told"), "something");
    EXPECT_EQ(parts[0].posted.size(), 6U);
    ASSERT_EQ(parts[1].jobs.size(), 1U);
    EXPECT_EQ(parts[1].jobs[0].size(), 6U);
}

TEST(GroupPart, MalformedPartsAreRefused) {
    Bytes good;
    ASSERT_EQ(pack_group_part(format(), part_of(1), good), PMIX_SUCCESS);
    for (size_t length = 1; length < good.size(); ++length) {
        std::vector<GroupPart> parts;
        EXPECT_NE(unpack_group_parts(format(), ByteView(good.data(), length), parts), PMIX_SUCCESS) << length;
    }
    // Data of other libraries' servers under the same attribute.
    Packer other(format());
    Packer inside(format());
    inside.uint32(414).bytes(good.view());
    other.bytes(inside.view());
    std::vector<GroupPart> parts;
    EXPECT_NE(unpack_group_parts(format(), other.view(), parts), PMIX_SUCCESS);
    for (size_t i = 0; i < good.size(); ++i) {
        Bytes damaged(good.view());
        damaged.data()[i] ^= 0x55;
        parts.clear();
        unpack_group_parts(format(), damaged.view(), parts);  // any answer, no crash
    }
}

}  // namespace
}  // namespace muster
