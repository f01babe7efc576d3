// SPDX-License-Identifier: BSD-3-Clause
// The table that muster top draws.
#include "tools/muster/command_line/top.hpp"

#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

std::vector<TopRow> rows(unsigned count) {
    std::vector<TopRow> rows;
    for (unsigned rank = 0; rank < count; ++rank)
        rows.push_back(
            {"job@1", rank, "node0", 100 + static_cast<int>(rank), "RUNNING", 2048, "/bin/ring", ""});
    return rows;
}

TEST(Top, ShowsEachProcessInALine) {
    auto two = rows(2);
    two[1].wait = "fence: 1 of 2 are in, not job@1:0";
    two[1].memory = 20L * 1024 * 1024;
    two[0].memory = -1;
    EXPECT_EQ(
        top_table(two, 0, 0),
        "JOB    RANK NODE       PID STATE    MEMORY PROGRAM        WAITS IN\n"
        "job@1     0 node0      100 RUNNING       - ring\n"
        "job@1     1 node0      101 RUNNING     20G ring           fence: 1 of 2 are in, not job@1:0\n");
}

TEST(Top, KeepsToTheSizeOfTheTerminal) {
    const std::string table = top_table(rows(100), 6, 30);
    size_t lines = 0;
    for (size_t at = 0; at < table.size(); ++lines) {
        const size_t end = table.find('\n', at);
        EXPECT_LE(end - at, 30U);
        at = end + 1;
    }
    EXPECT_EQ(lines, 6U);
    EXPECT_NE(table.find("and 96 more\n"), std::string::npos) << table;
    EXPECT_NE(top_table(rows(5), 6, 0).find("\njob@1     4 "), std::string::npos);
    EXPECT_EQ(top_table({}, 6, 80).find("JOB"), 0U);
}

TEST(Top, ShowsNoControlCharactersOfNames) {
    auto one = rows(1);
    one[0].program = "/tmp/\033[2Jx\ny";
    EXPECT_NE(top_table(one, 0, 0).find("?[2Jx?y"), std::string::npos);
    EXPECT_EQ(top_table(one, 0, 0).find('\033'), std::string::npos);
}

}  // namespace
}  // namespace muster::launcher
