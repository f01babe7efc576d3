// SPDX-License-Identifier: BSD-3-Clause
// Every local function survives NULL in each of its pointers. Each call runs in a separate process, so that a
// crash is attributed to its call, and the other calls are still tried.
#include <gtest/gtest.h>
#include <pmix.h>
#include <pmix_server.h>
#include <pmix_tool.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace {

/// The end of the call in a child: "" if it returned.
template <class Call>
std::string outcome(Call&& call) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(30);
        call();
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return "not tried";
    if (WIFSIGNALED(status)) return strsignal(WTERMSIG(status));
    return WEXITSTATUS(status) == 0 ? "" : "exit status " + std::to_string(WEXITSTATUS(status));
}

std::set<std::string> tried;

template <class R, class... P, size_t... I>
void try_nulls(const char* name, R (*function)(P...), std::tuple<P...> good, std::index_sequence<I...>) {
    tried.insert(name);
    constexpr size_t kAll = sizeof...(P);
    const auto without = [&](size_t which) {
        const auto argument = [&](auto value, size_t place) {
            if constexpr (std::is_pointer_v<decltype(value)>) {
                if (place == which || which == kAll) return static_cast<decltype(value)>(nullptr);
            }
            return value;
        };
        return outcome([&] { static_cast<void>(function(argument(std::get<I>(good), I)...)); });
    };
    const bool is_pointer[] = {std::is_pointer_v<P>...};
    for (size_t i = 0; i < kAll; ++i) {
        if (!is_pointer[i]) continue;
        EXPECT_EQ(without(i), "") << name << " with NULL as argument " << i + 1;
    }
    EXPECT_EQ(without(kAll), "") << name << " with nothing but NULL";
}

template <class R, class... P>
void try_nulls(const char* name, R (*function)(P...), std::type_identity_t<P>... good) {
    try_nulls(name, function, std::tuple<P...>(good...), std::index_sequence_for<P...>());
}

