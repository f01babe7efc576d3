// SPDX-License-Identifier: BSD-3-Clause
// Space for descriptors: see descriptor_table.hpp.
#include "framework/base/descriptor_table.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>

#include <algorithm>

#include "framework/base/unique_fd.hpp"

namespace muster {

void make_room_for_descriptors(unsigned count) {
    struct rlimit limit {};
    if (!__libc_single_threaded || getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    const auto room = static_cast<int>(std::min<rlim_t>(count, limit.rlim_cur));
    const UniqueFd any(eventfd(0, EFD_CLOEXEC));
    if (any) const UniqueFd last(fcntl(any.get(), F_DUPFD_CLOEXEC, room - 1));
}

}  // namespace muster
