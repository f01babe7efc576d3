// SPDX-License-Identifier: BSD-3-Clause
// Every rank posts strings around and above the length from which some libraries compress them, and every
// other rank gets them as strings, whole. A library's treatment of its own rank's value is not tested.
#include "probe.h"

static const size_t kLengths[] = {0, 4095, 4096, 4097, 100000};
enum { kStrings = sizeof kLengths / sizeof kLengths[0] };

static char letter(uint32_t rank, size_t place) {
    return (char)('a' + (place / 97 + rank) % 26);
}

static void post(int which) {
    char key[32];
    char* text = malloc(kLengths[which] + 1);
    pmix_value_t value;
    for (size_t i = 0; i < kLengths[which]; i++)
        text[i] = letter(me.rank, i);
    text[kLengths[which]] = 0;
    snprintf(key, sizeof key, "long.%d", which);
    PMIX_VALUE_LOAD(&value, text, PMIX_STRING);
    OKAY(PMIx_Put(PMIX_GLOBAL, key, &value), "put");
    PMIX_VALUE_DESTRUCT(&value);
    free(text);
}

static void check(uint32_t rank, int which) {
    char key[32];
    pmix_value_t* value = NULL;
    pmix_proc_t owner = RANK(rank);
    snprintf(key, sizeof key, "long.%d", which);
    pmix_status_t status = PMIx_Get(&owner, key, NULL, 0, &value);
    if (status != PMIX_SUCCESS) {
        wrong(key, status);
        return;
    }
    if (value->type != PMIX_STRING || !value->data.string) {
        wrong("not a string", PMIX_ERR_TYPE_MISMATCH);
    } else {
        size_t length = strlen(value->data.string), same = 0;
        while (same < length && value->data.string[same] == letter(rank, same))
            same++;
        NEED(length == kLengths[which] && same == length, "another string");
    }
    PMIX_VALUE_RELEASE(value);
}

int main(void) {
    begin();
    for (int i = 0; i < kStrings; i++)
        post(i);
    OKAY(PMIx_Commit(), "commit");
    fence(true);
    for (uint32_t rank = 0; rank < size; rank++)
        for (int i = 0; rank != me.rank && i < kStrings; i++)
            check(rank, i);
    fence(false);
    OKAY(PMIx_Finalize(NULL, 0), "finalize");
    if (!bad) printf("GOOD long_strings\n");
    return bad;
}
