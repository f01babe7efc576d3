// SPDX-License-Identifier: BSD-3-Clause
//
// A program compiled on the headers of OpenPMIx 4.2.2 and run on this library: its inline helpers and the
// library must agree about who frees what.

#include <pmix.h>
#include <pmix_server.h>

#if PMIX_NUMERIC_VERSION != 0x00040202
#error "this is to be compiled on the headers of OpenPMIx 4.2.2"
#endif

static int failures = 0;

static void expect(bool good, const char* what) {
    if (!good) {
        fprintf(stderr, "failed: %s\n", what);
        ++failures;
    }
}

#define EXPECT(condition) expect((condition), #condition)

static void use_values(void) {
    pmix_proc_t proc;
    pmix_value_t value;
    pmix_value_t* copy = NULL;
    pmix_info_t* info = NULL;
    pmix_info_t* nested;
    pmix_data_array_t* array = NULL;
    pmix_data_array_t converted;
    pmix_query_t* query = NULL;
    pmix_app_t* app = NULL;
    pmix_pdata_t pdata;
    pmix_regattr_t attribute;
    pmix_envar_t envar;
    pmix_status_t status;
    void* list;
    char* text = NULL;
    int number = 42;

    PMIX_LOAD_PROCID(&proc, "job", 1);
    PMIX_VALUE_LOAD(&value, &proc, PMIX_PROC);
    EXPECT(PMIX_PROC == value.type && PMIX_CHECK_PROCID(value.data.proc, &proc));
    PMIX_VALUE_XFER(status, copy, &value);
    EXPECT(PMIX_SUCCESS == status && PMIX_EQUAL == PMIx_Value_compare(copy, &value));
    PMIX_VALUE_RELEASE(copy);
    PMIX_VALUE_DESTRUCT(&value);

    // The library frees the program's malloc memory as part of a value, and the other way round.
    PMIX_DATA_ARRAY_CREATE(array, 2, PMIX_INFO);
    nested = (pmix_info_t*)array->array;
    PMIX_INFO_LOAD(&nested[0], PMIX_HOSTNAME, "n0", PMIX_STRING);
    PMIX_INFO_LOAD(&nested[1], PMIX_NUM_SLOTS, &number, PMIX_INT);
    PMIX_INFO_CREATE(info, 2);
    PMIX_INFO_LOAD(&info[0], PMIX_NODE_INFO_ARRAY, array, PMIX_DATA_ARRAY);
    PMIX_DATA_ARRAY_FREE(array);
    PMIX_INFO_XFER(&info[1], &info[0]);
    EXPECT(2 == info[1].value.data.darray->size);
    PMIX_INFO_FREE(info, 2);

    list = PMIx_Info_list_start();
    PMIX_INFO_LIST_ADD(status, list, PMIX_TIMEOUT, &number, PMIX_INT);
    EXPECT(PMIX_SUCCESS == status);
    PMIX_DATA_ARRAY_CONSTRUCT(&converted, 0, PMIX_INFO);
    PMIX_INFO_LIST_CONVERT(status, list, &converted);
    EXPECT(PMIX_SUCCESS == status && 1 == converted.size);
    PMIX_INFO_LIST_RELEASE(list);
    PMIX_DATA_ARRAY_DESTRUCT(&converted);

    PMIX_QUERY_CREATE(query, 1);
    PMIX_ARGV_APPEND(status, query[0].keys, PMIX_QUERY_NAMESPACES);
    PMIX_QUERY_QUALIFIERS_CREATE(&query[0], 1);
    PMIX_INFO_LOAD(&query[0].qualifiers[0], PMIX_NSPACE, "job", PMIX_STRING);
    PMIX_QUERY_FREE(query, 1);

    PMIX_APP_CREATE(app, 1);
    app[0].cmd = strdup("true");
    PMIX_ARGV_APPEND(status, app[0].argv, "true");
    PMIX_SETENV(status, "NAME", "value", &app[0].env);
    PMIX_APP_FREE(app, 1);

    PMIX_PDATA_CONSTRUCT(&pdata);
    PMIX_PDATA_LOAD(&pdata, &proc, "key", "value", PMIX_STRING);
    PMIX_PDATA_DESTRUCT(&pdata);
    PMIX_REGATTR_CONSTRUCT(&attribute);
    PMIX_REGATTR_DESTRUCT(&attribute);
    PMIX_ENVAR_CONSTRUCT(&envar);
    PMIX_ENVAR_LOAD(&envar, "A", "b", ':');
    PMIX_VALUE_LOAD(&value, &envar, PMIX_ENVAR);
    PMIX_ENVAR_DESTRUCT(&envar);
    text = PMIx_Value_string(&value);
    EXPECT(NULL != text);
    free(text);
    PMIX_VALUE_DESTRUCT(&value);
}

int main(void) {
    use_values();
    return 0 == failures ? 0 : 1;
}
