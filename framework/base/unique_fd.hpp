// SPDX-License-Identifier: BSD-3-Clause
// The owner of one file descriptor, which is never that of standard input, output or error: if these are
// closed, the kernel assigns their numbers to the next opened files, and the program's output would be
// written there.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace muster {

/// The same open file under a number from 3 on, closed on exec; the one given is closed when it is lower. -1,
/// with errno, if there is none left.
inline int above_standard(int fd) {
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    ::close(fd);
    return moved;
}

class UniqueFd {
  public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) : fd_(above_standard(fd)) {}
    UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
    UniqueFd& operator=(UniqueFd&& other) noexcept {
        reset(other.release());
        return *this;
    }
    ~UniqueFd() { reset(); }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    int release() { return std::exchange(fd_, -1); }
    void reset(int fd = -1) {
        if (fd_ >= 0) ::close(fd_);
        fd_ = above_standard(fd);
    }

  private:
    int fd_ = -1;
};

/// While this lives, all opened files get numbers from 3 on: for libraries that keep their descriptors.
class StandardDescriptorsHeld {
  public:
    StandardDescriptorsHeld() {
        while ((last_ = ::open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0 && last_ <= STDERR_FILENO)
            held_[count_++] = last_;
        if (last_ >= 0) ::close(last_);
    }
    ~StandardDescriptorsHeld() {
        while (count_ > 0)
            ::close(held_[--count_]);
    }
    StandardDescriptorsHeld(const StandardDescriptorsHeld&) = delete;
    StandardDescriptorsHeld& operator=(const StandardDescriptorsHeld&) = delete;

  private:
    int held_[STDERR_FILENO + 1] = {};
    int count_ = 0;
    int last_ = -1;
};

}  // namespace muster
