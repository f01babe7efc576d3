// SPDX-License-Identifier: BSD-3-Clause
// Log lines.
#include "framework/base/log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include "framework/base/unique_fd.hpp"

namespace muster {
namespace {

struct Writer {
    Log log{"test"};
    bool returned = false;
};

void* write_cancelled(void* data) {
    auto* writer = static_cast<Writer*>(data);
    pthread_cancel(pthread_self());
    writer->log.write(LogLevel::Error, "a line");
    writer->returned = true;
    pthread_testcancel();
    return nullptr;
}

TEST(Log, IsNoCancellationPoint) {
    const UniqueFd kept(::dup(STDERR_FILENO));
    const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    ::dup2(nowhere.get(), STDERR_FILENO);
    Writer writer;
    writer.log.set_verbosity(1);
    pthread_t thread{};
    ASSERT_EQ(pthread_create(&thread, nullptr, write_cancelled, &writer), 0);
    void* result = nullptr;
    pthread_join(thread, &result);
    ::dup2(kept.get(), STDERR_FILENO);
    EXPECT_TRUE(writer.returned);
    EXPECT_EQ(result, PTHREAD_CANCELED);
}

}  // namespace
}  // namespace muster
