// SPDX-License-Identifier: BSD-3-Clause
// The loader: detection of component files, and the message for a refused component.
#include "framework/loader.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "framework/base/trusted_path.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;

class LoaderTest : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "loaderXXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { fs::remove_all(folder_); }

    static std::string module(const std::string& framework, const std::string& name) {
        return std::string(MUSTER_TEST_COMPONENTS) + "/mca_" + framework + "_" + name + ".so";
    }
    static Result<const muster_component_t*> open(const std::string& name,
                                                  const std::string& framework = "plog") {
        return open_component_file({framework, name, module(framework, name)}, false);
    }
    std::vector<ComponentFile> find(const std::vector<std::string>& folders) {
        return find_component_files(folders, passed_over_);
    }
    /// The message must name the file and contain the words.
    static void expect_refused(const std::string& name, std::initializer_list<std::string> words,
                               const std::string& framework = "plog") {
        const auto result = open(name, framework);
        ASSERT_FALSE(result.ok()) << name;
        const std::string& text = result.error().text;
        EXPECT_EQ(text.rfind(module(framework, name), 0), 0U) << text;
        EXPECT_EQ(text.find('\n'), std::string::npos) << text;
        for (const std::string& word : words)
            EXPECT_NE(text.find(word), std::string::npos) << text << "\n lacks " << word;
    }

    std::string folder_;
    std::vector<std::string> passed_over_;
};

TEST_F(LoaderTest, AGoodComponentIsOpened) {
    const auto result = open("good");
    ASSERT_TRUE(result.ok()) << result.error().text;
    EXPECT_STREQ((*result)->name, "good");
    EXPECT_STREQ((*result)->version, "0.0.7");
    // A second call gives the same: nothing is closed.
    EXPECT_EQ(*open("good"), *result);
}

TEST_F(LoaderTest, ADescriptorWithoutLaterMembersIsAccepted) {
    muster_component_t descriptor = **open("good");
    descriptor.sdk_minor = 2;
    descriptor.struct_size = offsetof(muster_component_t, attributes);
    descriptor.nattributes = 1;  // beyond the size, so absent
    const Result<void> checked = check_descriptor(&descriptor, "plog", "good", "here");
    EXPECT_TRUE(checked.ok()) << checked.error().text;
}

TEST_F(LoaderTest, AnotherVersionOfTheInterfaceIsRefused) {
    const auto version = [](int major, int minor) {
        return std::to_string(major) + "." + std::to_string(minor);
    };
    const std::string ours = version(MUSTER_SDK_MAJOR, MUSTER_SDK_MINOR);
    expect_refused("newmajor", {version(MUSTER_SDK_MAJOR + 1, MUSTER_SDK_MINOR), ours, "update the library"});
    expect_refused("newminor", {version(MUSTER_SDK_MAJOR, MUSTER_SDK_MINOR + 1), ours, "update the library"});
    expect_refused("oldmajor",
                   {version(MUSTER_SDK_MAJOR - 1, MUSTER_SDK_MINOR), ours, "rebuild the component"});
    expect_refused("oldtable", {"version 2 of the plog interface", "has 1", "rebuild"});
    expect_refused("oldrelease", {"0.0.7", MUSTER_VERSION, "install both together"}, "gds");
}

TEST_F(LoaderTest, ABrokenDescriptorIsRefused) {
    expect_refused("headonly", {"cut off at 8 bytes"});
    expect_refused("truncated", {"rebuild"});
    expect_refused("misnamed", {"\"other\""});
    expect_refused("elsewhere", {"\"psec\""});
    EXPECT_EQ(check_descriptor(nullptr, "plog", "x", "here").error().text,
              "here is refused: it returns no descriptor");
}

TEST_F(LoaderTest, ALibraryThatIsNotAComponentIsRefused) {
    expect_refused("nosymbol", {"muster_component_plog_nosymbol", "muster_add_component"});
    expect_refused("lazy", {"-z,now"});
    expect_refused("foreign", {"another library's"});
    expect_refused("undefined", {"cannot be opened", "undefined symbol: nobody_defines_this"});
    std::ofstream(folder_ + "/mca_plog_text.so") << "no library at all\n";
    EXPECT_FALSE(open_component_file({"plog", "text", folder_ + "/mca_plog_text.so"}, false).ok());
    ASSERT_EQ(mkfifo((folder_ + "/mca_plog_fifo.so").c_str(), 0600), 0);
    EXPECT_FALSE(open_component_file({"plog", "fifo", folder_ + "/mca_plog_fifo.so"}, false).ok());
    EXPECT_EQ(open_component_file({"plog", "gone", folder_ + "/gone.so"}, false).status(),
              PMIX_ERR_NOT_FOUND);
}

