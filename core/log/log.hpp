// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Log: entries go to the host where it takes them, else to the library's own channels (plog). On the
// loop.
#pragma once

#include "core/exchange/exchange.hpp"

namespace muster {

class Namespaces;

/// To the server; written by this process itself if there is none, and by a server for itself.
void log_data(Exchange& exchange, Info data, Info directives, HostDone done);

/// Registers the handler of a server: Log.
void serve_log(CommandTable& commands, Runtime& runtime, Host& host, Namespaces& namespaces);

}  // namespace muster
