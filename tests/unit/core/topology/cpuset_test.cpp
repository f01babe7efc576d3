// SPDX-License-Identifier: BSD-3-Clause
// The text form of cpusets, malformed ones, and the binding of this process.
#include "core/topology/cpuset.hpp"

#include <sched.h>

#include "core/topology/topology.hpp"
#include "tests/unit/core/topology/hwloc_fixture.hpp"

namespace muster {
namespace {

std::string text_of(const Bitmap& bitmap) {
    char source[] = "hwloc";
    pmix_cpuset_t cpuset{source, bitmap.get()};
    const auto text = cpuset_string(cpuset);
    return text ? *text : "error";
}

TEST(Cpuset, IsWrittenAndReadAsOpenPmixDoes) {
    for (const char* text : {"hwloc:0", "hwloc:0-3", "hwloc:0-3,8,12-15", "hwloc:4-", "hwloc:"}) {
        const auto bitmap = parse_cpuset_string(text);
        ASSERT_TRUE(bitmap) << text;
        EXPECT_EQ(text_of(*bitmap), text);
    }
    EXPECT_EQ(text_of(*parse_cpuset_string("HWLOC:2,1,0")), "hwloc:0-2");
}

TEST(Cpuset, RefusesMalformedTexts) {
    for (const char* text :
         {"", "0-3", "hwloc", "hwloc:x", "hwloc:-3", "hwloc:3-1", "hwloc:1,", "hwloc:,1", "hwloc:1;2",
          "hwloc:0-4294967295", "hwloc:99999999999999999999", "hwloc:1 2", "hwloc:0x3"}) {
        EXPECT_EQ(parse_cpuset_string(text).status(), PMIX_ERR_BAD_PARAM) << text;
    }
    EXPECT_EQ(parse_cpuset_string("likwid:0-3").status(), PMIX_ERR_NOT_SUPPORTED);
}

TEST(Cpuset, NeedsASourceAndABitmap) {
    char hwloc[] = "hwloc", other[] = "likwid";
    const auto set = units("0-1");
    EXPECT_EQ(cpuset_string({nullptr, set.get()}).status(), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(cpuset_string({hwloc, nullptr}).status(), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(cpuset_string({other, set.get()}).status(), PMIX_ERR_NOT_SUPPORTED);
}

TEST(Cpuset, ReportsTheBindingOfTheCaller) {
    const auto topology = Topology::discover();
    ASSERT_TRUE(topology);
    cpu_set_t before, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    int unit = 0;
    while (!CPU_ISSET(unit, &before))
        ++unit;
    CPU_ZERO(&one);
    CPU_SET(unit, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    for (const pmix_bind_envelope_t envelope : {PMIX_CPUBIND_THREAD, PMIX_CPUBIND_PROCESS}) {
        const auto bitmap = current_binding(topology->get(), envelope);
        ASSERT_TRUE(bitmap) << bitmap.error().text;
        EXPECT_TRUE(hwloc_bitmap_isset(bitmap->get(), static_cast<unsigned>(unit)));
    }
    EXPECT_EQ(hwloc_bitmap_weight(current_binding(topology->get(), PMIX_CPUBIND_THREAD)->get()), 1);
    EXPECT_EQ(current_binding(topology->get(), 7).status(), PMIX_ERR_BAD_PARAM);
    sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace muster
