// SPDX-License-Identifier: BSD-3-Clause
// Helpers of the clients of the tests of groups by invitation: received events, handlers whose answers a test
// sets, calls with their answers. Public API only.
#pragma once

#include <pmix.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/integration/complaints.hpp"

namespace kit {

// Long: a loaded machine with a sanitizer is slow, and what waits this long has failed.
inline constexpr auto kLimit = std::chrono::seconds(30);

using namespace complaints;
inline uint32_t size = 0;

inline pmix_proc_t rank(pmix_rank_t number) {
    pmix_proc_t proc = self;
    proc.rank = number;
    return proc;
}
inline std::vector<pmix_proc_t> ranks(const std::vector<pmix_rank_t>& numbers) {
    std::vector<pmix_proc_t> procs;
    for (const pmix_rank_t number : numbers)
        procs.push_back(rank(number));
    return procs;
}

/// Infos for a call; freed with it.
class Infos {
  public:
    Infos() = default;
    Infos(const Infos&) = delete;
    Infos(Infos&& other) noexcept : infos_(std::move(other.infos_)) { other.infos_.clear(); }
    ~Infos() {
        for (pmix_info_t& one : infos_)
            PMIx_Info_destruct(&one);
    }
    Infos& yes(const char* key) {
        const bool value = true;
        return add(key, &value, PMIX_BOOL);
    }
    Infos& number(const char* key, int value) { return add(key, &value, PMIX_INT); }
    Infos& number(const char* key, uint64_t value) { return add(key, &value, PMIX_UINT64); }
    Infos& text(const char* key, const char* value) { return add(key, value, PMIX_STRING); }
    Infos& procs(const char* key, std::vector<pmix_proc_t> list) {
        pmix_data_array_t array{PMIX_PROC, list.size(), list.data()};
        return add(key, &array, PMIX_DATA_ARRAY);
    }
    pmix_info_t* data() { return infos_.empty() ? nullptr : infos_.data(); }
    size_t count() const { return infos_.size(); }

  private:
    Infos& add(const char* key, const void* value, pmix_data_type_t type) {
        pmix_info_t info;
        memset(&info, 0, sizeof info);
        is(PMIx_Info_load(&info, key, value, type), PMIX_SUCCESS, key);
        infos_.push_back(info);
        return *this;
    }
    std::vector<pmix_info_t> infos_;
};

// --- events ---

struct Came {
    pmix_status_t status = 0;
    pmix_proc_t source{};
    std::string group;
    std::vector<pmix_rank_t> members;  ///< PMIX_GROUP_MEMBERSHIP
    bool has_affected = false;
    pmix_rank_t affected = PMIX_RANK_UNDEF;
    bool has_context_id = false;
    int exit_code = -1;     ///< the host's report of the end of a process
    bool internal = false;  ///< a key that handlers must not get
};
/// The answer of a handler to a code.
struct Reaction {
    pmix_status_t status = PMIX_EVENT_NO_ACTION_TAKEN;
    Infos* results = nullptr;
    std::function<void(const Came&)> also;
};

inline std::mutex lock;  // guards all below
inline std::condition_variable changed;
inline std::vector<Came> events;
inline std::map<pmix_status_t, Reaction> reactions;

inline std::vector<pmix_rank_t> ranks_of(const pmix_value_t& value) {
    std::vector<pmix_rank_t> found;
    if (value.type != PMIX_DATA_ARRAY || value.data.darray->type != PMIX_PROC) return found;
    const auto* procs = static_cast<const pmix_proc_t*>(value.data.darray->array);
    for (size_t i = 0; i < value.data.darray->size; ++i)
        found.push_back(procs[i].rank);
    return found;
}

inline void on_event(size_t, pmix_status_t status, const pmix_proc_t* source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t*, size_t, pmix_event_notification_cbfunc_fn_t complete,
                     void* cbdata) {
    Came came;
    came.status = status;
    came.source = *source;
    for (size_t i = 0; i < ninfo; ++i) {
        const pmix_value_t& value = info[i].value;
        if (PMIX_CHECK_KEY(&info[i], PMIX_GROUP_ID) && value.type == PMIX_STRING)
            came.group = value.data.string;
        if (PMIX_CHECK_KEY(&info[i], PMIX_GROUP_MEMBERSHIP)) came.members = ranks_of(value);
        if (PMIX_CHECK_KEY(&info[i], PMIX_GROUP_CONTEXT_ID)) came.has_context_id = value.type == PMIX_SIZE;
        if (PMIX_CHECK_KEY(&info[i], PMIX_EXIT_CODE)) came.exit_code = value.data.integer;
        if (strncmp(info[i].key, "muster.", strlen("muster.")) == 0) came.internal = true;
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC) && value.type == PMIX_PROC) {
            came.has_affected = true;
            came.affected = value.data.proc->rank;
        }
    }
    Reaction reaction;
    {
        const std::lock_guard guard(lock);
        if (const auto found = reactions.find(status); found != reactions.end()) reaction = found->second;
    }
    if (reaction.also) reaction.also(came);
    {
        const std::lock_guard guard(lock);
        events.push_back(came);
        changed.notify_all();
    }
    complete(reaction.status, reaction.results == nullptr ? nullptr : reaction.results->data(),
             reaction.results == nullptr ? 0 : reaction.results->count(), nullptr, nullptr, cbdata);
}

