// SPDX-License-Identifier: BSD-3-Clause
//
// A program compiled on the headers of OpenPMIx 4.2.2 and run on this library.
//   old_binary values        its inline helpers and the library must agree about who frees what
//   old_binary server DIR    its server module is 224 bytes, and the byte after it must not be read: it is
//   put at
//                            the end of a page behind which nothing may be touched. DIR: for the server's
//                            files

#include <pmix_server.h>
#include <sys/mman.h>

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
    pmix_data_buffer_t buffer;
    pmix_status_t status;
    void* list;
    char* text = NULL;
    int32_t count = 1;
    int number = 42;
    int read = 0;

    PMIX_LOAD_PROCID(&proc, "job", 1);
    PMIX_VALUE_LOAD(&value, &proc, PMIX_PROC);
    EXPECT(PMIX_PROC == value.type && PMIX_CHECK_PROCID(value.data.proc, &proc));
    PMIX_VALUE_XFER(status, copy, &value);
    EXPECT(PMIX_SUCCESS == status && PMIX_EQUAL == PMIx_Value_compare(copy, &value));
    PMIX_VALUE_RELEASE(copy);
    PMIX_VALUE_DESTRUCT(&value);

    // What the program has made with malloc, the library frees as part of a value, and the other way round.
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

    PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
    EXPECT(PMIX_SUCCESS == PMIx_Data_pack(NULL, &buffer, &number, 1, PMIX_INT));
    EXPECT(PMIX_SUCCESS == PMIx_Data_unpack(NULL, &buffer, &read, &count, PMIX_INT));
    EXPECT(42 == read && 1 == count);
    PMIX_DATA_BUFFER_DESTRUCT(&buffer);
}

static void use_server(const char* dir) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    pmix_info_t info[3];
    bool off = false;
    char* pages = (char*)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pmix_server_module_t* module;

    EXPECT(224 == sizeof(*module));
    if (MAP_FAILED == (void*)pages || 0 != mprotect(pages + page, page, PROT_NONE)) {
        perror("mmap");
        ++failures;
        return;
    }
    module = (pmix_server_module_t*)(void*)(pages + page - sizeof(*module));
    PMIX_INFO_CONSTRUCT(&info[0]);
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, dir, PMIX_STRING);
    PMIX_INFO_CONSTRUCT(&info[1]);
    PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, dir, PMIX_STRING);
    PMIX_INFO_CONSTRUCT(&info[2]);
    PMIX_INFO_LOAD(&info[2], PMIX_SERVER_TOOL_SUPPORT, &off, PMIX_BOOL);
    EXPECT(PMIX_SUCCESS == PMIx_server_init(module, info, 3));
    EXPECT(PMIX_SUCCESS == PMIx_server_finalize());
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
    munmap(pages, 2 * page);
}

int main(int argc, char** argv) {
    if (3 == argc && 0 == strcmp(argv[1], "server")) {
        use_server(argv[2]);
    } else {
        use_values();
    }
    return 0 == failures ? 0 : 1;
}
