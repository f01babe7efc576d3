// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Value_*, PMIx_Info_* and PMIx_Info_list_*, and names, argv and environment, through the library
// itself.

#include <gtest/gtest.h>
#include <pmix.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

TEST(ValueFunctions, CheckTheirArguments) {
    pmix_value_t value;
    PMIx_Value_construct(&value);
    void* data = nullptr;
    size_t size = 0;
    EXPECT_EQ(PMIx_Value_load(nullptr, "x", PMIX_STRING), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Value_unload(&value, nullptr, &size), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Value_unload(&value, &data, nullptr), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Value_xfer(nullptr, &value), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Value_get_size(&value, nullptr), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Value_get_size(&value, &size), PMIX_ERR_UNKNOWN_DATA_TYPE);
    EXPECT_EQ(PMIx_Value_get_number(&value, &size, PMIX_SIZE), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Value_true(&value), PMIX_BOOL_TRUE);
}

TEST(ValueFunctions, LoadTransferAndCompare) {
    pmix_value_t value;
    pmix_value_t copy;
    EXPECT_EQ(PMIx_Value_load(&value, "text", PMIX_STRING), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Value_xfer(&copy, &value), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Value_compare(&value, &copy), PMIX_EQUAL);
    size_t size = 0;
    EXPECT_EQ(PMIx_Value_get_size(&value, &size), PMIX_SUCCESS);
    EXPECT_EQ(size, 5U);
    PMIx_Value_destruct(&value);
    EXPECT_EQ(value.type, PMIX_UNDEF);
    EXPECT_EQ(PMIx_Value_true(&copy), PMIX_NON_BOOL);
    PMIx_Value_destruct(&copy);
    pmix_value_t* values = PMIx_Value_create(2);
    EXPECT_EQ(PMIx_Value_load(&values[1], "text", PMIX_STRING), PMIX_SUCCESS);
    PMIx_Value_free(values, 2);
}

TEST(InfoFunctions, LoadTransferAndFlags) {
    pmix_info_t info;
    EXPECT_EQ(PMIx_Info_load(&info, nullptr, "x", PMIX_STRING), PMIX_ERR_BAD_PARAM);
    ASSERT_EQ(PMIx_Info_load(&info, PMIX_WDIR, "/tmp", PMIX_STRING), PMIX_SUCCESS);
    EXPECT_TRUE(PMIx_Check_key(info.key, PMIX_WDIR));
    EXPECT_TRUE(PMIx_Info_is_optional(&info));
    PMIx_Info_required(&info);
    EXPECT_TRUE(PMIx_Info_is_required(&info));
    PMIx_Info_optional(&info);
    EXPECT_FALSE(PMIx_Info_is_required(&info));
    PMIx_Info_processed(&info);
    EXPECT_TRUE(PMIx_Info_was_processed(&info));
    PMIx_Info_set_end(&info);
    EXPECT_TRUE(PMIx_Info_is_end(&info));
    PMIx_Info_qualifier(&info);
    EXPECT_TRUE(PMIx_Info_is_qualifier(&info));
    size_t size = 0;
    EXPECT_EQ(PMIx_Info_get_size(&info, &size), PMIX_SUCCESS);
    EXPECT_EQ(size, sizeof info + 5);

    pmix_info_t copy;
    ASSERT_EQ(PMIx_Info_xfer(&copy, &info), PMIX_SUCCESS);
    EXPECT_NE(copy.value.data.string, info.value.data.string);
    EXPECT_EQ(copy.flags, info.flags);
    PMIx_Info_destruct(&copy);

    PMIx_Info_persistent(&info);
    ASSERT_EQ(PMIx_Info_xfer(&copy, &info), PMIX_SUCCESS);
    EXPECT_EQ(copy.value.data.string, info.value.data.string) << "a persistent value is shared";
    PMIx_Info_destruct(&copy);
    PMIx_Info_destruct(&copy);
    EXPECT_STREQ(info.value.data.string, "/tmp");
    PMIx_Value_destruct(&info.value);
}

std::vector<std::string> keys_of(void* list) {
    std::vector<std::string> keys;
    void* next = nullptr;
    for (pmix_info_t* info = PMIx_Info_list_get_info(list, nullptr, &next); info != nullptr;
         info = PMIx_Info_list_get_info(list, next, &next)) {
        keys.emplace_back(info->key);
        if (next == nullptr) break;
    }
    return keys;
}

using Keys = std::vector<std::string>;

