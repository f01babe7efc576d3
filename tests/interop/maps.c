// SPDX-License-Identifier: BSD-3-Clause
// maps make NODES FILE: writes the node map and the process map of a job, 4 ranks a node. Muster gets lists
// with ranges, which OpenPMIx cannot parse. maps read NODES FILE: a server registers the job with these maps,
// and looks up each rank. maps version: the library's.
#include <pmix.h>
#include <pmix_server.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kRanks = 4, kMaxMap = 1 << 20 };

static int fail(const char* what, pmix_status_t status) {
    printf("BAD %s: %s\n", what, PMIx_Error_string(status));
    return 1;
}

// The bytes of a map; the compressed form contains NULs and its own length.
static size_t length_of(const char* map) {
    size_t length = strlen(map) + 1;
    if (strncmp(map, "blob", 4) != 0) return length;
    length += strlen(map + length) + 1;
    const char* size = map + length;
    return length + strlen(size) + 1 + strtoul(size + strlen("size="), NULL, 10);
}

static bool write_map(FILE* file, const char* map) {
    const size_t length = length_of(map);
    return fwrite(&length, sizeof length, 1, file) == 1 && fwrite(map, 1, length, file) == length;
}

static char* read_map(FILE* file) {
    size_t length = 0;
    if (fread(&length, sizeof length, 1, file) != 1 || length > kMaxMap) return NULL;
    char* map = malloc(length);
    return map != NULL && fread(map, 1, length, file) == length ? map : NULL;
}

static pmix_status_t init(void) {
    static pmix_server_module_t module;
    return PMIx_server_init(&module, NULL, 0);
}

static char* names_of(unsigned nodes) {
    char* list = malloc(64 + nodes * 32);
    size_t end = 0;
    for (unsigned node = 1; node <= nodes; ++node)
        end += (size_t)sprintf(list + end, "%scn%04u-ib", node > 1 ? "," : "", node);
    return list;
}

// Further data that the other library reads: an encoded list, and a compressed block.
static int make_blocks(const char* list, FILE* file) {
    const size_t length = strlen(list) + 1;
    uint8_t* block = NULL;
    size_t size = 0;
    if (!PMIx_Data_compress((const uint8_t*)list, length, &block, &size)) size = 0;
    if (fwrite(&size, sizeof size, 1, file) != 1 || fwrite(block, 1, size, file) != size)
        return fail("the file", PMIX_ERROR);
#ifdef PMIX_REGEX2_STATIC_INIT
    pmix_regex2_t regex = PMIX_REGEX2_STATIC_INIT;
    const pmix_status_t status = PMIx_generate_regex2(list, NULL, 0, &regex);
    if (status != PMIX_SUCCESS) return fail("PMIx_generate_regex2", status);
    fprintf(file, "%s %zu ", regex.type, regex.len);
    if (fwrite(regex.bytes, 1, regex.len, file) != regex.len) return fail("the file", PMIX_ERROR);
#endif
    return 0;
}

static int make(unsigned nodes, FILE* file) {
    char *names = names_of(nodes), *list = malloc(64 + nodes * 64), *map = NULL;
    pmix_status_t status = init();
    if (status != PMIX_SUCCESS) return fail("PMIx_server_init", status);
    const bool ranges = strncmp(PMIx_Get_version(), "Muster", strlen("Muster")) == 0;
    if (ranges) sprintf(list, "cn[0001-%04u]-ib", nodes);
    status = PMIx_generate_regex(ranges ? list : names, &map);
    if (status != PMIX_SUCCESS || !write_map(file, map)) return fail("PMIx_generate_regex", status);
    size_t end = 0;
    for (unsigned first = 0; first < nodes * kRanks; first += kRanks)
        end += (size_t)sprintf(list + end, ranges ? "%s%u-%u" : "%s%u,%u,%u,%u", first > 0 ? ";" : "", first,
                               ranges ? first + kRanks - 1 : first + 1, first + 2, first + 3);
    status = PMIx_generate_ppn(list, &map);
    if (status != PMIX_SUCCESS || !write_map(file, map)) return fail("PMIx_generate_ppn", status);
    const int bad = make_blocks(names, file);
    PMIx_server_finalize();
    return bad;
}

