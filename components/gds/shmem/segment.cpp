// SPDX-License-Identifier: BSD-3-Clause
// Making, growing and mapping segments: see segment.hpp.
#include "components/gds/shmem/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace muster::gds::shmem {
namespace {

/// Its size stays, and so do its seals.
constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
/// Only the server can write, or take a page away. Linux before 5.1 lacks this seal: there
/// the mode of the file keeps others out, but not processes of the server's own user.
constexpr int kSeals = kSizeSeals | F_SEAL_FUTURE_WRITE;
/// Its owner alone may open it, to read or to write.
constexpr mode_t kMode = 0600;
/// Minimum step of memory allocation.
constexpr uint64_t kStep = 64 * 1024;

uint64_t round_up(uint64_t size, uint64_t to) {
    return (size + to - 1) / to * to;
}

uint64_t page_size() {
    return static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

Error system_error(const std::string& what, int number) {
    const bool short_of = number == EMFILE || number == ENFILE || number == ENOMEM || number == ENOSPC;
    return {short_of ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_ERR_NOT_AVAILABLE,
            what + ": " + std::strerror(number)};
}

/// Maps the descriptor, followed by a page of zeros: text whose terminator is overwritten during a read ends
/// there.
uint8_t* map_guarded(int fd, uint64_t size, int protection) {
    void* room =
        mmap(nullptr, size + page_size(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return nullptr;
    if (mmap(room, size, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0) == MAP_FAILED) {
        const int number = errno;
        munmap(room, size + page_size());
        errno = number;
        return nullptr;
    }
    madvise(room, size, MADV_DONTDUMP);
    return static_cast<uint8_t*>(room);
}

}  // namespace

Result<std::unique_ptr<Segment>> Segment::create(uint64_t limit, const std::string& name) {
    if (limit == 0) return Error{PMIX_ERR_NOT_AVAILABLE, "gds_shmem_limit is 0"};
    limit = round_up(std::max(limit, kStep), page_size());
    // Beyond the file size limit, a signal would end this process.
    struct rlimit files {};
    if (getrlimit(RLIMIT_FSIZE, &files) == 0) limit = std::min<uint64_t>(limit, files.rlim_cur);
    limit = limit / page_size() * page_size();
    if (limit < kStep)
        return Error{PMIX_ERR_OUT_OF_RESOURCE,
                     "the limit of the file size is too small; raise it (ulimit -f)"};
    std::unique_ptr<Segment> segment(new Segment());
    segment->fd_.reset(memfd_create(name.substr(0, 200).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!segment->fd_) return system_error("memfd_create", errno);
    const int fd = segment->fd_.get();
    segment->limit_ = limit;
    if (fchmod(fd, kMode) != 0) return system_error("fchmod of a segment", errno);
    if (ftruncate(fd, static_cast<off_t>(segment->limit_)) != 0) return system_error("ftruncate", errno);
    segment->base_ = map_guarded(fd, segment->limit_, PROT_READ | PROT_WRITE);
    if (segment->base_ == nullptr) return system_error("mmap", errno);
    segment->mapped_ = segment->limit_;
    const bool sealed = fcntl(fd, F_ADD_SEALS, kSeals) == 0;
    if (!sealed && (errno != EINVAL || fcntl(fd, F_ADD_SEALS, kSizeSeals) != 0))
        return system_error("F_ADD_SEALS", errno);
    // Another open file description, which needs no memory either; without /proc the seals must suffice.
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    segment->shared_fd_.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!sealed && !segment->shared_fd_) return system_error("opening a segment for reading", errno);
    if (auto grown = segment->grow(kStep); !grown) return grown.error();
    return segment;
}

Result<void> Segment::grow(uint64_t end) {
    const uint64_t has = reached();
    if (end <= has) return {};
    if (end > limit_) return Error{PMIX_ERR_OUT_OF_RESOURCE, "its limit is reached (gds_shmem_limit)"};
    const uint64_t wanted = std::min(limit_, round_up(std::max(end, has + std::max(kStep, has / 4)), kStep));
    // Readers' checks see allocated pages as holes until they are written. If the kernel cannot do both at
    // once (before Linux 5.14), or has no space, allocate first: a write without space would kill this
    // process.
    if (madvise(base_ + has, wanted - has, MADV_POPULATE_WRITE) != 0) {
        if (fallocate(fd_.get(), 0, static_cast<off_t>(has), static_cast<off_t>(wanted - has)) != 0)
            return system_error("fallocate", errno);
        std::memset(base_ + has, 0, wanted - has);
    }
    reached_.store(wanted, std::memory_order_release);
    return {};
}

Result<std::unique_ptr<Segment>> Segment::attach(UniqueFd fd, std::optional<uid_t> owner) {
    const auto refused = [](const char* why) {
        return Error{PMIX_ERR_BAD_PARAM, std::string("the server's segment is refused: ") + why};
    };
    struct stat facts {};
    if (fstat(fd.get(), &facts) != 0) return system_error("fstat of the server's segment", errno);
    if (!S_ISREG(facts.st_mode)) return refused("it is not a memfd");
    if (owner && facts.st_uid != *owner) return refused("it belongs to another user than the server");
    const int seals = fcntl(fd.get(), F_GET_SEALS);
    if (seals < 0 || (seals & kSizeSeals) != kSizeSeals)
        return refused("it is not sealed, so it could change");
    const bool owners_alone = owner && (facts.st_mode & ACCESSPERMS) == kMode;
    if ((seals & F_SEAL_FUTURE_WRITE) == 0 && !owners_alone) return refused("others could write to it");
    if (facts.st_size <= 0 || static_cast<uint64_t>(facts.st_size) % page_size() != 0)
        return refused("its size is not a multiple of the page size");
    std::unique_ptr<Segment> segment(new Segment());
    segment->limit_ = static_cast<uint64_t>(facts.st_size);
    segment->base_ = map_guarded(fd.get(), segment->limit_, PROT_READ);
    if (segment->base_ == nullptr) return system_error("mmap of the server's segment", errno);
    segment->mapped_ = segment->limit_;
    segment->fd_ = std::move(fd);
    segment->claim_ = DescriptorClaim(segment->fd_.get(), facts);
    return segment;
}

std::unique_ptr<Segment> Segment::over(ByteView bytes) {
    std::unique_ptr<Segment> segment(new Segment());
    segment->base_ = const_cast<uint8_t*>(bytes.data());
    segment->limit_ = bytes.size();
    segment->reached_ = bytes.size();
    return segment;
}

Segment::~Segment() {
    if (mapped_ != 0) munmap(base_, mapped_ + page_size());
    claim_.close(fd_);
}

/// Whether there is memory behind all bytes up to `end`. A present page stays (the file is sealed), so each
/// is checked once; reading an absent page could fail for lack of memory.
bool Segment::reach(uint64_t end) const {
    if (!fd_) return false;
    // Else a file of the program's would be read elsewhere afterwards.
    if (claim_ && !claim_.holds()) return false;
    const uint64_t has = reached();
    const off_t hole = lseek(fd_.get(), static_cast<off_t>(has), SEEK_HOLE);
    if (hole < 0) return false;
    const uint64_t there = std::min(static_cast<uint64_t>(hole), limit_);
    uint64_t known = has;
    while (known < there && !reached_.compare_exchange_weak(known, there, std::memory_order_relaxed)) {
    }
    return end <= there;
}

}  // namespace muster::gds::shmem
