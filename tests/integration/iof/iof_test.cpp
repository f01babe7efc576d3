// SPDX-License-Identifier: BSD-3-Clause
// Forwarded output and input between a host and its clients: readers, the form of their output, and the
// requests to the host (Standard: IO Forwarding).
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <future>

#include "tests/covers.hpp"
#include "tests/integration/iof/iof_host.hpp"

namespace {

using namespace integration;

constexpr pmix_iof_channel_t kOut = PMIX_FWD_STDOUT_CHANNEL;
constexpr pmix_iof_channel_t kErr = PMIX_FWD_STDERR_CHANNEL;

class Iof : public ::testing::Test {
  protected:
    void SetUp() override {
        upcalls_ = std::make_unique<IofUpcalls>();
        host_ = std::make_unique<Host>(IofUpcalls::into);
        job_ = host_->start_job(2);
        other_ = host_->start_job(3);
    }
    void TearDown() override {
        host_.reset();
        upcalls_.reset();
    }
    /// A client that asks for output of `other_`; its first line is checked.
    Process pull(const std::string& rank, const std::string& channels,
                 const std::vector<std::string>& directives = {}, const std::string& what = "pull",
                 const std::string& expected = "PULLED SUCCESS") {
        std::vector<std::string> words{what, other_.nspace, rank, channels};
        words.insert(words.end(), directives.begin(), directives.end());
        auto client = host_->start_program(job_, 0, IOF_CLIENT, words);
        EXPECT_EQ(client.line(), expected);
        return client;
    }
    static void end(Process& client) {
        client.go_on();
        client.go_on();
        EXPECT_EQ(client.line().rfind("DROPPED ", 0), 0u);
        EXPECT_EQ(client.line(), "DEREGISTERED SUCCESS");
        EXPECT_EQ(client.wait(), 0);
    }

