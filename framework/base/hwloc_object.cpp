// SPDX-License-Identifier: BSD-3-Clause
// Cpusets and topologies by hwloc.

#include "framework/base/hwloc_object.hpp"

#include <hwloc.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace muster {
namespace {

// Its address marks the topologies that topology_keep() has registered.
char kept;

bool is_hwloc(const char* source) {
    return source == nullptr || strncasecmp(source, "hwloc", 5) == 0;
}

pmix_value_cmp_t order(int comparison) {
    if (comparison == 0) return PMIX_EQUAL;
    return comparison > 0 ? PMIX_VALUE1_GREATER : PMIX_VALUE2_GREATER;
}

// Both handles null: equal. One null: the other is greater. Otherwise undecided (NOT_AVAIL).
pmix_value_cmp_t compare_presence(const void* a, const void* b) {
    if (a != nullptr && b != nullptr) return PMIX_VALUE_COMPARISON_NOT_AVAIL;
    return order((a != nullptr ? 1 : 0) - (b != nullptr ? 1 : 0));
}

bool has_copy(const void* copy, const void* original) {
    return copy != nullptr || original == nullptr;
}

struct XmlFree {
    hwloc_topology_t topology;
    void operator()(char* xml) const { hwloc_free_xmlbuffer(topology, xml); }
};

using Xml = std::unique_ptr<char, XmlFree>;

/// The topology as text, null if there is none.
Xml export_xml(const pmix_topology_t* topology) {
    auto* handle = static_cast<hwloc_topology_t>(topology->topology);
    char* text = nullptr;
    int length = 0;
    if (handle != nullptr && hwloc_topology_export_xmlbuffer(handle, &text, &length, 0) != 0) text = nullptr;
    return {text, XmlFree{handle}};
}

}  // namespace

pmix_status_t cpuset_copy(pmix_cpuset_t* dst, const pmix_cpuset_t* src) {
    *dst = {};
    if (!is_hwloc(src->source)) return PMIX_ERR_NOT_SUPPORTED;
    if (src->source != nullptr) dst->source = strdup(src->source);
    if (src->bitmap != nullptr)
        dst->bitmap = hwloc_bitmap_dup(static_cast<hwloc_const_bitmap_t>(src->bitmap));
    if (has_copy(dst->source, src->source) && has_copy(dst->bitmap, src->bitmap)) return PMIX_SUCCESS;
    cpuset_destruct(dst);
    return PMIX_ERR_NOMEM;
}

void cpuset_destruct(pmix_cpuset_t* cpuset) {
    if (is_hwloc(cpuset->source)) hwloc_bitmap_free(static_cast<hwloc_bitmap_t>(cpuset->bitmap));
    free(cpuset->source);
    *cpuset = {};
}

pmix_value_cmp_t cpuset_compare(const pmix_cpuset_t* a, const pmix_cpuset_t* b) {
    if (!is_hwloc(a->source) || !is_hwloc(b->source)) return PMIX_VALUE_INCOMPATIBLE_OBJECTS;
    const pmix_value_cmp_t presence = compare_presence(a->bitmap, b->bitmap);
    if (presence != PMIX_VALUE_COMPARISON_NOT_AVAIL) return presence;
    return order(hwloc_bitmap_compare(static_cast<hwloc_const_bitmap_t>(a->bitmap),
                                      static_cast<hwloc_const_bitmap_t>(b->bitmap)));
}

std::size_t cpuset_payload_size(const pmix_cpuset_t* cpuset) {
    if (cpuset->bitmap == nullptr || !is_hwloc(cpuset->source)) return 0;
    const int length =
        hwloc_bitmap_list_snprintf(nullptr, 0, static_cast<hwloc_const_bitmap_t>(cpuset->bitmap));
    return length < 0 ? 0 : static_cast<std::size_t>(length) + 1;
}

std::string cpuset_list(const pmix_cpuset_t* cpuset) {
    const std::size_t size = cpuset_payload_size(cpuset);
    if (size == 0) return {};
    std::string list(size, '\0');
    hwloc_bitmap_list_snprintf(list.data(), size, static_cast<hwloc_const_bitmap_t>(cpuset->bitmap));
    list.resize(size - 1);
    return list;
}

pmix_status_t topology_copy(pmix_topology_t* dst, const pmix_topology_t* src) {
    *dst = {};
    if (!is_hwloc(src->source)) return PMIX_ERR_NOT_SUPPORTED;
    hwloc_topology_t copy = nullptr;
    if (src->source != nullptr) dst->source = strdup(src->source);
    if (src->topology != nullptr &&
        hwloc_topology_dup(&copy, static_cast<hwloc_topology_t>(src->topology)) == 0) {
        dst->topology = copy;
    }
    if (has_copy(dst->source, src->source) && has_copy(dst->topology, src->topology)) return PMIX_SUCCESS;
    topology_destruct(dst);
    return PMIX_ERR_NOMEM;
}

void topology_keep(void* topology) {
    hwloc_topology_set_userdata(static_cast<hwloc_topology_t>(topology), &kept);
}

void topology_destruct(pmix_topology_t* topology) {
    if (topology->topology != nullptr && is_hwloc(topology->source)) {
        auto* handle = static_cast<hwloc_topology_t>(topology->topology);
        if (hwloc_topology_get_userdata(handle) != &kept) hwloc_topology_destroy(handle);
    }
    free(topology->source);
    *topology = {};
}

pmix_value_cmp_t topology_compare(const pmix_topology_t* a, const pmix_topology_t* b) {
    if (!is_hwloc(a->source) || !is_hwloc(b->source)) return PMIX_VALUE_INCOMPATIBLE_OBJECTS;
    const pmix_value_cmp_t presence = compare_presence(a->topology, b->topology);
    if (presence != PMIX_VALUE_COMPARISON_NOT_AVAIL) return presence;
    if (a->topology == b->topology) return PMIX_EQUAL;
    const Xml left = export_xml(a);
    const Xml right = export_xml(b);
    if (left == nullptr || right == nullptr) return PMIX_VALUE_COMPARISON_NOT_AVAIL;
    return order(strcmp(left.get(), right.get()));
}

std::size_t topology_payload_size(const pmix_topology_t* topology) {
    if (topology->topology == nullptr || !is_hwloc(topology->source)) return 0;
    const Xml xml = export_xml(topology);
    return xml == nullptr ? 0 : strlen(xml.get()) + 1;
}

std::string topology_summary(const pmix_topology_t* topology) {
    if (!is_hwloc(topology->source)) return "not an hwloc topology";
    if (topology->topology == nullptr) return "none";
    auto* handle = static_cast<hwloc_topology_t>(topology->topology);
    const auto count = [&](hwloc_obj_type_t type) {
        return std::to_string(hwloc_get_nbobjs_by_type(handle, type));
    };
    std::string text = count(HWLOC_OBJ_PACKAGE) + " packages, " + count(HWLOC_OBJ_CORE) + " cores, " +
                       count(HWLOC_OBJ_PU) + " processing units";
    const char* host = hwloc_obj_get_info_by_name(hwloc_get_root_obj(handle), "HostName");
    if (host != nullptr) text += std::string(" on ") + host;
    return text;
}

}  // namespace muster
