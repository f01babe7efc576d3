// SPDX-License-Identifier: BSD-3-Clause
// Locality strings of made-up machines, what two processes share, and malformed strings.
#include "core/topology/locality.hpp"

#include "tests/unit/core/topology/hwloc_fixture.hpp"

namespace muster {
namespace {

class Locality : public testing::Test {
  protected:
    // Units 0-7; a core has two, a package four; each package is a NUMA node of its own.
    Machine machine_ = synthetic("numa:2 pack:1 l3:1 l2:2 l1:1 core:1 pu:2");

    std::string of(const char* list) {
        const auto text = locality_string(machine_.get(), units(list).get());
        return text ? *text : text.error().text;
    }
    pmix_locality_t between(const char* one, const char* other) {
        const auto shared = relative_locality(of(one), of(other));
        EXPECT_TRUE(shared) << shared.error().text;
        return shared ? *shared : PMIX_LOCALITY_UNKNOWN;
    }
};

constexpr pmix_locality_t kCore =
    PMIX_LOCALITY_SHARE_CORE | PMIX_LOCALITY_SHARE_L1CACHE | PMIX_LOCALITY_SHARE_L2CACHE;
constexpr pmix_locality_t kPackage =
    PMIX_LOCALITY_SHARE_L3CACHE | PMIX_LOCALITY_SHARE_PACKAGE | PMIX_LOCALITY_SHARE_NUMA;

TEST_F(Locality, NamesEveryLevel) {
    EXPECT_EQ(of("0"), "hwloc:SK0:L30:L20:L10:CR0:HT0:NM0");
    EXPECT_EQ(of("6-7"), "hwloc:SK1:L31:L23:L13:CR3:HT6-7:NM1");
    EXPECT_EQ(of("1,4"), "hwloc:SK0-1:L30-1:L20,2:L10,2:CR0,2:HT1,4:NM0-1");
}

TEST_F(Locality, OfAnUnboundProcessIsEmpty) {
    EXPECT_EQ(of("0-"), "");
    EXPECT_EQ(*locality_string(machine_.get(), nullptr), "");
}

TEST_F(Locality, OfUnknownUnitsIsAnError) {
    EXPECT_EQ(locality_string(machine_.get(), units("100").get()).status(), PMIX_ERR_NOT_FOUND);
}

TEST_F(Locality, ReportsTheSharedLevels) {
    EXPECT_EQ(between("0", "0"), PMIX_LOCALITY_SHARE_NODE | kPackage | kCore | PMIX_LOCALITY_SHARE_HWTHREAD);
    EXPECT_EQ(between("0", "1"), PMIX_LOCALITY_SHARE_NODE | kPackage | kCore);
    EXPECT_EQ(between("0-1", "2-3"), PMIX_LOCALITY_SHARE_NODE | kPackage);
    EXPECT_EQ(between("0-3", "4-7"), PMIX_LOCALITY_SHARE_NODE);
    EXPECT_EQ(between("0-3", "3-7"),
              PMIX_LOCALITY_SHARE_NODE | kPackage | kCore | PMIX_LOCALITY_SHARE_HWTHREAD);
}

TEST_F(Locality, IsReadWithAndWithoutASource) {
    const auto shared = relative_locality("SK0:L30:NM0", "hwloc:NM0:SK0:L31");
    ASSERT_TRUE(shared);
    EXPECT_EQ(*shared, PMIX_LOCALITY_SHARE_NODE | PMIX_LOCALITY_SHARE_PACKAGE | PMIX_LOCALITY_SHARE_NUMA);
}

TEST_F(Locality, RefusesUnknownForms) {
    for (const char* text : {"", "hello", "hwloc:ZZ0", "hwloc:SK", "hwloc:SKx", "hwloc:SK0-4294967295",
                             "hwloc:SK0::L30", "hwloc:S"}) {
        const auto shared = relative_locality(text, "hwloc:SK0");
        if (std::string(text) == "hwloc:SK") {
            EXPECT_TRUE(shared) << "a level without numbers shares nothing";
        } else {
            EXPECT_EQ(shared.status(), PMIX_ERR_BAD_PARAM) << text;
        }
    }
    EXPECT_EQ(relative_locality("hwloc:SK0", "likwid:SK0").status(), PMIX_ERR_NOT_SUPPORTED);
    std::string long_text = "hwloc";
    for (int i = 0; i < 1000; ++i)
        long_text += ":SK0";
    EXPECT_EQ(relative_locality(long_text, "hwloc:SK0").status(), PMIX_ERR_BAD_PARAM);
}

}  // namespace
}  // namespace muster