    std::unique_ptr<IofUpcalls> upcalls_;
    std::unique_ptr<Host> host_;
    Host::Job job_, other_;
};

TEST_F(Iof, AClientGetsOnlyTheOutputThatItPulled) {
    covers("IOF-01", "IOF-02", "TLO-19", "TLO-24");
    auto client = pull("1", "o");
    EXPECT_EQ(deliver(other_, 0, kOut, "not this rank\n"), PMIX_OPERATION_SUCCEEDED);
    EXPECT_EQ(deliver(other_, 1, kErr, "not this channel\n"), PMIX_OPERATION_SUCCEEDED);
    EXPECT_EQ(deliver(job_, 1, kOut, "not this job\n"), PMIX_OPERATION_SUCCEEDED);
    EXPECT_EQ(deliver(other_, 1, kOut, "this\n"), PMIX_OPERATION_SUCCEEDED);
    EXPECT_EQ(deliver(other_, 1, kOut, std::string("\0x", 2)), PMIX_OPERATION_SUCCEEDED);
    EXPECT_EQ(client.line(), "GOT 1 2 1 [this\\n]");
    EXPECT_EQ(client.line(), "GOT 1 2 1 [?x]");
    const auto pulls = upcalls_->pulls();
    ASSERT_EQ(pulls.size(), 1u);
    EXPECT_EQ(pulls[0].nspace, other_.nspace);
    EXPECT_EQ(pulls[0].rank, 1u);
    EXPECT_EQ(pulls[0].nprocs, 1u);
    EXPECT_EQ(pulls[0].channels, kOut);
    EXPECT_EQ(pulls[0].uid, geteuid());
    EXPECT_TRUE(pulls[0].has(PMIX_GRPID));
    end(client);
    // The host is requested to stop, for the same processes.
    ASSERT_TRUE(upcalls_->wait_for_pulls(2));
    EXPECT_TRUE(upcalls_->pulls()[1].has(PMIX_IOF_STOP));
    EXPECT_EQ(upcalls_->pulls()[1].rank, 1u);
}

TEST_F(Iof, PullsAllChannelsOfAWildcardRank) {
    covers("TLO-28");
    auto client = pull("*", "all");
    deliver(other_, 0, kOut, "a");
    deliver(other_, 2, kErr, "b");
    deliver(other_, 1, PMIX_FWD_STDDIAG_CHANNEL, "c");
    EXPECT_EQ(client.line(), "GOT 1 2 0 [a]");
    EXPECT_EQ(client.line(), "GOT 1 4 2 [b]");
    EXPECT_EQ(client.line(), "GOT 1 8 1 [c]");
    EXPECT_EQ(upcalls_->pulls()[0].channels, kOut | kErr | PMIX_FWD_STDDIAG_CHANNEL);
    end(client);
}

TEST_F(Iof, AHostMayRefuseToForwardAJob) {
    covers("IOF-03");
    upcalls_->answer = PMIX_ERR_NOT_FOUND;
    auto client = pull("*", "oe", {}, "pull", "PULLED NOT_FOUND");
    client.go_on();
    client.go_on();
    client.line();
    EXPECT_EQ(client.line(), "DEREGISTERED BAD_PARAM");
    EXPECT_EQ(client.wait(), 0);
}

TEST_F(Iof, AHostMayAnswerLater) {
    upcalls_->answer = PMIX_SUCCESS;
    auto client = pull("*", "o");
    deliver(other_, 0, kOut, "a");
    EXPECT_EQ(client.line(), "GOT 1 2 0 [a]");
    end(client);
}

TEST_F(Iof, InvalidPullsAreRefusedWithoutAskingTheHost) {
    covers("TLO-25");
    // The call returns the error, and does not call back.
    const auto refused = [this](const std::string& channels, const std::vector<std::string>& directives,
                                const std::string& status) {
        auto client = pull("*", channels, directives, "pull", "REFUSED " + status);
        EXPECT_EQ(client.line(0.1), "");
        client.signal(SIGKILL);
    };
    refused("i", {}, "NOT_SUPPORTED");
    refused("oi", {}, "NOT_SUPPORTED");
    refused("x", {}, "BAD_PARAM");
    refused("-", {}, "BAD_PARAM");
    refused("o", {"wrong"}, "BAD_PARAM");
    refused("o", {"nobody"}, "BAD_PARAM");
    // The server detects this one, so the callback reports it.
    pull("*", "o", {"oldest", "newest"}, "pull", "PULLED BAD_PARAM").signal(SIGKILL);
    EXPECT_TRUE(upcalls_->pulls().empty());
}

TEST_F(Iof, TheEndOfAChannelIsReportedOnce) {
    covers("IOF-26");
    auto client = pull("*", "oe");
    deliver(other_, 0, kOut, "a");
    deliver(other_, 0, kOut, "");
    EXPECT_EQ(client.line(), "GOT 1 2 0 [a]");
    EXPECT_EQ(client.line(), "GOT 1 2 0 [] complete");
    pmix_info_t complete{};
    PMIx_Info_load(&complete, PMIX_IOF_COMPLETE, nullptr, PMIX_BOOL);
    deliver(other_, 0, kErr, "last", &complete, 1);
    PMIx_Info_destruct(&complete);
    EXPECT_EQ(client.line(), "GOT 1 4 0 [last] complete");
    end(client);
}

TEST_F(Iof, OutputBeforeTheFirstPullIsCached) {
    covers("IOF-02", "TLO-20");
    deliver(other_, 0, kOut, "early 1\n");
    deliver(other_, 1, kErr, "other\n");
    deliver(other_, 0, kOut, "early 2\n");
    auto client = pull("0", "oe");
    EXPECT_EQ(client.line(), "GOT 1 2 0 [early 1\\n]");
    EXPECT_EQ(client.line(), "GOT 1 2 0 [early 2\\n]");
    deliver(other_, 0, kOut, "late\n");
    EXPECT_EQ(client.line(), "GOT 1 2 0 [late\\n]");
    end(client);
    // Output for others was kept for them, and is not delivered twice.
    auto second = pull("*", "oe");
    EXPECT_EQ(second.line(), "GOT 1 4 1 [other\\n]");
    deliver(other_, 2, kOut, "end");
    EXPECT_EQ(second.line(), "GOT 1 2 2 [end]");
    end(second);
}

TEST_F(Iof, OutputIsBufferedUpToASizeAndFlushedAtTheEnd) {
    covers("IOF-23", "TLO-31");
    auto client = pull("*", "o", {"bsize=10"});
    for (const char* text : {"aaaa", "bbbb", "cccc", "dddd"})
        deliver(other_, 0, kOut, text);
    EXPECT_EQ(client.line(), "GOT 1 2 0 [aaaabbbbcccc]");
    client.go_on();
    client.go_on();
    client.line();  // DROPPED
    // Deregistration flushes.
    EXPECT_EQ(client.line(), "GOT 1 2 0 [dddd]");
    EXPECT_EQ(client.line(), "DEREGISTERED SUCCESS");
    EXPECT_EQ(client.wait(), 0);
}

TEST_F(Iof, OutputIsFlushedAfterTheBufferingTime) {
    covers("IOF-24");
    auto client = pull("*", "o", {"bsize=1000", "btime=1"});
    deliver(other_, 0, kOut, "aa");
    deliver(other_, 0, kOut, "bb");
    EXPECT_EQ(client.line(), "GOT 1 2 0 [aabb]");
    end(client);
}

TEST_F(Iof, NothingIsDeliveredAfterDeregistration) {
    covers("TLO-30", "TLO-31");
    auto client = pull("*", "o", {"bsize=1000", "twice"});
    deliver(other_, 0, kOut, "held");
    client.go_on();
    client.go_on();
    client.line();
    EXPECT_EQ(client.line(), "GOT 1 2 0 [held]");
    EXPECT_EQ(client.line(), "DEREGISTERED SUCCESS");
    EXPECT_EQ(client.line(), "AGAIN BAD_PARAM");
    deliver(other_, 0, kOut, "too late");
    EXPECT_EQ(client.line(1), "");
    EXPECT_EQ(client.wait(), 0);
}

TEST_F(Iof, TheClientTagsLines) {
    covers("IOF-06", "IOF-27", "IOF-29", "TLO-23");
    auto client = pull("*", "oe", {"tag"});
    deliver(other_, 0, kOut, "begin");
    deliver(other_, 1, kErr, "whole\nnext");
    EXPECT_EQ(client.line(), "GOT 1 4 1 [[" + other_.nspace + ",1]<stderr>: whole\\n]");
    deliver(other_, 0, kOut, " end\n");
    EXPECT_EQ(client.line(), "GOT 1 2 0 [[" + other_.nspace + ",0]<stdout>: begin end\\n]");
    deliver(other_, 1, kErr, "");
    EXPECT_EQ(client.line(), "GOT 1 4 1 [[" + other_.nspace + ",1]<stderr>: next\\n]");
    EXPECT_EQ(client.line(), "GOT 1 4 1 [] complete");
    end(client);
    auto ranks = pull("*", "oe", {"rank", "merge"});
    deliver(other_, 2, kErr, "x\n");
    EXPECT_EQ(ranks.line(), "GOT 1 2 2 [[2]<stderr>: x\\n]");
    end(ranks);
}

TEST_F(Iof, APullChoosesTheFormOfItsOutput) {
    covers("TLO-22", "TLO-23", "TLO-27");
    // Each reader formats the same bytes itself: the server passes them on unchanged.
    auto tagged = pull("1", "o", {"copy", "tag"});
    const std::string words = other_.nspace + ",1]<stdout>: a<b\\n]";
    const auto read = [&](Process& client) {
        deliver(other_, 1, kOut, "a<b\n");
        return client.line();
    };
    EXPECT_EQ(read(tagged), "GOT 1 2 1 [[" + words);
    end(tagged);
    auto timed = pull("1", "o", {"ts"});
    const std::string line = read(timed);
    EXPECT_TRUE(line.starts_with("GOT 1 2 1 [[2")) << line;
    EXPECT_TRUE(line.ends_with("]<stdout>: a<b\\n]")) << line;
    EXPECT_EQ(std::count(line.begin(), line.end(), ':'), 3) << line << ": the time has hours and minutes";
    end(timed);
    auto both = pull("1", "o", {"ts", "tag"});
    const std::string marked = read(both);
    EXPECT_TRUE(marked.starts_with("GOT 1 2 1 [[2") && marked.ends_with("][" + words)) << marked;
    end(both);
    auto xml = pull("1", "o", {"xml"});
    EXPECT_EQ(read(xml), "GOT 1 2 1 [<stdout rank=\"1\">a&lt;b&#010;</stdout>\\n]");
    end(xml);
    auto plain = pull("1", "o");
    EXPECT_EQ(read(plain), "GOT 1 2 1 [a<b\\n]");
    end(plain);
    // Marked output is buffered like unmarked output.
    auto buffered = pull("1", "o", {"rank", "bsize=30", "btime=1"});
    deliver(other_, 1, kOut, "one\n");
    deliver(other_, 1, kOut, "two\n");
    EXPECT_EQ(buffered.line(), "GOT 1 2 1 [[1]<stdout>: one\\n[1]<stdout>: two\\n]");
    deliver(other_, 1, kOut, "last\n");
    EXPECT_EQ(buffered.line(), "GOT 1 2 1 [[1]<stdout>: last\\n]");
    end(buffered);
}

TEST_F(Iof, OutputWithoutACallbackGoesToStdout) {
    covers("TLO-28");
    auto client = pull("*", "oe", {"merge"}, "show");
    deliver(other_, 0, kOut, "one ");
    deliver(other_, 1, kErr, "error\n");
    deliver(other_, 0, kOut, "line\n");
    EXPECT_EQ(client.line(), "error");
    EXPECT_EQ(client.line(), "one line");
    deliver(other_, 0, kOut, "no end");
    client.go_on();
    client.go_on();
    client.line();
    // Buffered output is shown at the latest at the deregistration, without an added line end.
    EXPECT_EQ(client.line(), "no endDEREGISTERED SUCCESS");
    EXPECT_EQ(client.wait(), 0);
}

TEST_F(Iof, RawOutputIsNotAssembled) {
    covers("IOF-25");
    auto client = pull("*", "o", {"raw"}, "show");
    deliver(other_, 0, kOut, "a");
    deliver(other_, 1, kOut, "b");
    deliver(other_, 0, kOut, "c\n");
    EXPECT_EQ(client.line(), "abc");
    end(client);
}

TEST_F(Iof, OutputMayGoToFilesOnly) {
    covers("IOF-31", "IOF-34", "TOOL-57");
    char folder[] = "/tmp/muster-iof-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    const std::string base = folder;
    auto client = pull("*", "oe", {"file=" + base + "/out", "fonly"});
    deliver(other_, 0, kOut, "to file\n");
    deliver(other_, 0, kErr, "error\n");
    end(client);
    EXPECT_EQ(slurp(base + "/out." + other_.nspace + ".0.stdout"), "to file\n");
    EXPECT_EQ(slurp(base + "/out." + other_.nspace + ".0.stderr"), "error\n");
    std::filesystem::remove_all(base);
}

TEST_F(Iof, AFileThatCannotBeWrittenIsAnEvent) {
    covers("IOF-15");
    auto client = pull("*", "o", {"file=/proc/nowhere/out"});
    deliver(other_, 0, kOut, "x\n");
    const std::string first = client.line(), second = client.line();
    EXPECT_EQ(std::min(first, second), "EVENT IOF_FAILURE 2");
    EXPECT_EQ(std::max(first, second), "GOT 1 2 0 [x\\n]");
    end(client);
}

TEST_F(Iof, TheCallbackMayTakeThePayload) {
    auto client = pull("*", "o", {"take"});
    deliver(other_, 0, kOut, "mine");
    EXPECT_EQ(client.line(), "GOT 1 2 0 [mine]");
    end(client);
}

TEST_F(Iof, RedirectedOutputReturnsToItsDestinationWhenTheReaderEnds) {
    covers("IOF-04", "IOF-05", "TLO-21");
    // The default destination of this host is a file that its server writes.
    char folder[] = "/tmp/muster-iof-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    const std::string base = folder;
    Host::Job shown = host_->start_job(1, 0, [&](void* list) {
        PMIx_Info_list_add(list, PMIX_IOF_OUTPUT_TO_DIRECTORY, base.c_str(), PMIX_STRING);
    });
    other_ = shown;
    const std::string path = base + "/" + shown.nspace + "/rank.0/stdout";
    deliver(shown, 0, kOut, "before\n");
    {
        auto copying = pull("0", "o", {"copy"});
        deliver(shown, 0, kOut, "copied\n");
        EXPECT_EQ(copying.line(), "GOT 1 2 0 [before\\n]");
        EXPECT_EQ(copying.line(), "GOT 1 2 0 [copied\\n]");
        EXPECT_EQ(slurp(path), "before\ncopied\n");
        end(copying);
    }
    {
        auto redirecting = pull("0", "o");
        EXPECT_FALSE(upcalls_->pulls().back().has(PMIX_IOF_COPY));
        deliver(shown, 0, kOut, "taken\n");
        EXPECT_EQ(redirecting.line(), "GOT 1 2 0 [taken\\n]");
        redirecting.signal(SIGKILL);
        EXPECT_EQ(redirecting.wait(), 128 + SIGKILL);
    }
    // The host is notified.
    ASSERT_TRUE(upcalls_->wait_for_pulls(4));
    EXPECT_TRUE(upcalls_->pulls()[3].has(PMIX_IOF_STOP));
    deliver(shown, 0, kOut, "after\n");
    EXPECT_EQ(slurp(path), "before\ncopied\nafter\n");
    std::filesystem::remove_all(base);
}

TEST_F(Iof, LocalOutputIsWrittenByTheServer) {
    covers("IOF-18");
    char path[] = "/tmp/muster-iof-XXXXXX";
    const int file = mkstemp(path);
    ASSERT_GE(file, 0);
    fflush(stdout);
    const int console = dup(STDOUT_FILENO);
    const bool yes = true;
    dup2(file, STDOUT_FILENO);
    const Host::Job shown = host_->start_job(
        1, 0, [&](void* list) { PMIx_Info_list_add(list, PMIX_IOF_LOCAL_OUTPUT, &yes, PMIX_BOOL); });
    EXPECT_EQ(deliver(shown, 0, kOut, "shown here\n"), PMIX_OPERATION_SUCCEEDED);
    EXPECT_EQ(deliver(other_, 0, kOut, "not shown\n"), PMIX_OPERATION_SUCCEEDED);
    pmix_info_t relayed;
    const bool no = false;
    ASSERT_EQ(PMIx_Info_load(&relayed, PMIX_IOF_LOCAL_OUTPUT, &no, PMIX_BOOL), PMIX_SUCCESS);
    EXPECT_EQ(deliver(shown, 0, kOut, "shown elsewhere\n", &relayed, 1), PMIX_OPERATION_SUCCEEDED);
    host_->deregister_job(shown);
    const std::string text = slurp(path);
    dup2(console, STDOUT_FILENO);
    close(console);
    close(file);
    std::filesystem::remove(path);
    EXPECT_EQ(text, "shown here\n");
}

TEST_F(Iof, AToolThatShowsItsJobDoesNotDisableTheOutputFiles) {
    covers("IOF-27", "IOF-32");
    char folder[] = "/tmp/muster-iof-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    const std::string base = folder;
    const Host::Job written = host_->start_job(1, 0, [&](void* list) {
        PMIx_Info_list_add(list, PMIX_IOF_OUTPUT_TO_DIRECTORY, base.c_str(), PMIX_STRING);
    });
    upcalls_->answer_spawn(written);
    auto tool = host_->start_program(job_, 0, IOF_CLIENT, {"spawn", "1", "dir=" + base, "tag"});
    EXPECT_EQ(tool.line(), "SPAWNED SUCCESS");
    EXPECT_EQ(deliver(written, 0, kOut, "both\n"), PMIX_OPERATION_SUCCEEDED);
    EXPECT_EQ(tool.line(), "[" + written.nspace + ",0]<stdout>: both");
    EXPECT_EQ(slurp(base + "/" + written.nspace + "/rank.0/stdout"), "both\n");
    tool.go_on();
    EXPECT_EQ(tool.line().rfind("GREW ", 0), 0u);
    EXPECT_EQ(tool.wait(), 0);
    std::filesystem::remove_all(base);
}

// --- input

TEST_F(Iof, InputIsPassedToTheHost) {
    covers("IOF-09", "IOF-10", "TLO-35", "TLO-39");
    for (const char* rank : {"2", "*"}) {
        auto client = host_->start_program(job_, 0, IOF_CLIENT, {"push", other_.nspace, rank, "hello"});
        EXPECT_EQ(client.line(), "PUSHED SUCCESS");
        EXPECT_EQ(client.wait(), 0);
    }
    const auto pushes = upcalls_->pushes();
    ASSERT_EQ(pushes.size(), 2u);
    EXPECT_EQ(pushes[0].bytes, "hello");
    EXPECT_EQ(pushes[0].nspace, other_.nspace);
    EXPECT_EQ(pushes[0].rank, 2u);
    EXPECT_EQ(pushes[0].uid, geteuid());
    EXPECT_EQ(pushes[1].rank, PMIX_RANK_WILDCARD);
}

pmix_status_t control_input(bool suspend, const pmix_proc_t* source = nullptr) {
    return PMIx_server_IOF_flow_control(source, PMIX_FWD_STDIN_CHANNEL, suspend, nullptr, 0, nullptr,
                                        nullptr);
}

TEST_F(Iof, InputOfASuspendedProcessWaitsForTheHost) {
    EXPECT_EQ(control_input(true), PMIX_OPERATION_SUCCEEDED);
    auto client = host_->start_program(job_, 0, IOF_CLIENT, {"push", other_.nspace, "0", "hello"});
    EXPECT_EQ(client.line(0.5), "") << "it is not answered";
    EXPECT_TRUE(upcalls_->pushes().empty()) << "and the host is not asked";
    pmix_proc_t another{};
    std::snprintf(another.nspace, sizeof another.nspace, "%s", job_.nspace.c_str());
    another.rank = 1;
    EXPECT_EQ(control_input(false, &another), PMIX_OPERATION_SUCCEEDED);
    EXPECT_EQ(client.line(0.2), "");
    another.rank = 0;
    EXPECT_EQ(control_input(false, &another), PMIX_OPERATION_SUCCEEDED);
    EXPECT_EQ(client.line(), "PUSHED SUCCESS");
    EXPECT_EQ(client.wait(), 0);
    ASSERT_EQ(upcalls_->pushes().size(), 1u);
    EXPECT_EQ(upcalls_->pushes()[0].bytes, "hello");
}

TEST_F(Iof, AHostMaySuspendAndResumeInput) {
    upcalls_->answer = PMIX_SUCCESS;
    upcalls_->answer_to_bytes = PMIX_ERR_IOF_XOFF;
    auto client = host_->start_program(
        job_, 0, "/bin/sh",
        {"-c", "head -c 20000 /dev/zero | exec " IOF_CLIENT " push_stdin " + other_.nspace + " 0 - stdin"});
    EXPECT_EQ(client.line(), "PUSHED SUCCESS");
    ASSERT_TRUE(upcalls_->wait_for_pushes(1));
    EXPECT_EQ(client.line(0.5), "");
    EXPECT_EQ(upcalls_->pushes().size(), 1u) << "it said that it had enough";
    upcalls_->answer_to_bytes = PMIX_SUCCESS;
    EXPECT_EQ(control_input(false), PMIX_OPERATION_SUCCEEDED);
    EXPECT_EQ(client.line(), "EVENT IOF_COMPLETE 1");
    EXPECT_EQ(client.wait(), 0);
    size_t all = 0;
    for (const Forwarded& push : upcalls_->pushes())
        all += push.bytes.size();
    EXPECT_EQ(all, 20000u);
}

TEST_F(Iof, AHostMaySuspendAndResumeOutput) {
    const auto control = [](pmix_iof_channel_t channel, bool xoff) {
        return PMIx_server_IOF_flow_control(nullptr, channel, xoff, nullptr, 0, nullptr, nullptr);
    };
    auto client = pull("1", "oe");
    EXPECT_EQ(control(kOut, true), PMIX_OPERATION_SUCCEEDED);
    pmix_proc_t source;
    PMIx_Load_procid(&source, other_.nspace.c_str(), 1);
    const std::string text = "first";
    const pmix_byte_object_t bytes = {const_cast<char*>(text.data()), text.size()};
    std::promise<pmix_status_t> answer;
    auto answered = answer.get_future();
    ASSERT_EQ(PMIx_server_IOF_deliver(
                  &source, kOut, &bytes, nullptr, 0,
                  [](pmix_status_t status, void* cbdata) {
                      static_cast<std::promise<pmix_status_t>*>(cbdata)->set_value(status);
                  },
                  &answer),
              PMIX_SUCCESS);
    EXPECT_EQ(deliver(other_, 1, kOut, "refused"), PMIX_ERR_IOF_XOFF);
    EXPECT_EQ(deliver(other_, 1, kErr, "another channel"), PMIX_OPERATION_SUCCEEDED);
    EXPECT_EQ(client.line(), "GOT 1 4 1 [another channel]");
    EXPECT_EQ(answered.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
    EXPECT_EQ(control(kOut, false), PMIX_OPERATION_SUCCEEDED);
    EXPECT_EQ(answered.get(), PMIX_SUCCESS);
    EXPECT_EQ(deliver(other_, 1, kOut, "second"), PMIX_OPERATION_SUCCEEDED);
    EXPECT_EQ(client.line(), "GOT 1 2 1 [first]");
    EXPECT_EQ(client.line(), "GOT 1 2 1 [second]");
    end(client);
    EXPECT_EQ(control(0, true), PMIX_ERR_NOT_SUPPORTED);
    EXPECT_EQ(
        PMIx_server_IOF_flow_control(nullptr, PMIX_FWD_STDIN_CHANNEL, true, nullptr, 1, nullptr, nullptr),
        PMIX_ERR_BAD_PARAM);
}

TEST_F(Iof, AnEmptyPushEndsTheInput) {
    auto client = host_->start_program(job_, 0, IOF_CLIENT, {"push", other_.nspace, "0", "", "complete"});
    EXPECT_EQ(client.line(), "PUSHED SUCCESS");
    EXPECT_EQ(client.wait(), 0);
    ASSERT_EQ(upcalls_->pushes().size(), 1u);
    EXPECT_TRUE(upcalls_->pushes()[0].null);
    EXPECT_TRUE(upcalls_->pushes()[0].has(PMIX_IOF_COMPLETE));
}

TEST_F(Iof, StdinIsForwardedToItsEnd) {
    covers("IOF-07", "IOF-08", "IOF-16", "TLO-32");
    auto client = host_->start_program(
        job_, 0, "/bin/sh",
        {"-c", "(printf 'line 1\\n'; printf 'line 2\\n') | exec " IOF_CLIENT " push_stdin " + other_.nspace +
                   " '*' - stdin"});
    EXPECT_EQ(client.line(), "PUSHED SUCCESS");
    EXPECT_EQ(client.line(), "EVENT IOF_COMPLETE 1");
    std::string all;
    const auto pushes = upcalls_->pushes();
    for (const Forwarded& push : pushes) {
        all += push.bytes;
        EXPECT_EQ(push.nspace, other_.nspace);
        EXPECT_FALSE(push.has(PMIX_IOF_PUSH_STDIN));
    }
    EXPECT_EQ(all, "line 1\nline 2\n");
    EXPECT_TRUE(pushes.back().null);
    EXPECT_TRUE(pushes.back().has(PMIX_IOF_COMPLETE));
    EXPECT_EQ(client.wait(), 0);
}

TEST_F(Iof, AHostMayEndTheInput) {
    covers("IOF-08");
    // As PRRTE does for its end; others may refuse further input. Neither is a failure, at which prun would
    // end its job.
    const std::string words = IOF_CLIENT " push_stdin " + other_.nspace + " 0 - stdin";
    upcalls_->answer = PMIX_SUCCESS;
    upcalls_->answer_to_end = PMIX_ERR_IOF_COMPLETE;
    auto whole = host_->start_program(job_, 0, "/bin/sh", {"-c", "printf abc | exec " + words});
    EXPECT_EQ(whole.line(), "PUSHED SUCCESS");
    EXPECT_EQ(whole.line(), "EVENT IOF_COMPLETE 1");
    EXPECT_EQ(whole.wait(), 0);
    const size_t before = upcalls_->pushes().size();
    upcalls_->answer_to_bytes = PMIX_ERR_IOF_COMPLETE;
    auto endless = host_->start_program(job_, 1, "/bin/sh", {"-c", "exec " + words + " </dev/zero"});
    EXPECT_EQ(endless.line(), "PUSHED SUCCESS");
    EXPECT_EQ(endless.line(), "EVENT IOF_COMPLETE 1");
    EXPECT_EQ(endless.wait(), 0);
    const auto pushes = upcalls_->pushes();
    ASSERT_EQ(pushes.size(), before + 2) << "what it had read, and the end";
    EXPECT_TRUE(pushes.back().has(PMIX_IOF_COMPLETE));
    // A failing host is a failure.
    upcalls_->answer_to_bytes = PMIX_ERR_NOT_FOUND;
    auto failing = host_->start_program(job_, 0, "/bin/sh", {"-c", "exec " + words + " </dev/zero"});
    EXPECT_EQ(failing.line(), "PUSHED SUCCESS");
    EXPECT_EQ(failing.line(), "EVENT IOF_FAILURE 1");
    EXPECT_EQ(failing.wait(), 0);
}

TEST_F(Iof, StdinMayBeAFile) {
    covers("IOF-07");
    auto client = host_->start_program(
        job_, 0, "/bin/sh",
        {"-c", "exec " IOF_CLIENT " push_stdin " + other_.nspace + " 0 - stdin </proc/self/status"});
    EXPECT_EQ(client.line(), "PUSHED SUCCESS");
    EXPECT_EQ(client.line(), "EVENT IOF_COMPLETE 1");
    EXPECT_NE(upcalls_->pushes()[0].bytes.find("Name:"), std::string::npos);
    EXPECT_EQ(client.wait(), 0);
}

TEST_F(Iof, StdinIsBufferedBySizeAndByTime) {
    covers("TLO-38");
    const std::string words = IOF_CLIENT " push_stdin " + other_.nspace + " 0 - stdin bsize=";
    auto sized = host_->start_program(job_, 0, "/bin/sh",
                                      {"-c", "(printf aaaa; sleep 0.1; printf bbbb) | exec " + words + "8"});
    EXPECT_EQ(sized.line(), "PUSHED SUCCESS");
    EXPECT_EQ(sized.line(), "EVENT IOF_COMPLETE 1");
    EXPECT_EQ(sized.wait(), 0);
    ASSERT_GE(upcalls_->pushes().size(), 2u);
    EXPECT_EQ(upcalls_->pushes()[0].bytes, "aaaabbbb");
    const size_t before = upcalls_->pushes().size();
    // Its input stays open: only the timer has expired.
    auto timed = host_->start_program(
        job_, 1, "/bin/sh",
        {"-c", "(printf cccc; exec head -n 1 3>&1 >/dev/null) | exec " + words + "1000 btime=1"});
    EXPECT_EQ(timed.line(), "PUSHED SUCCESS");
    ASSERT_TRUE(upcalls_->wait_for_pushes(before + 1));
    EXPECT_EQ(upcalls_->pushes()[before].bytes, "cccc");
    timed.go_on();
    EXPECT_EQ(timed.line(), "EVENT IOF_COMPLETE 1");
    EXPECT_EQ(timed.wait(), 0);
}

TEST_F(Iof, APushReturnsBeforeItCallsBackOrFailsAtOnce) {
    covers("TLO-36");
    auto client = host_->start_program(job_, 0, IOF_CLIENT, {"push_forms", other_.nspace, "0", "text"});
    EXPECT_EQ(client.line(), "PUSHED SUCCESS");       // the callback, after the call had returned
    EXPECT_EQ(client.line(), "BLOCKING SUCCESS");     // without callback
    EXPECT_EQ(client.line(), "REFUSED BAD_PARAM 0");  // and no callback
    EXPECT_EQ(client.line(), "REFUSED BAD_PARAM 0");
    EXPECT_EQ(client.wait(), 0);
    ASSERT_EQ(upcalls_->pushes().size(), 2u);
}

TEST_F(Iof, APushStopsForwardingOfStdin) {
    covers("IOF-08");
    auto client = host_->start_program(job_, 0, IOF_CLIENT, {"push_stop", other_.nspace, "0", "-", "stdin"});
    EXPECT_EQ(client.line(), "PUSHED SUCCESS");
    EXPECT_EQ(client.line(), "PUSHED SUCCESS");
    EXPECT_EQ(client.wait(), 0);
    ASSERT_EQ(upcalls_->pushes().size(), 1u);
    EXPECT_TRUE(upcalls_->pushes()[0].null);
}

TEST_F(Iof, StoppingStdinDoesNotWaitForTheHost) {
    covers("IOF-08");
    // PRRTE's prterun stops it on the thread that would have to accept the data read. The input stays open.
    upcalls_->hold();
    auto client = host_->start_program(
        job_, 0, "/bin/sh",
        {"-c", "(printf abc; exec head -n 1 3>&1 >/dev/null) | exec " IOF_CLIENT " push_stop " +
                   other_.nspace + " 0 - stdin"});
    EXPECT_EQ(client.line(), "PUSHED SUCCESS");
    EXPECT_EQ(client.line(), "PUSHED SUCCESS");
    ASSERT_TRUE(upcalls_->wait_for_pushes(1));
    upcalls_->release();
    client.go_on();
    EXPECT_EQ(client.wait(), 0);
    EXPECT_TRUE(upcalls_->pushes().back().null);
}

TEST_F(Iof, StdinIsPushedInPiecesOfBoundedSize) {
    covers("IOF-07");
    // PRRTE copies pushed data into its own buffer without a check of the length.
    auto client = host_->start_program(
        job_, 0, "/bin/sh",
        {"-c", "head -c 100000 /dev/zero | exec " IOF_CLIENT " push_stdin " + other_.nspace + " 0 - stdin"});
    EXPECT_EQ(client.line(), "PUSHED SUCCESS");
    EXPECT_EQ(client.line(), "EVENT IOF_COMPLETE 1");
    EXPECT_EQ(client.wait(), 0);
    size_t all = 0, longest = 0;
    for (const Forwarded& push : upcalls_->pushes()) {
        all += push.bytes.size();
        longest = std::max(longest, push.bytes.size());
    }
    EXPECT_EQ(all, 100000u);
    EXPECT_LE(longest, 4096u);
}

TEST(IofHost, PullAndPushAreNotSupportedWithoutTheUpcalls) {
    covers("IOF-11", "TLO-33");
    Host host;
    const auto job = host.start_job(1);
    auto pulling = host.start_program(job, 0, IOF_CLIENT, {"pull", job.nspace, "0", "o"});
    EXPECT_EQ(pulling.line(), "PULLED NOT_SUPPORTED");
    pulling.go_on();
    pulling.go_on();
    EXPECT_EQ(pulling.wait(), 0);
    auto pushing = host.start_program(job, 0, IOF_CLIENT, {"push", job.nspace, "0", "x"});
    EXPECT_EQ(pushing.line(), "PUSHED NOT_SUPPORTED");
    EXPECT_EQ(pushing.wait(), 0);
}

}  // namespace
