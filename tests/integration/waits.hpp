// SPDX-License-Identifier: BSD-3-Clause
// The waits at the server of this process, as shown by `muster top`.
#pragma once

#include <gtest/gtest.h>
#include <pmix.h>
#include <pmix/muster.h>
#include <unistd.h>

namespace integration {

/// Number of waiting calls of clients at the server: collectives and requests for data.
inline size_t requests_waiting() {
    pmix_query_t query;
    PMIX_QUERY_CONSTRUCT(&query);
    PMIx_Argv_append_nosize(&query.keys, MUSTER_WAITS);
    pmix_info_t* found = nullptr;
    size_t n = 0, count = 0;
    EXPECT_EQ(PMIx_Query_info(&query, 1, &found, &n), PMIX_SUCCESS);
    for (size_t i = 0; i < n; ++i) {
        if (found[i].value.type == PMIX_DATA_ARRAY) count += found[i].value.data.darray->size;
    }
    PMIX_INFO_FREE(found, n);
    PMIX_QUERY_DESTRUCT(&query);
    return count;
}

/// Whether the count reaches this number: a call that has begun may take some time to arrive.
inline bool until_waiting(size_t count) {
    for (int i = 0; i < 2000 && requests_waiting() != count; ++i)
        usleep(10000);
    return requests_waiting() == count;
}

}  // namespace integration
