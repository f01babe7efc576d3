// SPDX-License-Identifier: BSD-3-Clause
//
// A tool and a host in the manner of OpenPMIx 5.0: functions where 4.2 had macros, info lists, session
// control, pmix_tool.h alone for everything, choice by version and by the word of capabilities.

#include <pmix_tool.h>

#if PMIX_VERSION_MAJOR < 5L
#error "the version is compared as sources of 5.0 do it"
#endif
#if !defined(PMIX_CAPABILITIES) || !defined(PMIX_CAP_BASE)
#error "sources of 5.0 expect these"
#endif

static pmix_status_t session_control(const pmix_proc_t* requestor, uint32_t session,
                                     const pmix_info_t directives[], size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                     void* cbdata) {
    size_t n;
    (void)requestor;
    (void)session;
    (void)cbfunc;
    (void)cbdata;
    for (n = 0; n < ndirs; ++n) {
        if (PMIx_Check_key(directives[n].key, PMIX_SESSION_PROVISION)) {
            return PMIX_ERR_NOT_SUPPORTED;
        }
        if (PMIx_Check_key(directives[n].key, PMIX_SESSION_TERMINATE) && PMIX_INFO_TRUE(&directives[n])) {
            return PMIX_OPERATION_SUCCEEDED;
        }
    }
    return PMIX_ERR_BAD_PARAM;
}

int sample_5_0_host(void);
int sample_5_0_host(void) {
    pmix_server_module_t module = {0};
    module.session_control = session_control;
    return PMIX_SUCCESS == PMIx_server_init(&module, NULL, 0) &&
                   PMIX_SUCCESS == PMIx_tool_set_server_module(&module)
               ? 0
               : 1;
}

int sample_5_0_tool(void);
int sample_5_0_tool(void) {
    pmix_proc_t me = PMIX_PROC_STATIC_INIT;
    pmix_proc_t server = PMIX_PROC_STATIC_INIT;
    pmix_data_array_t array = PMIX_DATA_ARRAY_STATIC_INIT;
    pmix_coord_t* coords;
    pmix_disk_stats_t* disks;
    pmix_value_t* value;
    pmix_info_t* info;
    void* next = NULL;
    pid_t pid = 1234;
    char** names;
    char* text;
    void* list = PMIx_Info_list_start();
    pmix_status_t status = PMIx_Info_list_add(list, PMIX_SERVER_PIDINFO, &pid, PMIX_PID);

    status = PMIx_Info_list_add_unique(list, PMIX_SERVER_PIDINFO, &pid, PMIX_PID, true);
    info = PMIx_Info_list_get_info(list, NULL, &next);
    status = PMIx_Info_list_xfer_unique(list, info, false);
    status = PMIx_Info_list_convert(list, &array);
    PMIx_Info_list_release(list);
    status = PMIx_tool_init(&me, (pmix_info_t*)array.array, array.size);
    PMIx_Data_array_destruct(&array);
    if (PMIX_SUCCESS != status) {
        return 1;
    }
    text = PMIx_Proc_string(&me);
    printf("%s %d %d\n", text, PMIx_tool_is_connected(), PMIx_Error_code("PMIX_ERR_TIMEOUT"));
    free(text);
    status = PMIx_tool_attach_to_server(&me, &server, NULL, 0);
    value = PMIx_Value_create(1);
    PMIx_Value_load(value, "x", PMIX_STRING);
    printf("%d\n", PMIX_BOOL_TRUE == PMIx_Value_true(value));
    PMIx_Value_free(value, 1);
    PMIX_COORD_CREATE(coords, 2, 3);
    PMIX_COORD_FREE(coords, 2);
    disks = PMIx_Disk_stats_create(2);
    PMIx_Disk_stats_free(disks, 2);
    names = PMIx_Argv_split("a:b", ':');
    PMIx_Argv_append_unique_nosize(&names, "b");
    PMIx_Argv_free(names);
    status = PMIx_Session_control(1, NULL, 0, NULL, NULL);
    return PMIX_SUCCESS == PMIx_tool_finalize() && PMIX_SUCCESS == status ? 0 : 1;
}
