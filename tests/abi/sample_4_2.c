// SPDX-License-Identifier: BSD-3-Clause
//
// A client and a host in the manner of OpenPMIx 4.2: everything by macros, helpers in small letters,
// statistics structures, the module without the members that came later.

#include <pmix.h>
#include <pmix_server.h>

#if !defined(PMIX_NUMERIC_VERSION) || PMIX_NUMERIC_VERSION < 0x00040202
#error "the version is compared as sources of 4.2 do it"
#endif

static volatile bool done = false;

static void registered(pmix_status_t status, size_t ref, void* cbdata) {
    *(size_t*)cbdata = PMIX_SUCCESS == status ? ref : SIZE_MAX;
    done = true;
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t* source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t* results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void* cbdata) {
    (void)id;
    (void)source;
    (void)info;
    (void)ninfo;
    (void)results;
    (void)nresults;
    if (NULL != cbfunc) {
        cbfunc(PMIX_SYSTEM_EVENT(status) ? PMIX_EVENT_NO_ACTION_TAKEN : PMIX_EVENT_ACTION_COMPLETE, NULL, 0,
               NULL, NULL, cbdata);
    }
}

int sample_4_2_client(void);
int sample_4_2_client(void) {
    pmix_proc_t me;
    pmix_proc_t all;
    pmix_info_t* info;
    pmix_value_t value;
    pmix_value_t* got = NULL;
    pmix_pdata_t* pdata;
    pmix_query_t* query;
    pmix_coord_t* coords;
    pmix_node_stats_t* stats;
    pmix_data_buffer_t buffer;
    pmix_status_t codes[2] = {PMIX_ERR_JOB_TERMINATED, PMIX_ERR_NODE_DOWN};
    pmix_status_t status;
    char** argv = NULL;
    bool collect = true;
    size_t ref = 0;

    status = PMIx_Init(&me, NULL, 0);
    if (PMIX_SUCCESS != status) {
        fprintf(stderr, "%s\n", PMIx_Error_string(status));
        return 1;
    }
    PMIX_PROC_CONSTRUCT(&all);
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    PMIX_VALUE_LOAD(&value, "tcp://127.0.0.1:1", PMIX_STRING);
    status = PMIx_Put(PMIX_GLOBAL, "address", &value);
    PMIX_VALUE_DESTRUCT(&value);
    status = PMIx_Commit();
    PMIX_INFO_CREATE(info, 1);
    PMIX_INFO_LOAD(&info[0], PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    status = PMIx_Fence(&all, 1, info, 1);
    PMIX_INFO_FREE(info, 1);
    status = PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &got);
    if (PMIX_SUCCESS == status) {
        uint32_t size = 0;
        PMIX_VALUE_GET_NUMBER(status, got, size, uint32_t);
        printf("%u\n", size);
        PMIX_VALUE_RELEASE(got);
    }
    PMIx_Register_event_handler(codes, 2, NULL, 0, on_event, registered, &ref);
    while (!done) {
        usleep(10);
    }
    PMIX_PDATA_CREATE(pdata, 1);
    PMIX_LOAD_KEY(pdata[0].key, "service");
    status = PMIx_Lookup(pdata, 1, NULL, 0);
    PMIX_PDATA_FREE(pdata, 1);
    PMIX_QUERY_CREATE(query, 1);
    PMIX_ARGV_APPEND(status, query[0].keys, PMIX_QUERY_NAMESPACES);
    PMIX_QUERY_FREE(query, 1);
    PMIX_COORD_CREATE(coords, 2, 3);
    PMIX_COORD_FREE(coords, 2);
    PMIX_NODE_STATS_CREATE(stats, 1);
    PMIX_DISK_STATS_CREATE(stats->diskstats, 1);
    stats->ndiskstats = 1;
    PMIX_NODE_STATS_FREE(stats, 1);
    PMIX_VALUE_CONSTRUCT(&value);
    value.type = PMIX_PROC_STATS;
    value.data.pstats = NULL;
    PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
    status = PMIx_Data_pack(&me, &buffer, &me.rank, 1, PMIX_PROC_RANK);
    PMIX_DATA_BUFFER_DESTRUCT(&buffer);
    argv = pmix_argv_split("a,b", ',');
    pmix_argv_append_nosize(&argv, "c");
    printf("%d\n", pmix_argv_count(argv));
    pmix_argv_free(argv);
    PMIx_Heartbeat();
    PMIx_Finalize(NULL, 0);
    return PMIX_SUCCESS == status ? 0 : 1;
}

static pmix_status_t connected(const pmix_proc_t* proc, void* server_object, pmix_op_cbfunc_t cbfunc,
                               void* cbdata) {
    (void)proc;
    (void)server_object;
    (void)cbfunc;
    (void)cbdata;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_server_module_t module = {
    .client_connected = connected,
    .client_connected2 = NULL,
};

int sample_4_2_host(void);
int sample_4_2_host(void) {
    pmix_proc_t proc;
    char** env = NULL;
    char* regex = NULL;
    char* ppn = NULL;
    pmix_status_t status = PMIx_server_init(&module, NULL, 0);
    if (PMIX_SUCCESS != status) {
        return 1;
    }
    status = PMIx_generate_regex("n0,n1", &regex);
    status = PMIx_generate_ppn("0,1;2,3", &ppn);
    PMIX_LOAD_PROCID(&proc, "job", 0);
    status = PMIx_server_register_nspace(proc.nspace, 1, NULL, 0, NULL, NULL);
    status = PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL);
    status = PMIx_server_setup_fork(&proc, &env);
    PMIX_ARGV_FREE(env);
    free(regex);
    free(ppn);
    return PMIX_SUCCESS == PMIx_server_finalize() && PMIX_SUCCESS == status ? 0 : 1;
}
