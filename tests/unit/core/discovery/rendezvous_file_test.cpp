// SPDX-License-Identifier: BSD-3-Clause
// Rendezvous files: trusted files, and refused ones with the reason.
#include "core/discovery/rendezvous_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pmix_common.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/discovery/rendezvous_search.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUri = "one.0;tcp4://127.0.0.1:4711";

std::string text_with(const std::string& uri, const std::string& version, const std::string& rest = {}) {
    return uri + "\n" + version + "\n" + rest;
}

/// The reason for which the text is refused; "" if it is accepted.
std::string reason(const std::string& text, pmix_status_t status = PMIX_ERR_NO_PERMISSIONS) {
    const auto found = parse_rendezvous(text, "FILE");
    if (found) return "";
    EXPECT_EQ(found.status(), status) << found.error().text;
    EXPECT_NE(found.error().text.find("FILE"), std::string::npos) << found.error().text;
    return found.error().text;
}

TEST(RendezvousText, ParsesEveryField) {
    const auto found = parse_rendezvous(
        text_with(kUri, "v6.1.0",
                  "4711\n1000:100\nSat Nov 21 10:00:00 2026\n\nmuster-uri: one.0;usock:///tmp/x\nother: y\n"),
        "FILE");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->uris, (std::vector<std::string>{"one.0;usock:///tmp/x", kUri}));
    EXPECT_EQ(found->version, "6.1.0");
    EXPECT_EQ(found->pid, 4711);
    EXPECT_EQ(found->user, 1000U);
    EXPECT_EQ(found->group, 100U);
    EXPECT_EQ(found->started, "Sat Nov 21 10:00:00 2026");
}

TEST(RendezvousText, AcceptsTheShorterFormsOfOtherLibraries) {
    const auto found = parse_rendezvous(text_with(kUri, "4.2.2"), "FILE");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->pid, 0);
    EXPECT_FALSE(found->user);
    EXPECT_TRUE(found->started.empty());
    EXPECT_FALSE(parse_rendezvous(text_with(kUri, "5", "x\n1000\n"), "FILE")->user);
}

TEST(RendezvousText, ParsesNamesOfSecurityComponents) {
    const auto security = [](const std::string& line) {
        return parse_rendezvous(text_with(kUri, "6.1.0", "1\n" + line + "\n"), "FILE")->security;
    };
    EXPECT_EQ(security("muster-psec: native"), "native");
    EXPECT_EQ(security("muster-psec: ../native"), "");
    EXPECT_EQ(security("muster-psec: " + std::string(65, 'a')), "");
}

TEST(RendezvousText, IsRefusedWithTheReason) {
    EXPECT_NE(reason("", PMIX_ERR_FILE_READ_FAILURE).find("cut short"), std::string::npos);
    EXPECT_NE(reason(kUri, PMIX_ERR_FILE_READ_FAILURE).find("cut short"), std::string::npos);
    EXPECT_NE(reason(std::string(kUri) + "\n6.1.0", PMIX_ERR_FILE_READ_FAILURE).find("cut short"),
              std::string::npos);
    for (const char* uri :
         {"one", "one;tcp4://h:1", "one.x;tcp4://h:1", ".0;tcp4://h:1", "one.0;", "one.0;\x01"})
        EXPECT_NE(reason(text_with(uri, "6.1.0")).find("does not begin with the URI"), std::string::npos)
            << uri;
    for (const std::string& version :
         {std::string(), std::string("v"), std::string("six"), std::string(65, '6')})
        EXPECT_NE(reason(text_with(kUri, version)).find("no version"), std::string::npos) << version;
    EXPECT_FALSE(reason(text_with(std::string(PMIX_MAX_NSLEN + 1, 'n') + ".0;tcp4://h:1", "6.1.0")).empty());
}

TEST(RendezvousText, LimitsTheNumberOfUris) {
    std::string more;
    for (int i = 0; i < 1000; ++i)
        more += "muster-uri: one.0;usock:///" + std::to_string(i) + "\n";
    const auto found = parse_rendezvous(text_with(kUri, "6.1.0", "1\n" + more), "FILE");
    ASSERT_TRUE(found);
    EXPECT_LE(found->uris.size(), 9U);
    EXPECT_EQ(found->uris.back(), kUri);
}

