// SPDX-License-Identifier: BSD-3-Clause
// Machines that do not exist, for the tests of core/topology.
#pragma once

#include <gtest/gtest.h>
#include <hwloc.h>

#include <memory>
#include <string>

namespace muster {

using Machine = std::unique_ptr<hwloc_topology, void (*)(hwloc_topology*)>;

/// A machine by hwloc's synthetic description, such as "pack:2 l3:1 core:2 pu:2".
inline Machine synthetic(const char* description) {
    hwloc_topology_t raw = nullptr;
    EXPECT_EQ(hwloc_topology_init(&raw), 0);
    Machine machine(raw, hwloc_topology_destroy);
    EXPECT_EQ(hwloc_topology_set_synthetic(raw, description), 0);
    EXPECT_EQ(hwloc_topology_load(raw), 0);
    return machine;
}

inline std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_s*)> units(const char* list) {
    std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_s*)> set(hwloc_bitmap_alloc(), hwloc_bitmap_free);
    EXPECT_EQ(hwloc_bitmap_list_sscanf(set.get(), list), 0);
    return set;
}

/// Two packages of one core. A network interface and a disk hang on package 0; a GPU (under three names) and
/// an InfiniBand adapter on package 1.
inline std::string machine_with_devices() {
    const auto object = [](const std::string& type, int id, const std::string& mask,
                           const std::string& inner) {
        const std::string sets = " cpuset=\"" + mask + "\" complete_cpuset=\"" + mask +
                                 "\" nodeset=\"0x1\" complete_nodeset=\"0x1\"";
        return "<object type=\"" + type + "\" os_index=\"" + std::to_string(id % 10) + "\"" + sets +
               " gp_index=\"" + std::to_string(id) + "\">" + inner + "</object>";
    };
    const auto pci = [](int id, const std::string& bus, const std::string& kind, const std::string& inner) {
        return "<object type=\"Bridge\" gp_index=\"" + std::to_string(id) +
               "\" bridge_type=\"0-1\" depth=\"0\" bridge_pci=\"0000:[" + bus + "-" + bus + "]\">" +
               "<object type=\"PCIDev\" gp_index=\"" + std::to_string(id + 1) + "\" pci_busid=\"0000:" + bus +
               ":00.0\" pci_type=\"" + kind + " [1af4:1000] [1af4:0001] 00\" pci_link_speed=\"0.000000\">" +
               inner + "</object></object>";
    };
    const auto device = [](int id, const std::string& name, int type, const std::string& infos) {
        return "<object type=\"OSDev\" gp_index=\"" + std::to_string(id) + "\" name=\"" + name +
               "\" osdev_type=\"" + std::to_string(type) + "\">" + infos + "</object>";
    };
    const auto info = [](const std::string& name, const std::string& value) {
        return "<info name=\"" + name + "\" value=\"" + value + "\"/>";
    };
    const std::string near =
        pci(100, "01", "0200", device(102, "eth0", 2, info("Address", "52:54:00:12:34:56"))) +
        pci(110, "02", "0100", device(112, "vda", 0, ""));
    const std::string far =
        pci(120, "81", "0302",
            device(122, "card0", 1, "") + device(123, "renderD128", 1, "") + device(124, "cuda0", 5, "")) +
        pci(130, "82", "0207",
            device(132, "mlx5_0", 3,
                   info("NodeGUID", "0002:c903:0001:4a5c") + info("SysImageGUID", "0002:c903:0001:4a5f")));
    const auto package = [&](int index, const std::string& mask, const std::string& devices) {
        const std::string unit = object("PU", 20 + index, mask, "");
        return object("Package", 10 + index, mask, object("Core", 30 + index, mask, unit) + devices);
    };
    const std::string memory =
        "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" nodeset=\"0x1\" "
        "complete_nodeset=\"0x1\" gp_index=\"2\" local_memory=\"1024\"/>";
    // The line ends are for hwloc's own parser, which is used if libxml2 is not installed.
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
           "<topology version=\"2.0\">\n<object type=\"Machine\" os_index=\"0\" cpuset=\"0x3\" "
           "complete_cpuset=\"0x3\" allowed_cpuset=\"0x3\" nodeset=\"0x1\" complete_nodeset=\"0x1\" "
           "allowed_nodeset=\"0x1\" gp_index=\"1\">" +
           memory + package(0, "0x1", near) + package(1, "0x2", far) + "</object></topology>";
}

}  // namespace muster