inline void listen(std::vector<pmix_status_t> codes) {
    for (pmix_status_t code : codes) {
        if (PMIx_Register_event_handler(&code, 1, nullptr, 0, on_event, nullptr, nullptr) < 0)
            complain("register");
    }
}
/// From now on handlers of this code give this answer.
inline void react(pmix_status_t code, Reaction reaction) {
    const std::lock_guard guard(lock);
    reactions[code] = std::move(reaction);
}
inline size_t count(pmix_status_t code, const std::string& group = "") {
    const std::lock_guard guard(lock);
    return static_cast<size_t>(std::count_if(events.begin(), events.end(), [&](const Came& one) {
        return one.status == code && (group.empty() || one.group == group);
    }));
}
inline Came wait_for(pmix_status_t code, const std::string& group) {
    std::unique_lock guard(lock);
    Came found;
    const bool came = changed.wait_for(guard, kLimit, [&] {
        for (const Came& one : events) {
            if (one.status != code || one.group != group) continue;
            found = one;
            return true;
        }
        return false;
    });
    if (!came) complain("event " + std::string(PMIx_Error_string(code)) + " of " + group + " did not come");
    return found;
}

// --- calls ---

/// The answer of a call, and of its callback.
struct Answer {
    bool done = false;
    pmix_status_t status = PMIX_SUCCESS;
    std::string group;
    std::vector<pmix_rank_t> members;
    bool has_context_id = false;
    size_t context_id = 0;

    void read(const pmix_info_t* info, size_t n) {
        for (size_t i = 0; i < n; ++i) {
            const pmix_value_t& value = info[i].value;
            if (PMIX_CHECK_KEY(&info[i], PMIX_GROUP_MEMBERSHIP)) members = ranks_of(value);
            if (PMIX_CHECK_KEY(&info[i], PMIX_GROUP_ID)) group = value.data.string;
            if (PMIX_CHECK_KEY(&info[i], PMIX_GROUP_CONTEXT_ID) && value.type == PMIX_SIZE) {
                has_context_id = true;
                context_id = value.data.size;
            }
        }
    }
    pmix_status_t wait() {
        std::unique_lock guard(lock);
        if (!changed.wait_for(guard, kLimit, [&] { return done; })) {
            complain("a callback did not come");
            return PMIX_ERR_TIMEOUT;
        }
        return status;
    }
};
inline void on_info(pmix_status_t status, pmix_info_t* info, size_t n, void* cbdata,
                    pmix_release_cbfunc_t release, void* release_data) {
    {
        const std::lock_guard guard(lock);
        auto* answer = static_cast<Answer*>(cbdata);
        answer->status = status;
        answer->read(info, n);
        answer->done = true;
        changed.notify_all();
    }
    if (release != nullptr) release(release_data);
}
inline void on_done(pmix_status_t status, void* cbdata) {
    on_info(status, nullptr, 0, cbdata, nullptr, nullptr);
}

inline Answer invite(const char* group, std::vector<pmix_proc_t> procs, Infos directives = {}) {
    Answer answer;
    pmix_info_t* results = nullptr;
    size_t n = 0;
    answer.status = PMIx_Group_invite(group, procs.data(), procs.size(), directives.data(),
                                      directives.count(), &results, &n);
    answer.read(results, n);
    if (results != nullptr) PMIx_Info_free(results, n);
    return answer;
}
inline Answer join(const char* group, pmix_rank_t leader, pmix_group_opt_t opt, Infos directives = {}) {
    Answer answer;
    pmix_info_t* results = nullptr;
    size_t n = 0;
    const pmix_proc_t inviter = rank(leader);
    answer.status =
        PMIx_Group_join(group, &inviter, opt, directives.data(), directives.count(), &results, &n);
    answer.read(results, n);
    if (results != nullptr) PMIx_Info_free(results, n);
    return answer;
}

/// Synchronises the ranks `numbers`; each of them calls it.
inline void meet(const std::vector<pmix_rank_t>& numbers) {
    const std::vector<pmix_proc_t> procs = ranks(numbers);
    is(PMIx_Fence(procs.data(), procs.size(), nullptr, 0), PMIX_SUCCESS, "fence");
}
inline std::vector<pmix_rank_t> all() {
    std::vector<pmix_rank_t> numbers;
    for (pmix_rank_t i = 0; i < size; ++i)
        numbers.push_back(i);
    return numbers;
}
inline std::vector<pmix_rank_t> without(std::vector<pmix_rank_t> gone) {
    std::vector<pmix_rank_t> numbers = all();
    std::erase_if(numbers,
                  [&](pmix_rank_t one) { return std::find(gone.begin(), gone.end(), one) != gone.end(); });
    return numbers;
}
[[noreturn]] inline void die() {
    fflush(stdout);
    raise(SIGKILL);
    abort();
}

}  // namespace kit
