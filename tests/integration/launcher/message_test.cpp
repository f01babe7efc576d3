// SPDX-License-Identifier: BSD-3-Clause
// Messages between launcher and nodes: what is written is read, and what is damaged is noticed.
#include "tools/muster/exchange/message.hpp"

#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

TEST(LauncherMessage, ReadsWhatWasWritten) {
    const std::vector<ProcName> procs = {{"a", 1}, {"job.b", 0xfffffffe}};
    const Writer body =
        Writer().proc({1, 7}).i32(-5).u64(1ull << 40).bytes(std::string("x\0y", 3)).names(procs);
    Reader in(body.body());
    EXPECT_EQ(in.proc(), (ProcId{1, 7}));
    EXPECT_EQ(in.i32(), -5);
    EXPECT_EQ(in.u64(), 1ull << 40);
    EXPECT_EQ(in.bytes(), std::string_view("x\0y", 3));
    EXPECT_EQ(in.names(), procs);
    EXPECT_TRUE(in.ok());
    in.u32();
    EXPECT_FALSE(in.ok());
}

TEST(LauncherMessage, NoticesEveryTruncation) {
    const Writer body = Writer().names({{"nspace", 3}, {"other", 4}}).bytes("data");
    for (size_t size = 0; size < body.body().size(); ++size) {
        Reader in(std::string_view(body.body()).substr(0, size));
        in.names();
        in.bytes();
        EXPECT_FALSE(in.ok()) << size;
    }
}

TEST(LauncherMessage, CountsAreCheckedBeforeAnythingIsAllocated) {
    const Writer body = Writer().u32(0xffffffff);
    Reader in(body.body());
    EXPECT_TRUE(in.names().empty());
    EXPECT_FALSE(in.ok());
    const Writer long_text = Writer().u64(~0ull);
    Reader text(long_text.body());
    EXPECT_TRUE(text.bytes().empty());
    EXPECT_FALSE(text.ok());
}

}  // namespace
}  // namespace muster::launcher
