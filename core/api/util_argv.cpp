// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Argv_* and PMIx_Setenv.

#include <pmix.h>

#include <cerrno>
#include <climits>
#include <cstdlib>

#include "framework/base/argv.hpp"

using namespace muster;

int PMIx_Argv_count(char** a) {
    const size_t count = argv_count(a);
    return count > INT_MAX ? INT_MAX : static_cast<int>(count);
}

pmix_status_t PMIx_Argv_append_nosize(char*** argv, const char* arg) {
    return argv == nullptr || arg == nullptr ? PMIX_ERR_BAD_PARAM : argv_append(argv, arg);
}

pmix_status_t PMIx_Argv_prepend_nosize(char*** argv, const char* arg) {
    return argv == nullptr || arg == nullptr ? PMIX_ERR_BAD_PARAM : argv_prepend(argv, arg);
}

pmix_status_t PMIx_Argv_append_unique_nosize(char*** argv, const char* arg) {
    return argv == nullptr || arg == nullptr ? PMIX_ERR_BAD_PARAM : argv_append_unique(argv, arg);
}

void PMIx_Argv_free(char** argv) {
    argv_free(argv);
}

char** PMIx_Argv_split_inter(const char* src_string, int delimiter, bool include_empty) {
    return argv_split(src_string, static_cast<char>(delimiter), include_empty);
}

char** PMIx_Argv_split_with_empty(const char* src_string, int delimiter) {
    return PMIx_Argv_split_inter(src_string, delimiter, true);
}

char** PMIx_Argv_split(const char* src_string, int delimiter) {
    return PMIx_Argv_split_inter(src_string, delimiter, false);
}

char* PMIx_Argv_join(char** argv, int delimiter) {
    return argv_join(argv, static_cast<char>(delimiter));
}

char** PMIx_Argv_copy(char** argv) {
    return argv_copy(argv);
}

pmix_status_t PMIx_Setenv(const char* name, const char* value, bool overwrite, char*** env) {
    if (name == nullptr || env == nullptr) return PMIX_ERR_BAD_PARAM;
    if (*env != environ) return env_set(env, name, value, overwrite);
    // The process's own environment belongs to the C library.
    const int result = value == nullptr ? unsetenv(name) : setenv(name, value, overwrite ? 1 : 0);
    if (result == 0) return PMIX_SUCCESS;
    return errno == ENOMEM ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_ERR_BAD_PARAM;
}