TEST_F(LoaderTest, OnlyAbsolutePathsAreOpened) {
    EXPECT_FALSE(open_component_file({"plog", "good", "mca_plog_good.so"}, false).ok());
    std::ofstream(folder_ + "/mca_plog_a.so");
    const fs::path before = fs::current_path();
    fs::current_path(folder_);
    EXPECT_TRUE(find({".", ""}).empty());
    fs::current_path(before);
}

TEST_F(LoaderTest, FilesAreFoundByName) {
    for (const char* name : {"mca_plog_b.so", "mca_plog_a.so", "mca_plog_a_b.so", "mca_plog_.so",
                             "mca_plog_A.so", "mca_plog_c.so.1", "mca_ptl_a.so", "libmca_plog_d.so"}) {
        std::ofstream(folder_ + "/" + name);
    }
    const auto files = find({folder_ + "/none", folder_});
    ASSERT_EQ(files.size(), 3U);
    EXPECT_EQ(files[0].framework, "plog");
    EXPECT_EQ(files[0].name, "a");
    EXPECT_EQ(files[0].path, folder_ + "/mca_plog_a.so");
    EXPECT_EQ(files[1].name, "b");
    EXPECT_EQ(files[2].framework, "ptl");
}

TEST_F(LoaderTest, ADuplicateFolderIsReadOnce) {
    // As on systems where /lib is a link to /usr/lib, and the linker and the build use different names.
    std::ofstream(folder_ + "/mca_plog_one.so");
    const std::string other = folder_ + "/link";
    fs::create_directory_symlink(folder_, other);
    const auto files = find({other, folder_, other});
    ASSERT_EQ(files.size(), 1U);
    EXPECT_EQ(files[0].path, other + "/mca_plog_one.so");
}

TEST_F(LoaderTest, APrivilegedProcessOpensOnlyFilesThatOnlyRootMayChange) {
    const std::string copy = folder_ + "/mca_plog_good.so";
    fs::copy_file(module("plog", "good"), copy);
    const auto allowed = [&] { return trusted_path(copy, Trust::RootOnly).ok(); };
    ASSERT_EQ(chmod(copy.c_str(), 0755), 0);
    ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
    EXPECT_EQ(allowed(), geteuid() == 0);

    ASSERT_EQ(chmod(copy.c_str(), 0775), 0);
    const auto result = open_component_file({"plog", "good", copy}, true);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status(), PMIX_ERR_NO_PERMISSIONS);
    EXPECT_NE(result.error().text.find("must belong to root"), std::string::npos) << result.error().text;
    ASSERT_EQ(chmod(copy.c_str(), 0755), 0);

    // The sticky bit suffices for parent folders, not for the folder of the file.
    ASSERT_EQ(chmod(folder_.c_str(), 01777), 0);
    EXPECT_FALSE(allowed());
    ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
    if (geteuid() != 0) GTEST_SKIP() << "the rest needs root";

    EXPECT_TRUE(open_component_file({"plog", "good", copy}, true).ok());
    ASSERT_EQ(chown(folder_.c_str(), 12345, 0), 0);
    EXPECT_FALSE(allowed());
    ASSERT_EQ(chown(folder_.c_str(), 0, 0), 0);
    ASSERT_EQ(chown(copy.c_str(), 12345, 0), 0);
    EXPECT_FALSE(allowed());
    ASSERT_EQ(chown(copy.c_str(), 0, 0), 0);
    // The folder of a link does not matter, only its target.
    const std::string elsewhere = folder_ + "/open";
    ASSERT_EQ(mkdir(elsewhere.c_str(), 0777), 0);
    ASSERT_EQ(chmod(elsewhere.c_str(), 0777), 0);
    const std::string link = elsewhere + "/mca_plog_good.so";
    fs::create_symlink(copy, link);
    const Result<std::string> real = trusted_path(link, Trust::RootOnly);
    ASSERT_TRUE(real.ok());
    EXPECT_EQ(*real, fs::canonical(copy));
}

