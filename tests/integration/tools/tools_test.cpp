// SPDX-License-Identifier: BSD-3-Clause
// Tools and the servers that they find (Standard: Tools and Debuggers, Connection Mechanisms); tool.cpp plays
// both.
#include "tests/integration/tools/tools.hpp"
#include "tests/covers.hpp"

#include <pmix_common.h>

#include <algorithm>
#include <thread>

namespace {

namespace fs = std::filesystem;
using namespace muster::tests;

// --- the files of a server ---

TEST_F(Tools, AServerWritesAndRemovesItsRendezvousFiles) {
    covers("TOOL-08", "TOOL-13", "TOOL-14", "TOOL-16", "TOOL-19");
    auto one = server("one", {"tools", "session"});
    const std::string by_pid = session_file(std::to_string(one->pid()));
    const std::string text = text_of(by_pid);
    EXPECT_TRUE(begins(text, "one.0;tcp4://127.0.0.1:")) << text;
    EXPECT_NE(text.find("\n" + std::to_string(one->pid()) + "\n" + std::to_string(geteuid()) + ":" +
                        std::to_string(getegid()) + "\n"),
              std::string::npos);
    for (const std::string& path : {by_pid, session_file("one"), session_file()}) {
        EXPECT_EQ(text_of(path), text) << path;
        struct stat facts {};
        ASSERT_EQ(stat(path.c_str(), &facts), 0) << path;
        EXPECT_EQ(facts.st_mode & 07777, 0600U) << path;
        EXPECT_EQ(facts.st_uid, geteuid());
    }
    EXPECT_FALSE(fs::exists(system_file()));
    one->end_input();
    EXPECT_EQ(one->wait(), 0);
    for (const auto& entry : fs::recursive_directory_iterator(dir_))
        ADD_FAILURE() << entry.path() << " was left behind";
}

TEST_F(Tools, TheFileOfARunningServerIsNotReplaced) {
    covers("TOOL-15");
    auto one = server("one", {"tools", "session"});
    auto two = server("two", {"tools", "session"});
    EXPECT_TRUE(begins(text_of(session_file()), "one.0;"));
    two->end_input();
    EXPECT_EQ(two->wait(), 0);
    EXPECT_TRUE(begins(text_of(session_file()), "one.0;"));
}

TEST_F(Tools, ThereIsOneSystemServerPerNode) {
    covers("TOOL-09", "TOOL-10", "TOOL-11", "TOOL-33");
    EXPECT_EQ(outcome("init:system"), "init PMIX_ERR_UNREACH");
    auto one = server("one", {"syssupport"});
    EXPECT_TRUE(begins(text_of(system_file()), "one.0;"));
    Process another({"serve", "two", "syssupport"}, environment());
    EXPECT_TRUE(begins(another.line(), "INIT PMIX_ERR")) << "a second system server on the node";
    EXPECT_EQ(another.wait(), 1);
    EXPECT_TRUE(begins(outcome("init:system"), "init PMIX_SUCCESS tool-"));
    one->kill_it();
    EXPECT_EQ(outcome("init:system"), "init PMIX_ERR_UNREACH");
    auto next = server("next", {"syssupport"});  // replaces the ended one's
    EXPECT_TRUE(begins(outcome("init:system"), "init PMIX_SUCCESS tool-"));
}

TEST_F(Tools, RendezvousFilesMayHaveAGivenPath) {
    covers("TOOL-17", "TOOL-18", "TOOL-29", "TOOL-40");
    const std::string given = dir_ + "/a/b/given", by_variable = dir_ + "/by-variable";
    EXPECT_EQ(outcome("init:file=" + given + ",retries=1"), "init PMIX_ERR_UNREACH");
    Process one({"serve", "one", "rendezvous=" + given},
                {"TMPDIR=" + dir_, "PMIX_LAUNCHER_RNDZ_FILE=" + by_variable});
    EXPECT_TRUE(begins(one.line(), "READY"));
    EXPECT_EQ(text_of(given), text_of(by_variable));
    for (const std::string& path : {given, by_variable})
        EXPECT_TRUE(begins(outcome("init:file=" + path), "init PMIX_SUCCESS tool-"));
    EXPECT_TRUE(begins(outcome("init:uri=file:" + given), "init PMIX_SUCCESS tool-"));
}

// --- the chain ---

TEST_F(Tools, FindServersByEveryAttribute) {
    covers("TOOL-01", "TOOL-07", "TOOL-30", "TOOL-31", "TOOL-32", "TOOL-35", "TOOL-39", "TLO-01", "TLO-02",
           "TLO-05", "TLO-06");
    auto one = server("one");
    auto two = server("two");
    const std::string uri = text_of(session_file("two")).substr(0, text_of(session_file("two")).find('\n'));
    const std::string by_pid = "pid=" + std::to_string(two->pid());
    for (const std::string& way : {std::string("nspace=two"), by_pid, "uri=" + uri, "tcp=" + uri}) {
        auto process = tool({"init:" + way, "servers", "size:job-of-two", "query:of.us", "finalize"});
        EXPECT_TRUE(begins(process->line(), "init PMIX_SUCCESS tool-")) << way;
        EXPECT_EQ(process->line(), "servers PMIX_SUCCESS two:0") << way;
        EXPECT_EQ(process->line(), "size PMIX_SUCCESS 7");
        EXPECT_EQ(process->line(), "query PMIX_SUCCESS of the host");
        EXPECT_EQ(process->line(), "finalize PMIX_SUCCESS");
        EXPECT_EQ(process->wait(), 0);
    }
    EXPECT_TRUE(begins(outcome("init"), "init PMIX_SUCCESS tool-"));  // any of them
    EXPECT_EQ(outcome("init:uri=" + uri + ",tcp=" + uri), "init PMIX_ERR_BAD_PARAM");
    EXPECT_EQ(outcome("init:tcp=two.0;usock:///nowhere"), "init PMIX_ERR_NOT_SUPPORTED");
}

TEST_F(Tools, UseOnlyTheRequestedServer) {
    covers("TOOL-36", "TOOL-31", "TOOL-32", "TLO-03");
    auto one = server("one");
    for (const char* way :
         {"nspace=none", "pid=1", "system", "file=/nonexistent", "uri=x.0;tcp4://127.0.0.1:1"})
        EXPECT_EQ(outcome(std::string("init:retries=1,") + way), "init PMIX_ERR_UNREACH") << way;
}

TEST_F(Tools, PreferTheSystemServer) {
    covers("TOOL-34", "TLO-04");
    auto one = server("one");
    auto process = tool({"init:first", "servers"});
    process->line();
    EXPECT_EQ(process->line(), "servers PMIX_SUCCESS one:0");
    auto system = server("system", {"syssupport"});
    process = tool({"init:first", "servers"});
    process->line();
    EXPECT_EQ(process->line(), "servers PMIX_SUCCESS system:0");
}

TEST_F(Tools, SkipASystemServerThatRefuses) {
    covers("TOOL-34");
    auto one = server("one");
    auto system = server("system", {"syssupport", "policy=refuse"});
    auto process = tool({"init:first", "servers"});
    process->line();
    EXPECT_EQ(process->line(), "servers PMIX_SUCCESS one:0");
}

TEST_F(Tools, SearchOnAfterAServerThatRefuses) {
    covers("TOOL-35", "TLO-05");
    auto one = server("one");
    auto refusing = server("refusing", {"tools", "policy=refuse"});
    // The newest file comes first.
    for (const std::string& what : {std::string("refusing"), std::to_string(refusing->pid())})
        fs::last_write_time(session_file(what), fs::file_time_type::clock::now() + std::chrono::seconds(1));
    auto process = tool({"init", "servers"});
    EXPECT_TRUE(begins(process->line(), "init PMIX_SUCCESS"));
    EXPECT_EQ(process->line(), "servers PMIX_SUCCESS one:0");
    EXPECT_TRUE(begins(refusing->line(), "TOOL ")) << "it was asked";
}

TEST_F(Tools, RetryUntilTheServerStarts) {
    covers("TOOL-37", "TOOL-49");
    auto process = tool({"wait", "init:nspace=late,retries=60,delay=1"});
    EXPECT_EQ(process->line(), "wait");
    process->go_on();
    usleep(50 * 1000);  // at least one attempt fails; if none does, the test proves less, and passes
    auto late = server("late");
    EXPECT_TRUE(begins(process->line(), "init PMIX_SUCCESS"));
}

TEST_F(Tools, WaitBetweenAttempts) {
    covers("TOOL-49");
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(outcome("init:nspace=none,retries=2,delay=1,timeout=50"), "init PMIX_ERR_UNREACH");
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
    // A single attempt does not wait.
    const auto again = std::chrono::steady_clock::now();
    EXPECT_EQ(outcome("init:nspace=none,retries=1,delay=20,timeout=50"), "init PMIX_ERR_UNREACH");
    EXPECT_LT(std::chrono::steady_clock::now() - again, std::chrono::seconds(20));
}

TEST_F(Tools, TimeOutWithoutAServer) {
    covers("TOOL-49");
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(outcome("init:nspace=none,retries=1000,delay=1,timeout=1"), "init PMIX_ERR_UNREACH");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST_F(Tools, WorkWithoutAServer) {
    covers("TOOL-24", "TOOL-27", "TOOL-50", "TOOL-51", "TOOL-20");
    const std::string own = "init PMIX_SUCCESS " + host_name() + ":";
    auto process = tool({"init:none", "connected", "servers", "query:of.us", "size:elsewhere", "finalize"});
    EXPECT_EQ(process->line(), own + std::to_string(process->pid()) + ":0");
    EXPECT_EQ(process->line(), "connected no");
    EXPECT_EQ(process->line(), "servers PMIX_ERR_UNREACH");
    EXPECT_EQ(process->line(), "query PMIX_ERR_NOT_FOUND");
    EXPECT_EQ(process->line(), "size PMIX_ERR_NOT_FOUND");
    EXPECT_EQ(process->line(), "finalize PMIX_SUCCESS");
    EXPECT_TRUE(begins(outcome("init:optional"), own));
    EXPECT_EQ(outcome("init"), "init PMIX_ERR_UNREACH");
}

TEST_F(Tools, TheFirstServerBecomesPrimary) {
    covers("TOOL-20");
    auto one = server("one");
    auto process = tool({"init:none,name=mine", "attach:nspace=one", "connected", "query:of.us", "finalize"});
    EXPECT_EQ(process->line(), "init PMIX_SUCCESS mine:0");
    EXPECT_EQ(process->line(), "attach PMIX_SUCCESS mine:0 one:0");
    EXPECT_EQ(process->line(), "connected yes");
    EXPECT_EQ(process->line(), "query PMIX_SUCCESS of the host");
    EXPECT_EQ(process->line(), "finalize PMIX_SUCCESS");
    EXPECT_EQ(process->wait(), 0);
}

TEST_F(Tools, HaveAJobOfTheirOwnWithoutAServer) {
    const auto keys = [](const char* word, const std::vector<const char*>& names) {
        std::string step = std::string(word) + ":";
        for (const char* name : names)
            step += std::string(step.back() == ':' ? "" : ",") + name;
        return step;
    };
    const std::string sizes =
        keys("job", {PMIX_UNIV_SIZE, PMIX_JOB_SIZE, PMIX_MAX_PROCS, PMIX_NUM_SLOTS, PMIX_LOCAL_SIZE,
                     PMIX_NODE_SIZE, PMIX_NUM_NODES, PMIX_JOB_NUM_APPS});
    const std::string places = keys("job", {PMIX_NODE_LIST, PMIX_LOCAL_PEERS, PMIX_LOCALLDR, PMIX_APPLDR});
    const std::string ranks = keys("own", {PMIX_RANK, PMIX_GLOBAL_RANK, PMIX_APP_RANK, PMIX_LOCAL_RANK,
                                           PMIX_NODE_RANK, PMIX_APPNUM, PMIX_NODEID, PMIX_HOSTNAME});
    // Keys of the job, even if requested as a node's.
    const std::string taken =
        keys("node", {PMIX_MAX_PROCS, PMIX_NUM_NODES, PMIX_JOB_NUM_APPS, PMIX_NODE_LIST});
    auto one = server("one");
    for (const std::string rank : {"0", "4"}) {
        for (const std::string where : {"", ",none"}) {
            auto process = tool({"init:name=mine,rank=" + rank + where, sizes, places, ranks, taken});
            EXPECT_EQ(process->line(), "init PMIX_SUCCESS mine:" + rank);
            EXPECT_EQ(process->line(), "job 1 1 1 1 1 1 1 1");
            EXPECT_EQ(process->line(), "job " + host_name() + " " + rank + " " + rank + " " + rank);
            EXPECT_EQ(process->line(), "own " + rank + " 0 0 0 0 0 0 " + host_name());
            EXPECT_EQ(process->line(), "node 1 1 1 " + host_name());
        }
    }
}

// --- the identity of a tool, and the host's decision ---

TEST_F(Tools, NamesAreChosenOrAssigned) {
    covers("TOOL-22", "TOOL-23", "TOOL-42");
    auto one = server("one");
    EXPECT_EQ(outcome("init:name=mine"), "init PMIX_SUCCESS mine:0");
    EXPECT_EQ(outcome("init:name=mine,rank=4"), "init PMIX_SUCCESS mine:4");
    EXPECT_EQ(outcome("init"), "init PMIX_SUCCESS tool-" + std::to_string(one->pid()) + "-1:0");
    EXPECT_EQ(outcome("init:rank=4"), "init PMIX_ERR_BAD_PARAM");
}

TEST_F(Tools, RefuseReservedRanks) {
    covers("TOOL-22");
    auto one = server("one", {"tools", "policy=quiet"});
    for (const pmix_rank_t rank : {PMIX_RANK_UNDEF, PMIX_RANK_WILDCARD, PMIX_RANK_VALID}) {
        for (const std::string where : {"none", "nspace=one", "optional"})
            EXPECT_EQ(outcome("init:name=mine,rank=" + std::to_string(rank) + "," + where),
                      "init PMIX_ERR_BAD_PARAM");
    }
    EXPECT_EQ(outcome("init:name=mine,rank=" + std::to_string(PMIX_RANK_VALID - 1)),
              "init PMIX_SUCCESS mine:" + std::to_string(PMIX_RANK_VALID - 1));
}

TEST_F(Tools, AnOptionalAttachReportsNoServer) {
    covers("TOOL-51");
    auto process = tool({"init:none,name=mine", "attach:optional,nspace=none,retries=1", "servers"});
    EXPECT_EQ(process->line(), "init PMIX_SUCCESS mine:0");
    EXPECT_EQ(process->line(), "attach PMIX_SUCCESS mine:0 :" + std::to_string(PMIX_RANK_UNDEF));
    EXPECT_EQ(process->line(), "servers PMIX_ERR_UNREACH");
    EXPECT_EQ(process->wait(), 0);
}

TEST_F(Tools, NamesAreUnique) {
    covers("TOOL-26");
    auto one = server("one", {"tools", "policy=twins"});
    auto first = tool({"init", "wait"});
    EXPECT_EQ(first->line(), "init PMIX_SUCCESS twin:0");
    EXPECT_EQ(outcome("init:nspace=one"), "init PMIX_ERR_EXISTS");
    EXPECT_EQ(outcome("init:name=twin,nspace=one"), "init PMIX_ERR_EXISTS");
    EXPECT_EQ(outcome("init:name=one,nspace=one"), "init PMIX_ERR_EXISTS");
    EXPECT_EQ(outcome("init:name=job-of-one,nspace=one"), "init PMIX_ERR_EXISTS");
    EXPECT_EQ(outcome("init:name=twin,rank=1"), "init PMIX_SUCCESS twin:1");
    first->go_on();
    EXPECT_EQ(first->wait(), 0);
    // No state of it is kept.
    for (int tries = 0;; ++tries) {
        const std::string line = outcome("init");
        if (line == "init PMIX_SUCCESS twin:0") break;
        ASSERT_LT(tries, 100) << line;
    }
}

TEST_F(Tools, TheHostMayRefuseTools) {
    covers("TOOL-03", "TOOL-05", "TOOL-06");
    auto closed = server("closed", {"shown"});
    const std::string uri = closed->line();
    ASSERT_TRUE(begins(uri, "URI closed.0;")) << uri;
    EXPECT_EQ(outcome("init:retries=1,uri=" + uri.substr(4)), "init PMIX_ERR_NOT_SUPPORTED");
    auto hookless = server("hookless", {"tools", "hookless"});
    auto refusing = server("refusing", {"tools", "policy=refuse"});
    auto nameless = server("nameless", {"tools", "policy=nameless"});
    EXPECT_EQ(outcome("init:nspace=hookless"), "init PMIX_ERR_NOT_SUPPORTED");
    EXPECT_EQ(outcome("init:nspace=hookless,name=own"), "init PMIX_ERR_NOT_SUPPORTED");
    EXPECT_EQ(outcome("init:nspace=refusing"), "init PMIX_ERR_UNREACH");
    EXPECT_EQ(outcome("init:nspace=nameless"), "init PMIX_ERR_NOT_SUPPORTED");
    const std::string asked = refusing->line();
    for (const char* key : {PMIX_VERSION_INFO, PMIX_CMD_LINE, PMIX_PROC_PID})
        EXPECT_NE(asked.find(key), std::string::npos) << key << " in " << asked;
    EXPECT_NE(asked.find(PMIX_USERID "=" + std::to_string(geteuid())), std::string::npos) << asked;
}

TEST_F(Tools, GetJobDataThatTheHostRegistersInItsUpcall) {
    auto prrte = server("prrte", {"tools", "policy=registers"});
    for (int number = 1; number <= 2; ++number) {
        auto process = tool({"init", "nsdir"});
        EXPECT_EQ(process->line(), "init PMIX_SUCCESS tool-" + std::to_string(prrte->pid()) + "-" +
                                       std::to_string(number) + ":0");
        EXPECT_EQ(process->line(), "nsdir PMIX_SUCCESS /of/the/host");
        EXPECT_EQ(process->wait(), 0);
    }
    // A tool that names itself, twice: no state of the first is kept.
    EXPECT_EQ(outcome("init:name=mine"), "init PMIX_SUCCESS mine:0");
    EXPECT_EQ(outcome("init:name=mine"), "init PMIX_SUCCESS mine:0");
    EXPECT_EQ(outcome("init:name=job-of-prrte,nspace=prrte"), "init PMIX_ERR_EXISTS");
}

// --- several servers ---

TEST_F(Tools, ConnectToSeveralServers) {
    covers("TOOL-20", "TOOL-21", "TOOL-25", "TOOL-28", "TOOL-53", "TOOL-47", "TLO-14");
    auto one = server("one");
    auto two = server("two");
    auto process =
        tool({"init:nspace=one", "attach:nspace=two", "servers",           "size:job-of-one",
              "set:two",         "servers",           "size:job-of-two",   "attach:nspace=one",
              "attach",          "disconnect:one",    "servers",           "attach:nspace=one,primary",
              "servers",         "disconnect:one",    "connected",         "query:of.us",
              "set:two",         "query:of.us",       "disconnect:nobody", "set:nobody",
              "finalize"});
    const std::string me = process->line();
    ASSERT_TRUE(begins(me, "init PMIX_SUCCESS tool-"));
    const std::string name = me.substr(std::strlen("init PMIX_SUCCESS "));
    EXPECT_EQ(process->line(), "attach PMIX_SUCCESS " + name + " two:0");
    const std::string asked = two->line();
    EXPECT_NE(asked.find(PMIX_NSPACE "=" + name.substr(0, name.rfind(':'))), std::string::npos) << asked;
    EXPECT_EQ(process->line(), "servers PMIX_SUCCESS one:0 two:0");
    EXPECT_EQ(process->line(), "size PMIX_SUCCESS 7");
    EXPECT_EQ(process->line(), "set PMIX_SUCCESS");
    EXPECT_EQ(process->line(), "servers PMIX_SUCCESS two:0 one:0");
    EXPECT_EQ(process->line(), "size PMIX_SUCCESS 7");
    EXPECT_EQ(process->line(), "attach PMIX_SUCCESS " + name + " one:0");  // had already
    EXPECT_EQ(process->line(), "attach PMIX_ERR_UNREACH");                 // no new one
    EXPECT_EQ(process->line(), "disconnect PMIX_SUCCESS");
    EXPECT_EQ(process->line(), "servers PMIX_SUCCESS two:0");
    EXPECT_EQ(process->line(), "attach PMIX_SUCCESS " + name + " one:0");
    EXPECT_EQ(process->line(), "servers PMIX_SUCCESS one:0 two:0");
    EXPECT_EQ(process->line(), "disconnect PMIX_SUCCESS");
    EXPECT_EQ(process->line(), "connected no");
    EXPECT_EQ(process->line(), "query PMIX_ERR_NOT_FOUND");
    EXPECT_EQ(process->line(), "set PMIX_SUCCESS");
    EXPECT_EQ(process->line(), "query PMIX_SUCCESS of the host");
    EXPECT_EQ(process->line(), "disconnect PMIX_ERR_NOT_FOUND");
    EXPECT_EQ(process->line(), "set PMIX_ERR_NOT_FOUND");
    EXPECT_EQ(process->line(), "finalize PMIX_SUCCESS");
    EXPECT_EQ(process->wait(), 0);
}

TEST_F(Tools, WaitingForAServerTimesOut) {
    covers("TOOL-54");
    auto one = server("one");
    auto process = tool({"init", "set:two,wait,timeout=1"});
    process->line();
    EXPECT_EQ(process->line(), "set PMIX_ERR_TIMEOUT");
}

TEST_F(Tools, ALostServerGeneratesAnEvent) {
    auto one = server("one");
    auto two = server("two");
    auto process =
        tool({"init:nspace=one", "attach:nspace=two", "listen", "wait", "lost", "connected", "servers",
              "query:of.us", "set:two", "query:of.us", "init", "servers", "finalize", "finalize"});
    process->line();
    process->line();
    EXPECT_EQ(process->line(), "listen PMIX_SUCCESS");
    EXPECT_EQ(process->line(), "wait");
    one->kill_it();
    process->go_on();
    EXPECT_EQ(process->line(), "LOST one:0");
    EXPECT_EQ(process->line(), "connected no");
    EXPECT_EQ(process->line(), "servers PMIX_SUCCESS two:0");
    EXPECT_EQ(process->line(), "query PMIX_ERR_NOT_FOUND");
    EXPECT_EQ(process->line(), "set PMIX_SUCCESS");
    EXPECT_EQ(process->line(), "query PMIX_SUCCESS of the host");
    EXPECT_TRUE(begins(process->line(), "init PMIX_SUCCESS"));  // counted
    EXPECT_EQ(process->line(), "servers PMIX_SUCCESS two:0");
    EXPECT_EQ(process->line(), "finalize PMIX_SUCCESS");
    EXPECT_EQ(process->line(), "finalize PMIX_SUCCESS");
}

// --- disconnections ---

TEST_F(Tools, FinalizeDoesNotWaitForServers) {
    auto one = server("one", {"tools", "policy=quiet"});
    auto process = tool({"init:nspace=one", "wait", "finalize"});
    EXPECT_TRUE(begins(process->line(), "init PMIX_SUCCESS"));
    EXPECT_EQ(process->line(), "wait");
    kill(one->pid(), SIGSTOP);
    process->go_on();
    EXPECT_EQ(process->line(), "finalize PMIX_SUCCESS");
    EXPECT_EQ(process->wait(), 0);
    kill(one->pid(), SIGCONT);
    // Its disconnect has been processed, and others are accepted.
    EXPECT_TRUE(begins(outcome("init:nspace=one"), "init PMIX_SUCCESS"));
}

TEST_F(Tools, AHostMayReuseTheNameOfAFinishedTool) {
    auto one = server("one", {"tools", "policy=twins"});
    for (int i = 0; i < 50; ++i) {
        auto process = tool({"init:nspace=one", "finalize"});
        ASSERT_EQ(process->line(), "init PMIX_SUCCESS twin:0") << "time " << i;
        ASSERT_EQ(process->line(), "finalize PMIX_SUCCESS");
        ASSERT_EQ(process->wait(), 0);
        EXPECT_TRUE(begins(one->line(), "TOOL "));
    }
    EXPECT_EQ(outcome("lives:50,nspace=one"), "lives PMIX_SUCCESS");
}

// --- untrusted files ---

TEST_F(Tools, AToolWithoutAThreadDetectsALostServer) {
    auto one = server("one", {"tools", "policy=quiet"});
    auto two = server("two", {"tools", "policy=quiet"});
    auto process = tool({"init:nspace=one", "attach:nspace=two", "size:job-of-one", "alone", "connected",
                         "wait", "connected", "servers", "wait", "servers", "alone", "finalize"});
    EXPECT_TRUE(begins(process->line(), "init PMIX_SUCCESS"));
    EXPECT_TRUE(begins(process->line(), "attach PMIX_SUCCESS"));
    EXPECT_EQ(process->line(), "size PMIX_SUCCESS 7");
    EXPECT_EQ(process->line(), "alone yes");
    EXPECT_EQ(process->line(), "connected yes");
    EXPECT_EQ(process->line(), "wait");
    one->kill_it();
    process->go_on();
    EXPECT_EQ(process->line(), "connected no");
    EXPECT_EQ(process->line(), "servers PMIX_SUCCESS two:0");
    EXPECT_EQ(process->line(), "wait");
    two->kill_it();
    process->go_on();
    EXPECT_TRUE(begins(process->line(), "servers PMIX_ERR_UNREACH"));
    EXPECT_EQ(process->line(), "alone yes");
    EXPECT_TRUE(begins(process->line(), "finalize "));
    EXPECT_EQ(process->wait(), 0);
}

TEST_F(Tools, UntrustedRendezvousFilesAreRefusedWithTheReason) {
    auto one = server("one");
    const std::string good = text_of(session_file("one"));
    struct Case {
        const char* name;
        std::string text;
        mode_t mode;
    };
    const Case cases[] = {
        {"writable", good, 0666},
        {"truncated", good.substr(0, good.find('\n')), 0600},
        {"empty", "", 0600},
        {"huge", good + std::string(1 << 20, 'x'), 0600},
        {"rubbish", std::string(64, '\1') + "\n\2\n\3\n", 0600},
        {"no-uri", "nothing\n6.1.0\n1\n", 0600},
        {"dead", "x.0;tcp4://127.0.0.1:1\n6.1.0\n" + std::to_string(1 << 22) + "\n0:0\n\n\n", 0600}};
    for (const Case& each : cases) {
        const std::string path = dir_ + "/" + each.name;
        write_file(path, each.text, each.mode);
        EXPECT_EQ(outcome("init:retries=1,file=" + path), "init PMIX_ERR_UNREACH") << each.name;
    }
    const std::string link = dir_ + "/link", fifo = dir_ + "/fifo";
    ASSERT_EQ(symlink(session_file("one").c_str(), link.c_str()), 0);
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    for (const std::string& path : {link, fifo, dir_})
        EXPECT_EQ(outcome("init:retries=1,file=" + path), "init PMIX_ERR_UNREACH") << path;
    if (geteuid() == 0) {
        const std::string foreign = dir_ + "/foreign";
        write_file(foreign, good);
        ASSERT_EQ(chown(foreign.c_str(), 12345, 12345), 0);
        EXPECT_EQ(outcome("init:retries=1,file=" + foreign), "init PMIX_ERR_UNREACH");
        EXPECT_TRUE(
            begins(outcome("init:retries=1,file=" + foreign, {"PMIX_MCA_tool_base_trust_foreign_files=1"}),
                   "init PMIX_SUCCESS"));
    }
    // The search skips unusable files.
    for (const Case& each : cases)
        write_file(session_file(std::string("a-") + each.name), each.text, each.mode);
    EXPECT_TRUE(begins(outcome("init"), "init PMIX_SUCCESS"));
}

TEST_F(Tools, VerboseInitNamesTheReasonForNoServer) {
    const std::string nowhere = dir_ + "/nowhere";
    for (const std::string verbose : {"0", "1"}) {
        testing::internal::CaptureStderr();
        EXPECT_EQ(outcome("init:retries=1,file=" + nowhere, {"PMIX_MCA_tool_base_verbose=" + verbose}),
                  "init PMIX_ERR_UNREACH");
        const std::string said = testing::internal::GetCapturedStderr();
        EXPECT_EQ(said.find(nowhere) != std::string::npos, verbose == "1") << said;
        EXPECT_EQ(said.find("[pmix:tool:") != std::string::npos, verbose == "1") << said;
    }
    // Only once, however many attempts there are.
    write_file(session_file("dead"),
               "dead.0;tcp4://127.0.0.1:1\n6.1.0\n" + std::to_string(1 << 22) + "\n0:0\n\n\n");
    testing::internal::CaptureStderr();
    EXPECT_EQ(outcome("init:retries=4,nspace=dead", {"PMIX_MCA_tool_base_verbose=1"}),
              "init PMIX_ERR_UNREACH");
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("tool.dead is of a server that has ended"), std::string::npos) << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

// --- launchers ---

TEST_F(Tools, ALauncherIsAServerToo) {
    covers("TOOL-02", "TLO-12", "TLO-13");
    auto one = server("one");
    auto launcher = tool({"init:launcher,name=starter,nspace=one", "module", "wait", "servers", "finalize"});
    EXPECT_EQ(launcher->line(), "init PMIX_SUCCESS starter:0");
    EXPECT_EQ(launcher->line(), "module PMIX_SUCCESS");
    EXPECT_EQ(launcher->line(), "wait");
    EXPECT_TRUE(begins(text_of(session_file("starter")), "starter.0;tcp4://"));
    auto guest = tool({"init:nspace=starter", "servers", "finalize"});
    EXPECT_TRUE(begins(guest->line(), "init PMIX_SUCCESS tool-"));
    EXPECT_EQ(guest->line(), "servers PMIX_SUCCESS starter:0");
    EXPECT_EQ(guest->line(), "finalize PMIX_SUCCESS");
    EXPECT_TRUE(begins(launcher->line(), "TOOL "));
    launcher->go_on();
    EXPECT_EQ(launcher->line(), "servers PMIX_SUCCESS one:0");
    EXPECT_EQ(launcher->line(), "finalize PMIX_SUCCESS");
    EXPECT_EQ(launcher->wait(), 0);
    EXPECT_FALSE(fs::exists(session_file("starter")));
}

TEST_F(Tools, AToolConnectsToItsParent) {
    covers("TOOL-43", "TOOL-45", "TOOL-46", "TOOL-68", "TOOL-69", "TOOL-70");
    auto one = server("one");
    auto starter = tool({"init:launcher,name=starter,none", "module", "wait"});
    starter->line();
    starter->line();
    EXPECT_EQ(starter->line(), "wait");
    const std::string text = text_of(session_file("starter"));
    int keep_alive[2];
    ASSERT_EQ(pipe(keep_alive), 0);
    ASSERT_EQ(fcntl(keep_alive[1], F_SETFD, FD_CLOEXEC), 0);
    auto started =
        tool({"init:nspace=one,launcher", "servers", "parent", "environment:PMIX_LAUNCHER_RNDZ_URI",
              "environment:PMIX_KEEPALIVE_PIPE", "listen", "wait", "lost", "finalize"},
             {"PMIX_LAUNCHER_RNDZ_URI=" + text.substr(0, text.find('\n')),
              "PMIX_KEEPALIVE_PIPE=" + std::to_string(keep_alive[0])});
    close(keep_alive[0]);
    EXPECT_TRUE(begins(started->line(), "init PMIX_SUCCESS tool-"));
    EXPECT_EQ(started->line(), "servers PMIX_SUCCESS one:0 starter:0");
    EXPECT_EQ(started->line(), "parent PMIX_SUCCESS starter:0");
    EXPECT_EQ(started->line(), "environment -");
    EXPECT_EQ(started->line(), "environment -");
    EXPECT_EQ(started->line(), "listen PMIX_SUCCESS");
    EXPECT_EQ(started->line(), "wait");
    close(keep_alive[1]);
    started->go_on();
    EXPECT_EQ(started->line(), "LOST starter:0");
    EXPECT_EQ(started->line(), "finalize PMIX_SUCCESS");
}

TEST_F(Tools, AToolUsesTheFileNamedByItsParent) {
    covers("TOOL-44");
    auto one = server("one", {"rendezvous=" + dir_ + "/there"});
    auto joined = tool({"init", "servers"}, {"PMIX_LAUNCHER_RNDZ_FILE=" + dir_ + "/there"});
    joined->line();
    EXPECT_EQ(joined->line(), "servers PMIX_SUCCESS one:0");
    auto stores = tool({"init:launcher,none,name=starter", "wait", "finalize"},
                       {"PMIX_LAUNCHER_RNDZ_FILE=" + dir_ + "/absent"});
    stores->line();
    EXPECT_EQ(stores->line(), "wait");
    EXPECT_TRUE(begins(text_of(dir_ + "/absent"), "starter.0;"));
    stores->go_on();
    EXPECT_EQ(stores->line(), "finalize PMIX_SUCCESS");
}

// --- nothing grows ---

long memory_of(pid_t pid) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (begins(line, "VmRSS:")) return std::atol(line.c_str() + 6);
    }
    return 0;
}
size_t descriptors_of(pid_t pid) {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd"))
        ++count;
    return count;
}

