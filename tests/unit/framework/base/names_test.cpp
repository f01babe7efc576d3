// SPDX-License-Identifier: BSD-3-Clause
// Names of numbers, and numbers of names.

#include "framework/base/names.hpp"

#include <gtest/gtest.h>

#include "framework/base/status.hpp"

namespace muster {
namespace {

TEST(Status, NamesAreTheConstants) {
    EXPECT_STREQ(status_name(PMIX_ERR_NOT_FOUND), "PMIX_ERR_NOT_FOUND");
    EXPECT_STREQ(status_name(PMIX_SUCCESS), "PMIX_SUCCESS");
    EXPECT_STREQ(status_name(-400), "PMIX_ERR_PROC_KILLED_BY_CMD");
    EXPECT_STREQ(status_name(-11), "PMIX_ERR_EXISTS");
    EXPECT_EQ(status_name(-99999), nullptr);
    EXPECT_NE(status_text(-99999), nullptr);
    EXPECT_EQ(status_code("pmix_err_not_found"), PMIX_ERR_NOT_FOUND);
    EXPECT_EQ(status_code("PMIX_ERR_PROC_KILLED_BY_CMD"), -400);
    EXPECT_EQ(status_code("nonsense"), std::nullopt);
    for (pmix_status_t code = 0; code > -500; --code) {
        const char* name = status_name(code);
        if (name != nullptr) {
            EXPECT_EQ(status_code(name), code) << name;
        }
    }
}

TEST(Names, CombineFlags) {
    EXPECT_STREQ(number_name(PMIX_IOF_CHANNEL, PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL),
                 "STDOUT STDERR");
    EXPECT_STREQ(number_name(PMIX_IOF_CHANNEL, PMIX_FWD_NO_CHANNELS), "NONE");
    EXPECT_EQ(info_directives_text(0), "OPTIONAL");
    EXPECT_EQ(info_directives_text(PMIX_INFO_REQD | PMIX_INFO_REQD_PROCESSED), "REQUIRED:PROCESSED");
    EXPECT_EQ(number_text(PMIX_DEVTYPE, PMIX_DEVTYPE_GPU | PMIX_DEVTYPE_NODE), "GPU:NODE");
    EXPECT_STREQ(device_type_name(PMIX_DEVTYPE_GPU | PMIX_DEVTYPE_NODE), "MIXED");
    EXPECT_EQ(number_text(PMIX_LOCTYPE, PMIX_LOCALITY_SHARE_CORE | PMIX_LOCALITY_SHARE_NODE), "CORE:NODE");
    EXPECT_EQ(rank_text(7), "7");
    EXPECT_EQ(rank_text(PMIX_RANK_WILDCARD), "PMIX_RANK_WILDCARD");
    EXPECT_STREQ(number_name(PMIX_SCOPE, 200), "UNKNOWN");
}

}  // namespace
}  // namespace muster