#define TRY(FUNCTION, ...) try_nulls(#FUNCTION, FUNCTION, __VA_ARGS__)
#define TRY_FAMILY(NAME, STRUCT)                \
    do {                                        \
        STRUCT one;                             \
        PMIx_##NAME##_construct(&one);          \
        TRY(PMIx_##NAME##_construct, &one);     \
        TRY(PMIx_##NAME##_destruct, &one);      \
        STRUCT* many = PMIx_##NAME##_create(2); \
        TRY(PMIx_##NAME##_free, many, 2);       \
        PMIx_##NAME##_free(many, 2);            \
    } while (false)

void try_structs() {
    TRY_FAMILY(App, pmix_app_t);
    TRY_FAMILY(Byte_object, pmix_byte_object_t);
    TRY_FAMILY(Cpuset, pmix_cpuset_t);
    TRY_FAMILY(Device, pmix_device_t);
    TRY_FAMILY(Device_distance, pmix_device_distance_t);
    TRY_FAMILY(Disk_stats, pmix_disk_stats_t);
    TRY_FAMILY(Endpoint, pmix_endpoint_t);
    TRY_FAMILY(Envar, pmix_envar_t);
    TRY_FAMILY(Geometry, pmix_geometry_t);
    TRY_FAMILY(Info, pmix_info_t);
    TRY_FAMILY(Net_stats, pmix_net_stats_t);
    TRY_FAMILY(Node_pid, pmix_node_pid_t);
    TRY_FAMILY(Node_stats, pmix_node_stats_t);
    TRY_FAMILY(Pdata, pmix_pdata_t);
    TRY_FAMILY(Proc, pmix_proc_t);
    TRY_FAMILY(Proc_info, pmix_proc_info_t);
    TRY_FAMILY(Proc_stats, pmix_proc_stats_t);
    TRY_FAMILY(Query, pmix_query_t);
    TRY_FAMILY(Regattr, pmix_regattr_t);
    TRY_FAMILY(Regex2, pmix_regex2_t);
    TRY_FAMILY(Resource_unit, pmix_resource_unit_t);
    TRY_FAMILY(Topology, pmix_topology_t);
    TRY_FAMILY(Value, pmix_value_t);

    pmix_coord_t coord{};
    TRY(PMIx_Coord_construct, &coord);
    TRY(PMIx_Coord_destruct, &coord);
    TRY(PMIx_Coord_free, PMIx_Coord_create(1, 1), 1);
    pmix_fabric_t fabric{};
    TRY(PMIx_Fabric_construct, &fabric);
    TRY(PMIx_App_info_create, PMIx_App_create(1), 1);
    TRY(PMIx_App_release, PMIx_App_create(1));
    TRY(PMIx_Query_qualifiers_create, PMIx_Query_create(1), 1);
    TRY(PMIx_Query_release, PMIx_Query_create(1));
    pmix_byte_object_t bytes{};
    TRY(PMIx_Byte_object_load, &bytes, strdup("bytes"), 5);
    pmix_envar_t envar{};
    char name[] = "NAME", value[] = "value";
    TRY(PMIx_Envar_load, &envar, name, value, ':');
    pmix_data_array_t array{};
    TRY(PMIx_Data_array_init, &array, PMIX_INT);
    TRY(PMIx_Data_array_construct, &array, 1, PMIX_INT);
    TRY(PMIx_Data_array_destruct, &array);
    TRY(PMIx_Data_array_free, PMIx_Data_array_create(1, PMIX_INT));
}

void try_names() {
    pmix_key_t key = "key";
    pmix_nspace_t nspace = "job", cluster = "hall", both = "hall:job";
    pmix_proc_t proc{}, other{};
    TRY(PMIx_Load_key, key, "key");
    TRY(PMIx_Check_key, key, "key");
    TRY(PMIx_Check_reserved_key, key);
    TRY(PMIx_Load_nspace, nspace, "job");
    TRY(PMIx_Check_nspace, nspace, "job");
    TRY(PMIx_Check_nspace_strict, nspace, "job");
    TRY(PMIx_Nspace_invalid, nspace);
    TRY(PMIx_Load_procid, &proc, "job", 0);
    TRY(PMIx_Proc_load, &proc, "job", 0);
    TRY(PMIx_Xfer_procid, &other, &proc);
    TRY(PMIx_Check_procid, &other, &proc);
    TRY(PMIx_Check_procid_strict, &other, &proc);
    TRY(PMIx_Procid_invalid, &proc);
    TRY(PMIx_Multicluster_nspace_construct, both, cluster, nspace);
    TRY(PMIx_Multicluster_nspace_parse, both, cluster, nspace);
}

void try_values() {
    pmix_value_t value{}, other{};
    ASSERT_EQ(PMIx_Value_load(&value, "7", PMIX_STRING), PMIX_SUCCESS);
    size_t size = 0;
    void* data = nullptr;
    TRY(PMIx_Value_load, &other, "7", PMIX_STRING);
    TRY(PMIx_Value_unload, &value, &data, &size);
    TRY(PMIx_Value_xfer, &other, &value);
    TRY(PMIx_Value_compare, &other, &value);
    TRY(PMIx_Value_true, &value);
    TRY(PMIx_Value_get_number, &value, &size, PMIX_SIZE);
    TRY(PMIx_Value_get_size, &value, &size);
    TRY(PMIx_Value_string, &value);
    pmix_pdata_t published{}, copy{};
    const pmix_proc_t proc{"job", 0};
    TRY(PMIx_Pdata_load, &published, &proc, "key", "value", PMIX_STRING);
    TRY(PMIx_Pdata_xfer, &copy, &published);
    pmix_regattr_t attribute{}, same{};
    TRY(PMIx_Regattr_load, &attribute, "NAME", "key", PMIX_INT, "text");
    TRY(PMIx_Regattr_xfer, &same, &attribute);
    PMIx_Value_destruct(&value);
}

void try_infos() {
    pmix_info_t info{}, other{};
    ASSERT_EQ(PMIx_Info_load(&info, "key", "value", PMIX_STRING), PMIX_SUCCESS);
    size_t size = 0;
    TRY(PMIx_Info_load, &other, "key", "value", PMIX_STRING);
    TRY(PMIx_Info_xfer, &other, &info);
    TRY(PMIx_Info_true, &info);
    TRY(PMIx_Info_get_size, &info, &size);
    TRY(PMIx_Info_required, &info);
    TRY(PMIx_Info_optional, &info);
    TRY(PMIx_Info_processed, &info);
    TRY(PMIx_Info_set_end, &info);
    TRY(PMIx_Info_qualifier, &info);
    TRY(PMIx_Info_persistent, &info);
    TRY(PMIx_Info_is_required, &info);
    TRY(PMIx_Info_is_optional, &info);
    TRY(PMIx_Info_was_processed, &info);
    TRY(PMIx_Info_is_end, &info);
    TRY(PMIx_Info_is_qualifier, &info);
    TRY(PMIx_Info_is_persistent, &info);
    TRY(PMIx_Info_string, &info);

    void* list = PMIx_Info_list_start();
    ASSERT_EQ(PMIx_Info_list_xfer(list, &info), PMIX_SUCCESS);
    pmix_data_array_t array{};
    void* next = nullptr;
    TRY(PMIx_Info_list_add, list, "key", "value", PMIX_STRING);
    TRY(PMIx_Info_list_add_unique, list, "key", "value", PMIX_STRING, true);
    TRY(PMIx_Info_list_add_value, list, "key", &info.value);
    TRY(PMIx_Info_list_add_value_unique, list, "key", &info.value, true);
    TRY(PMIx_Info_list_prepend, list, "key", "value", PMIX_STRING);
    TRY(PMIx_Info_list_insert, list, &info);
    TRY(PMIx_Info_list_xfer, list, &info);
    TRY(PMIx_Info_list_xfer_unique, list, &info, true);
    TRY(PMIx_Info_list_convert, list, &array);
    TRY(PMIx_Info_list_get_info, list, nullptr, &next);
    TRY(PMIx_Info_list_get_size, list);
    TRY(PMIx_Info_list_release, list);
    PMIx_Info_list_release(list);
    PMIx_Info_destruct(&info);
}

void try_data() {
    pmix_data_buffer_t buffer{}, other{};
    char bytes[] = "bytes";
    pmix_byte_object_t object{strdup(bytes), 5};
    char* text = nullptr;
    size_t size = 0;
    TRY(PMIx_Data_buffer_construct, &buffer);
    TRY(PMIx_Data_buffer_destruct, &buffer);
    TRY(PMIx_Data_buffer_release, PMIx_Data_buffer_create());
    TRY(PMIx_Data_buffer_load, &buffer, strdup(bytes), 5);
    TRY(PMIx_Data_embed, &buffer, &object);
    ASSERT_EQ(PMIx_Data_embed(&buffer, &object), PMIX_SUCCESS);
    TRY(PMIx_Data_buffer_unload, &buffer, &text, &size);
    TRY(PMIx_Data_load, &other, &object);
    TRY(PMIx_Data_unload, &buffer, &object);
    TRY(PMIx_Data_copy_payload, &other, &buffer);
    void* copy = nullptr;
    TRY(PMIx_Data_copy, &copy, bytes, PMIX_STRING);
    TRY(PMIx_Data_print, &text, bytes, bytes, PMIX_STRING);
    uint8_t* packed = nullptr;
    const auto* input = reinterpret_cast<const uint8_t*>(bytes);
    TRY(PMIx_Data_compress, input, 5, &packed, &size);
    TRY(PMIx_Data_decompress, input, 5, &packed, &size);
    int32_t count = 1;
    TRY(PMIx_Data_pack, nullptr, &buffer, bytes, 1, PMIX_BYTE);
    TRY(PMIx_Data_unpack, nullptr, &buffer, bytes, &count, PMIX_BYTE);
    PMIx_Data_buffer_destruct(&buffer);
}

void try_texts() {
    char** argv = PMIx_Argv_split("a,b", ',');
    char** env = PMIx_Argv_split("A=1", ',');
    TRY(PMIx_Argv_count, argv);
    TRY(PMIx_Argv_append_nosize, &argv, "c");
    TRY(PMIx_Argv_prepend_nosize, &argv, "c");
    TRY(PMIx_Argv_append_unique_nosize, &argv, "c");
    TRY(PMIx_Argv_copy, argv);
    TRY(PMIx_Argv_join, argv, ',');
    TRY(PMIx_Argv_split, "a,b", ',');
    TRY(PMIx_Argv_split_inter, "a,b", ',', true);
    TRY(PMIx_Argv_split_with_empty, "a,b", ',');
    TRY(PMIx_Argv_free, argv);
    TRY(PMIx_Setenv, "A", "2", true, &env);
    PMIx_Argv_free(argv);
    PMIx_Argv_free(env);
    const pmix_app_t app{};
    const pmix_proc_t proc{"job", 0};
    const pmix_resource_unit_t unit{};
    TRY(PMIx_App_string, &app);
    TRY(PMIx_Proc_string, &proc);
    TRY(PMIx_Resource_unit_string, &unit);
    TRY(PMIx_Error_code, "PMIX_ERROR");
    TRY(PMIx_Get_attribute_name, PMIX_TIMEOUT);
    TRY(PMIx_Get_attribute_string, "PMIX_TIMEOUT");
    char* text = nullptr;
    TRY(PMIx_generate_regex, "a,b", &text);
    TRY(PMIx_generate_ppn, "0;1", &text);
    pmix_regex2_t regex{};
    TRY(PMIx_generate_regex2, "a,b", nullptr, 0, &regex);
    TRY(PMIx_parse_regex2, &regex, nullptr, 0, &text);
}

void try_topology() {
    pmix_topology_t topology{};
    pmix_cpuset_t cpuset{};
    pmix_locality_t locality = 0;
    pmix_device_distance_t* distances = nullptr;
    size_t count = 0;
    char* text = nullptr;
    TRY(PMIx_Load_topology, &topology);
    TRY(PMIx_Get_cpuset, &cpuset, PMIX_CPUBIND_PROCESS);
    TRY(PMIx_Parse_cpuset_string, "hwloc:0", &cpuset);
    TRY(PMIx_Get_relative_locality, "NM0", "NM0", &locality);
    TRY(PMIx_Compute_distances, &topology, &cpuset, nullptr, 0, &distances, &count);
    TRY(PMIx_server_generate_cpuset, "hwloc:0", &cpuset);
    TRY(PMIx_server_generate_cpuset_string, &cpuset, &text);
    TRY(PMIx_server_generate_locality_string, &cpuset, &text);
}

/// Whether the function needs an initialised library, and mostly a peer: it returns PMIX_ERR_INIT here.
bool needs_init(const std::string& name) {
    for (const char* local : {"PMIx_server_generate_", "PMIx_generate_"}) {
        if (name.starts_with(local)) return false;
    }
    for (const char* part :
         {"PMIx_server_", "PMIx_tool_", "PMIx_Group_", "PMIx_IOF_", "PMIx_Fabric_", "PMIx_Resolve_"}) {
        if (name.starts_with(part)) return name != "PMIx_Fabric_construct" && !name.ends_with("_string");
    }
    static const std::set<std::string> calls = {"PMIx_Abort",
                                                "PMIx_Allocation_request",
                                                "PMIx_Compute_distances_nb",
                                                "PMIx_Connect",
                                                "PMIx_Deregister_event_handler",
                                                "PMIx_Disconnect",
                                                "PMIx_Fence",
                                                "PMIx_Finalize",
                                                "PMIx_Get",
                                                "PMIx_Get_credential",
                                                "PMIx_Init",
                                                "PMIx_Job_control",
                                                "PMIx_Log",
                                                "PMIx_Lookup",
                                                "PMIx_Notify_event",
                                                "PMIx_Process_monitor",
                                                "PMIx_Progress_thread_stop",
                                                "PMIx_Publish",
                                                "PMIx_Put",
                                                "PMIx_Query_info",
                                                "PMIx_Register_attributes",
                                                "PMIx_Register_event_handler",
                                                "PMIx_Resource_block",
                                                "PMIx_Session_control",
                                                "PMIx_Spawn",
                                                "PMIx_Store_internal",
                                                "PMIx_Unpublish",
                                                "PMIx_Validate_credential"};
    return calls.contains(name.ends_with("_nb") ? name.substr(0, name.size() - 3) : name) ||
           calls.contains(name);
}

TEST(NullArguments, DoNotCrashHelperFunctions) {
#ifdef __SANITIZE_ADDRESS__
    const __lsan::ScopedDisabler disabled;  // arguments of failed calls are not freed here
#endif
    try_structs();
    try_names();
    try_values();
    try_infos();
    try_data();
    try_texts();
    try_topology();

    // The list has all exported functions.
    std::ifstream table(MUSTER_TEST_DATA "/../abi/data/functions.tsv");
    ASSERT_TRUE(table.is_open());
    std::string line;
    size_t functions = 0;
    while (std::getline(table, line)) {
        const std::string name = line.substr(0, line.find('\t'));
        if (!name.starts_with("PMIx_")) continue;
        const std::string parameters = line.substr(line.rfind('\t') + 1);
        if (parameters.find_first_of("*[") == std::string::npos &&
            parameters.find("pmix_nspace_t") == std::string::npos)
            continue;
        ++functions;
        if (needs_init(name)) continue;
        EXPECT_TRUE(tried.contains(name)) << name << " is not tried";
    }
    EXPECT_GT(functions, 200u);
}

TEST(NullArguments, GiveTheNegativeAnswer) {
    EXPECT_EQ(PMIx_Info_true(nullptr), PMIX_NON_BOOL);
    EXPECT_EQ(PMIx_Value_true(nullptr), PMIX_NON_BOOL);
    EXPECT_FALSE(PMIx_Info_is_required(nullptr));
    EXPECT_FALSE(PMIx_Info_is_optional(nullptr));
    EXPECT_TRUE(PMIx_Procid_invalid(nullptr));
    const pmix_proc_t proc{"job", 0};
    EXPECT_FALSE(PMIx_Check_procid(&proc, nullptr));
    EXPECT_TRUE(PMIx_Check_procid(nullptr, nullptr));
    EXPECT_FALSE(PMIx_Check_procid_strict(nullptr, nullptr));
    EXPECT_EQ(PMIx_Value_compare(nullptr, nullptr), PMIX_VALUE_COMPARISON_NOT_AVAIL);
    pmix_pdata_t data;
    PMIx_Pdata_load(&data, nullptr, "key", "value", PMIX_STRING);
    EXPECT_STREQ(data.key, "key");
    PMIx_Pdata_destruct(&data);
}

}  // namespace