/// Only root can give files away. The rules are the same for other users: see tests/integration/installed.
class ForeignComponent : public LoaderTest {
  protected:
    static constexpr uid_t kOther = 65534;
    void SetUp() override {
        LoaderTest::SetUp();
        if (geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
        fs::create_directory(folder_ + "/pmix");
        copy_ = folder_ + "/pmix/mca_plog_good.so";
        fs::copy_file(module("plog", "good"), copy_);
        give(copy_, 0, 0, 0644);
        give(folder_ + "/pmix", 0, 0, 0755);
        give(folder_, 0, 0, 0755);
    }
    static void give(const std::string& path, uid_t user, gid_t group, mode_t mode) {
        ASSERT_EQ(chown(path.c_str(), user, group), 0) << path;
        ASSERT_EQ(chmod(path.c_str(), mode), 0) << path;
    }
    /// One line that names the file or folder that other users can change.
    void expect_passed_over(const std::string& because) {
        const auto result = open_component_file({"plog", "good", copy_}, false);
        ASSERT_FALSE(result.ok()) << because;
        EXPECT_EQ(result.status(), PMIX_ERR_NO_PERMISSIONS);
        const std::string& text = result.error().text;
        EXPECT_TRUE(text.starts_with(copy_ + " is passed over: ")) << text;
        EXPECT_EQ(text.find('\n'), std::string::npos) << text;
        for (const std::string& word : {because, std::string("mca_base_component_path")})
            EXPECT_NE(text.find(word), std::string::npos) << text << "\n lacks " << word;
    }
    void expect_opened() {
        const auto result = open_component_file({"plog", "good", copy_}, false);
        EXPECT_TRUE(result.ok()) << result.error().text;
    }

    std::string copy_;
};

TEST_F(ForeignComponent, AFileOfAnotherUserIsSkipped) {
    expect_opened();
    give(copy_, kOther, 0, 0644);
    expect_passed_over(copy_ + " belongs to user 65534");
    give(copy_, 0, 12345, 0664);
    expect_passed_over(copy_ + " can be changed by group 12345 (mode 0664)");
    give(copy_, 0, 0, 0646);
    expect_passed_over(copy_ + " can be changed by every user (mode 0646)");
}

TEST_F(ForeignComponent, AFolderOfAnotherUserIsSkipped) {
    const std::string pmix = folder_ + "/pmix";
    EXPECT_EQ(find({pmix}).size(), 1U);
    EXPECT_TRUE(passed_over_.empty());
    for (const mode_t mode : {0777, 01777}) {
        give(pmix, 0, 0, mode);
        expect_passed_over(pmix + " can be changed by every user");
        EXPECT_TRUE(find({pmix}).empty());
    }
    give(pmix, kOther, 0, 0755);
    expect_passed_over(pmix + " belongs to user 65534");
    passed_over_.clear();
    EXPECT_TRUE(find({pmix}).empty());
    ASSERT_EQ(passed_over_.size(), 1U);
    EXPECT_TRUE(passed_over_[0].starts_with(pmix + " is passed over: ")) << passed_over_[0];
}

TEST_F(ForeignComponent, AFolderInAFolderThatOthersMayChangeIsSkipped) {
    give(folder_, 0, 0, 0777);
    expect_passed_over(folder_ + " can be changed by every user (mode 0777)");
    EXPECT_TRUE(find({folder_ + "/pmix"}).empty());
    give(folder_, kOther, 0, 0755);
    expect_passed_over(folder_ + " belongs to user 65534");
    // As in /tmp: other users cannot replace root's files there.
    give(folder_, 0, 0, 01777);
    expect_opened();
    EXPECT_EQ(find({folder_ + "/pmix"}).size(), 1U);
}

TEST_F(ForeignComponent, ALinkToAFolderThatOthersMayChangeIsSkipped) {
    const std::string elsewhere = folder_ + "/open";
    fs::create_directory(elsewhere);
    fs::rename(copy_, elsewhere + "/mca_plog_good.so");
    fs::create_symlink(elsewhere + "/mca_plog_good.so", copy_);
    give(elsewhere, 0, 0, 0755);
    expect_opened();
    give(elsewhere, 0, 0, 0777);
    expect_passed_over(elsewhere + " can be changed by every user (mode 0777)");
}

}  // namespace
}  // namespace muster
