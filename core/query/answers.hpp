// SPDX-License-Identifier: BSD-3-Clause
// The queries that a process or a server answers by itself, in one table for both, so that
// PMIX_QUERY_SUPPORTED_KEYS and PMIX_QUERY_SUPPORTED_QUALIFIERS list the dispatched ones. On the loop.
#pragma once

#include <initializer_list>

#include "core/exchange/exchange.hpp"
#include "framework/base/info.hpp"
#include "framework/gds.hpp"

namespace muster {

class HostAttributes;
class Queries;
class QueryServer;

/// Whether the answer stays true: facts about a process that the store may keep, other than its state.
bool lasts(const char* key);

/// The process (or with rank WILDCARD the job) that the qualifiers name; false if they name none.
bool subject(InfoView qualifiers, pmix_proc_t& proc);

/// Whether a question is for a lasting fact about a process or job that the qualifiers name: processes answer
/// these from their stores.
bool is_stored_fact(const char* key, InfoView qualifiers);

/// The data in this process's store about the process in the qualifiers.
bool answer_from_store(const Gds& store, const char* key, InfoView qualifiers, Info& found);

/// PMIX_QUERY_ATTRIBUTE_SUPPORT for the levels that the qualifiers name, by default all. `own`:
/// those of which this process knows. `server`: null if this is no server. True when each level was
/// answered.
bool answer_attribute_support(const char* key, InfoView qualifiers, std::initializer_list<const char*> own,
                              QueryServer* server, Info& found);

/// Answers in a process without a server.
bool answer_alone(Exchange& exchange, const char* key, InfoView qualifiers, Info& found);
/// Answers in a server, without its host.
bool answer_by_server(QueryServer& server, const Caller& caller, const char* key, InfoView qualifiers,
                      Info& found);

/// Items that the answer of the host or of this process's server may lack: supported keys and qualifiers,
/// and a server's process sets. `server`: null in a process that is no server.
Info own_part(QueryServer* server, const Caller* caller, const Queries& queries);
/// Adds `own` to the answer. An empty answer is no error: a known key yields NOT_FOUND at worst.
HostDone complete(Info own, QueryServer* server, const Queries& queries, HostDone done);

}  // namespace muster
