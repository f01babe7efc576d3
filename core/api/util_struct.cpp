// SPDX-License-Identifier: BSD-3-Clause
// PMIx_*_construct, _destruct, _create and _free of all structs: one family each, all by the table of data
// types. Arrays are one malloc'ed block, since programs built on older headers free them inline.

#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>

#include "framework/base/element.hpp"

using muster::data_construct_elements;
using muster::data_copy_elements;
using muster::data_create_elements;
using muster::data_destruct_elements;
using muster::data_free_elements;

// Destruct leaves a constructed struct, so that a second destruct is harmless.
#define MUSTER_STRUCT(NAME, STRUCT, TYPE)                           \
    void PMIx_##NAME##_construct(STRUCT* p) {                       \
        if (p != nullptr) data_construct_elements(p, 1, TYPE);      \
    }                                                               \
    void PMIx_##NAME##_destruct(STRUCT* p) {                        \
        if (p == nullptr) return;                                   \
        data_destruct_elements(p, 1, TYPE);                         \
        data_construct_elements(p, 1, TYPE);                        \
    }                                                               \
    STRUCT* PMIx_##NAME##_create(size_t n) {                        \
        return static_cast<STRUCT*>(data_create_elements(n, TYPE)); \
    }                                                               \
    void PMIx_##NAME##_free(STRUCT* p, size_t n) {                  \
        data_free_elements(p, n, TYPE);                             \
    }

MUSTER_STRUCT(App, pmix_app_t, PMIX_APP)
MUSTER_STRUCT(Byte_object, pmix_byte_object_t, PMIX_BYTE_OBJECT)
MUSTER_STRUCT(Cpuset, pmix_cpuset_t, PMIX_PROC_CPUSET)
MUSTER_STRUCT(Device, pmix_device_t, PMIX_DEVICE)
MUSTER_STRUCT(Device_distance, pmix_device_distance_t, PMIX_DEVICE_DIST)
MUSTER_STRUCT(Disk_stats, pmix_disk_stats_t, PMIX_DISK_STATS)
MUSTER_STRUCT(Endpoint, pmix_endpoint_t, PMIX_ENDPOINT)
MUSTER_STRUCT(Envar, pmix_envar_t, PMIX_ENVAR)
MUSTER_STRUCT(Geometry, pmix_geometry_t, PMIX_GEOMETRY)
MUSTER_STRUCT(Info, pmix_info_t, PMIX_INFO)
MUSTER_STRUCT(Net_stats, pmix_net_stats_t, PMIX_NET_STATS)
MUSTER_STRUCT(Node_pid, pmix_node_pid_t, PMIX_NODE_PID)
MUSTER_STRUCT(Node_stats, pmix_node_stats_t, PMIX_NODE_STATS)
MUSTER_STRUCT(Pdata, pmix_pdata_t, PMIX_PDATA)
MUSTER_STRUCT(Proc, pmix_proc_t, PMIX_PROC)
MUSTER_STRUCT(Proc_info, pmix_proc_info_t, PMIX_PROC_INFO)
MUSTER_STRUCT(Proc_stats, pmix_proc_stats_t, PMIX_PROC_STATS)
MUSTER_STRUCT(Query, pmix_query_t, PMIX_QUERY)
MUSTER_STRUCT(Regex2, pmix_regex2_t, PMIX_REGEX2)
MUSTER_STRUCT(Regattr, pmix_regattr_t, PMIX_REGATTR)
MUSTER_STRUCT(Resource_unit, pmix_resource_unit_t, PMIX_RESOURCE_UNIT)
MUSTER_STRUCT(Topology, pmix_topology_t, PMIX_TOPO)
MUSTER_STRUCT(Value, pmix_value_t, PMIX_VALUE)

#undef MUSTER_STRUCT

// Coordinates are created with their dimensions, so their family differs.

void PMIx_Coord_construct(pmix_coord_t* m) {
    if (m != nullptr) *m = {};
}

void PMIx_Coord_destruct(pmix_coord_t* m) {
    if (m != nullptr) data_destruct_elements(m, 1, PMIX_COORD);
}

pmix_coord_t* PMIx_Coord_create(size_t dims, size_t number) {
    auto* coords = static_cast<pmix_coord_t*>(data_create_elements(number, PMIX_COORD));
    for (size_t i = 0; coords != nullptr && dims > 0 && i < number; ++i) {
        coords[i].coord = static_cast<uint32_t*>(calloc(dims, sizeof(uint32_t)));
        if (coords[i].coord == nullptr) {
            data_free_elements(coords, number, PMIX_COORD);
            return nullptr;
        }
        coords[i].dims = dims;
    }
    return coords;
}

void PMIx_Coord_free(pmix_coord_t* m, size_t number) {
    data_free_elements(m, number, PMIX_COORD);
}

// A fabric is created by its registration.
void PMIx_Fabric_construct(pmix_fabric_t* p) {
    if (p != nullptr) *p = {};
}

void PMIx_App_info_create(pmix_app_t* p, size_t n) {
    if (p == nullptr) return;
    p->info = PMIx_Info_create(n);
    p->ninfo = p->info == nullptr ? 0 : n;
}

void PMIx_App_release(pmix_app_t* p) {
    PMIx_App_free(p, 1);
}

void PMIx_Query_qualifiers_create(pmix_query_t* p, size_t n) {
    if (p == nullptr) return;
    p->qualifiers = PMIx_Info_create(n);
    p->nqual = p->qualifiers == nullptr ? 0 : n;
}

void PMIx_Query_release(pmix_query_t* p) {
    PMIx_Query_free(p, 1);
}

void PMIx_Byte_object_load(pmix_byte_object_t* b, char* d, size_t sz) {
    if (b == nullptr) return;
    b->bytes = d;
    b->size = sz;
}

void PMIx_Envar_load(pmix_envar_t* e, char* var, char* value, char separator) {
    if (e == nullptr) return;
    const pmix_envar_t source = {var, value, separator};
    if (data_copy_elements(e, &source, 1, PMIX_ENVAR) != PMIX_SUCCESS) *e = {};
}
