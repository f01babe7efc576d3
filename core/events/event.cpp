// SPDX-License-Identifier: BSD-3-Clause
// Events: see event.hpp.
#include "core/events/event.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "framework/base/proc.hpp"
#include "framework/base/status.hpp"

namespace muster {

bool among(const std::vector<pmix_proc_t>& procs, const pmix_proc_t& proc) {
    return std::ranges::any_of(procs, [&](const pmix_proc_t& one) { return same_or_wildcard(one, proc); });
}

bool overlap(const std::vector<pmix_proc_t>& a, const std::vector<pmix_proc_t>& b) {
    return std::ranges::any_of(a, [&](const pmix_proc_t& one) { return among(b, one); });
}

std::shared_ptr<Event> make_event(pmix_status_t status, const pmix_proc_t& source, pmix_data_range_t range) {
    auto event = std::make_shared<Event>();
    event->status = status;
    event->source = source;
    event->range = range;
    return event;
}

bool is_error_event(pmix_status_t status) {
    const char* name = status_name(status);
    return name != nullptr && std::strncmp(name, "PMIX_ERR", 8) == 0;
}

pmix_status_t Event::read_directives() {
    targets.clear();
    affected.clear();
    for (const pmix_info_t& one : info) {
        if (key_is(one.key, PMIX_EVENT_CUSTOM_RANGE)) {
            if (!append_procs(one.value, targets)) return PMIX_ERR_BAD_PARAM;
        } else if (key_is(one.key, PMIX_EVENT_AFFECTED_PROC) || key_is(one.key, PMIX_EVENT_AFFECTED_PROCS)) {
            if (!append_procs(one.value, affected)) return PMIX_ERR_BAD_PARAM;
        }
    }
    non_default = info.view().is_true(PMIX_EVENT_NON_DEFAULT);
    cacheable = !info.view().is_true(PMIX_EVENT_DO_NOT_CACHE);
    stays_local = info.view().is_true(PMIX_EVENT_STAYS_LOCAL);
    if (range > PMIX_RANGE_PROC_LOCAL) return PMIX_ERR_BAD_PARAM;
    if ((range == PMIX_RANGE_CUSTOM) == targets.empty()) return PMIX_ERR_BAD_PARAM;
    target_index = ProcIndex(targets);
    affected_index = ProcIndex(affected);
    return PMIX_SUCCESS;
}

bool Event::concerns_job(const char* nspace) const {
    return nspace_is(source.nspace, nspace) || target_index.has_job(targets, nspace) ||
           affected_index.has_job(affected, nspace);
}

size_t Event::cost() const {
    size_t bytes = sizeof(Event) + (targets.size() + affected.size()) * sizeof(pmix_proc_t) +
                   target_index.cost() + affected_index.cost();
    for (const pmix_info_t& one : info) {
        size_t payload = 0;
        if (value_size(&one.value, &payload) == PMIX_SUCCESS) bytes += payload;
        bytes += sizeof one;
    }
    return bytes;
}

EventPtr model_declared(const pmix_proc_t& self, InfoView directives) {
    static constexpr std::array kKeys{PMIX_PROGRAMMING_MODEL,     PMIX_MODEL_LIBRARY_NAME,
                                      PMIX_MODEL_LIBRARY_VERSION, PMIX_THREADING_MODEL,
                                      PMIX_MODEL_NUM_THREADS,     PMIX_MODEL_NUM_CPUS,
                                      PMIX_MODEL_CPU_TYPE,        PMIX_MODEL_AFFINITY_POLICY};
    const auto event = make_event(PMIX_MODEL_DECLARED, self, PMIX_RANGE_PROC_LOCAL);
    for (const pmix_info_t& one : directives) {
        if (std::ranges::any_of(kKeys, [&](const char* key) { return key_is(one.key, key); }))
            event->info.add_copy(one);
    }
    if (event->info.empty()) return nullptr;
    event->info.add(PMIX_EVENT_NON_DEFAULT, true);
    event->non_default = true;
    return event;
}

}  // namespace muster
