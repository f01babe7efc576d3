// SPDX-License-Identifier: BSD-3-Clause
// Credentials (Standard: Security): made and judged by the host. A kind that the host does not make and that
// the caller names, a process makes for itself through psec; a server never makes one in the name of another
// process. What the host does not judge, the server does, and at last the process itself, where the kind of
// credential (MUNGE's) can be judged by its bytes alone. On the loop.
#pragma once

#include "core/exchange/exchange.hpp"

namespace muster {

/// The answer's `data` is the credential, its `info` what the maker says of it.
void get_credential(Exchange& exchange, Info directives, HostDone done);
/// The answer's `info` says whose it is.
void validate_credential(Exchange& exchange, Bytes credential, Info directives, HostDone done);

/// Registers the handlers of a server: GetCredential, ValidateCredential.
void serve_credentials(CommandTable& commands, Runtime& runtime, Host& host);

}  // namespace muster
