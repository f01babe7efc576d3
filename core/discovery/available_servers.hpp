// SPDX-License-Identifier: BSD-3-Clause
// The answer to PMIX_QUERY_AVAIL_SERVERS: the servers of this node that have left rendezvous files which we
// may read and believe (Standard: Query, PMIX_SERVER_INFO_ARRAY).
#pragma once

#include "core/runtime/runtime.hpp"

namespace muster {

/// Adds an array with one PMIX_SERVER_INFO_ARRAY a server, the newest first; each begins with PMIX_NSPACE and
/// holds PMIX_SERVER_URI. False where `key` asks for something else, or no server is to be found. Reads
/// files: on any thread, within the bounds of search_rendezvous().
bool answer_available_servers(Runtime& runtime, const char* key, Info& found);

}  // namespace muster