class RendezvousFile : public testing::Test {
  protected:
    RendezvousFile() {
        const char* tmp = getenv("TMPDIR");
        std::string pattern = std::string(tmp == nullptr ? "/tmp" : tmp) + "/muster-rendezvous-XXXXXX";
        EXPECT_NE(mkdtemp(pattern.data()), nullptr);
        dir_ = pattern;
    }
    ~RendezvousFile() override { fs::remove_all(dir_); }
    std::string write(const char* name, const std::string& text, mode_t mode = 0600) {
        std::string path = dir_ + "/" + name;
        std::ofstream(path) << text;
        EXPECT_EQ(chmod(path.c_str(), mode), 0);
        return path;
    }
    /// The reason for which the file is refused; "" if it is accepted.
    static std::string refusal(const std::string& path, pmix_status_t status = PMIX_ERR_NO_PERMISSIONS,
                               bool foreign = false) {
        const auto found = read_rendezvous_file(path, foreign);
        if (found) return "";
        EXPECT_EQ(found.status(), status) << found.error().text;
        EXPECT_NE(found.error().text.find(path), std::string::npos) << found.error().text;
        return found.error().text;
    }
    static bool has(const std::string& text, const char* words) {
        return text.find(words) != std::string::npos;
    }

    std::string dir_;
    const std::string good_ = text_with(kUri, "6.1.0", std::to_string(getpid()) + "\n");
};

TEST_F(RendezvousFile, IsTrustedWhenTheUserOwnsIt) {
    const auto found = read_rendezvous_file(write("good", good_), false);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->uris.front(), kUri);
    EXPECT_EQ(refusal(write("shared", good_, 0644)), "");
    EXPECT_EQ(refusal(write("group", good_, 0660)), "");
}

TEST_F(RendezvousFile, IsRefusedWithTheReason) {
    EXPECT_TRUE(has(refusal(dir_ + "/none", PMIX_ERR_NOT_FOUND), "is not there"));
    EXPECT_TRUE(has(refusal(write("file", "") + "/below", PMIX_ERR_NOT_FOUND), "is not there"));
    EXPECT_TRUE(has(refusal(write("writable", good_, 0666)), "can be written by all users"));
    EXPECT_TRUE(has(refusal(write("huge", good_ + std::string(64 * 1024, '\n'))), "is larger"));
    EXPECT_TRUE(has(refusal(write("empty", ""), PMIX_ERR_FILE_READ_FAILURE), "cut short"));
    EXPECT_TRUE(has(refusal(dir_), "no regular file"));
    const std::string link = dir_ + "/link", fifo = dir_ + "/fifo";
    ASSERT_EQ(symlink(write("good", good_).c_str(), link.c_str()), 0);
    EXPECT_TRUE(has(refusal(link), "symbolic link"));
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    EXPECT_TRUE(has(refusal(fifo), "no regular file"));
    EXPECT_TRUE(has(refusal("/dev/zero"), "no regular file"));
}

TEST_F(RendezvousFile, OfAFinishedServerIsRefused) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_TRUE(
        has(refusal(write("dead", text_with(kUri, "6.1.0", std::to_string(child) + "\n")), PMIX_ERR_UNREACH),
            "has ended"));
    // A process with this ID exists, but is younger than the file.
    const std::string path = write("reused", good_);
    const timespec long_ago[2] = {{1000, 0}, {1000, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), long_ago, 0), 0);
    EXPECT_TRUE(has(refusal(path, PMIX_ERR_UNREACH), "has ended"));
}

TEST_F(RendezvousFile, OfAnotherUserIsRefusedUnlessAllowed) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
    const std::string path = write("foreign", good_);
    ASSERT_EQ(chown(path.c_str(), 12345, 12345), 0);
    EXPECT_TRUE(has(refusal(path), "belongs to user 12345"));
    EXPECT_EQ(refusal(path, PMIX_ERR_NO_PERMISSIONS, true), "");
}

TEST_F(RendezvousFile, IsCreatedAtomicallyAndRemovedWithItsOwner) {
    const std::string path = dir_ + "/new/folder/file";
    const std::string text = rendezvous_text({kUri, "one.0;usock:///x"}, "6.1.0", "munge,native");
    {
        RendezvousFiles files(text, RendezvousFiles::Reach::User);
        ASSERT_TRUE(files.add(path));
        struct stat facts {};
        ASSERT_EQ(stat(path.c_str(), &facts), 0);
        EXPECT_EQ(facts.st_mode & 07777, 0600U);
        const auto found = read_rendezvous_file(path, false);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->uris, (std::vector<std::string>{"one.0;usock:///x", kUri}));
        EXPECT_EQ(found->security, "munge,native");
        // No temporary file is left.
        for (const auto& entry : fs::directory_iterator(fs::path(path).parent_path()))
            EXPECT_EQ(entry.path(), path);
    }
    EXPECT_FALSE(fs::exists(path));
}

