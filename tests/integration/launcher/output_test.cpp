// SPDX-License-Identifier: BSD-3-Clause
// Output of jobs in the launcher: its marks and files, and permissions.
#include <gtest/gtest.h>
#include <pmix_common.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/covers.hpp"
#include "tests/integration/launcher/fake_launcher.hpp"
#include "tests/integration/launcher/library.hpp"
#include "tools/muster/jobs/output.hpp"
#include "tools/muster/services/forwards.hpp"

namespace muster::launcher {
namespace {

/// Output of jobs that is written only to files.
class LauncherOutput : public testing::Test {
  protected:
    void SetUp() override {
        std::string path = testing::TempDir() + "muster-output-XXXXXX";
        ASSERT_NE(mkdtemp(path.data()), nullptr);
        dir_ = path + "/";
    }
    void TearDown() override { std::filesystem::remove_all(dir_); }

    uint32_t add(const std::string& nspace, OutputPolicy policy) {
        Job job = job_of(2, 2, nspace);
        job.number = ++jobs_;
        job.output = std::move(policy);
        output_.add_job(job);
        return job.number;
    }
    OutputPolicy to_file(bool OutputStyle::*mark = nullptr) const {
        OutputPolicy policy;
        policy.style.file = dir_ + "f";
        policy.style.file_only = true;
        if (mark != nullptr) policy.style.*mark = true;
        return policy;
    }
    void write(uint32_t job, uint32_t rank, std::string_view bytes, bool error = false) {
        output_.write(0, {job, rank}, error, bytes, true);
    }
    std::string text(const std::string& name) const {
        std::ifstream file(dir_ + name);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::string dir_;
    uint32_t jobs_ = 0;
    Loop loop_;
    Output output_{loop_, [](uint32_t, uint64_t) {}, [](const std::string& what) { ADD_FAILURE() << what; },
                   [](ProcId) { return 77; }};
};

TEST_F(LauncherOutput, FilesAreNamedByNamespaceRankAndChannel) {
    covers("IOF-31 IOF-32 IOF-33");
    const uint32_t first = add("a", to_file()), second = add("b", to_file());
    write(first, 1, "one\n");
    write(second, 1, "two\n");
    write(second, 1, "three\n", true);
    EXPECT_EQ(text("f.a.1.stdout"), "one\n");
    EXPECT_EQ(text("f.b.1.stdout"), "two\n");
    EXPECT_EQ(text("f.b.1.stderr"), "three\n");
    OutputPolicy policy = to_file(&OutputStyle::pattern);
    policy.style.file += ".%r-of-%n";
    write(add("c", policy), 0, "four\n");
    EXPECT_EQ(text("f.0-of-c.stdout"), "four\n");
    EXPECT_FALSE(std::filesystem::exists(dir_ + "f.0-of-c.stderr")) << "nothing was written to it";
    policy.style.file = dir_ + "%h.%R";
    Job wide = job_of(12, 2, "w");
    wide.number = ++jobs_;
    wide.output = policy;
    output_.add_job(wide);
    write(wide.number, 1, "six\n");
    EXPECT_EQ(text(wide.nodes[wide.places[1].node] + ".01.stdout"), "six\n");
    policy = to_file();
    policy.style.directory = std::exchange(policy.style.file, {});
    write(add("d", policy), 0, "five\n");
    EXPECT_EQ(text("f/d/rank.0/stdout"), "five\n");
}

TEST_F(LauncherOutput, MergedOutputGoesToTheFilesOfStdoutAlone) {
    covers("IOF-19 IOF-31 IOF-32 IOF-33");
    const auto write_both = [this](const std::string& nspace, OutputPolicy policy) {
        policy.style.merge = true;
        const uint32_t job = add(nspace, std::move(policy));
        write(job, 0, "out\n");
        write(job, 0, "error\n", true);
    };
    write_both("a", to_file());
    EXPECT_EQ(text("f.a.0.stdout"), "out\nerror\n");
    OutputPolicy policy = to_file(&OutputStyle::pattern);
    policy.style.file += ".%r";
    write_both("b", policy);
    EXPECT_EQ(text("f.0.stdout"), "out\nerror\n");
    policy = to_file();
    policy.style.directory = std::exchange(policy.style.file, {});
    write_both("c", policy);
    EXPECT_EQ(text("f/c/rank.0/stdout"), "out\nerror\n");
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_)) {
        if (entry.is_regular_file()) files.push_back(entry.path().string().substr(dir_.size()));
    }
    EXPECT_EQ(files.size(), 3U) << "a file of stderr";
}

TEST_F(LauncherOutput, EachStyleOfASpawnMarksTheLines) {
    write(add("tag", to_file(&OutputStyle::tag)), 0, "a\n");
    EXPECT_EQ(text("f.tag.0.stdout"), "[1,0]<stdout>: a\n");
    write(add("full", to_file(&OutputStyle::full_name)), 0, "a\n");
    EXPECT_EQ(text("f.full.0.stdout"), "[full,0]<stdout>: a\n");
    write(add("detailed", to_file(&OutputStyle::detailed)), 1, "a\n");
    EXPECT_EQ(text("f.detailed.1.stdout"), "[detailed,1][node1:77]<stdout>: a\n");
    write(add("xml", to_file(&OutputStyle::xml)), 0, "<\n");
    EXPECT_EQ(text("f.xml.0.stdout"), "<stdout rank=\"0\">&lt;&#010;</stdout>\n");
    write(add("merge", to_file(&OutputStyle::merge)), 0, "a\n", true);
    EXPECT_EQ(text("f.merge.0.stdout"), "a\n");
    const uint32_t raw = add("raw", to_file(&OutputStyle::raw)), lines = add("lines", to_file());
    write(raw, 0, "begin");
    write(lines, 0, "begin");
    EXPECT_EQ(text("f.raw.0.stdout"), "begin");
    EXPECT_EQ(text("f.lines.0.stdout"), "");
}

TEST_F(LauncherOutput, IsCollectedUntilThereIsEnoughOrTheProcessEnds) {
    OutputPolicy policy = to_file();
    policy.buffer_size = 6;
    const uint32_t job = add("job", policy);
    write(job, 0, "abc\n");
    EXPECT_EQ(text("f.job.0.stdout"), "");
    write(job, 0, "d\n");
    EXPECT_EQ(text("f.job.0.stdout"), "abc\nd\n");
    write(job, 0, "e");
    write(job, 0, "");
    EXPECT_EQ(text("f.job.0.stdout"), "abc\nd\ne");
}

TEST_F(LauncherOutput, IsShownLateWhenTheTimeOfItsBufferIsOver) {
    OutputPolicy policy = to_file();
    policy.buffer_seconds = 1;
    write(add("job", policy), 0, "a\n");
    EXPECT_EQ(text("f.job.0.stdout"), "");
    const Watch over = loop_.after(std::chrono::milliseconds(1500), [this] { loop_.quit(); });
    loop_.run();
    EXPECT_EQ(text("f.job.0.stdout"), "a\n");
}

class LauncherForwards : public WithLibrary {
  protected:
    JobRecord& add(uint32_t forward, uint32_t held = 0) {
        Job job = job_of(2, 2);
        job.wishes.forward = forward;
        job.wishes.held = held;
        return host_.jobs.add(std::move(job));
    }
    int32_t pull(uint32_t channels) {
        Buffer body = pack(Forwards::Request::Pull, std::vector<ProcName>{{"job", PMIX_RANK_WILDCARD}},
                           channels, false);
        forwards_.asked({0, ++asked_}, body);
        return host_.answers.at(asked_).status;
    }

