// SPDX-License-Identifier: BSD-3-Clause
// Upcalls: each is answered once, on the loop, whatever the host does; members that the host's module lacks
// are not read.
#include "core/exchange/host.hpp"
#include "framework/base/loop_thread.hpp"
#include "tests/covers.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <future>
#include <thread>

namespace muster {
namespace {

struct Given {
    pmix_op_cbfunc_t done = nullptr;
    void* context = nullptr;
} given;

pmix_status_t keep_finalized(const pmix_proc_t*, void*, pmix_op_cbfunc_t done, void* context) {
    given = {done, context};
    return PMIX_SUCCESS;
}

class HostUpcalls : public testing::Test {
  protected:
    HostUpcalls() {
        std::memset(static_cast<void*>(&module_), 0, sizeof module_);
        module_.client_finalized = keep_finalized;
        thread_.start("test");
    }
    ~HostUpcalls() override { thread_.stop(); }

    /// Makes the upcall on the loop; the future has the answer.
    std::shared_future<pmix_status_t> finalized(Host& host) {
        auto promise = std::make_shared<std::promise<pmix_status_t>>();
        on_loop([&host, promise, this] {
            host.client_finalized({}, nullptr, [promise, this](const HostAnswer& answer) {
                EXPECT_TRUE(loop_.on_loop());
                promise->set_value(answer.status);  // throws when done twice
            });
        });
        return promise->get_future().share();
    }
    void on_loop(const std::function<void()>& work) {
        std::promise<void> done;
        loop_.post([&] {
            work();
            done.set_value();
        });
        done.get_future().wait();
    }
    static bool there(const std::shared_future<pmix_status_t>& answer) {
        return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    }

    EventLoop loop_;
    LoopThread thread_{loop_, LoopThread::Beside::Nobody};
    Log log_{"test"};
    pmix_server_module_t module_;
};

TEST_F(HostUpcalls, CompleteOnceOnTheLoop) {
    Host host(loop_, log_, &module_, sizeof module_);
    const auto answer = finalized(host);
    EXPECT_FALSE(there(answer));
    std::thread other([] {
        given.done(PMIX_ERR_NO_PERMISSIONS, given.context);
        given.done(PMIX_SUCCESS, given.context);
    });
    other.join();
    EXPECT_EQ(answer.get(), PMIX_ERR_NO_PERMISSIONS);
    on_loop([] {});
}

TEST_F(HostUpcalls, OperationSucceededIsSuccess) {
    Host host(loop_, log_, &module_, sizeof module_);
    const auto answer = finalized(host);
    given.done(PMIX_OPERATION_SUCCEEDED, given.context);
    EXPECT_EQ(answer.get(), PMIX_SUCCESS);
}

TEST_F(HostUpcalls, PendingAndLaterCallsFailWhenTheServerCloses) {
    Host host(loop_, log_, &module_, sizeof module_);
    const auto open = finalized(host);
    on_loop([&] { host.close(); });
    EXPECT_EQ(open.get(), PMIX_ERR_LOST_CONNECTION);
    given.done(PMIX_SUCCESS, given.context);
    EXPECT_EQ(finalized(host).get(), PMIX_ERR_LOST_CONNECTION);
    on_loop([] {});
}

TEST_F(HostUpcalls, CallbacksAfterDestructionAreIgnored) {
    {
        Host host(loop_, log_, &module_, sizeof module_);
        finalized(host);
    }
    given.done(PMIX_SUCCESS, given.context);
    Host::on_modex(PMIX_SUCCESS, "abc", 3, given.context, nullptr, nullptr);
    Host::on_op(PMIX_SUCCESS, nullptr);
    on_loop([] {});
}

TEST_F(HostUpcalls, MembersBeyondTheModuleSizeAreIgnored) {
    covers("SRV-46");
    Host host(loop_, log_, &module_, offsetof(pmix_server_module_t, client_finalized));
    EXPECT_EQ(host.module().client_finalized, nullptr);
    EXPECT_EQ(finalized(host).get(), PMIX_SUCCESS) << "no notice is wanted";
    std::promise<pmix_status_t> fenced;
    on_loop(
        [&] { host.fence({}, {}, {}, [&](const HostAnswer& answer) { fenced.set_value(answer.status); }); });
    EXPECT_EQ(fenced.get_future().get(), PMIX_ERR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace muster
