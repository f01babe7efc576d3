// SPDX-License-Identifier: BSD-3-Clause
// The sources of a node's description, their order, and the refusal of a bad one.
#include "core/topology/topology.hpp"

#include <fstream>

#include "tests/unit/core/topology/hwloc_fixture.hpp"

namespace muster {
namespace {

int units_of(hwloc_topology* topology) {
    return hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
}

std::string xml_of(const char* description) {
    const Machine machine = synthetic(description);
    return *Topology::copy_of(machine.get())->xml();
}

TEST(Topology, RecognisesItsOwnSource) {
    EXPECT_TRUE(is_hwloc_source("hwloc"));
    EXPECT_TRUE(is_hwloc_source("HWLOC:2.9.0"));
    EXPECT_FALSE(is_hwloc_source("hwlocal"));
    EXPECT_FALSE(is_hwloc_source("likwid"));
    EXPECT_FALSE(is_hwloc_source(nullptr));
}

TEST(Topology, DiscoversThisMachine) {
    const auto topology = Topology::discover();
    ASSERT_TRUE(topology) << topology.error().text;
    EXPECT_GE(units_of(topology->get()), 1);
}

TEST(Topology, SurvivesXmlInBothVersions) {
    const Machine machine = synthetic("pack:2 core:4 pu:2");
    for (const bool version_1 : {false, true}) {
        const auto xml = Topology::copy_of(machine.get())->xml(version_1);
        ASSERT_TRUE(xml);
        const auto again = Topology::from_xml(*xml);
        ASSERT_TRUE(again) << again.error().text;
        EXPECT_EQ(units_of(again->get()), 16);
    }
}

TEST(Topology, RefusesMalformedXml) {
    for (const char* text :
         {"", "garbage", "<topology", "<?xml version=\"1.0\"?><topology version=\"9.0\"/>"}) {
        EXPECT_FALSE(Topology::from_xml(text)) << text;
    }
    EXPECT_FALSE(Topology::from_xml_file("/nonexistent/topology.xml"));
}

TEST(NodeTopology, PrefersTheTopologyOfTheHost) {
    Machine machine = synthetic("core:3 pu:1");
    NodeTopology node;
    node.set_origins({[] { return std::optional(xml_of("core:5 pu:1")); }, nullptr});
    ASSERT_TRUE(node.provide(machine.get()));
    // The host may free it at once, as PRRTE does.
    machine.reset();
    const auto found = node.get();
    ASSERT_TRUE(found);
    EXPECT_EQ(units_of(*found), 3);
}

TEST(NodeTopology, TakesTheServersXmlThenTheFile) {
    NodeTopology node;
    node.set_origins({[] { return std::optional(xml_of("core:5 pu:1")); },
                      [] { return std::optional<std::string>("/nonexistent/topology.xml"); }});
    auto found = node.get();
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_EQ(units_of(*found), 5);
    EXPECT_EQ(*node.get(), *found) << "it is loaded once";

    const std::string path = testing::TempDir() + "muster-topology-" + std::to_string(getpid()) + ".xml";
    std::ofstream(path) << xml_of("core:7 pu:1");
    node.reset();
    node.set_origins(
        {[] { return std::optional<std::string>("no XML at all"); }, [&] { return std::optional(path); }});
    found = node.get();
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_EQ(units_of(*found), 7);
    unlink(path.c_str());
}

TEST(NodeTopology, NamesTheMissingFile) {
    NodeTopology node;
    node.set_origins({nullptr, [] { return std::optional<std::string>("/nonexistent/topology.xml"); }});
    const auto found = node.get();
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().text.find("/nonexistent/topology.xml"), std::string::npos);
}

}  // namespace
}  // namespace muster
