// SPDX-License-Identifier: BSD-3-Clause
// Cpusets, as lists of processing units, and topologies, as hwloc's XML followed by its support tables (one
// byte per flag, in the layout of this hwloc: the wire format depends on its version).

#include <hwloc.h>
#include <strings.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "components/bfrops/v41/decoder.hpp"
#include "components/bfrops/v41/encoder.hpp"
#include "framework/base/hwloc_object.hpp"

namespace muster::v41 {
namespace {

constexpr char kSource[] = "hwloc";
// Processing units of one machine; an open range ("8-") costs nothing.
constexpr uint64_t kMaxUnit = 1 << 20;
// The largest machines export some megabytes.
constexpr size_t kMaxXml = 32u << 20;

bool is_hwloc(const char* source) {
    return source == nullptr || strncasecmp(source, kSource, sizeof kSource - 1) == 0;
}

struct TopologyDestroy {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDestroy>;

/// The highest unit that a list names, or nothing if the text is no list of numbers and ranges.
bool highest_unit(const char* text, uint64_t* highest) {
    const char* end = text + strlen(text);
    *highest = 0;
    while (text != end) {
        uint64_t unit = 0;
        const auto [after, problem] = std::from_chars(text, end, unit);
        if (problem != std::errc() || unit > kMaxUnit) return false;
        if (unit > *highest) *highest = unit;
        text = after;
        if (text == end) return true;
        const char separator = *text++;
        if (separator == '-') {
            if (text == end) return true;
        } else if (separator != ',' || text == end) {
            return false;
        }
    }
    return true;
}

Topology load_topology(const char* xml, size_t size) {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) return nullptr;
    Topology topology(raw);
    if (hwloc_topology_set_xmlbuffer(raw, xml, static_cast<int>(size)) != 0 ||
        hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) != 0 ||
        hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 ||
        hwloc_topology_load(raw) != 0) {
        return nullptr;
    }
    return topology;
}

}  // namespace

bool Encoder::cpuset(const pmix_cpuset_t& value) {
    if (!is_hwloc(value.source)) return fail(PMIX_ERR_NOT_SUPPORTED);
    if (value.bitmap == nullptr) return text(nullptr);
    return text(cpuset_list(&value).c_str());
}

bool Decoder::cpuset(pmix_cpuset_t& value) {
    char* list = nullptr;
    if (!text(list)) return false;
    if (list != nullptr) {
        uint64_t highest = 0;
        bool good = highest_unit(list, &highest) || fail(PMIX_ERR_UNPACK_FAILURE);
        good = good && charge(highest / 8);
        if (good) {
            value.bitmap = hwloc_bitmap_alloc();
            good = value.bitmap != nullptr || fail(PMIX_ERR_NOMEM);
        }
        if (good && hwloc_bitmap_list_sscanf(static_cast<hwloc_bitmap_t>(value.bitmap), list) != 0) {
            good = fail(PMIX_ERR_UNPACK_FAILURE);
        }
        std::free(list);
        if (!good) return false;
    }
    value.source = strdup(kSource);
    return value.source != nullptr || fail(PMIX_ERR_NOMEM);
}

bool Encoder::topology(const pmix_topology_t& value) {
    if (!is_hwloc(value.source)) return fail(PMIX_ERR_NOT_SUPPORTED);
    if (value.topology == nullptr) return text(nullptr);
    auto* handle = static_cast<hwloc_topology_t>(value.topology);
    char* xml = nullptr;
    int length = 0;
    if (hwloc_topology_export_xmlbuffer(handle, &xml, &length, 0) != 0) return fail(PMIX_ERROR);
    const auto release = [handle](char* text) { hwloc_free_xmlbuffer(handle, text); };
    const std::unique_ptr<char, decltype(release)> owner(xml, release);
    if (!text(xml)) return false;
    const hwloc_topology_support* support = hwloc_topology_get_support(handle);
    return raw(support->discovery, sizeof *support->discovery) &&
           raw(support->cpubind, sizeof *support->cpubind) && raw(support->membind, sizeof *support->membind);
}

bool Decoder::topology(pmix_topology_t& value) {
    ByteView xml;
    if (!text_view(xml)) return false;
    if (xml.data() != nullptr) {
        if (xml.size() > kMaxXml) return fail(PMIX_ERR_UNPACK_FAILURE);
        hwloc_topology_discovery_support discovery;
        hwloc_topology_cpubind_support cpubind;
        hwloc_topology_membind_support membind;
        if (!raw(&discovery, sizeof discovery) || !raw(&cpubind, sizeof cpubind) ||
            !raw(&membind, sizeof membind)) {
            return false;
        }
        if (loads_topologies_) {
            // With its terminator, which is known to follow.
            Topology topology = load_topology(reinterpret_cast<const char*>(xml.data()), xml.size() + 1);
            if (topology == nullptr) return fail(PMIX_ERR_UNPACK_FAILURE);
            // hwloc has no other way to give an imported topology the capabilities of its origin.
            const hwloc_topology_support* support = hwloc_topology_get_support(topology.get());
            *support->discovery = discovery;
            *support->cpubind = cpubind;
            *support->membind = membind;
            value.topology = topology.release();
        }
    }
    value.source = strdup(kSource);
    return value.source != nullptr || fail(PMIX_ERR_NOMEM);
}

}  // namespace muster::v41
