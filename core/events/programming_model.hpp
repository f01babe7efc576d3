// SPDX-License-Identifier: BSD-3-Clause
// Programming models of a process (Standard: Client Initialization): a library's model, declared in
// PMIx_Init, is an event PMIX_MODEL_DECLARED for the process's other libraries.
#pragma once

#include "core/events/events.hpp"

namespace muster {

/// The event for the model that `directives` of PMIx_Init declare; null if they declare none. It is for this
/// process alone, and not for default handlers.
EventPtr model_declared(const pmix_proc_t& self, InfoView directives);

}  // namespace muster