TEST(InfoList, CollectsInOrderAndConverts) {
    void* list = PMIx_Info_list_start();
    ASSERT_NE(list, nullptr);
    pmix_data_array_t array;
    EXPECT_EQ(PMIx_Info_list_convert(list, &array), PMIX_ERR_EMPTY);
    EXPECT_EQ(array.array, nullptr);
    EXPECT_EQ(keys_of(list), Keys{});

    int number = 7;
    EXPECT_EQ(PMIx_Info_list_add(list, "b", "text", PMIX_STRING), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Info_list_add(list, "c", &number, PMIX_INT), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Info_list_prepend(list, "a", nullptr, PMIX_BOOL), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Info_list_add(list, nullptr, &number, PMIX_INT), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Info_list_add(list, "x", &number, PMIX_APP), PMIX_ERR_NOT_SUPPORTED);
    pmix_value_t value;
    PMIx_Value_load(&value, "value", PMIX_STRING);
    EXPECT_EQ(PMIx_Info_list_add_value(list, "d", &value), PMIX_SUCCESS);
    pmix_info_t info;
    PMIx_Info_load(&info, "e", "entry", PMIX_STRING);
    PMIx_Info_required(&info);
    EXPECT_EQ(PMIx_Info_list_xfer(list, &info), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Info_list_get_size(list), 5U);
    EXPECT_EQ(keys_of(list), (Keys{"a", "b", "c", "d", "e"}));

    number = 8;
    EXPECT_EQ(PMIx_Info_list_add_unique(list, "c", &number, PMIX_INT, false), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Info_list_add_unique(list, "b", &number, PMIX_INT, true), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Info_list_add_unique(list, "f", &number, PMIX_INT, false), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Info_list_add_value_unique(list, "d", &value, true), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Info_list_xfer_unique(list, &info, true), PMIX_SUCCESS);

    ASSERT_EQ(PMIx_Info_list_convert(list, &array), PMIX_SUCCESS);
    PMIx_Info_list_release(list);
    PMIx_Value_destruct(&value);
    PMIx_Info_destruct(&info);
    ASSERT_EQ(array.size, 6U);
    EXPECT_EQ(array.type, PMIX_INFO);
    const auto* infos = static_cast<pmix_info_t*>(array.array);
    EXPECT_EQ(PMIx_Info_true(&infos[0]), PMIX_BOOL_TRUE);
    EXPECT_EQ(infos[1].value.data.integer, 8);
    EXPECT_EQ(infos[2].value.data.integer, 7) << "kept, since not to be overwritten";
    EXPECT_STREQ(infos[3].value.data.string, "value");
    EXPECT_STREQ(infos[4].value.data.string, "entry");
    EXPECT_TRUE(PMIx_Info_is_required(&infos[4]));
    PMIx_Data_array_destruct(&array);
}

TEST(InfoList, InsertsWithoutCopying) {
    pmix_info_t info;
    PMIx_Info_load(&info, "key", "text", PMIX_STRING);
    void* list = PMIx_Info_list_start();
    EXPECT_EQ(PMIx_Info_list_insert(list, &info), PMIX_SUCCESS);
    void* next = nullptr;
    EXPECT_EQ(PMIx_Info_list_get_info(list, nullptr, &next)->value.data.string, info.value.data.string);
    PMIx_Info_list_release(list);
    EXPECT_STREQ(info.value.data.string, "text");
    PMIx_Info_destruct(&info);
}

TEST(InfoList, ReleasesLongListsWithoutRecursion) {
    void* list = PMIx_Info_list_start();
    for (int i = 0; i < 100000; ++i)
        PMIx_Info_list_add(list, "key", &i, PMIX_INT);
    EXPECT_EQ(PMIx_Info_list_get_size(list), 100000U);
    PMIx_Info_list_release(list);
    PMIx_Info_list_release(nullptr);
    EXPECT_EQ(PMIx_Info_list_add(nullptr, "k", nullptr, PMIX_BOOL), PMIX_ERR_BAD_PARAM);
}

TEST(ProcFunctions, CheckAndLoad) {
    pmix_proc_t proc;
    pmix_proc_t other;
    PMIx_Load_procid(&proc, "job", 1);
    PMIx_Xfer_procid(&other, &proc);
    EXPECT_TRUE(PMIx_Check_procid(&proc, &other));
    other.rank = PMIX_RANK_WILDCARD;
    EXPECT_TRUE(PMIx_Check_procid(&proc, &other));
    PMIx_Proc_load(&other, "jobs", 1);
    EXPECT_FALSE(PMIx_Check_procid(&proc, &other));
    EXPECT_FALSE(PMIx_Check_rank(1, 2));
    EXPECT_TRUE(PMIx_Rank_valid(0));
    EXPECT_FALSE(PMIx_Rank_valid(PMIX_RANK_WILDCARD));
    EXPECT_FALSE(PMIx_Procid_invalid(&proc));
    proc.rank = PMIX_RANK_INVALID;
    EXPECT_TRUE(PMIx_Procid_invalid(&proc));
    PMIx_Load_nspace(proc.nspace, nullptr);
    EXPECT_TRUE(PMIx_Nspace_invalid(proc.nspace));
    EXPECT_TRUE(PMIx_Nspace_invalid(nullptr));
    EXPECT_TRUE(PMIx_Check_reserved_key(PMIX_JOB_SIZE));
    EXPECT_FALSE(PMIx_Check_reserved_key("mine"));
    EXPECT_FALSE(PMIx_Check_nspace("job", nullptr));
}

