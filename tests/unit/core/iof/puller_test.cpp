// SPDX-License-Identifier: BSD-3-Clause
// Output of a reader, from the host's piece to the callback, the file or standard output: marks,
// XML, buffers by size and time, and output that a server shows itself.
#include "core/iof/puller.hpp"

#include <fstream>
#include <iterator>

#include "tests/unit/core/in_memory/listener.hpp"
#include "tests/unit/core/in_memory/output.hpp"

namespace muster::testing_in_memory {
namespace {

/// The text of a file; "" if there is none.
std::string content(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

class PullerInMemory : public OutputInMemory {
  protected:
    /// Returns the output of a reader with these directives for two pieces and the end.
    std::string shown(Info directives, const char* first = "one\ntw", const char* second = "o\n") {
        OutputReader reader;
        EXPECT_EQ(
            pull(reader, node.client(0), one_of("job", 1), std::move(directives), PMIX_FWD_STDOUT_CHANNEL),
            PMIX_SUCCESS);
        deliver(1, first);
        deliver(1, second);
        deliver(1, "");
        EXPECT_TRUE(until([&] { return reader.ends() > 0; }));
        const std::string text = reader.text();
        EXPECT_EQ(status_of(reader.stop(node.client(0))), PMIX_SUCCESS);
        return text;
    }
    std::string path(const char* name) const { return std::string(node.folder()) + "/" + name; }
};

TEST_F(PullerInMemory, MarksLines) {
    start(2);
    EXPECT_EQ(shown({}), "one\ntwo\n");
    EXPECT_EQ(shown(with(PMIX_IOF_TAG_OUTPUT)), "[job,1]<stdout>: one\n[job,1]<stdout>: two\n");
    EXPECT_EQ(shown(with(PMIX_IOF_RANK_OUTPUT), "a", "b"), "[1]<stdout>: ab\n");
    EXPECT_EQ(shown(with(PMIX_IOF_XML_OUTPUT), "<one>\n", "&\x01"),
              "<stdout rank=\"1\">&lt;one&gt;&#010;</stdout>\n<stdout rank=\"1\">&amp;&#65533;</stdout>\n");
    const std::string stamped = shown(with(PMIX_IOF_TIMESTAMP_OUTPUT), "text\n", "");
    EXPECT_EQ(stamped.substr(0, 1), "[");
    EXPECT_NE(stamped.find("]<stdout>: text\n"), std::string::npos) << stamped;
}

TEST_F(PullerInMemory, NamesTheNodeOfAProcess) {
    start(2);
    const std::string detailed = shown(with(PMIX_IOF_TAG_DETAILED_OUTPUT), "x\n", "");
    EXPECT_EQ(detailed, "[job,1][node0:unknown]<stdout>: x\n");
}

TEST_F(PullerInMemory, MergesStderrIntoStdout) {
    start(2);
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), one_of("job", 1), with(PMIX_IOF_MERGE_STDERR_STDOUT)),
              PMIX_SUCCESS);
    deliver(1, "error\n", PMIX_FWD_STDERR_CHANNEL);
    deliver(1, "out\n");
    EXPECT_TRUE(hears(reader, "error\nout\n"));
}

TEST_F(PullerInMemory, CollectsUpToASizeAndGivesTheRestAtTheEnd) {
    start(2);
    Info info;
    info.add(PMIX_IOF_BUFFERING_SIZE, uint32_t{8});
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), one_of("job", 1), std::move(info)), PMIX_SUCCESS);
    deliver(1, "abcd");
    deliver(1, "efg");
    settle();
    EXPECT_TRUE(reader.pieces.empty());
    deliver(1, "hi");
    EXPECT_TRUE(hears(reader, "abcdefghi"));
    EXPECT_EQ(reader.pieces.size(), 1U);
    deliver(1, "rest");
    settle();
    EXPECT_EQ(status_of(reader.stop(node.client(0))), PMIX_SUCCESS);
    EXPECT_EQ(reader.text(), "abcdefghirest");
}

TEST_F(PullerInMemory, HoldsNothingLongerThanAsked) {
    start(2);
    Info info;
    info.add(PMIX_IOF_BUFFERING_TIME, uint32_t{5});
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), all_of("job"), std::move(info)), PMIX_SUCCESS);
    deliver(1, "out ");
    deliver(0, "zero");
    settle();
    pass(std::chrono::seconds(4));
    EXPECT_TRUE(reader.pieces.empty());
    pass(std::chrono::seconds(2));
    EXPECT_TRUE(until([&] { return reader.pieces.size() == 2; }));
    deliver(1, "more", PMIX_FWD_STDOUT_CHANNEL, true);
    EXPECT_TRUE(until([&] { return reader.ends() == 1; }));
    EXPECT_EQ(reader.text(PMIX_FWD_STDOUT_CHANNEL, 1), "out more");
}

