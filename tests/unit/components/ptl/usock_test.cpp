// SPDX-License-Identifier: BSD-3-Clause
// ptl/usock: names, modes, credentials, and exhausted descriptors.
#include "components/ptl/usock/usock.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include "tests/unit/components/ptl/descriptors.hpp"

namespace muster::usock {
namespace {

using namespace std::chrono_literals;

class UsockTest : public testing::Test {
  protected:
    UsockTest() {
        directory_ = (std::filesystem::temp_directory_path() / "muster.XXXXXX").string();
        EXPECT_NE(mkdtemp(directory_.data()), nullptr);
        options_.directory = directory_;
    }
    ~UsockTest() override {
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }
    std::unique_ptr<Listener> listens() {
        auto listener = usock_.listen(options_);
        EXPECT_TRUE(listener.ok()) << listener.error().text;
        return listener.ok() ? std::move(*listener) : nullptr;
    }
    static std::string path_of(const Listener& listener) { return listener.uri().substr(8); }
    size_t files() const {
        return static_cast<size_t>(
            std::distance(std::filesystem::directory_iterator(options_.directory), {}));
    }

    Usock usock_;
    std::string directory_;
    ListenOptions options_;
};

TEST_F(UsockTest, ConnectsAndIdentifiesThePeer) {
    const auto listener = listens();
    ASSERT_NE(listener, nullptr);
    EXPECT_TRUE(usock_.accepts(listener->uri()));
    EXPECT_EQ(listener->accept().status(), PMIX_ERR_NOT_FOUND);
    auto client = usock_.connect(listener->uri(), 1s);
    ASSERT_TRUE(client.ok()) << client.error().text;
    pollfd waiting{listener->fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&waiting, 1, 10000), 1);
    auto server = listener->accept();
    ASSERT_TRUE(server.ok()) << server.error().text;
    for (const Socket* socket : {&*client, &*server}) {
        ASSERT_TRUE(socket->credentials.has_value());
        EXPECT_EQ(socket->credentials->uid, geteuid());
        EXPECT_EQ(socket->credentials->gid, getegid());
        EXPECT_EQ(socket->credentials->pid, getpid());
        EXPECT_TRUE(socket->local);
        EXPECT_NE(fcntl(socket->fd.get(), F_GETFL) & O_NONBLOCK, 0);
        EXPECT_NE(fcntl(socket->fd.get(), F_GETFD) & FD_CLOEXEC, 0);
    }
    EXPECT_EQ(server->peer, "pid " + std::to_string(getpid()));
    ASSERT_EQ(::write(client->fd.get(), "hi", 2), 2);
    char text[2];
    ASSERT_EQ(::read(server->fd.get(), text, 2), 2);
}

TEST_F(UsockTest, IdentifiesAnotherProcess) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to become someone else";
    ASSERT_EQ(::chmod(directory_.c_str(), 0711), 0);
    const auto listener = listens();
    ASSERT_NE(listener, nullptr);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        if (setgid(12346) != 0 || setuid(12345) != 0) _exit(2);
        auto client = usock_.connect(listener->uri(), 5s);
        char byte;
        _exit(client.ok() && ::read(client->fd.get(), &byte, 1) <= 0 ? 0 : 1);
    }
    pollfd waiting{listener->fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&waiting, 1, 10000), 1);
    auto server = listener->accept();
    ASSERT_TRUE(server.ok()) << server.error().text;
    ASSERT_TRUE(server->credentials.has_value());
    EXPECT_EQ(server->credentials->uid, 12345U);
    EXPECT_EQ(server->credentials->gid, 12346U);
    EXPECT_EQ(server->credentials->pid, child);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(UsockTest, WorksInADirectoryLongerThanAnAddress) {
    for (int i = 0; i < 4; ++i)
        options_.directory += "/" + std::string(60, static_cast<char>('a' + i));
    std::filesystem::create_directories(options_.directory);
    const auto listener = listens();
    ASSERT_NE(listener, nullptr);
    EXPECT_TRUE(listener->uri().starts_with("usock://" + options_.directory + "/"));
    auto client = usock_.connect(listener->uri(), 1s);
    ASSERT_TRUE(client.ok()) << client.error().text;
    EXPECT_TRUE(listener->accept().ok());
}

TEST_F(UsockTest, EachListenerCreatesAndRemovesItsOwnSocket) {
    auto one = listens(), two = listens();
    ASSERT_NE(one, nullptr);
    ASSERT_NE(two, nullptr);
    EXPECT_NE(one->uri(), two->uri());
    EXPECT_EQ(files(), 2U);
    one.reset();
    EXPECT_EQ(files(), 1U);
    auto client = usock_.connect(two->uri(), 1s);
    EXPECT_TRUE(client.ok());
    two.reset();
    EXPECT_EQ(files(), 0U);
}

