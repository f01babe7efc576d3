// SPDX-License-Identifier: BSD-3-Clause
// PMIX_DEBUG_STOP_IN_INIT: a process under a debugger reports that it is ready, and waits within its init
// call until PMIX_DEBUGGER_RELEASE arrives (Standard: Tools and Debuggers, Debugger Support).
#pragma once

#include "core/exchange/exchange.hpp"

namespace muster {

class Events;

/// Whether the value of a stop attribute means this rank: true or none for all, the rank of one, or an array
/// of ranks or processes. PMIX_ERR_BAD_PARAM for values of other types.
Result<bool> stop_means(const pmix_value_t& value, const pmix_proc_t& proc);

/// Waits for the release if the job's data request a stop of this process in init, otherwise returns at once.
/// PMIX_ERR_UNREACH if the last server ends meanwhile. Blocks; not on the loop.
pmix_status_t hold_in_init(Exchange& exchange, Events& events);

}  // namespace muster
