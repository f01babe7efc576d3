// SPDX-License-Identifier: BSD-3-Clause
// The number that a host assigns to a group that one process creates alone (PMIX_GROUP_ASSIGN_CONTEXT_ID of
// PMIx_Group_invite). On the loop.
#pragma once

#include <string>

#include "core/exchange/exchange.hpp"

namespace muster {

/// Asks the host, through our server where we have one. The answer's infos hold PMIX_GROUP_CONTEXT_ID;
/// PMIX_ERR_NOT_SUPPORTED where server or host cannot.
void assign_context_id(Exchange& exchange, const std::string& id, InfoView terms, HostDone done);

/// Asks this host, for a group that `leader` makes.
void ask_for_context_id(Host& host, const pmix_proc_t& leader, const std::string& id, Info terms,
                        HostDone done);

/// Answers a client that asks for such a number.
void serve_context_id(Host& host, const Request& request);

}  // namespace muster
