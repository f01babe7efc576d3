// SPDX-License-Identifier: BSD-3-Clause
// The places of servers' files, the tools' directives that select a server, and queries about the servers of
// the node.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>

#include <pmix_common.h>

#include "framework/base/unique_fd.hpp"
#include "tests/covers.hpp"
#include "tests/integration/tools/tools.hpp"

namespace {

namespace fs = std::filesystem;
using namespace muster::tests;

// --- places of the files ---

TEST_F(Tools, SessionFilesFollowAttributeAndEnvironment) {
    covers("TOOL-12");
    const std::string given = dir_ + "/given", variable = dir_ + "/variable", common = dir_ + "/common";
    for (const std::string& folder : {given, variable, common})
        fs::create_directory(folder);
    const auto file_in = [&](const std::string& folder) {
        return folder + "/pmix." + short_host() + ".tool.one";
    };
    struct Case {
        std::vector<std::string> words, variables;
        std::string folder;
    };
    const Case cases[] = {
        {{"tmpdir=" + given}, {"TMPDIR=" + common, "PMIX_SERVER_TMPDIR=" + variable}, given},
        {{}, {"TMPDIR=" + common, "PMIX_SERVER_TMPDIR=" + variable}, variable},
        {{}, {"TMPDIR=" + common}, common},
    };
    for (const Case& each : cases) {
        std::vector<std::string> words = {"serve", "one", "tools"};
        words.insert(words.end(), each.words.begin(), each.words.end());
        Process one(words, each.variables);
        ASSERT_TRUE(begins(one.line(), "READY")) << each.folder;
        for (const std::string& folder : {given, variable, common})
            EXPECT_EQ(fs::exists(file_in(folder)), folder == each.folder) << folder << " or " << each.folder;
        // Tools search there under the same conditions.
        std::vector<std::string> steps = {"run", "init:nspace=one"};
        if (!each.words.empty()) steps[1] += ",tmpdir=" + given;
        Process process(steps, each.variables);
        EXPECT_TRUE(begins(process.line(), "init PMIX_SUCCESS")) << each.folder;
        EXPECT_EQ(process.wait(), 0);
        one.end_input();
        EXPECT_EQ(one.wait(), 0);
    }
}

TEST_F(Tools, TheSystemFileFollowsAttributeAndEnvironment) {
    covers("TOOL-09", "TOOL-10");
    const std::string given = dir_ + "/given", variable = dir_ + "/variable", common = dir_ + "/common",
                      session = dir_ + "/session";
    for (const std::string& folder : {given, variable, common, session})
        fs::create_directory(folder);
    struct Case {
        std::string attribute, variable, folder;
    };
    const Case cases[] = {
        {"systemdir=" + given, "PMIX_SYSTEM_TMPDIR=" + variable, given},
        {"", "PMIX_SYSTEM_TMPDIR=" + variable, variable},
        {"", "MUSTER_TEST_NOTHING=1", common},
    };
    for (const Case& each : cases) {
        const std::vector<std::string> variables = {"TMPDIR=" + common, "PMIX_SERVER_TMPDIR=" + session,
                                                    each.variable};
        Process one({"serve", "one", "syssupport", each.attribute}, variables);
        ASSERT_TRUE(begins(one.line(), "READY")) << each.folder;
        for (const std::string& folder : {given, variable, common, session})
            EXPECT_EQ(fs::exists(folder + "/pmix.sys." + short_host()), folder == each.folder)
                << folder << " or " << each.folder;
        Process process({"run", "init:system," + each.attribute}, variables);
        EXPECT_TRUE(begins(process.line(), "init PMIX_SUCCESS")) << each.folder;
        EXPECT_EQ(process.wait(), 0);
        one.end_input();
        EXPECT_EQ(one.wait(), 0);
    }
}

// --- other nodes ---

/// Whether a process accepts connections at an IPv4 address and port.
bool listens(const std::string& address, const std::string& port) {
    const muster::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(static_cast<uint16_t>(std::atoi(port.c_str())));
    inet_pton(AF_INET, address.c_str(), &where.sin_addr);
    return ::connect(fd.get(), reinterpret_cast<sockaddr*>(&where), sizeof where) == 0;
}

TEST_F(Tools, RemoteToolsNeedAnAttributeOfTheServer) {
    covers("TOOL-04");
    const auto address_in = [](const std::string& text) {
        const size_t at = text.find("tcp4://") + 7;
        return text.substr(at, text.find(':', at) - at);
    };
    const auto port_in = [](const std::string& text) {
        const size_t at = text.find(':', text.find("tcp4://") + 7) + 1;
        return text.substr(at, text.find_first_not_of("0123456789", at) - at);
    };
    auto far = server("far", {"tools", "remote"});
    const std::string far_text = text_of(session_file("far"));
    const std::string outside = address_in(far_text);
    if (begins(outside, "127.")) GTEST_SKIP() << "this machine has no address but the loopback's";
    EXPECT_TRUE(listens(outside, port_in(far_text)));
    const std::string uri = far_text.substr(0, far_text.find('\n'));
    EXPECT_TRUE(begins(outcome("init:uri=" + uri), "init PMIX_SUCCESS"));
    // Without it, no socket is reachable from other nodes.
    auto near = server("near");
    const std::string near_text = text_of(session_file("near"));
    EXPECT_EQ(address_in(near_text), "127.0.0.1");
    EXPECT_FALSE(listens(outside, port_in(near_text)));
    EXPECT_TRUE(begins(outcome("init:nspace=near"), "init PMIX_SUCCESS"));
}

/// A separate network for processes started meanwhile, in which connections to 10.9.0.1 come from 10.9.0.2:
/// the listener sees them as connections from another node.
class OtherNode {
  public:
    OtherNode() : before_(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) {
        there_ = before_ && unshare(CLONE_NEWNET) == 0 &&
                 system(
                     "{ ip link set lo up && ip addr add 10.9.0.1/32 dev lo &&"
                     " ip addr add 10.9.0.2/32 dev lo &&"
                     " ip route replace local 10.9.0.1 dev lo src 10.9.0.2 table local; } 2>/dev/null") == 0;
    }
    OtherNode(const OtherNode&) = delete;
    ~OtherNode() {
        if (!before_) return;
        EXPECT_EQ(setns(before_.get(), CLONE_NEWNET), 0);
    }
    bool there() const { return there_; }

