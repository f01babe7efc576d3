// SPDX-License-Identifier: BSD-3-Clause
// Comparing names without wildcards, and words for the ways to inherit an allocation.
#include <gtest/gtest.h>
#include <pmix.h>

namespace {

TEST(StrictComparison, MatchesNoInvalidNameAndNoWildcard) {
    EXPECT_TRUE(PMIx_Check_nspace_strict("job", "job"));
    EXPECT_FALSE(PMIx_Check_nspace_strict("job", "other"));
    EXPECT_FALSE(PMIx_Check_nspace_strict("job", ""));
    EXPECT_FALSE(PMIx_Check_nspace_strict("", ""));
    const pmix_proc_t one{"job", 1}, all{"job", PMIX_RANK_WILDCARD}, none{"", 1};
    EXPECT_TRUE(PMIx_Check_procid_strict(&one, &one));
    EXPECT_TRUE(PMIx_Check_procid_strict(&all, &all));
    EXPECT_FALSE(PMIx_Check_procid_strict(&one, &all));
    EXPECT_FALSE(PMIx_Check_procid_strict(&one, &none));
    EXPECT_FALSE(PMIx_Check_procid_strict(&none, &none));
}

TEST(Names, OfTheWaysToInheritAnAllocation) {
    EXPECT_STREQ(PMIx_Alloc_inheritance_string(PMIX_ALLOC_INHERIT_NONE), "NONE");
    EXPECT_STREQ(PMIx_Alloc_inheritance_string(PMIX_ALLOC_INHERIT_CHILD), "CHILD");
    EXPECT_STREQ(PMIx_Alloc_inheritance_string(PMIX_ALLOC_INHERIT_DEFAULT), "DEFAULT");
    EXPECT_STREQ(PMIx_Alloc_inheritance_string(PMIX_ALLOC_INHERIT_CHILD_DEFAULT), "CHILD_DEFAULT");
    EXPECT_STREQ(PMIx_Alloc_inheritance_string(77), "UNSPECIFIED");
}

}  // namespace
