// SPDX-License-Identifier: BSD-3-Clause
// Announces programming models: see programming_model.hpp.
#include "core/events/programming_model.hpp"

#include <algorithm>
#include <array>

namespace muster {

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
