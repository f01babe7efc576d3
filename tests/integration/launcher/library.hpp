// SPDX-License-Identifier: BSD-3-Clause
// The library in a test's process, used to pack messages: a tool without a server, as in the launcher.
#pragma once

#include <gtest/gtest.h>
#include <pmix_tool.h>

namespace muster::launcher {

class WithLibrary : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        pmix_proc_t self;
        pmix_info_t alone;
        bool yes = true;
        PMIX_INFO_LOAD(&alone, PMIX_TOOL_DO_NOT_CONNECT, &yes, PMIX_BOOL);
        ASSERT_EQ(PMIx_tool_init(&self, &alone, 1), PMIX_SUCCESS);
    }
    static void TearDownTestSuite() { PMIx_tool_finalize(); }
};

}  // namespace muster::launcher
