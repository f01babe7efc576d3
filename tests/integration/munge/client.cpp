// SPDX-License-Identifier: BSD-3-Clause
// The client of the tests of psec/munge. `as PSEC`: connects with that list of security components instead of
// its server's. `credential`: requests a MUNGE credential and validates it, twice.
#include <pmix.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

std::string credentials() {
    pmix_info_t type;
    memset(&type, 0, sizeof type);
    PMIx_Info_load(&type, PMIX_CRED_TYPE, "munge", PMIX_STRING);
    pmix_byte_object_t credential{nullptr, 0};
    pmix_status_t status = PMIx_Get_credential(&type, 1, &credential);
    if (status != PMIX_SUCCESS) {
        PMIx_Info_destruct(&type);
        return std::string("NONE ") + PMIx_Error_string(status);
    }
    std::string line;
    for (int i = 0; i < 2; ++i) {
        pmix_info_t* results = nullptr;
        size_t count = 0;
        status = PMIx_Validate_credential(&credential, &type, 1, &results, &count);
        line += std::string(i == 0 ? "" : " ") + PMIx_Error_string(status);
        for (size_t n = 0; n < count; ++n) {
            if (strcmp(results[n].key, PMIX_USERID) == 0)
                line += " uid=" + std::to_string(results[n].value.data.uint32);
            if (strcmp(results[n].key, PMIX_GRPID) == 0)
                line += " gid=" + std::to_string(results[n].value.data.uint32);
            if (strcmp(results[n].key, PMIX_CRED_TYPE) == 0)
                line += std::string(" type=") + results[n].value.data.string;
        }
        PMIx_Info_free(results, count);
    }
    free(credential.bytes);
    PMIx_Info_destruct(&type);
    return line;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "as" && argc > 2) {
        setenv("PMIX_MCA_psec", argv[2], 1);
        setenv("PMIX_SECURITY_MODE", argv[2], 1);
    }
    pmix_proc_t self;
    const pmix_status_t status = PMIx_Init(&self, nullptr, 0);
    if (status != PMIX_SUCCESS) {
        printf("INIT %s\n", PMIx_Error_string(status));
        return 1;
    }
    printf("%s\n", what == "credential" ? credentials().c_str() : "INIT PMIX_SUCCESS");
    return PMIx_Finalize(nullptr, 0) == PMIX_SUCCESS ? 0 : 1;
}
