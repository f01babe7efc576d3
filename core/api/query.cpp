// SPDX-License-Identifier: BSD-3-Clause
// Queries (Standard: Query).
#include <pmix.h>

#include "core/api/call.hpp"
#include "core/query/query.hpp"

using namespace muster;
using namespace muster::api;

namespace {

auto querying(const pmix_query_t queries[], size_t nqueries) {
    return [=](Process& caller, Start& start) -> pmix_status_t {
        const auto kept = std::make_shared<Queries>();
        if (const pmix_status_t status = Queries::copy_of(queries, nqueries, *kept); status != PMIX_SUCCESS)
            return status;
        for (size_t i = 0; i < nqueries; ++i) {
            const InfoView qualifiers{queries[i].qualifiers, queries[i].nqual};
            if (const pmix_status_t bad = check(caller, Function::QueryInfo, qualifiers); bad != PMIX_SUCCESS)
                return bad;
        }
        start.alone = true;
        start.run = [kept](Process& process, HostDone done) {
            query(process.exchange(), own(process, &Server::queries), std::move(*kept), std::move(done));
        };
        return PMIX_SUCCESS;
    };
}

/// The version of the ABI may be asked for before init, if nothing else is.
pmix_status_t query_without_init(const pmix_query_t queries[], size_t nqueries, HostAnswer& answer) {
    Queries all;
    if (Queries::copy_of(queries, nqueries, all) != PMIX_SUCCESS) return PMIX_ERR_INIT;
    all.answer([&](const char* key, InfoView) { return answer_without_init(key, answer.info); });
    if (all.size() == 0) return PMIX_SUCCESS;
    answer.info.clear();
    return PMIX_ERR_INIT;
}

}  // namespace

pmix_status_t PMIx_Query_info(pmix_query_t queries[], size_t nqueries, pmix_info_t** results,
                              size_t* nresults) {
    HostAnswer answer;
    pmix_status_t status = call(answer, querying(queries, nqueries));
    if (status == PMIX_ERR_INIT)
        status = guard([&] { return query_without_init(queries, nqueries, answer); });
    give_results(answer, results, nresults);
    return status;
}

pmix_status_t PMIx_Query_info_nb(pmix_query_t queries[], size_t nqueries, pmix_info_cbfunc_t cbfunc,
                                 void* cbdata) {
    if (cbfunc == nullptr) return PMIX_ERR_BAD_PARAM;
    return launch(to_callback(cbfunc, cbdata), querying(queries, nqueries));
}
