// SPDX-License-Identifier: BSD-3-Clause
// PMIX_DEBUG_STOP_IN_INIT: a process that is to be debugged says that it is ready, and waits within its init
// call until PMIX_DEBUGGER_RELEASE comes (Standard: Tools and Debuggers, Debugger Support).
#pragma once

#include "core/exchange/exchange.hpp"

namespace muster {

class Events;

/// Whether the value of a stop attribute means this rank: true or none for all, the rank of one, or an array
/// of ranks or processes. PMIX_ERR_BAD_PARAM for values of other types.
Result<bool> stop_means(const pmix_value_t& value, const pmix_proc_t& proc);

/// Waits for the release where the job's data says that this process is to stop in init, else returns at
/// once. PMIX_ERR_UNREACH when the last server is gone meanwhile. Blocks; not on the loop.
pmix_status_t hold_in_init(Exchange& exchange, Events& events);

}  // namespace muster
