// SPDX-License-Identifier: BSD-3-Clause
//
// A client and a host in the manner of OpenPMIx 6: capabilities tested one by one, resource blocks, devices,
// usage by attributes, numbers read by function, the members of the module that came last.

#include <pmix_tool.h>

#ifndef PMIX_CAP_BASE
#error "sources of 6 test capabilities by their names"
#endif

static pmix_status_t block(const pmix_proc_t* requestor, pmix_resource_block_directive_t directive,
                           const char* name, const pmix_resource_unit_t* units, size_t nunit,
                           const pmix_info_t* info, size_t ninfo, pmix_op_cbfunc_t cbfunc, void* cbdata) {
    (void)requestor;
    (void)name;
    (void)units;
    (void)nunit;
    (void)info;
    (void)ninfo;
    (void)cbfunc;
    (void)cbdata;
    return PMIX_RESOURCE_BLOCK_DEFINE == directive ? PMIX_OPERATION_SUCCEEDED : PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t logged(const pmix_proc_t* client, const pmix_info_t data[], size_t ndata,
                            const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc,
                            void* cbdata) {
    (void)client;
    (void)data;
    (void)ndata;
    (void)directives;
    (void)ndirs;
    (void)cbfunc;
    (void)cbdata;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t tool(pmix_info_t* info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                          void* cbdata) {
    (void)info;
    (void)ninfo;
    (void)cbfunc;
    (void)cbdata;
    return PMIX_ERR_NOT_SUPPORTED;
}

int sample_6_1_host(void);
int sample_6_1_host(void) {
    pmix_server_module_t module = {0};
    pmix_data_buffer_t facts = PMIX_DATA_BUFFER_STATIC_INIT;
    pmix_proc_t proc = PMIX_PROC_STATIC_INIT;
    pmix_status_t status;
    module.resource_block = block;
    module.log2 = logged;
    module.tool_connected2 = tool;
    status = PMIx_server_init(&module, NULL, 0);
    if (PMIX_SUCCESS != status) {
        return 1;
    }
    PMIx_Proc_load(&proc, "job", PMIX_RANK_WILDCARD);
    status = PMIx_server_collect_job_info(&proc, 1, &facts);
    PMIx_Data_buffer_destruct(&facts);
    return PMIX_SUCCESS == PMIx_server_finalize() && PMIX_SUCCESS == status ? 0 : 1;
}

int sample_6_1_client(void);
int sample_6_1_client(void) {
    pmix_proc_t me = PMIX_PROC_STATIC_INIT;
    pmix_node_pid_t node = PMIX_NODE_PID_STATIC_INIT;
    pmix_resource_unit_t unit = PMIX_RESOURCE_UNIT_STATIC_INIT;
    pmix_device_t* devices;
    pmix_value_t value = PMIX_VALUE_STATIC_INIT;
    pmix_pdata_t data = PMIX_LOOKUP_STATIC_INIT;
    pmix_info_t monitor = PMIX_INFO_STATIC_INIT;
    pmix_info_t* results = NULL;
    size_t nresults = 0;
    uint64_t number = 0;
    char* text;
    pmix_status_t status = PMIx_Init(&me, NULL, 0);

    value.type = PMIX_NODE_PID;
    value.data.nodepid = &node;
    value.data.rbdir = PMIX_RESOURCE_BLOCK_EXTEND;
    value.type = PMIX_INT;
    value.data.integer = -1;
    status = PMIx_Value_get_number(&value, &number, PMIX_UINT64);
    if (PMIX_ERR_CHANGE_SIGN == status || PMIX_ERR_LOST_PRECISION == status) {
        puts("the number does not fit");
    }
    unit.type = PMIX_DEVTYPE_CORE;
    unit.count = 4;
    text = PMIx_Resource_unit_string(&unit);
    puts(text);
    free(text);
    status = PMIx_Resource_block(PMIX_RESOURCE_BLOCK_DEFINE, NULL, &unit, 1, NULL, 0);
    devices = PMIx_Device_create(2);
    PMIx_Device_free(devices, 2);
    PMIx_Pdata_load(&data, &me, "key", "value", PMIX_STRING);
    PMIx_Pdata_destruct(&data);
    PMIx_Info_load(&monitor, PMIX_MONITOR_PROC_RESOURCE_USAGE, NULL, PMIX_BOOL);
    status = PMIx_Process_monitor(&monitor, PMIX_MONITOR_RESUSAGE_UPDATE, NULL, 0, &results, &nresults);
    PMIx_Info_free(results, nresults);
    puts(PMIx_Group_operation_string(PMIX_GROUP_NONE));
    PMIx_Heartbeat();
    PMIx_Progress_thread_stop(NULL, 0);
    return PMIX_SUCCESS == PMIx_Finalize(NULL, 0) && PMIX_SUCCESS == status ? 0 : 1;
}
