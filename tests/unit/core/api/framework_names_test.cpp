// SPDX-License-Identifier: BSD-3-Clause
// The variable that Open MPI 5 and 6 read: pmix_framework_names.
#include <gtest/gtest.h>
#include <pmix/src/include/pmix_frameworks.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

std::vector<std::string> names() {
    std::vector<std::string> found;
    for (char** name = pmix_framework_names; *name != nullptr; ++name)
        found.emplace_back(*name);
    return found;
}

bool listed(const std::string& name) {
    const std::vector<std::string> all = names();
    return std::find(all.begin(), all.end(), name) != all.end();
}

TEST(FrameworkNames, ListsEachFrameworkOfTheLibrary) {
    for (const char* name : {"bfrops", "gds", "pcompress", "plog", "pmdl", "pnet", "preg", "psec", "ptl"})
        EXPECT_TRUE(listed(name)) << name;
}

TEST(FrameworkNames, ListsTheNamesThatOpenMpiPassesToOpenPmix) {
    for (const char* name : {"mca", "pdl", "pif", "pstat"})
        EXPECT_TRUE(listed(name)) << name;
}

TEST(FrameworkNames, ListsNoFrameworkOfOpenMpi) {
    for (const char* name : {"btl", "coll", "pml", "oob", ""})
        EXPECT_FALSE(listed(name)) << name;
}

}  // namespace
