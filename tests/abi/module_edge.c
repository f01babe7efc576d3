// SPDX-License-Identifier: BSD-3-Clause
//
// A host whose server module is put at the end of a page behind which nothing may be touched: the library
// must not read a byte more than the host has. Compiled on the headers of OpenPMIx 4.2.2, where MODULE_SIZE
// is 224, and on ours, where it is 256. The argument is a directory for the server's files.

#include <dlfcn.h>
#include <pmix.h>
#include <pmix_server.h>
#include <sys/mman.h>

static int failures = 0;

static void expect(bool good, const char* what) {
    if (!good) {
        fprintf(stderr, "failed: %s\n", what);
        ++failures;
    }
}

#define EXPECT(condition) expect((condition), #condition)

static void use_server(const char* dir) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    pmix_info_t info[3];
    pmix_data_buffer_t buffer;
    int32_t count = 1;
    int number = 42;
    int read = 0;
    bool off = false;
    char* pages = (char*)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pmix_server_module_t* module;

    EXPECT(MODULE_SIZE == sizeof(*module));
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
    /* A host looks for no library later: it may have gone to another root by then. */
    EXPECT(NULL != dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_NOLOAD));
    PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
    EXPECT(PMIX_SUCCESS == PMIx_Data_pack(NULL, &buffer, &number, 1, PMIX_INT));
    EXPECT(PMIX_SUCCESS == PMIx_Data_unpack(NULL, &buffer, &read, &count, PMIX_INT));
    EXPECT(42 == read && 1 == count);
    PMIX_DATA_BUFFER_DESTRUCT(&buffer);
    EXPECT(PMIX_SUCCESS == PMIx_server_finalize());
    PMIX_INFO_DESTRUCT(&info[0]);
    PMIX_INFO_DESTRUCT(&info[1]);
    munmap(pages, 2 * page);
}

int main(int argc, char** argv) {
    if (2 != argc) {
        fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    use_server(argv[1]);
    return 0 == failures ? 0 : 1;
}