    FakeLauncher host_;
    Forwards forwards_{host_.hub};
    uint64_t asked_ = 0;
};

TEST_F(LauncherForwards, APullOfAJobThatDoesNotForwardIsRefused) {
    covers("IOF-03");
    JobRecord& job = add(0);
    EXPECT_EQ(pull(PMIX_FWD_STDOUT_CHANNEL), PMIX_ERR_NOT_SUPPORTED);
    job.job.wishes.forward = PMIX_FWD_STDOUT_CHANNEL;
    EXPECT_EQ(pull(PMIX_FWD_STDERR_CHANNEL), PMIX_ERR_NOT_SUPPORTED);
    EXPECT_EQ(pull(PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL), PMIX_SUCCESS);
    forwards_.output(0, {1, 0}, PMIX_FWD_STDERR_CHANNEL, "to muster");
    forwards_.output(0, {1, 0}, PMIX_FWD_STDOUT_CHANNEL, "to the tool");
    // The second is written only to files, which this launcher does not distinguish.
    EXPECT_EQ(host_.shown, "to musterto the tool");
}

TEST_F(LauncherForwards, APushToAJobThatForwardsNoInputIsRefused) {
    covers("IOF-03 IOF-10");
    JobRecord& job = add(PMIX_FWD_STDOUT_CHANNEL);
    const auto push = [this](uint32_t rank) {
        Buffer body =
            pack(Forwards::Request::Push, std::vector<ProcName>{{"job", rank}}, false, std::string("text"));
        forwards_.asked({0, ++asked_}, body);
        return host_.answers.at(asked_).status;
    };
    job.job.input.target = InputPolicy::Target::None;
    EXPECT_EQ(push(0), PMIX_ERR_NOT_SUPPORTED);
    EXPECT_EQ(push(PMIX_RANK_WILDCARD), PMIX_ERR_NOT_SUPPORTED);
    job.job.input.target = InputPolicy::Target::One;
    job.job.input.rank = 1;
    EXPECT_EQ(push(0), PMIX_ERR_NOT_SUPPORTED);
    EXPECT_EQ(push(1), PMIX_SUCCESS);
    EXPECT_EQ(push(PMIX_RANK_WILDCARD), PMIX_SUCCESS);
    EXPECT_EQ(std::exchange(host_.input, {}), "1:text 1:text ");
    job.job.input.target = InputPolicy::Target::All;
    EXPECT_EQ(push(PMIX_RANK_WILDCARD), PMIX_SUCCESS);
    EXPECT_EQ(host_.input, "0:text 1:text ");
}

TEST_F(LauncherForwards, TheCacheOfAJobDropsTheNewestOrTheOldest) {
    covers("IOF-20 IOF-21 IOF-22");
    for (const bool oldest : {false, true}) {
        JobRecord& job = add(PMIX_FWD_STDOUT_CHANNEL, PMIX_FWD_STDOUT_CHANNEL);
        job.job.output.cache_size = 4;
        job.job.output.drop_oldest = oldest;
        for (const char* bytes : {"ab", "cd", "ef", "g"})
            forwards_.output(0, {job.job.number, 0}, PMIX_FWD_STDOUT_CHANNEL, bytes);
        EXPECT_EQ(host_.shown, "");
        forwards_.release();
        EXPECT_EQ(std::exchange(host_.shown, {}), oldest ? "defg" : "abcd");
    }
}

}  // namespace
}  // namespace muster::launcher
