// SPDX-License-Identifier: BSD-3-Clause
// A process reads the realms of the Standard:
//   realms UNIVERSE NODES SLOTS ANL_MAP [PACKAGE_RANK]
// UNIVERSE is the size of the session, NODES the comma list of all nodes, SLOTS the comma list of their
// slots, ANL_MAP the job's map in Argonne's notation. PACKAGE_RANK is this process's, if it is bound.
#include <pmix.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pmix_proc_t me;
static int bad = 0;

static void expect(bool condition, const char* what) {
    if (condition) return;
    printf("WRONG: rank %u: %s\n", me.rank, what);
    bad = 1;
}

// The qualifiers: a realm, and for a node its number.
typedef struct {
    pmix_info_t infos[2];
    size_t count;
} realm_t;

static realm_t realm_of(const char* key) {
    const bool yes = true;
    realm_t realm;
    memset(&realm, 0, sizeof realm);
    if (key == NULL) return realm;
    PMIX_INFO_LOAD(&realm.infos[0], key, &yes, PMIX_BOOL);
    realm.count = 1;
    return realm;
}

static realm_t node_realm(uint32_t number) {
    realm_t realm = realm_of(PMIX_NODE_INFO);
    PMIX_INFO_LOAD(&realm.infos[1], PMIX_NODEID, &number, PMIX_UINT32);
    realm.count = 2;
    return realm;
}

static pmix_value_t* get(realm_t realm, pmix_rank_t rank, const char* key, pmix_status_t wanted) {
    pmix_value_t* value = NULL;
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, me.nspace, rank);
    const pmix_status_t status = PMIx_Get(&proc, key, realm.infos, realm.count, &value);
    if (status != wanted) printf("%s: %s\n", key, PMIx_Error_string(status));
    expect(status == wanted, key);
    return value;
}

static void number_is(realm_t realm, const char* key, uint32_t wanted) {
    pmix_value_t* value = get(realm, PMIX_RANK_WILDCARD, key, PMIX_SUCCESS);
    if (value == NULL) return;
    if (value->data.uint32 != wanted) printf("%s: %u, not %u\n", key, value->data.uint32, wanted);
    expect(value->type == PMIX_UINT32 && value->data.uint32 == wanted, key);
    PMIX_VALUE_RELEASE(value);
}

static void text_is(realm_t realm, const char* key, const char* wanted) {
    pmix_value_t* value = get(realm, PMIX_RANK_WILDCARD, key, PMIX_SUCCESS);
    if (value == NULL) return;
    expect(value->type == PMIX_STRING, key);
    if (value->type == PMIX_STRING && strcmp(value->data.string, wanted) != 0)
        printf("%s: '%s', not '%s'\n", key, value->data.string, wanted);
    expect(value->type == PMIX_STRING && strcmp(value->data.string, wanted) == 0, key);
    PMIX_VALUE_RELEASE(value);
}

static void array_has(const pmix_value_t* array, const char* key, uint32_t wanted) {
    const pmix_info_t* infos = array->data.darray->array;
    for (size_t i = 0; i < array->data.darray->size; ++i) {
        if (PMIX_CHECK_KEY(&infos[i], key)) {
            expect(infos[i].value.type == PMIX_UINT32 && infos[i].value.data.uint32 == wanted, key);
            return;
        }
    }
    expect(false, key);
}

static void session(uint32_t universe, const char* nodes, uint32_t node_count) {
    const realm_t realm = realm_of(PMIX_SESSION_INFO);
    number_is(realm, PMIX_SESSION_ID, 1);
    number_is(realm, PMIX_UNIV_SIZE, universe);
    number_is(realm_of(NULL), PMIX_UNIV_SIZE, universe);
    number_is(realm, PMIX_MAX_PROCS, universe);
    number_is(realm, PMIX_NUM_SLOTS, universe);
    text_is(realm, PMIX_ALLOCATED_NODELIST, nodes);
    number_is(realm, PMIX_NUM_ALLOCATED_NODES, node_count);
    text_is(realm, PMIX_RM_NAME, "muster");
    for (size_t i = 0; i < 4; ++i) {
        const char* const keys[] = {PMIX_CLUSTER_ID, PMIX_RM_VERSION, PMIX_SERVER_HOSTNAME, PMIX_TMPDIR};
        pmix_value_t* value = get(realm, PMIX_RANK_WILDCARD, keys[i], PMIX_SUCCESS);
        if (value != NULL) PMIX_VALUE_RELEASE(value);
    }
    pmix_value_t* array = get(realm_of(NULL), PMIX_RANK_WILDCARD, PMIX_SESSION_INFO_ARRAY, PMIX_SUCCESS);
    if (array == NULL) return;
    array_has(array, PMIX_SESSION_ID, 1);
    array_has(array, PMIX_UNIV_SIZE, universe);
    array_has(array, PMIX_NUM_ALLOCATED_NODES, node_count);
    PMIX_VALUE_RELEASE(array);
}

