// SPDX-License-Identifier: BSD-3-Clause
// Readers on many threads while the store is filled: they read complete values, old or new (for the build
// with the thread sanitizer).
#include <atomic>
#include <thread>

#include "tests/unit/components/gds/store_fixture.hpp"

namespace muster {
namespace {

using Concurrent = StoreTest;

TEST_F(Concurrent, ReadersProceedWhileTheStoreIsFilled) {
    ASSERT_TRUE(add(maps("alpha,beta", "0-1;2-3", 4)));
    ASSERT_EQ(store_->post(make_proc("job", 1), PMIX_GLOBAL, "k", *Value::from(std::string(100, 'a')).get()),
              PMIX_SUCCESS);
    std::atomic<bool> done{false};
    std::atomic<size_t> reads{0}, torn{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < 4; ++i) {
        readers.emplace_back([&, i] {
            size_t mine = 0;
            const auto check = [&](bool good) { torn += !good; };
            while (!done.load(std::memory_order_relaxed) || mine < 1000) {
                ++mine;
                const auto visit = [&](const Found& found) {
                    const std::string_view text = found.value.data.string;
                    check(text.size() == 100 && text.find_first_not_of(text[0]) == text.npos);
                };
                store_->find(lookup("k", {.rank = 1}), visit);
                store_->find(lookup(PMIX_HOSTNAME, {.rank = 3, .pin = i == 0}), [&](const Found& found) {
                    const std::string_view host = found.value.data.string;
                    check(host == "beta" || host == "alpha");
                });
                store_->find(lookup(PMIX_JOB_SIZE, {}),
                             [&](const Found& found) { check(found.value.data.uint32 == 4); });
                std::vector<pmix_proc_t> peers;
                store_->peers_on("alpha", "job", peers);
                check(peers.size() == 2);
                store_->find(lookup(nullptr, {.nspace = "passing", .rank = 0}), [](const Found&) {});
            }
            reads += mine;
        });
    }
    for (int round = 0; round < 300; ++round) {
        const Value value = Value::from(std::string(100, static_cast<char>('a' + round % 26)));
        ASSERT_EQ(store_->post(make_proc("job", 1), PMIX_GLOBAL, "k", *value.get()), PMIX_SUCCESS);
        ASSERT_TRUE(
            add(round % 2 == 0 ? maps("beta,alpha", "0-1;2-3", 4) : maps("alpha,beta", "0-1;2-3", 4)));
        ASSERT_TRUE(add(maps("alpha", "0"), 0, "passing"));
        ASSERT_EQ(store_->post(make_proc("passing", 0), PMIX_GLOBAL, "k", *value.get()), PMIX_SUCCESS);
        store_->deregister("passing");
    }
    done = true;
    for (std::thread& reader : readers)
        reader.join();
    EXPECT_EQ(torn, 0u);
    EXPECT_GE(reads, 4000u);
}

}  // namespace
}  // namespace muster
