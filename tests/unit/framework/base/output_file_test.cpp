// SPDX-License-Identifier: BSD-3-Clause
// Files for output: created with their folders; root never writes files of other users.
#include "framework/base/output_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kOther = 12345;

class OutputFile : public testing::Test {
  protected:
    OutputFile() {
        std::string pattern = (fs::temp_directory_path() / "outputXXXXXX").string();
        EXPECT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        chmod(folder_.c_str(), 0755);
        umask_ = umask(022);
    }
    ~OutputFile() override {
        umask(umask_);
        fs::remove_all(folder_);
    }

    /// 0, or the error.
    static int write(const std::string& path, const std::string& text, bool empty = true) {
        errno = 0;
        const UniqueFd file = open_output_file(path, empty);
        if (!file) return errno == 0 ? -1 : errno;
        return ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : errno;
    }
    static std::string content(const std::string& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void put(const std::string& name, const std::string& text) { std::ofstream(folder_ + name) << text; }
    void give(const std::string& name) { ASSERT_EQ(lchown((folder_ + name).c_str(), kOther, kOther), 0); }

    std::string folder_;
    mode_t umask_ = 0;
};

TEST_F(OutputFile, IsCreatedWithItsFoldersAndTruncatedOnce) {
    const std::string path = folder_ + "/a//./b/../c/out";
    ASSERT_EQ(write(path, "one"), 0);
    EXPECT_EQ(write(path, "two", false), 0);
    EXPECT_EQ(content(folder_ + "/a/c/out"), "onetwo");
    EXPECT_EQ(write(path, "three"), 0);
    EXPECT_EQ(content(path), "three");
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0644U);
    umask(077);
    ASSERT_EQ(write(folder_ + "/private", "x"), 0);
    ASSERT_EQ(stat((folder_ + "/private").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600U);
}

TEST_F(OutputFile, MayHaveARelativePath) {
    const fs::path before = fs::current_path();
    fs::current_path(folder_);
    EXPECT_EQ(write("near", "x"), 0);
    EXPECT_EQ(write("sub/near", "x"), 0);
    fs::current_path(before);
    EXPECT_EQ(content(folder_ + "/near"), "x");
    EXPECT_EQ(content(folder_ + "/sub/near"), "x");
}

TEST_F(OutputFile, ReportsTheReasonOfAFailure) {
    EXPECT_EQ(write("", "x"), EISDIR);
    EXPECT_EQ(write("/", "x"), EISDIR);
    put("/file", "x");
    EXPECT_EQ(write(folder_ + "/file/below", "x"), ENOTDIR);
    fs::create_symlink("round", folder_ + "/round");
    EXPECT_EQ(write(folder_ + "/round", "x"), ELOOP);
    EXPECT_NE(write(folder_, "x"), 0);
}

TEST_F(OutputFile, FollowsLinksOfTheSameUser) {
    fs::create_symlink("real/file", folder_ + "/link");
    fs::create_directory(folder_ + "/real");
    EXPECT_EQ(write(folder_ + "/link", "x"), 0);
    EXPECT_EQ(content(folder_ + "/real/file"), "x");
    fs::create_symlink(folder_ + "/real", folder_ + "/short");
    EXPECT_EQ(write(folder_ + "/short/file", "y"), 0);
    EXPECT_EQ(content(folder_ + "/real/file"), "y");
}

TEST_F(OutputFile, RootFollowsNoLinksOfOtherUsers) {
    if (geteuid() != 0) GTEST_SKIP() << "only root has to be told from others";
    put("/precious", "keep");
    ASSERT_EQ(mkdir((folder_ + "/theirs").c_str(), 0777), 0);
    give("/theirs");
    // A link, a folder that is a link, a hard link to a file of root, a file of another user, a pipe.
    fs::create_symlink(folder_ + "/precious", folder_ + "/theirs/link");
    give("/theirs/link");
    EXPECT_EQ(write(folder_ + "/theirs/link", "lost"), ELOOP);
    fs::create_symlink(folder_, folder_ + "/theirs/up");
    give("/theirs/up");
    EXPECT_EQ(write(folder_ + "/theirs/up/precious", "lost"), ELOOP);
    EXPECT_EQ(write(folder_ + "/theirs/up/new", "lost"), ELOOP);
    EXPECT_FALSE(fs::exists(folder_ + "/new"));
    fs::create_hard_link(folder_ + "/precious", folder_ + "/theirs/name");
    EXPECT_EQ(write(folder_ + "/theirs/name", "lost"), EPERM);
    fs::remove(folder_ + "/theirs/name");
    put("/theirs/file", "keep");
    give("/theirs/file");
    EXPECT_EQ(write(folder_ + "/theirs/file", "lost"), EPERM);
    EXPECT_EQ(content(folder_ + "/theirs/file"), "keep");
    ASSERT_EQ(mkfifo((folder_ + "/theirs/pipe").c_str(), 0666), 0);
    EXPECT_EQ(write(folder_ + "/theirs/pipe", "lost"), EPERM);
    EXPECT_EQ(content(folder_ + "/precious"), "keep");
    // New files may be created there, and rewritten.
    EXPECT_EQ(write(folder_ + "/theirs/sub/out", "x"), 0);
    EXPECT_EQ(write(folder_ + "/theirs/sub/out", "y"), 0);
    EXPECT_EQ(content(folder_ + "/theirs/sub/out"), "y");
}

TEST_F(OutputFile, AUserMayWriteWherePermitted) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    put("/shared", "");
    chmod((folder_ + "/shared").c_str(), 0666);
    ASSERT_EQ(mkdir((folder_ + "/own").c_str(), 0755), 0);
    give("/own");
    const pid_t child = fork();
    if (child == 0) {
        if (setresgid(kOther, kOther, kOther) != 0 || setresuid(kOther, kOther, kOther) != 0) _exit(9);
        if (write(folder_ + "/own/out", "x") != 0) _exit(1);
        if (write(folder_ + "/shared", "x") != 0) _exit(2);
        if (write(folder_ + "/forbidden", "x") != EACCES) _exit(3);
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

}  // namespace
}  // namespace muster
