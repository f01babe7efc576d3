// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Query_info (Standard: Query): each key of each query is answered where it is known first: in this
// process, in its server, by the host. On the loop, except where noted.
#pragma once

#include <memory>

#include "core/exchange/exchange.hpp"
#include "framework/base/element.hpp"

namespace muster {

/// The queries of one call.
class Queries : public Elements<pmix_query_t, PMIX_QUERY> {
  public:
    /// A deep copy. PMIX_ERR_BAD_PARAM without queries, for one without keys, and for one that names its
    /// process in two ways.
    static pmix_status_t copy_of(const pmix_query_t* queries, size_t size, Queries& out);
    /// Reads `*QUERY` of the protocol; checked like copy_of.
    static pmix_status_t read(Unpacker& in, Queries& out);

    /// All keys of all queries.
    size_t keys() const;
    /// Removes the keys that `known(key, qualifiers)` has answered, and queries without further keys.
    using Known = std::function<bool(const char* key, InfoView qualifiers)>;
    void answer(const Known& known);
    /// The place at which answer() continues: it knew nothing of the queries before it.
    struct Place {
        size_t query = 0;
        size_t key = 0;
    };
    /// The same from `at` on, a key at least, until `enough()` holds. False where some are left.
    bool answer(const Known& known, Place& at, const std::function<bool()>& enough);

  private:
    pmix_status_t check() const;
};

/// The status of a query: everything found, something, nothing.
pmix_status_t query_status(size_t wanted, size_t found);

/// Answers that need no init: the versions of the ABI. Any thread.
bool answer_without_init(const char* key, Info& found);

class QueryServer;

/// `own`: of the server role of this process, or null.
void query(Exchange& exchange, QueryServer* own, Queries queries, HostDone done);

}  // namespace muster
