// SPDX-License-Identifier: BSD-3-Clause
// Publish, lookup and unpublish (Standard: Publish/Lookup Operations): the data lives with the host; the
// library forwards requests to it and adds the caller. On the loop.
#pragma once

#include <string>
#include <vector>

#include "core/exchange/exchange.hpp"

namespace muster {

/// To our server, or to our own host; PMIX_ERR_UNREACH if there is neither.
void publish(Exchange& exchange, Info info, HostDone done);
/// The answer holds the results: the values in `info`, their publishers in `owners`.
void lookup(Exchange& exchange, std::vector<std::string> keys, Info info, HostDone done);
/// No keys: everything that the caller published.
void unpublish(Exchange& exchange, std::vector<std::string> keys, Info info, HostDone done);

/// The status that the Standard gives a lookup of `wanted` keys: a host may call it a success although some
/// were not found.
pmix_status_t lookup_status(pmix_status_t host, size_t wanted, size_t found);

/// Registers the handlers of a server: Publish, Lookup, Unpublish.
void serve_publications(CommandTable& commands, Host& host);

}  // namespace muster