static int read_blocks(const char* list, FILE* file) {
    const size_t length = strlen(list) + 1;
    size_t size = 0, plain_size = 0;
    static uint8_t block[kMaxMap];
    uint8_t* plain = NULL;
    if (fread(&size, sizeof size, 1, file) != 1 || size > kMaxMap || fread(block, 1, size, file) != size)
        return fail("the file", PMIX_ERROR);
    // OpenPMIx 7.0 with zstd reads no zlib stream, not even one of older OpenPMIx.
    if (strstr(PMIx_Get_version(), "OpenPMIx 7.") == PMIx_Get_version()) size = 0;
    if (size > 0 && (!PMIx_Data_decompress(block, size, &plain, &plain_size) || plain_size != length ||
                     memcmp(plain, list, length) != 0))
        return fail("PMIx_Data_decompress", PMIX_ERROR);
#ifdef PMIX_REGEX2_STATIC_INIT
    char type[32], *names = NULL;
    pmix_regex2_t regex = PMIX_REGEX2_STATIC_INIT;
    if (fscanf(file, "%31s %zu", type, &regex.len) != 2) return 0;  // the other library has none
    if (fgetc(file) != ' ' || regex.len > kMaxMap || fread(block, 1, regex.len, file) != regex.len)
        return fail("the file", PMIX_ERROR);
    regex.type = type;
    regex.bytes = block;
    const pmix_status_t status = PMIx_parse_regex2(&regex, NULL, 0, &names);
    if (status != PMIX_SUCCESS || strcmp(names, list) != 0) return fail("PMIx_parse_regex2", status);
#endif
    return 0;
}

static volatile pmix_status_t registered = PMIX_OPERATION_IN_PROGRESS;

static void done(pmix_status_t status, void* data) {
    (void)data;
    registered = status;
}

static int check(const char* nspace, unsigned node) {
    char name[32];
    pmix_proc_t* procs = NULL;
    size_t n = 0;
    snprintf(name, sizeof name, "cn%04u-ib", node + 1);
    const pmix_status_t status = PMIx_Resolve_peers(name, nspace, &procs, &n);
    if (status != PMIX_SUCCESS) return fail(name, status);
    bool right = n == kRanks;
    for (size_t i = 0; right && i < n; ++i)
        right = procs[i].rank == node * kRanks + i;
    return right ? 0 : fail("the ranks of a node", PMIX_ERROR);
}

static int read_back(unsigned nodes, FILE* file) {
    char *node_map = read_map(file), *proc_map = read_map(file);
    const char* nspace = "maps";
    const uint32_t ranks = nodes * kRanks;
    if (node_map == NULL || proc_map == NULL) return fail("the file", PMIX_ERR_BAD_PARAM);
    pmix_status_t status = init();
    if (status != PMIX_SUCCESS) return fail("PMIx_server_init", status);
    pmix_info_t info[4];
    PMIX_INFO_LOAD(&info[0], PMIX_NODE_MAP, node_map, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[1], PMIX_PROC_MAP, proc_map, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[2], PMIX_JOB_SIZE, &ranks, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[3], PMIX_UNIV_SIZE, &ranks, PMIX_UINT32);
    status = PMIx_server_register_nspace(nspace, 0, info, 4, done, NULL);
    for (int i = 0; status == PMIX_SUCCESS && registered == PMIX_OPERATION_IN_PROGRESS && i < 5000; ++i)
        usleep(1000);
    if (status == PMIX_SUCCESS) status = registered;
    int bad = status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED ? 0 : fail("register", status);
    for (unsigned node = 0; node < nodes && !bad; ++node)
        bad = check(nspace, node);
    if (!bad) bad = read_blocks(names_of(nodes), file);
    PMIx_server_finalize();
    return bad;
}

int main(int argc, char** argv) {
    if (argc == 2) return puts(PMIx_Get_version()) < 0;
    if (argc != 4) return 2;
    const bool makes = strcmp(argv[1], "make") == 0;
    FILE* file = fopen(argv[3], makes ? "w" : "r");
    if (file == NULL) return fail(argv[3], PMIX_ERR_NOT_FOUND);
    const unsigned nodes = (unsigned)strtoul(argv[2], NULL, 10);
    const int bad = makes ? make(nodes, file) : read_back(nodes, file);
    fclose(file);
    if (!bad) printf("GOOD maps\n");
    return bad;
}