TEST(ProcFunctions, NamespacesOfClusters) {
    pmix_nspace_t whole;
    pmix_nspace_t cluster;
    pmix_nspace_t job;
    PMIx_Load_nspace(cluster, "earth");
    PMIx_Load_nspace(job, "job:1");
    PMIx_Multicluster_nspace_construct(whole, cluster, job);
    EXPECT_STREQ(whole, "earth:job:1");
    PMIx_Load_nspace(cluster, "garbage");
    PMIx_Load_nspace(job, "garbage");
    PMIx_Multicluster_nspace_parse(whole, cluster, job);
    EXPECT_STREQ(cluster, "earth");
    EXPECT_STREQ(job, "job:1");
    const std::string longest(PMIX_MAX_NSLEN, 'x');
    PMIx_Load_nspace(cluster, longest.c_str());
    PMIx_Multicluster_nspace_construct(whole, cluster, job);
    EXPECT_STREQ(whole, "") << "what does not fit is no name at all";
}

TEST(ArgvFunctions, AcceptNull) {
    char** argv = nullptr;
    EXPECT_EQ(PMIx_Argv_count(nullptr), 0);
    EXPECT_EQ(PMIx_Argv_append_nosize(nullptr, "a"), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Argv_append_nosize(&argv, nullptr), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_Argv_append_nosize(&argv, "b"), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Argv_prepend_nosize(&argv, "a"), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Argv_append_unique_nosize(&argv, "a"), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Argv_count(argv), 2);
    char* joined = PMIx_Argv_join(argv, ',');
    EXPECT_STREQ(joined, "a,b");
    free(joined);
    char** copy = PMIx_Argv_copy(argv);
    EXPECT_STREQ(copy[1], "b");
    PMIx_Argv_free(copy);
    PMIx_Argv_free(argv);
    argv = PMIx_Argv_split_with_empty("a,,b", ',');
    EXPECT_EQ(PMIx_Argv_count(argv), 3);
    PMIx_Argv_free(argv);
    argv = PMIx_Argv_split("a,,b", ',');
    EXPECT_EQ(PMIx_Argv_count(argv), 2);
    PMIx_Argv_free(argv);
}

TEST(Setenv, SetsOwnAndGivenEnvironments) {
    char** env = nullptr;
    EXPECT_EQ(PMIx_Setenv("A", "1", true, &env), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Setenv("A", "2", false, &env), PMIX_ERR_EXISTS);
    EXPECT_STREQ(env[0], "A=1");
    PMIx_Argv_free(env);
    EXPECT_EQ(PMIx_Setenv("MUSTER_TEST_SETENV", "1", true, &environ), PMIX_SUCCESS);
    EXPECT_STREQ(getenv("MUSTER_TEST_SETENV"), "1");
    EXPECT_EQ(PMIx_Setenv("MUSTER_TEST_SETENV", nullptr, true, &environ), PMIX_SUCCESS);
    EXPECT_EQ(getenv("MUSTER_TEST_SETENV"), nullptr);
    EXPECT_EQ(PMIx_Setenv("A", "1", true, nullptr), PMIX_ERR_BAD_PARAM);
}