TEST_F(UsockTest, SkipsNamesInUse) {
    auto first = listens();
    ASSERT_NE(first, nullptr);
    // The next name of this process exists already, from an ended process with the same ID.
    std::string path = path_of(*first);
    const size_t end = path.rfind('.'), begin = path.rfind('.', end - 1) + 1;
    const int number = std::stoi(path.substr(begin, end - begin));
    std::ofstream(path.substr(0, begin) + std::to_string(number + 1) + ".sock") << "in the way";
    auto second = listens();
    ASSERT_NE(second, nullptr);
    EXPECT_NE(path_of(*second).find("." + std::to_string(number + 2) + ".sock"), std::string::npos)
        << second->uri();
    second.reset();
    EXPECT_EQ(files(), 2U);
}

TEST_F(UsockTest, RemovesOnlyItsOwnSocket) {
    auto listener = listens();
    ASSERT_NE(listener, nullptr);
    const std::string path = path_of(*listener);
    ASSERT_TRUE(std::filesystem::remove(path));
    std::ofstream(path) << "someone else's";
    listener.reset();
    EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(UsockTest, AForkedChildRemovesNothing) {
    auto listener = listens();
    ASSERT_NE(listener, nullptr);
    const pid_t child = fork();
    if (child == 0) {
        listener.reset();
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(files(), 1U);
}

TEST_F(UsockTest, ModeOfTheSocketDependsOnTheUser) {
    const mode_t before = umask(0777);
    const auto listener = listens();
    umask(before);
    ASSERT_NE(listener, nullptr);
    struct stat made {};
    ASSERT_EQ(stat(path_of(*listener).c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 07777, geteuid() == 0 ? 0666U : 0600U);
}

TEST_F(UsockTest, ListensLocallyAlsoForRemoteServers) {
    options_.remote = true;
    EXPECT_NE(listens(), nullptr);
}

TEST_F(UsockTest, InvalidPathsAreNamed) {
    options_.directory = directory_ + "/missing";
    auto missing = usock_.listen(options_);
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.status(), PMIX_ERR_UNREACH);
    EXPECT_NE(missing.error().text.find(options_.directory), std::string::npos) << missing.error().text;
    options_.directory = "relative";
    EXPECT_EQ(usock_.listen(options_).status(), PMIX_ERR_BAD_PARAM);

    for (const char* uri :
         {"usock://", "usock://relative", "usock:///directory/", "tcp4://127.0.0.1:1", ""}) {
        EXPECT_EQ(usock_.connect(uri, 1s).status(), PMIX_ERR_BAD_PARAM) << uri;
    }
    auto nobody = usock_.connect("usock://" + directory_ + "/nobody", 1s);
    EXPECT_EQ(nobody.status(), PMIX_ERR_UNREACH);
    EXPECT_NE(nobody.error().text.find(directory_ + "/nobody"), std::string::npos) << nobody.error().text;
    std::string long_name(200, 'n');
    EXPECT_EQ(usock_.connect("usock://" + directory_ + "/" + long_name, 1s).status(), PMIX_ERR_BAD_PARAM);
}

TEST_F(UsockTest, ConnectTimesOutOnAFullQueue) {
    const auto listener = listens();
    ASSERT_NE(listener, nullptr);
    ::listen(listener->fd(), 0);  // a queue of one
    auto first = usock_.connect(listener->uri(), 5s);
    ASSERT_TRUE(first.ok());
    auto second = usock_.connect(listener->uri(), 30ms);
    EXPECT_EQ(second.status(), PMIX_ERR_TIMEOUT);
    EXPECT_TRUE(listener->accept().ok());
    EXPECT_TRUE(usock_.connect(listener->uri(), 5s).ok());
}

TEST_F(UsockTest, RefusesConnectionsWhenDescriptorsRunOut) {
    const auto listener = listens();
    ASSERT_NE(listener, nullptr);
    auto client = usock_.connect(listener->uri(), 1s);
    auto other = usock_.connect(listener->uri(), 1s);
    ASSERT_TRUE(client.ok() && other.ok());
    {
        const test::NoDescriptorsLeft none;
        for (int i = 0; i < 2; ++i) {
            auto refused = listener->accept();
            EXPECT_EQ(refused.status(), PMIX_ERR_OUT_OF_RESOURCE);
            EXPECT_NE(refused.error().text.find("limit of open files"), std::string::npos);
        }
        EXPECT_EQ(listener->accept().status(), PMIX_ERR_NOT_FOUND);  // nothing is pending
    }
    char byte;
    EXPECT_EQ(::read(client->fd.get(), &byte, 1), 0);
    auto later = usock_.connect(listener->uri(), 1s);
    ASSERT_TRUE(later.ok());
    EXPECT_TRUE(listener->accept().ok());
}

}  // namespace
}  // namespace muster::usock
