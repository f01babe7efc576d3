// SPDX-License-Identifier: BSD-3-Clause
// Programming models of a process (Standard: Client Initialization): what one library says of its model in
// PMIx_Init, the others of the process hear as PMIX_MODEL_DECLARED.
#pragma once

#include "core/events/events.hpp"

namespace muster {

/// The event for what `directives` of PMIx_Init say of a model; null where they say nothing. It is for this
/// process alone, and not for default handlers.
EventPtr model_declared(const pmix_proc_t& self, InfoView directives);

}  // namespace muster