TEST_F(RendezvousFile, IsCreatedWhateverOthersHaveMadeInItsFolder) {
    for (int i = 0; i < 4; ++i)
        fs::create_directory(dir_ + "/.muster." + std::to_string(getpid()) + "." + std::to_string(i));
    RendezvousFiles files("text", RendezvousFiles::Reach::User);
    const auto made = files.add(dir_ + "/pmix.host.tool");
    EXPECT_TRUE(made) << made.error().text;
    EXPECT_TRUE(fs::exists(dir_ + "/pmix.host.tool"));
}

TEST_F(RendezvousFile, IsReplacedOnlyWhenStale) {
    const std::string text = rendezvous_text({kUri}, "6.1.0", "");
    RendezvousFiles files(text, RendezvousFiles::Reach::Everyone);
    const std::string living = write("living", text_with(kUri, "6.1.0", "1\n"));  // init's: alive
    EXPECT_EQ(files.add(living).status(), PMIX_ERR_EXISTS);
    const pid_t child = fork();
    if (child == 0) _exit(0);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    const std::string dead = write("dead", text_with(kUri, "6.1.0", std::to_string(child) + "\n"));
    ASSERT_TRUE(files.add(dead));
    struct stat facts {};
    ASSERT_EQ(stat(dead.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, 0644U);
    // A link in its place is not followed.
    const std::string target = write("target", "mine"), link = dir_ + "/link";
    ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
    (void)files.add(link);
    std::ifstream file(target);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "mine");
}

TEST_F(RendezvousFile, OfRootIsNotCreatedInAFolderThatOthersMayWrite) {
    if (geteuid() != 0) GTEST_SKIP() << "only root has to be told from others";
    const auto why_not = [](const std::string& path) {
        RendezvousFiles files(rendezvous_text({kUri}, "6.1.0", ""), RendezvousFiles::Reach::Everyone);
        const auto made = files.add(path);
        EXPECT_EQ(made.status(), made ? PMIX_SUCCESS : PMIX_ERR_NO_PERMISSIONS);
        return made ? "" : made.error().text;
    };
    // Another process has taken the name first.
    const std::string taken = write("taken", good_);
    ASSERT_EQ(chown(taken.c_str(), 12345, 12345), 0);
    EXPECT_TRUE(has(why_not(taken), "belongs to user 12345"));
    EXPECT_TRUE(fs::exists(taken));
    // The same for the folder.
    const std::string theirs = dir_ + "/theirs";
    ASSERT_EQ(mkdir(theirs.c_str(), 0755), 0);
    ASSERT_EQ(chown(theirs.c_str(), 12345, 12345), 0);
    EXPECT_TRUE(has(why_not(theirs + "/file"), "belongs to user 12345: root announces no server there"));
    EXPECT_TRUE(fs::is_empty(theirs));
    // The same for a link to another place.
    const std::string link = dir_ + "/link";
    ASSERT_EQ(symlink(dir_.c_str(), link.c_str()), 0);
    ASSERT_EQ(lchown(link.c_str(), 12345, 12345), 0);
    EXPECT_TRUE(has(why_not(link + "/file"), "link of another user"));
    EXPECT_FALSE(fs::exists(dir_ + "/file"));
    // A world-writable folder such as /tmp must be sticky.
    const std::string open = dir_ + "/open";
    ASSERT_EQ(mkdir(open.c_str(), 0700), 0);
    ASSERT_EQ(chmod(open.c_str(), 0777), 0);
    EXPECT_TRUE(has(why_not(open + "/file"), "all users can exchange files"));
    ASSERT_EQ(chmod(open.c_str(), 01777), 0);
    EXPECT_EQ(why_not(open + "/file"), "");
}

TEST_F(RendezvousFile, IsFoundBelowAFolderButNotThroughLinks) {
    fs::create_directories(dir_ + "/a/b");
    fs::create_directories(dir_ + "/far");
    fs::create_directory_symlink(dir_ + "/far", dir_ + "/a/link");
    for (const char* name :
         {"a/pmix.h.tool.1", "a/b/pmix.h.tool", "far/pmix.h.tool.2", "a/pmix.other.tool.3"})
        write(name, good_);
    const auto matches = [](const std::string& name) {
        return is_session_rendezvous(name, {"h", "h.example"});
    };
    auto found = search_rendezvous(dir_ + "/a", matches);
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, (std::vector<std::string>{dir_ + "/a/b/pmix.h.tool", dir_ + "/a/pmix.h.tool.1"}));
    EXPECT_TRUE(matches("pmix.h.example.tool.x"));
    EXPECT_FALSE(matches("pmix.h.toolx"));
    EXPECT_FALSE(matches("pmix.sys.h"));
    EXPECT_TRUE(search_rendezvous(dir_ + "/nowhere", matches).empty());
}

}  // namespace
}  // namespace muster
