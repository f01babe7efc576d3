// SPDX-License-Identifier: BSD-3-Clause
// Descriptors that others may close: see descriptor_claim.hpp.
#include "framework/base/descriptor_claim.hpp"

#include <sys/stat.h>

namespace muster {

constinit DescriptorClaim::Entry DescriptorClaim::entries_[kEntries] = {};

namespace {

// Forks under way, and descriptors that are being made or closed. The second party waits for the first, but
// not forever: a connection attempt may take long.
constinit std::atomic<int> forks{0}, makings{0};
constexpr int kLooks = 1000;
constexpr useconds_t kBetweenLooks = 100;  // microseconds

bool is_still(int fd, dev_t device, ino_t inode) {
    struct stat now {};
    return ::fstat(fd, &now) == 0 && now.st_dev == device && now.st_ino == inode;
}

}  // namespace

DescriptorClaim::DescriptorClaim(int fd) {
    struct stat facts {};
    if (fd >= 0 && ::fstat(fd, &facts) == 0) *this = DescriptorClaim(fd, facts);
}

DescriptorClaim::DescriptorClaim(int fd, const struct stat& facts)
    : claimed_{fd, facts.st_dev, facts.st_ino, milliseconds()} {
    for (Entry& entry : entries_) {
        int free = kFree;
        if (!entry.fd.compare_exchange_strong(free, kTaken)) continue;
        entry.device = facts.st_dev;
        entry.inode = facts.st_ino;
        // Last: a child may be made at any moment.
        entry.fd.store(fd, std::memory_order_release);
        claimed_.entry = &entry;
        return;
    }
}

bool DescriptorClaim::holds() const {
    return claimed_.fd >= 0 && is_still(claimed_.fd, claimed_.device, claimed_.inode);
}

void DescriptorClaim::close(UniqueFd& fd) {
    if (claimed_.fd < 0) return fd.reset();
    // The kernel copies descriptors before memory: the child would have the descriptor without a claim.
    const Making changing;
    if (fd.get() == claimed_.fd && !holds()) fd.release();
    fd.reset();
    drop();
}

DescriptorClaim::Making::Making() {
    makings.fetch_add(1);
    for (int looks = 0; forks.load() > 0 && looks < kLooks; ++looks) {
        makings.fetch_sub(1);
        ::usleep(kBetweenLooks);
        makings.fetch_add(1);
    }
}

DescriptorClaim::Making::~Making() {
    makings.fetch_sub(1);
}

void DescriptorClaim::before_fork() {
    forks.fetch_add(1);
    for (int looks = 0; makings.load() > 0 && looks < kLooks; ++looks)
        ::usleep(kBetweenLooks);
}

void DescriptorClaim::after_fork() {
    forks.fetch_sub(1);
}

void DescriptorClaim::close_all_in_child() {
    forks.store(0);
    makings.store(0);
    for (Entry& entry : entries_) {
        const int fd = entry.fd.exchange(kFree);
        if (fd > 0 && is_still(fd, entry.device, entry.inode)) ::close(fd);
    }
}

}  // namespace muster
