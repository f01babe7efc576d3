// SPDX-License-Identifier: BSD-3-Clause
// The start of callbacks of non-blocking calls (docs/decisions/0041).
#include <gtest/gtest.h>
#include <pmix.h>
#include <pmix_server.h>

#include <atomic>
#include <thread>

#include "tests/integration/host.hpp"

namespace {

constexpr pmix_status_t kCode = -3100;

/// Whether the current call has returned, as far as the program knows, and what its callback read.
struct Seen {
    std::atomic<bool> inside{false}, called{false};
    std::thread::id caller;
    std::atomic<int> early{0}, on_caller{0};

    /// Makes the call, and waits for its callback where `wait`.
    template <class Start>
    void make(const Start& start, bool wait = true) {
        called = false;
        caller = std::this_thread::get_id();
        inside = true;
        EXPECT_EQ(start(
                      +[](pmix_status_t, void* data) { static_cast<Seen*>(data)->note(); }, this),
                  PMIX_SUCCESS);
        inside = false;
        while (wait && !called)
            std::this_thread::yield();
    }
    void note() {
        if (inside && caller == std::this_thread::get_id()) ++on_caller;
        if (inside) ++early;
        called = true;
    }
};

pmix_status_t notify(pmix_op_cbfunc_t done, void* data) {
    return PMIx_Notify_event(kCode - 1, nullptr, PMIX_RANGE_PROC_LOCAL, nullptr, 0, done, data);
}

pmix_status_t deregister(pmix_op_cbfunc_t done, void* data) {
    return PMIx_Deregister_event_handler(999999, done, data);
}

TEST(Callbacks, BeginWhenTheCallHasLeft) {
    const integration::Host host;
    Seen seen;
    constexpr int kCalls = 2000;
    for (int i = 0; i < kCalls; ++i)
        seen.make(i % 2 == 0 ? notify : deregister);
    EXPECT_EQ(seen.on_caller, 0);
    // No library can observe when its caller records the return. Without a rule every second to fifth
    // callback is early.
    EXPECT_LE(seen.early, kCalls / 50);
}

Seen nested;
std::atomic<bool> handled{false};

TEST(Callbacks, NeverBeginInsideACallThatAHandlerMakes) {
    const integration::Host host;
    const auto handler = [](size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t[], size_t, pmix_info_t[],
                            size_t, pmix_event_notification_cbfunc_fn_t done, void* data) {
        for (int i = 0; i < 100; ++i)
            nested.make(i % 2 == 0 ? notify : deregister, false);
        done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
        handled = true;
    };
    pmix_status_t code = kCode;
    ASSERT_GE(PMIx_Register_event_handler(&code, 1, nullptr, 0, handler, nullptr, nullptr), 0);
    EXPECT_EQ(PMIx_Notify_event(kCode, nullptr, PMIX_RANGE_PROC_LOCAL, nullptr, 0, nullptr, nullptr),
              PMIX_SUCCESS);
    while (!handled || !nested.called)
        std::this_thread::yield();
    EXPECT_EQ(nested.early, 0);
    EXPECT_EQ(nested.on_caller, 0);
}

}  // namespace
