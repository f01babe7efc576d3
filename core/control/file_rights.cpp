// SPDX-License-Identifier: BSD-3-Clause
// Rights of one thread: see file_rights.hpp. The system calls themselves, since the functions of the C
// library change all threads.
#include "core/control/file_rights.hpp"

#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace muster {
namespace {

bool set_groups(const std::vector<gid_t>& groups) {
    return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

// Neither call reports success; a call with an impossible number returns the current one.
bool set_user(uid_t uid) {
    ::setfsuid(uid);
    return static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))) == uid;
}
bool set_group(gid_t gid) {
    ::setfsgid(gid);
    return static_cast<gid_t>(::setfsgid(static_cast<gid_t>(-1))) == gid;
}

}  // namespace

FileRights::FileRights(uint32_t uid, uint32_t gid) {
    if (geteuid() != 0 || uid == 0) return;
    const int count = ::getgroups(0, nullptr);
    groups_.resize(count > 0 ? static_cast<size_t>(count) : 0);
    good_ = count >= 0 && ::getgroups(count, groups_.data()) == count && set_groups({});
    changed_ = good_;
    // The group first: only root may choose it.
    good_ = good_ && set_group(gid) && set_user(uid);
}

FileRights::~FileRights() {
    if (!changed_) return;
    set_user(geteuid());
    set_group(getegid());
    set_groups(groups_);
}

}  // namespace muster