TEST_F(PullerInMemory, RefusesDirectivesOfTheWrongType) {
    start(1);
    for (const char* key : {PMIX_IOF_BUFFERING_SIZE, PMIX_IOF_BUFFERING_TIME, PMIX_IOF_TAG_OUTPUT}) {
        Info info;
        info.add(key, "neither");
        OutputReader reader;
        EXPECT_EQ(pull(reader, node.client(0), all_of("job"), std::move(info)), PMIX_ERR_BAD_PARAM) << key;
    }
    EXPECT_EQ(node.host.count("iof_pull"), 0U);
}

TEST_F(PullerInMemory, WritesFilesAndNothingElseWhereAskedTo) {
    start(2);
    Info info = with(PMIX_IOF_FILE_ONLY);
    info.add(PMIX_IOF_OUTPUT_TO_FILE, path("out").c_str());
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), all_of("job"), std::move(info)), PMIX_SUCCESS);
    deliver(1, "text\n");
    deliver(0, "", PMIX_FWD_STDERR_CHANNEL);
    deliver(1, "", PMIX_FWD_STDOUT_CHANNEL);
    EXPECT_TRUE(until([&] { return content(path("out.job.1.stdout")) == "text\n"; }));
    EXPECT_TRUE(reader.pieces.empty());
}

TEST_F(PullerInMemory, ReportsAFileThatCannotBeWritten) {
    start(2);
    Listener listener;
    listener.listen(node.client(0), {PMIX_ERR_IOF_FAILURE});
    ASSERT_TRUE(until([&] { return listener.registered(); }));
    std::ofstream(path("file")) << "in the way";
    Info info;
    info.add(PMIX_IOF_OUTPUT_TO_DIRECTORY, path("file").c_str());
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), one_of("job", 1), std::move(info)), PMIX_SUCCESS);
    deliver(1, "text\n");
    deliver(1, "more\n");
    EXPECT_TRUE(hears(reader, "text\nmore\n"));
    ASSERT_TRUE(until([&] { return !listener.heard.empty(); }));
    settle();
    EXPECT_EQ(listener.heard.size(), 1U) << "it is said once";
    const pmix_proc_t* source = listener.heard[0].info.view().proc(PMIX_EVENT_AFFECTED_PROC);
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(source->rank, 1U);
}

TEST_F(PullerInMemory, ShowsOutputOnStdoutWithoutAFunction) {
    start(2);
    testing::internal::CaptureStdout();
    auto answered = std::make_shared<int>(0);
    auto id = std::make_shared<size_t>(0);
    on(node.client(0), [&] {
        node.client(0).forwarding().puller().pull(one_of("job", 1), with(PMIX_IOF_TAG_OUTPUT),
                                                  PMIX_FWD_STDOUT_CHANNEL, nullptr,
                                                  [answered, id](pmix_status_t status, size_t number) {
                                                      *answered = status == PMIX_SUCCESS ? 1 : -1;
                                                      *id = number;
                                                  });
    });
    EXPECT_TRUE(until([&] { return *answered != 0; }));
    deliver(1, "line\nheld");
    settle();
    const Call stopped = call(node.client(0), [&](const HostDone& done) {
        node.client(0).forwarding().puller().deregister(*id, {}, done);
    });
    EXPECT_EQ(status_of(stopped), PMIX_SUCCESS);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "[job,1]<stdout>: line\n[job,1]<stdout>: held\n");
    EXPECT_EQ(*answered, 1);
}

TEST_F(PullerInMemory, SurvivesOutputThatCannotBeRead) {
    start(2);
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), all_of("job")), PMIX_SUCCESS);
    node.on_loop([&] {
        for (const PeerPtr& peer : node.server().peers().all()) {
            Bytes garbage;
            garbage.append("\xff\xff\xff", 3);
            peer->send(tag::kIof, std::move(garbage));
            // Neither a handler nor a channel matches.
            OutputPiece piece;
            piece.source = make_proc("job", 1);
            piece.channel = PMIX_FWD_STDOUT_CHANNEL;
            for (const size_t reference : {size_t{0}, size_t{77}}) {
                Packer message = peer->packer();
                write_output(message, piece, reference, {});
                peer->send(tag::kIof, message.take());
            }
            piece.channel = PMIX_FWD_STDIN_CHANNEL;
            Packer message = peer->packer();
            write_output(message, piece, 1, {});
            peer->send(tag::kIof, message.take());
        }
    });
    settle();
    EXPECT_TRUE(reader.pieces.empty());
    deliver(1, "text");
    EXPECT_TRUE(hears(reader, "text"));
}

