// SPDX-License-Identifier: BSD-3-Clause
// One event: its code, source, range and infos (Standard: Event Notification). Immutable once made, so that
// chains, queues and caches share it.
#pragma once

#include <pmix_common.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/events/proc_index.hpp"
#include "core/exchange/proc_list.hpp"
#include "framework/base/info.hpp"

namespace muster {

struct Event {
    pmix_status_t status = PMIX_SUCCESS;
    pmix_proc_t source{};
    pmix_data_range_t range = PMIX_RANGE_UNDEF;
    Info info;

    // Set by read_directives() from `info`.
    std::vector<pmix_proc_t> targets;   ///< PMIX_EVENT_CUSTOM_RANGE
    std::vector<pmix_proc_t> affected;  ///< PMIX_EVENT_AFFECTED_PROC(S)
    ProcIndex target_index, affected_index;
    bool non_default = false;  ///< not for default handlers
    bool cacheable = true;     ///< also for later handlers
    bool stays_local = false;  ///< not for the host

    /// The user of the source, if a process. Only processes of this user, of the server's user and of root
    /// receive the event.
    std::optional<uint32_t> user;
    /// The processes that an event of the host concerns. Only users that own one of them receive the event.
    std::shared_ptr<const std::vector<pmix_proc_t>> about;

    /// PMIX_ERR_BAD_PARAM for directives of the wrong type and for a range that does not fit them.
    pmix_status_t read_directives();
    /// Whether the process is one of those that a custom range names. For each process that listens, of which
    /// there may be as many as the list has.
    bool is_meant_for(const pmix_proc_t& proc) const { return target_index.has(targets, proc); }
    /// Whether a process of that job reported it, is named by its range, or is affected. Likewise.
    bool concerns_job(const char* nspace) const;
    /// Bytes that it takes, for bounds.
    size_t cost() const;
};

using EventPtr = std::shared_ptr<const Event>;

std::shared_ptr<Event> make_event(pmix_status_t status, const pmix_proc_t& source, pmix_data_range_t range);

/// Whether `proc` is one of `procs`, among which wildcards count.
bool among(const std::vector<pmix_proc_t>& procs, const pmix_proc_t& proc);

/// Whether any two of both lists mean the same process.
bool overlap(const std::vector<pmix_proc_t>& a, const std::vector<pmix_proc_t>& b);

/// Whether a code of the API names an error. Everything else is information, or belongs to applications.
bool is_error_event(pmix_status_t status);

/// The event PMIX_MODEL_DECLARED for the programming model that `directives` of PMIx_Init declare; null if
/// they declare none. It is for this process alone, and not for default handlers.
EventPtr model_declared(const pmix_proc_t& self, InfoView directives);

}  // namespace muster
