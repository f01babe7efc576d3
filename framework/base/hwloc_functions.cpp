// SPDX-License-Identifier: BSD-3-Clause
// The functions of hwloc that Muster calls, under their own names and hidden: each opens hwloc at its first
// call and passes its arguments on. hwloc is large, and most processes of a job never look at a topology.
// If hwloc is missing, the functions fail as hwloc's own do.
#include <dlfcn.h>
#include <hwloc.h>

namespace {

/// A function of hwloc, which is never closed; null if the library or the function is missing. The plugins
/// of hwloc look for its functions among those that all libraries see. Any thread.
void* find(const char* function) {
    void* const library = dlopen(MUSTER_HWLOC_NAME, RTLD_LAZY | RTLD_GLOBAL);
    return library == nullptr ? nullptr : dlsym(library, function);
}

}  // namespace

#define FUNCTION(type, name, parameters, arguments, otherwise)                                     \
    extern "C" type hwloc_##name parameters {                                                      \
        static auto* const real = reinterpret_cast<decltype(&hwloc_##name)>(find("hwloc_" #name)); \
        if (real == nullptr) return otherwise;                                                     \
        return real arguments;                                                                     \
    }

// NOLINTBEGIN(bugprone-macro-parentheses)
FUNCTION(int, topology_init, (hwloc_topology_t * topology), (topology), -1)
FUNCTION(int, topology_load, (hwloc_topology_t topology), (topology), -1)
FUNCTION(void, topology_destroy, (hwloc_topology_t topology), (topology), )
FUNCTION(int, topology_abi_check, (hwloc_topology_t topology), (topology), -1)
FUNCTION(int, topology_dup, (hwloc_topology_t * copy, hwloc_topology_t topology), (copy, topology), -1)
FUNCTION(int, topology_set_components, (hwloc_topology_t topology, unsigned long flags, const char* name),
         (topology, flags, name), -1)
FUNCTION(int, topology_set_flags, (hwloc_topology_t topology, unsigned long flags), (topology, flags), -1)
FUNCTION(int, topology_set_io_types_filter, (hwloc_topology_t topology, hwloc_type_filter_e filter),
         (topology, filter), -1)
FUNCTION(int, topology_set_xml, (hwloc_topology_t topology, const char* path), (topology, path), -1)
FUNCTION(int, topology_set_xmlbuffer, (hwloc_topology_t topology, const char* buffer, int size),
         (topology, buffer, size), -1)
FUNCTION(int, topology_export_xmlbuffer,
         (hwloc_topology_t topology, char** buffer, int* size, unsigned long flags),
         (topology, buffer, size, flags), -1)
FUNCTION(void, free_xmlbuffer, (hwloc_topology_t topology, char* buffer), (topology, buffer), )
FUNCTION(const hwloc_topology_support*, topology_get_support, (hwloc_topology_t topology), (topology),
         nullptr)
FUNCTION(void, topology_set_userdata, (hwloc_topology_t topology, const void* data), (topology, data), )
FUNCTION(void*, topology_get_userdata, (hwloc_topology_t topology), (topology), nullptr)
FUNCTION(int, get_cpubind, (hwloc_topology_t topology, hwloc_cpuset_t set, int flags), (topology, set, flags),
         -1)
FUNCTION(unsigned, get_nbobjs_by_depth, (hwloc_topology_t topology, int depth), (topology, depth), 0)
FUNCTION(hwloc_obj_t, get_obj_by_depth, (hwloc_topology_t topology, int depth, unsigned index),
         (topology, depth, index), nullptr)
FUNCTION(int, get_type_depth, (hwloc_topology_t topology, hwloc_obj_type_t type), (topology, type),
         HWLOC_TYPE_DEPTH_UNKNOWN)

FUNCTION(hwloc_bitmap_t, bitmap_alloc, (void), (), nullptr)
FUNCTION(hwloc_bitmap_t, bitmap_dup, (hwloc_const_bitmap_t bitmap), (bitmap), nullptr)
FUNCTION(void, bitmap_free, (hwloc_bitmap_t bitmap), (bitmap), )
FUNCTION(int, bitmap_compare, (hwloc_const_bitmap_t one, hwloc_const_bitmap_t other), (one, other),
         one == other ? 0 : 1)
FUNCTION(int, bitmap_intersects, (hwloc_const_bitmap_t one, hwloc_const_bitmap_t other), (one, other), 0)
FUNCTION(int, bitmap_isfull, (hwloc_const_bitmap_t bitmap), (bitmap), 0)
FUNCTION(int, bitmap_isset, (hwloc_const_bitmap_t bitmap, unsigned index), (bitmap, index), 0)
FUNCTION(int, bitmap_iszero, (hwloc_const_bitmap_t bitmap), (bitmap), 1)
FUNCTION(int, bitmap_list_asprintf, (char** text, hwloc_const_bitmap_t bitmap), (text, bitmap), -1)
FUNCTION(int, bitmap_list_snprintf, (char* text, size_t size, hwloc_const_bitmap_t bitmap),
         (text, size, bitmap), -1)
FUNCTION(int, bitmap_list_sscanf, (hwloc_bitmap_t bitmap, const char* text), (bitmap, text), -1)
FUNCTION(int, bitmap_set, (hwloc_bitmap_t bitmap, unsigned index), (bitmap, index), -1)
FUNCTION(int, bitmap_set_range, (hwloc_bitmap_t bitmap, unsigned begin, int end), (bitmap, begin, end), -1)
FUNCTION(void, bitmap_zero, (hwloc_bitmap_t bitmap), (bitmap), )
// NOLINTEND(bugprone-macro-parentheses)
#undef FUNCTION
