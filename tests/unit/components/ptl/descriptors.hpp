// SPDX-License-Identifier: BSD-3-Clause
// For tests: the process has no free descriptor while the object lives.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace muster::test {

/// Lowers the limit of open files and opens files up to it.
class NoDescriptorsLeft {
  public:
    NoDescriptorsLeft() {
        getrlimit(RLIMIT_NOFILE, &before_);
        rlimit low = before_;
        low.rlim_cur = 256;
        EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
        for (int fd; (fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;)
            opened_.push_back(fd);
        EXPECT_EQ(errno, EMFILE);
    }
    ~NoDescriptorsLeft() {
        for (const int fd : opened_)
            ::close(fd);
        setrlimit(RLIMIT_NOFILE, &before_);
    }

  private:
    rlimit before_{};
    std::vector<int> opened_;
};

}  // namespace muster::test