size_t files_below(const std::string& folder) {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::recursive_directory_iterator(folder))
        ++count;
    return count;
}

/// Rounds of the short form, or MUSTER_TOOL_ROUNDS (10000 is the long form).
long rounds_or(long rounds) {
    const char* given = getenv("MUSTER_TOOL_ROUNDS");
    return given == nullptr ? rounds : std::atol(given);
}

/// The descriptors of a process, and the files of its folder, before and after many rounds.
class Size {
  public:
    Size(pid_t pid, const std::string& folder) : pid_(pid), folder_(folder) {}
    /// `rounds` since its creation. One more descriptor is allowed for the last connection, whose close the
    /// other end may not have detected yet.
    void expect_same_after(long rounds, const char* who) const {
        // A loaded machine may detect the disconnect late.
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while ((descriptors_of(pid_) > descriptors_ + 1 || files_below(folder_) != files_) &&
               std::chrono::steady_clock::now() < end)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        const Size now(pid_, folder_);
        EXPECT_LE(now.descriptors_, descriptors_ + 1) << who;
        EXPECT_EQ(now.files_, files_) << who;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        // Half a KiB per round would be a leak; noise is less.
        EXPECT_LE(now.memory_, memory_ + 512 + rounds / 2) << who;
#endif
        std::printf("%s after %ld rounds: %ld -> %ld KiB, %zu -> %zu descriptors\n", who, rounds, memory_,
                    now.memory_, descriptors_, now.descriptors_);
    }