TEST(Strings, NameNumbersAndAttributes) {
    EXPECT_STREQ(PMIx_Error_string(PMIX_ERR_NOT_FOUND), "PMIX_ERR_NOT_FOUND");
    EXPECT_EQ(PMIx_Error_code("PMIX_ERR_NOT_FOUND"), PMIX_ERR_NOT_FOUND);
    EXPECT_EQ(PMIx_Error_code("nonsense"), INT_MIN);
    EXPECT_STREQ(PMIx_Data_type_string(PMIX_PROC_INFO), "PMIX_PROC_INFO");
    EXPECT_STREQ(PMIx_Get_attribute_string("PMIX_TIMEOUT"), PMIX_TIMEOUT);
    EXPECT_STREQ(PMIx_Get_attribute_name(PMIX_TIMEOUT), "PMIX_TIMEOUT");
    EXPECT_STREQ(PMIx_Get_attribute_name(PMIX_ALLOC_FABRIC), "PMIX_ALLOC_FABRIC") << "not the former name";
    EXPECT_STREQ(PMIx_Get_attribute_string("PMIX_ALLOC_NETWORK"), PMIX_ALLOC_FABRIC);
    EXPECT_STREQ(PMIx_Get_attribute_name("my.key"), "my.key");
    EXPECT_STREQ(PMIx_Proc_state_string(PMIX_PROC_STATE_RUNNING), "RUNNING");
    EXPECT_STREQ(PMIx_Job_state_string(PMIX_JOB_STATE_SUSPENDED), "SUSPENDED");
    EXPECT_STREQ(PMIx_Scope_string(PMIX_GLOBAL), "GLOBAL");
    EXPECT_STREQ(PMIx_Persistence_string(PMIX_PERSIST_SESSION), "SESSION");
    EXPECT_STREQ(PMIx_Data_range_string(PMIX_RANGE_NAMESPACE), "NAMESPACE");
    EXPECT_STREQ(PMIx_Alloc_directive_string(PMIX_ALLOC_EXTEND), "EXTEND");
    EXPECT_STREQ(PMIx_Resource_block_directive_string(PMIX_RESOURCE_BLOCK_DELETE), "DELETE");
    EXPECT_STREQ(PMIx_IOF_channel_string(PMIX_FWD_STDOUT_CHANNEL), "STDOUT");
    EXPECT_STREQ(PMIx_Link_state_string(PMIX_LINK_UP), "UP");
    EXPECT_STREQ(PMIx_Device_type_string(PMIX_DEVTYPE_GPU), "GPU");
    EXPECT_STREQ(PMIx_Value_comparison_string(PMIX_VALUE1_GREATER), "VALUE1 GREATER");
    EXPECT_STREQ(PMIx_Group_operation_string(PMIX_GROUP_DESTRUCT), "DESTRUCT");
}

TEST(Strings, VersionNamesTheLibrary) {
    EXPECT_EQ(std::string(PMIx_Get_version()).rfind("Muster ", 0), 0U);
    EXPECT_GE(PMIx_Get_version()[0], '3') << "Open MPI 4.1 looks at the first character";
}

TEST(Strings, OfChannelsAreThreadSafe) {
    std::vector<std::thread> threads;
    for (pmix_iof_channel_t channel : {PMIX_FWD_STDIN_CHANNEL, PMIX_FWD_STDERR_CHANNEL}) {
        threads.emplace_back([channel] {
            const std::string expected = channel == PMIX_FWD_STDIN_CHANNEL ? "STDIN" : "STDERR";
            for (int i = 0; i < 10000; ++i)
                ASSERT_EQ(PMIx_IOF_channel_string(channel), expected);
        });
    }
    for (std::thread& thread : threads)
        thread.join();
}

// The text, freed as a C caller would.
std::string take(char* text) {
    std::string copy = text == nullptr ? "(null)" : text;
    free(text);
    return copy;
}

TEST(Strings, DescribeStructs) {
    pmix_info_t info;
    PMIx_Info_load(&info, PMIX_WDIR, "/tmp", PMIX_STRING);
    EXPECT_EQ(take(PMIx_Info_directives_string(PMIX_INFO_REQD)), "REQUIRED");
    EXPECT_EQ(take(PMIx_Value_string(&info.value)), "Data type: PMIX_STRING\tValue: /tmp");
    EXPECT_EQ(take(PMIx_Info_string(&info)),
              "Key: pmix.wdir\tDirectives: OPTIONAL\n\tData type: PMIX_STRING\tValue: /tmp");
    const pmix_proc_t proc = {"job", PMIX_RANK_WILDCARD};
    EXPECT_EQ(take(PMIx_Proc_string(&proc)), "[job,WILDCARD]");
    const pmix_resource_unit_t unit = {PMIX_DEVTYPE_NODE, 3};
    EXPECT_EQ(take(PMIx_Resource_unit_string(&unit)), "TYPE: NODE  COUNT: 3");
    pmix_app_t app;
    PMIx_App_construct(&app);
    app.cmd = strdup("prog");
    PMIx_Argv_append_nosize(&app.argv, "prog");
    PMIx_Argv_append_nosize(&app.argv, "-v");
    app.info = &info;
    app.ninfo = 1;
    EXPECT_EQ(take(PMIx_App_string(&app)),
              "CMD: prog\n    ARGV:\n        [0]: prog\n        [1]: -v\n    ENV: NONE\n    CWD: NULL\n    "
              "MAXPROCS: "
              "0\n    INFO:\n        [0]: pmix.wdir = \"/tmp\"");
    app.info = nullptr;
    app.ninfo = 0;
    PMIx_App_destruct(&app);
    PMIx_Info_destruct(&info);
}

}  // namespace
