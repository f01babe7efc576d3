// SPDX-License-Identifier: BSD-3-Clause
// The hot PMIx_Get by itself, to be counted by instructions (bench/instructions): after a fence with data, so
// many gets of one kind, and nothing else. Public API only. To be run by a launcher, with two processes.
//
//   gets fenced|bytes|job|derived|static NUMBER
//
// fenced: a number that the other process has posted; bytes: an endpoint of 1 KiB that it has posted; job: a
// key of the job; derived: the node of the other process; static: as fenced, into storage of the caller's
// own.
#include <pmix.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

void check(const char* what, pmix_status_t status) {
    if (status == PMIX_SUCCESS) return;
    std::fprintf(stderr, "gets: %s: %s\n", what, PMIx_Error_string(status));
    std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const char* kind = argv[1];
    const long number = std::strtol(argv[2], nullptr, 10);
    pmix_proc_t self;
    check("PMIx_Init", PMIx_Init(&self, nullptr, 0));
    pmix_value_t value;
    std::memset(&value, 0, sizeof value);
    value.type = PMIX_UINT64;
    value.data.uint64 = self.rank;
    std::string endpoint(1024, 'x');
    const bool bytes = std::strcmp(kind, "bytes") == 0;
    if (bytes) {
        value.type = PMIX_BYTE_OBJECT;
        value.data.bo = {endpoint.data(), endpoint.size()};
    }
    check("PMIx_Put", PMIx_Put(PMIX_GLOBAL, "gets", &value));
    check("PMIx_Commit", PMIx_Commit());
    pmix_info_t collect;
    std::memset(&collect, 0, sizeof collect);
    std::snprintf(collect.key, sizeof collect.key, "%s", PMIX_COLLECT_DATA);
    collect.value.type = PMIX_BOOL;
    collect.value.data.flag = true;
    check("PMIx_Fence", PMIx_Fence(nullptr, 0, &collect, 1));

    pmix_proc_t target = self;
    const char* key = "gets";
    pmix_info_t in_place = collect;
    std::snprintf(in_place.key, sizeof in_place.key, "%s", PMIX_GET_STATIC_VALUES);
    size_t directives = 0;
    if (std::strcmp(kind, "job") == 0) {
        target.rank = PMIX_RANK_WILDCARD;
        key = PMIX_JOB_SIZE;
    } else {
        target.rank = self.rank == 0 ? 1 : 0;
        if (std::strcmp(kind, "derived") == 0) key = PMIX_NODEID;
        if (std::strcmp(kind, "static") == 0) directives = 1;
    }
    for (long i = 0; i < number; ++i) {
        pmix_value_t* got = directives != 0 ? &value : nullptr;
        check("PMIx_Get", PMIx_Get(&target, key, &in_place, directives, &got));
        if (bytes) std::free(got->data.bo.bytes);
        if (directives == 0) std::free(got);  // the other values own nothing
    }
    check("PMIx_Finalize", PMIx_Finalize(nullptr, 0));
    return 0;
}
