// SPDX-License-Identifier: BSD-3-Clause
// The display of forwarded output by a tool or launcher: tags, time stamps, lines.
#include "core/iof/sink.hpp"

#include <gtest/gtest.h>

#include "framework/base/proc.hpp"
#include "tests/covers.hpp"

namespace muster {
namespace {

const pmix_proc_t kSource = make_proc("job<1>", 3);

OutputStyle style_of(std::initializer_list<const char*> flags) {
    Info info;
    for (const char* flag : flags)
        info.add(flag, true);
    OutputStyle style;
    EXPECT_EQ(read_style(info, style), PMIX_SUCCESS);
    return style;
}

std::string shown(const OutputStyle& style, std::initializer_list<const char*> pieces,
                  pmix_iof_channel_t channel = PMIX_FWD_STDOUT_CHANNEL) {
    LineFormatter formatter(style, kSource, channel, [](const pmix_proc_t&) {
        return SourceFacts{"node1", "42"};
    });
    std::string out;
    for (const char* piece : pieces)
        formatter.feed(piece, out);
    formatter.finish(out);
    return out;
}

TEST(OutputStyle, AddsNothingByDefault) {
    covers("IOF-17");
    EXPECT_FALSE(OutputStyle{}.marks());
    EXPECT_EQ(shown({}, {"a", "b\nc"}), "ab\nc");
    // A false attribute has the same effect as an absent one.
    Info info;
    for (const char* key :
         {PMIX_IOF_TAG_OUTPUT, PMIX_IOF_RANK_OUTPUT, PMIX_IOF_TIMESTAMP_OUTPUT, PMIX_IOF_XML_OUTPUT,
          PMIX_IOF_OUTPUT_RAW, PMIX_IOF_MERGE_STDERR_STDOUT, PMIX_IOF_FILE_PATTERN, PMIX_IOF_FILE_ONLY})
        info.add(key, false);
    OutputStyle style;
    EXPECT_EQ(read_style(info, style), PMIX_SUCCESS);
    EXPECT_EQ(style, OutputStyle());
}

TEST(OutputStyle, ValuesOfTheWrongTypeAreRefused) {
    for (const char* key : {PMIX_IOF_TAG_OUTPUT, PMIX_IOF_LOCAL_OUTPUT}) {
        Info info;
        info.add(key, "maybe not");
        OutputStyle style;
        EXPECT_EQ(read_style(info, style), PMIX_ERR_BAD_PARAM) << key;
    }
    Info info;
    info.add(PMIX_IOF_OUTPUT_TO_FILE, 7);
    OutputStyle style;
    EXPECT_EQ(read_style(info, style), PMIX_ERR_BAD_PARAM);
}

TEST(LineFormatter, TagsLinesAtTheirBeginning) {
    covers("IOF-27", "IOF-29");
    EXPECT_EQ(shown(style_of({PMIX_IOF_TAG_OUTPUT}), {"one\ntw", "o\n"}),
              "[job<1>,3]<stdout>: one\n[job<1>,3]<stdout>: two\n");
    EXPECT_EQ(shown(style_of({PMIX_IOF_RANK_OUTPUT}), {"x"}, PMIX_FWD_STDERR_CHANNEL), "[3]<stderr>: x\n");
    EXPECT_EQ(shown(style_of({PMIX_IOF_TAG_DETAILED_OUTPUT}), {"x\n"}), "[job<1>,3][node1:42]<stdout>: x\n");
    EXPECT_EQ(shown(style_of({PMIX_IOF_TAG_FULLNAME_OUTPUT}), {"x\n"}), "[job<1>,3]<stdout>: x\n");
}

TEST(LineFormatter, PutsTheTimestampFirst) {
    covers("IOF-28");
    const std::string line = shown(style_of({PMIX_IOF_TIMESTAMP_OUTPUT}), {"x\n"});
    ASSERT_GT(line.size(), 25u);
    EXPECT_EQ(line[0], '[');
    EXPECT_EQ(line[5], '-');
    EXPECT_EQ(line.substr(line.find(']')), "]<stdout>: x\n");
    const std::string tagged = shown(style_of({PMIX_IOF_TIMESTAMP_OUTPUT, PMIX_IOF_TAG_OUTPUT}), {"x\n"});
    EXPECT_EQ(tagged.substr(tagged.find(']')), "][job<1>,3]<stdout>: x\n");
}

TEST(LineFormatter, WritesWellFormedXmlForAnyInput) {
    covers("IOF-30");
    EXPECT_EQ(shown(style_of({PMIX_IOF_XML_OUTPUT, PMIX_IOF_TAG_OUTPUT}), {"a<&>\n"}),
              "<stdout nspace=\"job&lt;1&gt;\" rank=\"3\">a&lt;&amp;&gt;&#010;</stdout>\n");
    // Valid characters stay, invalid bytes become U+FFFD.
    EXPECT_EQ(shown(style_of({PMIX_IOF_XML_OUTPUT}), {"\xC3\xA9\xFF\x01\xE2\x82\xAC\xED\xA0\x80"}),
              "<stdout rank=\"3\">\xC3\xA9&#65533;&#65533;\xE2\x82\xAC&#65533;&#65533;&#65533;</stdout>\n");
    const std::string timed = shown(style_of({PMIX_IOF_XML_OUTPUT, PMIX_IOF_TIMESTAMP_OUTPUT}), {"x\n"});
    EXPECT_EQ(timed.rfind("<stdout rank=\"3\" timestamp=\"2", 0), 0u) << timed;
}

TEST(LineFormatter, WritesRawOutputAtOnce) {
    covers("IOF-25");
    const OutputStyle style = style_of({PMIX_IOF_OUTPUT_RAW, PMIX_IOF_RANK_OUTPUT});
    LineFormatter formatter(style, kSource, PMIX_FWD_STDOUT_CHANNEL, nullptr);
    std::string out;
    formatter.feed("a", out);
    EXPECT_EQ(out, "[3]<stdout>: a");
    formatter.feed("b\nc", out);
    EXPECT_EQ(out, "[3]<stdout>: ab\n[3]<stdout>: c");
}

TEST(LineFormatter, BoundsTheLengthOfALine) {
    const OutputStyle style = style_of({PMIX_IOF_TAG_OUTPUT});
    LineFormatter formatter(style, kSource, PMIX_FWD_STDOUT_CHANNEL, nullptr);
    std::string out;
    for (int i = 0; i < 100; ++i)
        formatter.feed(std::string(10000, 'x'), out);
    EXPECT_GT(out.size(), 900000u);
    formatter.finish(out);
    EXPECT_EQ(out.size(), std::string("[job<1>,3]<stdout>: ").size() + 1000001);
}

TEST(OutputStyle, BuildsPathsOfFiles) {
    covers("IOF-31", "IOF-32", "IOF-33");
    OutputStyle style;
    style.file = "out/%r.%n.%%";
    EXPECT_EQ(style.path_for(kSource, PMIX_FWD_STDOUT_CHANNEL, {}), "out/%r.%n.%%.job<1>.3.stdout");
    style.pattern = true;
    EXPECT_EQ(style.path_for(kSource, PMIX_FWD_STDERR_CHANNEL, {}), "out/3.job<1>.%.stderr");
    style.directory = "dir";
    EXPECT_EQ(style.path_for(kSource, PMIX_FWD_STDERR_CHANNEL, {}), "dir/job<1>/rank.3/stderr");
    style.merge = true;
    EXPECT_EQ(style.path_for(kSource, style.shown_on(PMIX_FWD_STDERR_CHANNEL), {}),
              "dir/job<1>/rank.3/stdout");
    // A name does not lead out of the directory.
    EXPECT_EQ(style.path_for(make_proc("../../etc", 0), PMIX_FWD_STDOUT_CHANNEL, {}),
              "dir/.._.._etc/rank.0/stdout");
    EXPECT_EQ(style.path_for(make_proc("..", 0), PMIX_FWD_STDOUT_CHANNEL, {}), "dir/_/rank.0/stdout");
}

TEST(OutputStyle, PatternsNameTheNodeAndThePaddedRank) {
    covers("IOF-33");
    OutputStyle style;
    style.pattern = true;
    style.file = "%h/%R";
    const SourceFacts facts{"n1", "7", "head/..", 100};
    EXPECT_EQ(style.path_for(kSource, PMIX_FWD_STDOUT_CHANNEL, facts), "head_../03.stdout");
    EXPECT_EQ(style.path_for(make_proc("job", 1234), PMIX_FWD_STDOUT_CHANNEL, facts), "head_../1234.stdout");
    EXPECT_EQ(style.path_for(kSource, PMIX_FWD_STDOUT_CHANNEL, {}), "unknown/3.stdout");
}

TEST(OutputStyle, UnknownConversionsOfPatternsAreRefused) {
    covers("IOF-33");
    for (const char* name : {"a%", "a%x", "%n%"}) {
        Info info;
        info.add(PMIX_IOF_OUTPUT_TO_FILE, name);
        OutputStyle style;
        EXPECT_EQ(read_style(info, style), PMIX_SUCCESS) << name << " is no pattern";
        info.add(PMIX_IOF_FILE_PATTERN, true);
        EXPECT_EQ(read_style(info, style), PMIX_ERR_BAD_PARAM) << name;
    }
}

}  // namespace
}  // namespace muster
