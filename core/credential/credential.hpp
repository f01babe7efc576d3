// SPDX-License-Identifier: BSD-3-Clause
// Credentials (Standard: Security): the host creates and validates them. If the caller names a kind that the
// host does not create, the process creates it through psec; a server never creates one for another process.
// If the host does not validate, the server tries, then the process itself, for kinds that the bytes alone
// prove (MUNGE). On the loop.
#pragma once

#include "core/exchange/exchange.hpp"

namespace muster {

/// The answer's `data` is the credential, its `info` the data of the component that created it.
void get_credential(Exchange& exchange, Info directives, HostDone done);
/// The answer's `info` identifies the owner.
void validate_credential(Exchange& exchange, Bytes credential, Info directives, HostDone done);

/// Registers the handlers of a server: GetCredential, ValidateCredential.
void serve_credentials(CommandTable& commands, Runtime& runtime, Host& host);

}  // namespace muster
