// SPDX-License-Identifier: BSD-3-Clause
// Applications as passed to PMIx_Spawn.
#include <gtest/gtest.h>

#include <string>

#include "core/spawn/spawn.hpp"
#include "framework/base/argv.hpp"

namespace muster {
namespace {

/// The command and its arguments as passed to the host.
std::string copied(const char* cmd, const char* argv, int maxprocs = 1) {
    pmix_app_t app = PMIX_APP_STATIC_INIT;
    app.cmd = const_cast<char*>(cmd);
    app.argv = argv == nullptr ? nullptr : argv_split(argv, ' ', false);
    app.maxprocs = maxprocs;
    Apps apps;
    const pmix_status_t status = Apps::copy_of(&app, 1, apps);
    argv_free(app.argv);
    if (status != PMIX_SUCCESS) return std::to_string(status);
    std::string text = apps.data()[0].cmd;
    for (char** each = apps.data()[0].argv; *each != nullptr; ++each)
        text += std::string(" ") + *each;
    return text;
}

TEST(Apps, HaveTheNameOfTheCommandAsTheirFirstArgument) {
    EXPECT_EQ(copied("/bin/prog", "-x 1"), "/bin/prog prog -x 1");  // MPICH
    EXPECT_EQ(copied("/bin/prog", "prog -x"), "/bin/prog prog -x");
    EXPECT_EQ(copied("/bin/prog", "/other/prog -x"), "/bin/prog /other/prog -x");
    EXPECT_EQ(copied("prog", "./prog -x"), "prog ./prog -x");
    EXPECT_EQ(copied("/bin/prog", nullptr), "/bin/prog prog");
    EXPECT_EQ(copied(nullptr, "/bin/prog -x"), "/bin/prog /bin/prog -x");
}

/// The environment of an application with A=own, if the caller's environment is forwarded.
std::string forwarded(const Info& job_info, Info own_info = {}) {
    const char* own[] = {"A=own", nullptr};
    const char* callers[] = {"A=caller", "B=caller", "PMIX_RANK=7", "MUSTER_X=1",
                             "PWD=/",    "_=/bin/x", "C",           nullptr};
    pmix_app_t app = PMIX_APP_STATIC_INIT;
    app.cmd = const_cast<char*>("prog");
    app.env = const_cast<char**>(own);
    app.maxprocs = 1;
    app.info = own_info.data();
    app.ninfo = own_info.size();
    Apps apps;
    EXPECT_EQ(Apps::copy_of(&app, 1, apps), PMIX_SUCCESS);
    apps.forward_environment(job_info, const_cast<char**>(callers));
    std::string text;
    for (char** each = apps.data()[0].env; *each != nullptr; ++each)
        text += std::string(*each) + " ";
    return text;
}

TEST(Apps, GetTheVariablesOfTheirCallerWhichTheyLackAndNotItsIdentity) {
    Info forward, harvested, none;
    forward.add(PMIX_FWD_ENVIRONMENT, true);
    harvested.add(PMIX_FWD_ENVIRONMENT, true);
    harvested.add(PMIX_ENVARS_HARVESTED, true);
    EXPECT_EQ(forwarded(none), "A=own ");
    EXPECT_EQ(forwarded(harvested), "A=own ");
    EXPECT_EQ(forwarded(forward), "A=own B=caller ");
    EXPECT_EQ(forwarded(none, std::move(forward)), "A=own B=caller ");
    EXPECT_EQ(forwarded(none, std::move(harvested)), "A=own ");
}

TEST(Apps, WithoutACommandOrWithNegativeCountsAreRefused) {
    EXPECT_EQ(copied(nullptr, nullptr), std::to_string(PMIX_ERR_BAD_PARAM));
    EXPECT_EQ(copied("prog", nullptr, -1), std::to_string(PMIX_ERR_BAD_PARAM));
    EXPECT_EQ(copied("prog", nullptr, 0), "prog prog");
}

TEST(Apps, WithANullPointerInAValueAreRefused) {
    pmix_info_t info = PMIX_INFO_STATIC_INIT;
    info.value.type = PMIX_PROC;
    pmix_app_t app = PMIX_APP_STATIC_INIT;
    char cmd[] = "prog";
    app.cmd = cmd;
    app.info = &info;
    app.ninfo = 1;
    Apps apps;
    EXPECT_EQ(Apps::copy_of(&app, 1, apps), PMIX_ERR_BAD_PARAM);
}

}  // namespace
}  // namespace muster
