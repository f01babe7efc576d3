// SPDX-License-Identifier: BSD-3-Clause
// Report of what the processes of a server wait for, to find the cause of a hang: `muster top`.
#pragma once

#include "core/exchange/exchange.hpp"

namespace muster {

class QueryServer;

/// False where `key` asks for something else. On the loop.
bool answer_waits(QueryServer& server, const Caller& caller, const char* key, InfoView qualifiers,
                  Info& found);

}  // namespace muster
