// SPDX-License-Identifier: BSD-3-Clause
// The families of struct support functions, all alike, through the library itself.

#include <gtest/gtest.h>
#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>

#include <cstring>

namespace {

template <class Struct>
bool is_zero(const Struct& s) {
    static const Struct kZero = {};
    return std::memcmp(&s, &kZero, sizeof s) == 0;
}

// Construct over garbage, destruct twice, create and free: the guarantees of every family.
template <class Struct>
void expect_family(void (*construct)(Struct*), void (*destruct)(Struct*), Struct* (*create)(size_t),
                   void (*release)(Struct*, size_t)) {
    Struct one;
    std::memset(&one, 0xa5, sizeof one);
    construct(&one);
    Struct initial = one;
    destruct(&one);
    destruct(&one);
    EXPECT_EQ(std::memcmp(&one, &initial, sizeof one), 0) << "destruction gives the initial state";
    Struct* array = create(3);
    ASSERT_NE(array, nullptr);
    EXPECT_EQ(std::memcmp(&array[2], &initial, sizeof initial), 0);
    release(array, 3);
    EXPECT_EQ(create(0), nullptr);
    release(nullptr, 3);
}

#define EXPECT_FAMILY(NAME) \
    expect_family(PMIx_##NAME##_construct, PMIx_##NAME##_destruct, PMIx_##NAME##_create, PMIx_##NAME##_free)

TEST(StructSupport, EveryFamilyConstructsAndReleases) {
    EXPECT_FAMILY(App);
    EXPECT_FAMILY(Byte_object);
    EXPECT_FAMILY(Cpuset);
    EXPECT_FAMILY(Device);
    EXPECT_FAMILY(Device_distance);
    EXPECT_FAMILY(Disk_stats);
    EXPECT_FAMILY(Endpoint);
    EXPECT_FAMILY(Envar);
    EXPECT_FAMILY(Geometry);
    EXPECT_FAMILY(Info);
    EXPECT_FAMILY(Net_stats);
    EXPECT_FAMILY(Node_pid);
    EXPECT_FAMILY(Node_stats);
    EXPECT_FAMILY(Pdata);
    EXPECT_FAMILY(Proc);
    EXPECT_FAMILY(Proc_info);
    EXPECT_FAMILY(Proc_stats);
    EXPECT_FAMILY(Query);
    EXPECT_FAMILY(Regattr);
    EXPECT_FAMILY(Regex2);
    EXPECT_FAMILY(Resource_unit);
    EXPECT_FAMILY(Topology);
    EXPECT_FAMILY(Value);
}

TEST(StructSupport, InitialStates) {
    pmix_device_distance_t distance;
    PMIx_Device_distance_construct(&distance);
    EXPECT_EQ(distance.mindist, UINT16_MAX);
    EXPECT_EQ(distance.maxdist, UINT16_MAX);
    pmix_node_pid_t node;
    PMIx_Node_pid_construct(&node);
    EXPECT_EQ(node.nodeid, UINT32_MAX);
    EXPECT_EQ(node.pid, -1);
    pmix_fabric_t fabric;
    std::memset(&fabric, 1, sizeof fabric);
    PMIx_Fabric_construct(&fabric);
    EXPECT_TRUE(is_zero(fabric));
}

TEST(StructSupport, CoordsComeWithTheirDimensions) {
    pmix_coord_t* coords = PMIx_Coord_create(3, 2);
    ASSERT_NE(coords, nullptr);
    for (size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(coords[i].dims, 3U);
        EXPECT_EQ(coords[i].coord[2], 0U);
    }
    PMIx_Coord_free(coords, 2);
    coords = PMIx_Coord_create(0, 1);
    EXPECT_EQ(coords[0].coord, nullptr);
    PMIx_Coord_free(coords, 1);
    pmix_coord_t coord;
    PMIx_Coord_construct(&coord);
    PMIx_Coord_destruct(&coord);
    EXPECT_TRUE(is_zero(coord));
}

TEST(StructSupport, FilledStructsAreReleasedCompletely) {
    pmix_app_t* app = PMIx_App_create(1);
    app->cmd = strdup("prog");
    PMIx_Argv_append_nosize(&app->argv, "prog");
    PMIx_App_info_create(app, 2);
    EXPECT_EQ(app->ninfo, 2U);
    PMIx_Info_load(&app->info[0], PMIX_WDIR, "/tmp", PMIX_STRING);
    PMIx_App_release(app);

    pmix_query_t* query = PMIx_Query_create(1);
    PMIx_Argv_append_nosize(&query->keys, PMIX_QUERY_NAMESPACES);
    PMIx_Query_qualifiers_create(query, 1);
    PMIx_Info_load(&query->qualifiers[0], PMIX_NSPACE, "job", PMIX_STRING);
    PMIx_Query_release(query);

    pmix_regattr_t attribute;
    pmix_regattr_t copy;
    PMIx_Regattr_construct(&attribute);
    PMIx_Regattr_load(&attribute, "PMIX_X", "pmix.x", PMIX_STRING, "what it is");
    PMIx_Regattr_xfer(&copy, &attribute);
    PMIx_Regattr_destruct(&attribute);
    EXPECT_STREQ(copy.name, "PMIX_X");
    EXPECT_STREQ(copy.string, "pmix.x");
    EXPECT_EQ(copy.type, PMIX_STRING);
    EXPECT_STREQ(copy.description[0], "what it is");
    PMIx_Regattr_destruct(&copy);

    const pmix_proc_t publisher = {"job", 1};
    pmix_pdata_t data;
    pmix_pdata_t data_copy;
    PMIx_Pdata_load(&data, &publisher, "key", "text", PMIX_STRING);
    PMIx_Pdata_xfer(&data_copy, &data);
    PMIx_Pdata_destruct(&data);
    EXPECT_EQ(data_copy.proc.rank, 1U);
    EXPECT_STREQ(data_copy.key, "key");
    EXPECT_STREQ(data_copy.value.data.string, "text");
    PMIx_Pdata_destruct(&data_copy);

    pmix_envar_t envar;
    char name[] = "PATH";
    char value[] = "/bin";
    PMIx_Envar_construct(&envar);
    PMIx_Envar_load(&envar, name, value, ':');
    EXPECT_STREQ(envar.value, "/bin");
    EXPECT_EQ(envar.separator, ':');
    PMIx_Envar_destruct(&envar);
}

TEST(StructSupport, DataArrays) {
    pmix_data_array_t array;
    PMIx_Data_array_construct(&array, 2, PMIX_INFO);
    EXPECT_EQ(array.size, 2U);
    PMIx_Info_load(static_cast<pmix_info_t*>(array.array), "key", "text", PMIX_STRING);
    PMIx_Data_array_destruct(&array);
    EXPECT_EQ(array.array, nullptr);
    EXPECT_EQ(array.size, 0U);
    EXPECT_EQ(array.type, PMIX_UNDEF);
    pmix_data_array_t* created = PMIx_Data_array_create(5, PMIX_STRING);
    static_cast<char**>(created->array)[4] = strdup("last");
    PMIx_Data_array_free(created);
    EXPECT_EQ(PMIx_Data_array_create(0, PMIX_STRING), nullptr);
    PMIx_Data_array_init(&array, PMIX_PROC);
    EXPECT_EQ(array.type, PMIX_PROC);
    EXPECT_EQ(array.size, 0U);
    PMIx_Data_array_construct(&array, 3, PMIX_UNDEF);
    EXPECT_EQ(array.size, 0U) << "no elements of no type";
}

}  // namespace