  private:
    pid_t pid_;
    std::string folder_;
    long memory_ = memory_of(pid_);
    size_t descriptors_ = descriptors_of(pid_);
    size_t files_ = files_below(folder_);
};

TEST_F(Tools, RepeatedAttachDoesNotGrowMemory) {
    const long rounds = rounds_or(150);
    auto one = server("one", {"tools", "policy=quiet"});
    const std::string many = std::to_string(rounds) + ",nspace=one";
    auto process = tool({"init:none", "many:" + many, "wait", "many:" + many, "wait", "finalize",
                         "lives:" + many, "wait", "lives:" + many, "wait"});
    const auto line = [&] { return process->line(kPatience + static_cast<double>(rounds) / 100); };
    EXPECT_TRUE(begins(line(), "init PMIX_SUCCESS"));
    for (const char* step : {"many", "lives"}) {
        EXPECT_EQ(line(), step + std::string(" PMIX_SUCCESS"));
        EXPECT_EQ(line(), "wait");
        const Size of_tool(process->pid(), dir_), of_server(one->pid(), dir_);
        process->go_on();
        EXPECT_EQ(line(), step + std::string(" PMIX_SUCCESS"));
        EXPECT_EQ(line(), "wait");
        of_tool.expect_same_after(rounds, "the tool");
        of_server.expect_same_after(rounds, "the server");
        process->go_on();
        if (step == std::string("many")) {
            EXPECT_EQ(line(), "finalize PMIX_SUCCESS");
        }
    }
    EXPECT_EQ(process->wait(), 0);
}