TEST_F(PullerInMemory, GivesWhatIsBufferedWhenItsServerIsLost) {
    start(2);
    Info info;
    info.add(PMIX_IOF_BUFFERING_SIZE, uint32_t{100});
    OutputReader reader;
    ASSERT_EQ(pull(reader, node.client(0), one_of("job", 1), std::move(info)), PMIX_SUCCESS);
    deliver(1, "rest");
    settle();
    EXPECT_TRUE(reader.pieces.empty());
    node.on_loop([&] { node.server().close(); });
    EXPECT_TRUE(hears(reader, "rest"));
    EXPECT_EQ(status_of(reader.stop(node.client(0))), PMIX_SUCCESS)
        << "its registration went with the server";
    OutputReader late;
    EXPECT_EQ(pull(late, node.client(0), one_of("job", 1)), PMIX_ERR_UNREACH);
}

/// A server that shows what its host delivers.
class ShowingInMemory : public OutputInMemory {
  protected:
    static Info local(bool tag) {
        Info info = with(PMIX_IOF_LOCAL_OUTPUT);
        if (tag) info.add(PMIX_IOF_TAG_OUTPUT, true);
        return info;
    }
    ShowingInMemory() : OutputInMemory(local(true)) {}
    void add_job(const char* nspace, const Info& info) {
        node.on_loop([&] { EXPECT_EQ(node.server().register_nspace(nspace, 1, info), PMIX_SUCCESS); });
    }
    std::string path(const char* name) const { return std::string(node.folder()) + "/" + name; }
};

TEST_F(ShowingInMemory, ShowsWhatNobodyRedirects) {
    start(2);
    testing::internal::CaptureStdout();
    deliver(1, "shown\n");
    deliver(make_proc("unknown", 0), "unknown\n");
    OutputReader copies, redirects;
    EXPECT_EQ(pull(copies, node.client(0), one_of("job", 1), with(PMIX_IOF_COPY)), PMIX_SUCCESS);
    deliver(1, "copied\n");
    EXPECT_EQ(pull(redirects, node.client(0), one_of("job", 1)), PMIX_SUCCESS);
    deliver(1, "redirected\n");
    EXPECT_TRUE(hears(redirects, "redirected\n"));
    EXPECT_EQ(status_of(redirects.stop(node.client(0))), PMIX_SUCCESS);
    deliver(1, "again\n");
    EXPECT_TRUE(hears(copies, "shown\ncopied\nredirected\nagain\n"));
    EXPECT_EQ(testing::internal::GetCapturedStdout(),
              "[job,1]<stdout>: shown\n[unknown,0]<stdout>: unknown\n[job,1]<stdout>: copied\n"
              "[job,1]<stdout>: again\n");
}

TEST_F(ShowingInMemory, ShowsAJobAsItsOwnDirectivesSay) {
    testing::internal::CaptureStdout();
    Info quiet;
    quiet.add(PMIX_IOF_LOCAL_OUTPUT, false);
    add_job("quiet", quiet);
    Info files;
    files.add(PMIX_IOF_OUTPUT_TO_DIRECTORY, path("dir").c_str());
    files.add(PMIX_IOF_TAG_OUTPUT, false);
    add_job("files", files);
    Info wrong;
    wrong.add(PMIX_IOF_RANK_OUTPUT, "what");
    add_job("wrong", wrong);
    deliver(make_proc("quiet", 0), "quiet\n");
    deliver(make_proc("files", 0), "to a file\nheld");
    deliver(make_proc("wrong", 0), "as usual\n");
    node.on_loop([&] {
        for (const char* nspace : {"quiet", "files", "wrong"})
            node.server().deregister_nspace(nspace, [] {});
    });
    settle();
    EXPECT_EQ(content(path("dir/files/rank.0/stdout")), "to a file\nheld");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "to a file\n[wrong,0]<stdout>: as usual\nheld");
}

TEST_F(ShowingInMemory, ShowsWhatIsHeldBackWhenItEnds) {
    testing::internal::CaptureStdout();
    deliver(make_proc("job", 0), "held");
    node.on_loop([&] { node.server().close(); });
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "[job,0]<stdout>: held\n");
}

TEST(Showing, IsRefusedWithADirectiveOfTheWrongType) {
    Info info;
    info.add(PMIX_IOF_TAG_OUTPUT, "what");
    info.add(PMIX_EXTERNAL_PROGRESS, true);
    const auto made = Process::create_server(nullptr, 0, info);
    EXPECT_EQ(made.status(), PMIX_ERR_BAD_PARAM);
}

}  // namespace
}  // namespace muster::testing_in_memory
