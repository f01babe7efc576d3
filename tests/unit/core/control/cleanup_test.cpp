// SPDX-License-Identifier: BSD-3-Clause
// Registered cleanups: conflicts between calls, limits, and the removed files.
#include "core/control/cleanup.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "core/control/file_worker.hpp"

namespace {

using muster::Cleanups;
using muster::Info;
using muster::make_proc;
using muster::Proc;

class CleanupsTest : public testing::Test {
  protected:
    CleanupsTest() {
        char folder[] = "/tmp/muster-cleanup-XXXXXX";
        folder_ = mkdtemp(folder);
    }
    ~CleanupsTest() override { std::filesystem::remove_all(folder_); }

    std::string file(const std::string& name) {
        const std::string path = folder_ + "/" + name;
        std::ofstream(path) << "x";
        return path;
    }
    static Info wish(const char* key, const std::string& paths) {
        Info info;
        info.add(key, paths.c_str());
        return info;
    }
    pmix_status_t add(const std::vector<Proc>& ends, const Info& info, uint32_t user = geteuid()) {
        return cleanups_->add(ends, user, getegid(), info);
    }
    /// `count` paths that do not exist.
    static std::string many(size_t count, const std::string& stem) {
        std::string list;
        for (size_t i = 0; i < count; ++i)
            list += "/nobody/" + stem + std::to_string(i) + ",";
        return list;
    }

    const Proc first_{make_proc("job", 0)}, second_{make_proc("job", 1)};
    std::string folder_;
    muster::EventLoop loop_;
    muster::FileWorker worker_{loop_};
    std::unique_ptr<Cleanups> cleanups_ = std::make_unique<Cleanups>(worker_);
};

TEST_F(CleanupsTest, IgnoredPathsAreNotRegistered) {
    Info both = wish(PMIX_REGISTER_CLEANUP, "/a,/b");
    both.add(PMIX_CLEANUP_IGNORE, "/b");
    EXPECT_EQ(add({first_}, both), PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES);
    // A conflict with an earlier call, for long lists, and only for that target.
    EXPECT_EQ(add({second_}, wish(PMIX_CLEANUP_IGNORE, "/c/")), PMIX_SUCCESS);
    EXPECT_EQ(add({second_}, wish(PMIX_CLEANUP_IGNORE, many(10, "left"))), PMIX_SUCCESS);
    EXPECT_EQ(add({first_}, wish(PMIX_REGISTER_CLEANUP, "/c")), PMIX_SUCCESS);
    EXPECT_EQ(add({first_, second_}, wish(PMIX_REGISTER_CLEANUP_DIR, "/c")),
              PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES);
    EXPECT_EQ(add({second_}, wish(PMIX_REGISTER_CLEANUP, many(5, "gone") + "/c")),
              PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES);
    EXPECT_EQ(add({second_}, wish(PMIX_REGISTER_CLEANUP, "/nobody/left9")),
              PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES);
    EXPECT_EQ(add({second_}, wish(PMIX_REGISTER_CLEANUP, "/nobody/left10")), PMIX_SUCCESS);
    // Paths of another user do not conflict.
    EXPECT_EQ(add({second_}, wish(PMIX_REGISTER_CLEANUP, "/c"), geteuid() + 1), PMIX_SUCCESS);
}

TEST_F(CleanupsTest, PathsPerProcessAreBounded) {
    EXPECT_EQ(add({first_}, wish(PMIX_REGISTER_CLEANUP, many(65536, "path"))), PMIX_SUCCESS);
    EXPECT_EQ(add({first_}, wish(PMIX_REGISTER_CLEANUP, "/one.more")), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(add({second_}, wish(PMIX_REGISTER_CLEANUP, "/one.more")), PMIX_SUCCESS);
    EXPECT_EQ(add({second_}, wish(PMIX_REGISTER_CLEANUP, many(65536, "path"))), PMIX_ERR_OUT_OF_RESOURCE);
    EXPECT_EQ(add({first_}, wish(PMIX_REGISTER_CLEANUP, "/one.more"), geteuid() + 1), PMIX_SUCCESS);
}

TEST_F(CleanupsTest, RemovesFilesAtTheEndOfEachTarget) {
    const std::string gone = file("gone"), left = file("left"), other = file("other");
    EXPECT_EQ(add({first_, second_}, wish(PMIX_REGISTER_CLEANUP, gone + "," + left)), PMIX_SUCCESS);
    EXPECT_EQ(add({second_}, wish(PMIX_REGISTER_CLEANUP, other)), PMIX_SUCCESS);
    // It is registered later than the path that it protects.
    EXPECT_EQ(add({first_}, wish(PMIX_CLEANUP_IGNORE, left)), PMIX_SUCCESS);
    cleanups_->ended(first_.to_c());
    worker_.finish();
    EXPECT_FALSE(std::filesystem::exists(gone));
    EXPECT_TRUE(std::filesystem::exists(left) && std::filesystem::exists(other));
    file("gone");
    cleanups_->ended("job");
    worker_.finish();
    EXPECT_FALSE(std::filesystem::exists(gone) || std::filesystem::exists(left) ||
                 std::filesystem::exists(other));
}

}  // namespace
