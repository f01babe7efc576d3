// SPDX-License-Identifier: BSD-3-Clause
// Locality strings.
#include "core/topology/locality.hpp"

#include <hwloc.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>

#include "core/topology/cpuset.hpp"
#include "core/topology/topology.hpp"

namespace muster {
namespace {

struct Kind {
    const char* letters;
    hwloc_obj_type_t type;
    pmix_locality_t shared;
};

constexpr std::array<Kind, 7> kKinds{{
    {"SK", HWLOC_OBJ_PACKAGE, PMIX_LOCALITY_SHARE_PACKAGE},
    {"L3", HWLOC_OBJ_L3CACHE, PMIX_LOCALITY_SHARE_L3CACHE},
    {"L2", HWLOC_OBJ_L2CACHE, PMIX_LOCALITY_SHARE_L2CACHE},
    {"L1", HWLOC_OBJ_L1CACHE, PMIX_LOCALITY_SHARE_L1CACHE},
    {"CR", HWLOC_OBJ_CORE, PMIX_LOCALITY_SHARE_CORE},
    {"HT", HWLOC_OBJ_PU, PMIX_LOCALITY_SHARE_HWTHREAD},
    {"NM", HWLOC_OBJ_NUMANODE, PMIX_LOCALITY_SHARE_NUMA},
}};

// A string has one part a kind; more is not ours.
constexpr size_t kMaxParts = 32;

const Kind* kind_of(std::string_view part) {
    for (const Kind& kind : kKinds) {
        if (part.starts_with(kind.letters)) return &kind;
    }
    return nullptr;
}

Error malformed(std::string_view text) {
    return {PMIX_ERR_BAD_PARAM, "'" + std::string(text.substr(0, 80)) + "' is no locality string of hwloc"};
}

struct Places {
    std::array<Bitmap, kKinds.size()> at;
};

Result<Places> parse(std::string_view text) {
    std::string_view rest = text;
    const size_t colon = rest.find(':');
    if (!kind_of(rest)) {
        if (colon == std::string_view::npos) return malformed(text);
        const std::string source(rest.substr(0, colon));
        if (!is_hwloc_source(source.c_str())) {
            return Error{PMIX_ERR_NOT_SUPPORTED, "the locality string was made by '" + source.substr(0, 80) +
                                                     "', only hwloc's are known"};
        }
        rest.remove_prefix(colon + 1);
    }
    Places places;
    for (size_t parts = 0; !rest.empty(); ++parts) {
        if (parts == kMaxParts) return malformed(text);
        const std::string_view part = rest.substr(0, rest.find(':'));
        rest.remove_prefix(std::min(part.size() + 1, rest.size()));
        const Kind* kind = kind_of(part);
        if (!kind) return malformed(text);
        auto numbers = parse_unit_list(part.substr(2));
        if (!numbers) return malformed(text);
        places.at[static_cast<size_t>(kind - kKinds.data())] = std::move(*numbers);
    }
    return places;
}

}  // namespace

Result<std::string> locality_string(hwloc_topology* topology, const hwloc_bitmap_s* units) {
    if (!units || hwloc_bitmap_isfull(units)) return std::string();
    std::string text = kHwlocSource;
    const Bitmap touched(hwloc_bitmap_alloc());
    if (!touched) throw std::bad_alloc();
    for (const Kind& kind : kKinds) {
        hwloc_bitmap_zero(touched.get());
        hwloc_obj_t object = nullptr;
        while ((object = hwloc_get_next_obj_by_type(topology, kind.type, object)) != nullptr) {
            if (object->cpuset && hwloc_bitmap_intersects(object->cpuset, units)) {
                hwloc_bitmap_set(touched.get(), object->logical_index);
            }
        }
        if (hwloc_bitmap_iszero(touched.get())) continue;
        char* list = nullptr;
        if (hwloc_bitmap_list_asprintf(&list, touched.get()) < 0) throw std::bad_alloc();
        const std::unique_ptr<char, void (*)(void*)> owner(list, std::free);
        text.append(":").append(kind.letters).append(list);
    }
    if (text == kHwlocSource) {
        return Error{PMIX_ERR_NOT_FOUND, "none of the processing units is part of this node's topology"};
    }
    return text;
}

Result<pmix_locality_t> relative_locality(std::string_view one, std::string_view other) {
    const auto first = parse(one);
    if (!first) return first.error();
    const auto second = parse(other);
    if (!second) return second.error();
    pmix_locality_t shared = PMIX_LOCALITY_SHARE_NODE;
    for (size_t i = 0; i < kKinds.size(); ++i) {
        const auto& a = first->at[i];
        const auto& b = second->at[i];
        if (a && b && hwloc_bitmap_intersects(a.get(), b.get())) shared |= kKinds[i].shared;
    }
    return shared;
}

}  // namespace muster
