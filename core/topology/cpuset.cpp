// SPDX-License-Identifier: BSD-3-Clause
// Sets of processing units.
#include "core/topology/cpuset.hpp"

#include <hwloc.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/topology/topology.hpp"

namespace muster {
namespace {

Bitmap make_bitmap() {
    Bitmap bitmap(hwloc_bitmap_alloc());
    if (!bitmap) throw std::bad_alloc();
    return bitmap;
}

// One number at the front of `text`, which is advanced; false when there is none or it is out of bounds.
bool take_unit(std::string_view& text, unsigned& unit) {
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), unit);
    if (failure != std::errc() || unit > kMaxUnit) return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return true;
}

}  // namespace

void BitmapDeleter::operator()(hwloc_bitmap_s* bitmap) const {
    hwloc_bitmap_free(bitmap);
}

Result<Bitmap> parse_unit_list(std::string_view text) {
    const Error malformed{PMIX_ERR_BAD_PARAM, "'" + std::string(text.substr(0, 80)) +
                                                  "' is no list of processing units such as 0-3,8"};
    Bitmap bitmap = make_bitmap();
    while (!text.empty()) {
        unsigned first = 0;
        if (!take_unit(text, first)) return malformed;
        int last = static_cast<int>(first);
        if (text.starts_with('-')) {
            text.remove_prefix(1);
            unsigned end = 0;
            if (text.empty()) {
                last = -1;  // hwloc's notation of an infinite set
            } else if (!take_unit(text, end) || end < first) {
                return malformed;
            } else {
                last = static_cast<int>(end);
            }
        }
        if (hwloc_bitmap_set_range(bitmap.get(), first, last) != 0) throw std::bad_alloc();
        if (text.empty()) break;
        if (!text.starts_with(',') || text.size() == 1) return malformed;
        text.remove_prefix(1);
    }
    return bitmap;
}

Result<std::string> cpuset_string(const pmix_cpuset_t& cpuset) {
    if (!cpuset.source || !cpuset.bitmap) {
        return Error{PMIX_ERR_BAD_PARAM, "a cpuset without a source or a bitmap has no text form"};
    }
    if (!is_hwloc_source(cpuset.source)) {
        return Error{PMIX_ERR_NOT_SUPPORTED,
                     std::string("the cpuset was made by ") + cpuset.source + ", only hwloc's are known"};
    }
    char* list = nullptr;
    if (hwloc_bitmap_list_asprintf(&list, static_cast<hwloc_const_bitmap_t>(cpuset.bitmap)) < 0) {
        throw std::bad_alloc();
    }
    const std::unique_ptr<char, void (*)(void*)> owner(list, std::free);
    return std::string(kHwlocSource) + ":" + list;
}

Result<Bitmap> parse_cpuset_string(std::string_view text) {
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
        return Error{PMIX_ERR_BAD_PARAM, "a cpuset's text begins with the name of its maker and a colon"};
    }
    const std::string source(text.substr(0, colon));
    if (!is_hwloc_source(source.c_str())) {
        return Error{PMIX_ERR_NOT_SUPPORTED,
                     "the cpuset was made by '" + source.substr(0, 80) + "', only hwloc's are known"};
    }
    return parse_unit_list(text.substr(colon + 1));
}

Result<Bitmap> current_binding(hwloc_topology* topology, pmix_bind_envelope_t envelope) {
    if (envelope != PMIX_CPUBIND_PROCESS && envelope != PMIX_CPUBIND_THREAD) {
        return Error{PMIX_ERR_BAD_PARAM, "the binding envelope is neither process nor thread"};
    }
    Bitmap bitmap = make_bitmap();
    const int flags = envelope == PMIX_CPUBIND_PROCESS ? HWLOC_CPUBIND_PROCESS : HWLOC_CPUBIND_THREAD;
    if (hwloc_get_cpubind(topology, bitmap.get(), flags) != 0) {
        return Error{
            PMIX_ERR_NOT_FOUND,
            std::string("the system does not tell where the process is bound: ") + std::strerror(errno)};
    }
    return bitmap;
}

}  // namespace muster