  private:
    muster::UniqueFd before_;
    bool there_ = false;
};

TEST_F(Tools, ARemoteToolIsRefusedWithoutTheAttribute) {
    covers("TOOL-04");
    if (geteuid() != 0) GTEST_SKIP() << "only root can make a network";
    const OtherNode node;
    if (!node.there()) GTEST_SKIP() << "no network can be made here";
    // The server listens there for other reasons, and trusts the tool's claim about its user.
    std::vector<std::string> variables = environment();
    for (const char* one : {"PMIX_MCA_ptl_tcp_if_include=10.9.0.1/32", "PMIX_MCA_psec=native",
                            "PMIX_MCA_psec_native_trust_claims=1"})
        variables.emplace_back(one);
    const auto outcome_at = [&](const std::string& name, const std::string& word) {
        Process one({"serve", name, "tools", "policy=quiet", "tmpdir=" + dir_, word}, variables);
        EXPECT_TRUE(begins(one.line(), "READY"));
        const std::string text = text_of(session_file(name));
        EXPECT_NE(text.find("tcp4://10.9.0.1:"), std::string::npos) << text;
        Process process({"run", "init:uri=" + text.substr(0, text.find('\n'))}, variables);
        const std::string line = process.line();
        EXPECT_EQ(process.wait(), 0);
        one.end_input();
        EXPECT_EQ(one.wait(), 0);
        return line;
    };
    EXPECT_TRUE(begins(outcome_at("open", "remote"), "init PMIX_SUCCESS"));
    EXPECT_EQ(outcome_at("closed", "remote=0"), "init PMIX_ERR_NOT_SUPPORTED");
}

// --- directives about the server ---

TEST_F(Tools, HostAndUriSelectAServerAtInitAndAttach) {
    covers("TOOL-48");
    auto one = server("one");
    auto two = server("two");
    const std::string by_pid = "pid=" + std::to_string(two->pid());
    const std::string text = text_of(session_file("two"));
    const std::string uri = "uri=" + text.substr(0, text.find('\n'));
    for (const std::string& way : {by_pid + ",host=" + host_name(), uri}) {
        EXPECT_TRUE(begins(outcome("init:" + way), "init PMIX_SUCCESS")) << way;
        auto process = tool({"init:nspace=one", "attach:" + way, "servers"});
        EXPECT_TRUE(begins(process->line(), "init PMIX_SUCCESS"));
        EXPECT_TRUE(begins(process->line(), "attach PMIX_SUCCESS")) << way;
        EXPECT_EQ(process->line(), "servers PMIX_SUCCESS one:0 two:0") << way;
    }
    // The files of another host's servers have its name.
    const std::string elsewhere = by_pid + ",host=elsewhere.example,retries=1";
    EXPECT_EQ(outcome("init:" + elsewhere), "init PMIX_ERR_UNREACH");
    fs::copy(session_file("two"), dir_ + "/pmix.elsewhere.tool." + std::to_string(two->pid()));
    EXPECT_TRUE(begins(outcome("init:" + elsewhere), "init PMIX_SUCCESS"));
}

TEST_F(Tools, FilesThatAreNamedByAttribute) {
    covers("TOOL-52");
    const std::string there = dir_ + "/there", also = dir_ + "/also";
    auto one = server("one", {"rendezvous=" + there});
    auto launcher = tool({"init:none,launcher,name=starter,rendezvous=" + also, "module", "wait"});
    EXPECT_EQ(launcher->line(), "init PMIX_SUCCESS starter:0");
    EXPECT_EQ(launcher->line(), "module PMIX_SUCCESS");
    EXPECT_EQ(launcher->line(), "wait");
    auto process = tool({"init:file=" + there, "attach:file=" + also, "servers"});
    EXPECT_TRUE(begins(process->line(), "init PMIX_SUCCESS"));
    EXPECT_TRUE(begins(process->line(), "attach PMIX_SUCCESS"));
    EXPECT_EQ(process->line(), "servers PMIX_SUCCESS one:0 starter:0");
}

TEST_F(Tools, AServerModuleOfAToolThatIsNoLauncherIsAccepted) {
    // The Python module of OpenPMIx 5.0 gives one in every tool.
    auto one = server("one");
    auto process = tool({"init:nspace=one", "module", "servers", "finalize"});
    EXPECT_TRUE(begins(process->line(), "init PMIX_SUCCESS"));
    EXPECT_EQ(process->line(), "module PMIX_SUCCESS");
    EXPECT_EQ(process->line(), "servers PMIX_SUCCESS one:0");
    EXPECT_EQ(process->line(), "finalize PMIX_SUCCESS");
}

// --- other users ---

TEST_F(Tools, AToolOfAnotherUserNeedsThePermissionOfTheHost) {
    covers("TOOL-19");
    if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
    auto closed = server("closed");
    auto open = server("open", {"tools", "foreign"});
    ASSERT_EQ(chmod(dir_.c_str(), 0755), 0);
    const std::string user = std::string("user:12345,") + INTEGRATION_TOOL;
    const std::string text = text_of(session_file("closed"));
    const std::string uri = text.substr(0, text.find('\n'));
    for (const auto& [way, wanted] :
         {std::pair<std::string, const char*>("nspace=closed", "init PMIX_ERR_UNREACH"),
          {"uri=" + uri, "init PMIX_ERR_"},
          {"nspace=open", "init PMIX_SUCCESS"}}) {
        auto process = tool({user, "init:retries=1," + way});
        if (process->line() != "user yes") GTEST_SKIP() << "other users cannot read this build";
        const std::string said = process->line();
        EXPECT_TRUE(begins(said, wanted)) << way << ": " << said;
    }
    // The host gets the verified owner.
    const std::string asked = open->line();
    EXPECT_NE(asked.find(PMIX_USERID "=12345"), std::string::npos) << asked;
}

// --- misbehaving tools ---

TEST_F(Tools, TryTheNextSecurityComponentAfterARefusal) {
    auto one = server("one", {"tools"});
    const std::string uri = text_of(session_file("one"));
    const auto with = [&](const std::string& step, const char* modules) {
        auto process = tool({step, "finalize"}, {std::string("PMIX_MCA_psec=") + modules});
        const std::string line = process->line();
        EXPECT_EQ(process->wait(), 0);
        return line.substr(0, line.find(" tool-"));
    };
    // A tool with only the URI does not know the server's security modes, and tries once.
    const std::string by_uri = "init:uri=" + uri.substr(0, uri.find('\n'));
    EXPECT_EQ(with(by_uri, "none,native"), "init PMIX_SUCCESS");
    EXPECT_TRUE(begins(one->line(), "TOOL "));
    EXPECT_EQ(with(by_uri, "none"), "init PMIX_ERR_INVALID_CRED");
    // The file names other security modes than those available here.
    std::string text = uri;
    const size_t names = text.find("muster-psec: ");
    ASSERT_NE(names, std::string::npos);
    text.replace(names, text.find('\n', names) - names, "muster-psec: none,native");
    write_file(dir_ + "/both", text);
    EXPECT_EQ(with("init:file=" + dir_ + "/both", "none,native"), "init PMIX_SUCCESS");
    EXPECT_TRUE(begins(one->line(), "TOOL "));
    text.replace(text.find("none,native"), 11, "nowhere");
    write_file(dir_ + "/other", text);
    EXPECT_EQ(with("init:file=" + dir_ + "/other", "native"), "init PMIX_SUCCESS");
    EXPECT_TRUE(begins(one->line(), "TOOL "));
    // The decision of its host is final.
    auto strict = server("strict", {"tools", "policy=refuse"});
    EXPECT_EQ(with("init:nspace=strict", "native,none"), "init PMIX_ERR_UNREACH");
    EXPECT_TRUE(begins(strict->line(), "TOOL "));
    strict->end_input();
    EXPECT_EQ(strict->line(), "(end)");
}

TEST_F(Tools, IncompleteHandshakesOfToolsAreReleased) {
    auto one = server("one", {"tools", "policy=quiet"});
    const std::string text = text_of(session_file("one"));
    const size_t at = text.find(':', text.find("tcp4://") + 7) + 1;
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(static_cast<uint16_t>(std::atoi(text.c_str() + at)));
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto descriptors = [&] {
        const fs::directory_iterator entries("/proc/" + std::to_string(one->pid()) + "/fd");
        return std::distance(begin(entries), end(entries));
    };
    EXPECT_TRUE(begins(outcome("init:nspace=one"), "init PMIX_SUCCESS"));
    // One more: the socket for queries to the kernel about a peer, opened at the first TCP connection.
    const auto before = descriptors() + 1;
    // The header of a tool's handshake for a message of 64 bytes, and a truncated one.
    std::string handshake(24, '\0');
    for (size_t i = 0; i < 8; ++i)
        handshake[i] = '\377';
    handshake[8] = 64;
    handshake += std::string("native\0\0\0\0\x08", 11);
    std::vector<muster::UniqueFd> silent;
    for (size_t length = 0; length <= handshake.size(); ++length) {
        for (const bool stays : {true, false}) {
            muster::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
            ASSERT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
            ASSERT_EQ(::send(fd.get(), handshake.data(), length, MSG_NOSIGNAL), static_cast<ssize_t>(length));
            if (stays) silent.push_back(std::move(fd));
        }
    }
    // Others are served meanwhile.
    EXPECT_TRUE(begins(outcome("init:nspace=one"), "init PMIX_SUCCESS"));
    silent.clear();
    for (int tries = 0; descriptors() > before; ++tries) {
        ASSERT_LT(tries, 6000) << descriptors() << " descriptors, " << before << " before";
        usleep(10 * 1000);
    }
}

// --- queries before the connection ---

TEST_F(Tools, ListTheServersOfTheNode) {
    covers("TOOL-38");
    EXPECT_EQ(tool({"init:none", "servers-here"})->wait(), 0);
    auto one = server("one", {"tools", "session"});
    auto two = server("two", {"syssupport"});
    auto dead = server("dead");
    dead->kill_it();
    write_file(session_file("rubbish"), "rubbish\n");
    for (const char* init : {"init:none", "init:nspace=one"}) {
        auto process = tool({init, "servers-here"});
        process->line();
        std::string said = process->line();
        const std::string first = "one:" + std::to_string(one->pid()),
                          second = "two:" + std::to_string(two->pid());
        EXPECT_TRUE(said == "servers-here PMIX_SUCCESS " + first + " " + second ||
                    said == "servers-here PMIX_SUCCESS " + second + " " + first)
            << said;
    }
}

TEST_F(Tools, AServerAnswersNamespaceQueriesWithoutItsHost) {
    covers("TOOL-94");
    auto one = server("one", {"tools", "queryless"});
    auto process = tool({"init", "query:pmix.qry.ns", "table:job-of-one", "support:host,PMIx_Spawn"});
    process->line();
    const std::string names = process->line();
    EXPECT_NE(names.find("job-of-one"), std::string::npos) << names;
    EXPECT_EQ(process->line(), "table PMIX_ERR_NOT_SUPPORTED");
    EXPECT_EQ(process->line(), "support PMIX_SUCCESS PMIX_DEBUG_STOP_ON_EXEC");
}

}  // namespace
