// SPDX-License-Identifier: BSD-3-Clause
// What a process or a server answers by itself, and to which keys: one table for both, so that
// PMIX_QUERY_SUPPORTED_KEYS and PMIX_QUERY_SUPPORTED_QUALIFIERS list what is dispatched. On the loop.
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

/// The process (or with rank WILDCARD the job) that the qualifiers name; false where they name none.
bool subject(InfoView qualifiers, pmix_proc_t& proc);

/// What this process's store knows of the process that the qualifiers name.
bool answer_from_store(const Gds& store, const char* key, InfoView qualifiers, Info& found);

/// PMIX_QUERY_ATTRIBUTE_SUPPORT for the levels that the qualifiers name, all where they name none. `own`:
/// those of which this process knows. `server`: null where this is no server. True when each level was
/// answered.
bool answer_attribute_support(const char* key, InfoView qualifiers, std::initializer_list<const char*> own,
                              QueryServer* server, Info& found);

/// What a process without a server knows.
bool answer_alone(Exchange& exchange, const char* key, InfoView qualifiers, Info& found);
/// What a server knows without its host.
bool answer_by_server(QueryServer& server, const Caller& caller, const char* key, InfoView qualifiers,
                      Info& found);

/// What the answer of the host or of the server of this process may lack: the keys and qualifiers that are
/// known here, and what a server knows of process sets. `server`: null where this is no server.
Info own_part(QueryServer* server, const Caller* caller, const Queries& queries);
/// Adds these to the answer. None of that is no error: a key that is known here is NOT_FOUND at worst.
HostDone complete(Info own, QueryServer* server, const Queries& queries, HostDone done);

}  // namespace muster