TEST_F(Tools, ManyToolsInSequenceDoNotGrowTheServer) {
    const long rounds = rounds_or(30);
    auto one = server("one", {"tools", "policy=quiet"});
    const auto lives = [&](long count) {
        for (long i = 0; i < count; ++i) {
            auto process = tool({"init:nspace=one"});
            // Every third one disconnects without a notice.
            if (i % 3 == 0) {
                EXPECT_TRUE(begins(process->line(), "init PMIX_SUCCESS"));
                process->kill_it();
            } else {
                EXPECT_EQ(process->wait(), 0);
            }
        }
    };
    lives(20);
    const Size of_server(one->pid(), dir_);
    lives(rounds);
    of_server.expect_same_after(rounds, "the server");
}

TEST_F(Tools, ToolsThatDieDuringTheUpcallAreReleased) {
    auto one = server("one", {"tools", "policy=silent"});
    const size_t before = descriptors_of(one->pid());
    for (int i = 0; i < 5; ++i) {
        auto process = tool({"init"});
        EXPECT_TRUE(begins(one->line(), "TOOL "));
        process->kill_it();
    }
    // The host still holds these requests; the server must answer other requests.
    one->end_input();
    EXPECT_EQ(one->wait(), 0) << "with " << before << " descriptors at the start";
}

}  // namespace
