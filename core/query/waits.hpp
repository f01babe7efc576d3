// SPDX-License-Identifier: BSD-3-Clause
// What the processes of a server wait for, for people who look at a job that does not go on: `muster top`.
#pragma once

#include "core/exchange/exchange.hpp"

namespace muster {

class QueryServer;

/// Key of a query of ours: an array with one PMIX_PROC_INFO_ARRAY for each process of this server that waits
/// in a collective, for a group that it was invited to, or for data, with PMIX_PROCID and kWaitKey; empty
/// where none waits. Qualifier: PMIX_NSPACE. Told are processes of the caller's own user, all to the host and
/// to root.
inline constexpr const char* kWaitsKey = "muster.waits";
/// What it waits for, as a sentence's end (PMIX_STRING): "fence: 3 of 4 are in, not job:3".
inline constexpr const char* kWaitKey = "muster.wait";

/// False where `key` asks for something else. On the loop.
bool answer_waits(QueryServer& server, const Caller& caller, const char* key, InfoView qualifiers,
                  Info& found);

}  // namespace muster
