// SPDX-License-Identifier: BSD-3-Clause
// Helpers of the client programs of the event tests: error reports, answers of non-blocking calls, and common
// calls. Public API only.
#pragma once

#include <pmix.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "tests/integration/complaints.hpp"

namespace event_kit {

constexpr auto kLimit = std::chrono::seconds(20);

using namespace complaints;

inline std::mutex lock;  // guards all answers, and the records of a program's handlers
inline std::condition_variable changed;

struct Answer {
    bool done = false;
    pmix_status_t status = PMIX_SUCCESS;
    size_t id = 0;
    void deliver(pmix_status_t code, size_t number) {
        std::lock_guard guard(lock);
        status = code;
        id = number;
        done = true;
        changed.notify_all();
    }
    pmix_status_t wait() {
        std::unique_lock guard(lock);
        if (!changed.wait_for(guard, kLimit, [&] { return done; })) complain("a callback did not come");
        return status;
    }
};
inline void on_done(pmix_status_t status, void* answer) {
    static_cast<Answer*>(answer)->deliver(status, 0);
}
inline void on_registered(pmix_status_t status, size_t id, void* answer) {
    static_cast<Answer*>(answer)->deliver(status, id);
}

template <class T>
pmix_info_t info_of(const char* key, const T* value, pmix_data_type_t type) {
    pmix_info_t info;
    memset(&info, 0, sizeof info);
    is(PMIx_Info_load(&info, key, value, type), PMIX_SUCCESS, key);
    return info;
}
inline void notify(pmix_status_t code, pmix_data_range_t range, std::vector<pmix_info_t> infos = {}) {
    is(PMIx_Notify_event(code, &self, range, infos.data(), infos.size(), nullptr, nullptr), PMIX_SUCCESS,
       "notify with range " + std::to_string(range));
}
inline void fence() {
    is(PMIx_Fence(nullptr, 0, nullptr, 0), PMIX_SUCCESS, "fence");
}
inline pmix_proc_t rank(pmix_rank_t number) {
    pmix_proc_t proc = self;
    proc.rank = number;
    return proc;
}

}  // namespace event_kit
