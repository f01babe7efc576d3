// SPDX-License-Identifier: BSD-3-Clause
// The job data of a namespace as a server sends them to its clients.
#pragma once

#include "core/exchange/peer.hpp"

namespace muster {

class Namespaces;
class Runtime;

/// The name of a registered namespace and its job data in the form that `peer` wants, cached for all peers
/// that want the same form. Null where the namespace is not known or cannot be packed; the log has the reason
/// of the latter. On the loop.
SharedBytes packed_job_info(Runtime& runtime, Namespaces& namespaces, const char* nspace, const Peer& peer);

}  // namespace muster