// The session's numbers are not those of the job.
static void job(const char* nodes, const char* map, uint32_t size) {
    const realm_t realms[] = {realm_of(NULL), realm_of(PMIX_JOB_INFO)};
    for (size_t i = 0; i < 2; ++i) {
        number_is(realms[i], PMIX_JOB_SIZE, size);
        number_is(realms[i], PMIX_MAX_PROCS, size);
        text_is(realms[i], PMIX_ALLOCATED_NODELIST, nodes);
        text_is(realms[i], PMIX_ANL_MAP, map);
    }
}

// All nodes have ranks. Returns the number of nodes in the list.
static uint32_t nodes(const char* list, const char* slots) {
    uint32_t count = 0;
    for (; *list != '\0'; ++count) {
        const int length = (int)strcspn(list, ",");
        const uint32_t each = (uint32_t)strtoul(slots, NULL, 10);
        char name[256];
        snprintf(name, sizeof name, "%.*s", length, list);
        text_is(node_realm(count), PMIX_HOSTNAME, name);
        pmix_value_t* aliases =
            get(node_realm(count), PMIX_RANK_WILDCARD, PMIX_HOSTNAME_ALIASES, PMIX_SUCCESS);
        expect(aliases != NULL && strncmp(aliases->data.string, name, strlen(name)) == 0,
               "the node's aliases");
        if (aliases != NULL) PMIX_VALUE_RELEASE(aliases);
        number_is(node_realm(count), PMIX_NUM_SLOTS, each);
        number_is(node_realm(count), PMIX_MAX_PROCS, each);
        slots += strcspn(slots, ",");
        if (*slots == ',') ++slots;
        list += length;
        if (*list == ',') ++list;
    }
    return count;
}

// A query about an application does not create a node.
static void no_other_node(uint32_t count) {
    pmix_value_t* map = NULL;
    const realm_t app = realm_of(PMIX_APP_INFO);
    pmix_proc_t all;
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    if (PMIx_Get(&all, PMIX_NODE_MAP, app.infos, app.count, &map) == PMIX_SUCCESS) PMIX_VALUE_RELEASE(map);
    get(node_realm(count), PMIX_RANK_WILDCARD, PMIX_HOSTNAME, PMIX_ERR_NOT_FOUND);
}

int main(int argc, char** argv) {
    if (argc < 5 || PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) return 2;
    pmix_value_t* size = get(realm_of(NULL), PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, PMIX_SUCCESS);
    if (size == NULL) return 2;
    const uint32_t count = nodes(argv[2], argv[3]);
    session((uint32_t)atoi(argv[1]), argv[2], count);
    job(argv[2], argv[4], size->data.uint32);
    no_other_node(count);
    if (argc > 5) {
        pmix_value_t* package = get(realm_of(NULL), me.rank, PMIX_PACKAGE_RANK, PMIX_SUCCESS);
        expect(package != NULL && package->type == PMIX_UINT16 && package->data.uint16 == atoi(argv[5]),
               PMIX_PACKAGE_RANK);
        if (package != NULL) PMIX_VALUE_RELEASE(package);
    } else {
        get(realm_of(NULL), me.rank, PMIX_PACKAGE_RANK, PMIX_ERR_NOT_FOUND);
    }
    pmix_value_t* line = get(realm_of(NULL), PMIX_RANK_WILDCARD, PMIX_CMD_LINE, PMIX_SUCCESS);
    expect(line != NULL && strstr(line->data.string, argv[4]) != NULL, PMIX_CMD_LINE);
    if (line != NULL) PMIX_VALUE_RELEASE(line);
    PMIX_VALUE_RELEASE(size);
    PMIx_Fence(NULL, 0, NULL, 0);
    PMIx_Finalize(NULL, 0);
    return bad;
}
