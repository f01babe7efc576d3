// SPDX-License-Identifier: BSD-3-Clause
// Making and mapping the page of a rendezvous, and the kernel's part in it: see rendezvous_page.hpp.
#include "core/rendezvous/rendezvous_page.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>

namespace muster {
namespace {

static_assert(std::atomic<uint64_t>::is_always_lock_free && sizeof(std::atomic<uint64_t>) == 8,
              "processes share it");

/// Its size stays as it is, and so does this.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

size_t page_size() {
    return static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

Error system_error(const char* what) {
    const int number = errno;
    const bool short_of = number == EMFILE || number == ENFILE || number == ENOMEM || number == ENOSPC;
    return {short_of ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_ERR_NOT_AVAILABLE,
            std::string(what) + ": " + std::strerror(number)};
}

void* map(int fd) {
    void* base = mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) return nullptr;
    // A child of fork() takes no part.
    madvise(base, page_size(), MADV_DONTFORK);
    return base;
}

}  // namespace

Result<std::unique_ptr<RendezvousPage>> RendezvousPage::create(const std::string& name) {
    std::unique_ptr<RendezvousPage> page(new RendezvousPage());
    page->fd_.reset(memfd_create(name.substr(0, 200).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!page->fd_) return system_error("memfd_create");
    const int fd = page->fd_.get();
    const auto size = static_cast<off_t>(page_size());
    fchmod(fd, 0600);
    if (ftruncate(fd, size) != 0) return system_error("ftruncate");
    if (fallocate(fd, 0, 0, size) != 0) return system_error("fallocate");
    page->base_ = map(fd);
    if (page->base_ == nullptr) return system_error("mmap");
    page->word().store(kPageShut);
    if (fcntl(fd, F_ADD_SEALS, kSeals) != 0) return system_error("F_ADD_SEALS");
    return page;
}

Result<std::unique_ptr<RendezvousPage>> RendezvousPage::attach(UniqueFd fd, std::optional<uid_t> owner) {
    const auto refused = [](const char* why) {
        return Error{PMIX_ERR_BAD_PARAM, std::string("the server's page is refused: ") + why};
    };
    struct stat facts {};
    if (fstat(fd.get(), &facts) != 0) return system_error("fstat of the server's page");
    if (!S_ISREG(facts.st_mode)) return refused("it is not a memfd");
    if (owner && facts.st_uid != *owner) return refused("it belongs to another user than the server");
    const int seals = fcntl(fd.get(), F_GET_SEALS);
    if (seals < 0 || (seals & kSeals) != kSeals) return refused("it is not sealed, so it could shrink");
    if (facts.st_size != static_cast<off_t>(page_size())) return refused("it is not one page long");
    std::unique_ptr<RendezvousPage> page(new RendezvousPage());
    page->base_ = map(fd.get());
    if (page->base_ == nullptr) return system_error("mmap of the server's page");
    return page;
}

RendezvousPage::~RendezvousPage() {
    if (base_ != nullptr) munmap(base_, page_size());
}

/// The futex of the waiters: the upper half of the word.
uint32_t* RendezvousPage::gate() const {
    return static_cast<uint32_t*>(base_) + (std::endian::native == std::endian::little ? 1 : 0);
}
uint32_t* RendezvousPage::arrived() const {
    return static_cast<uint32_t*>(base_) + (std::endian::native == std::endian::little ? 0 : 1);
}

// A client may have punched a hole where the page was: an access of ours could then end this process, and a
// write() could be kept waiting. These calls fail instead; the harm is limited to the client's own job.

void RendezvousPage::shut(int most) {
    syscall(SYS_futex, gate(), FUTEX_WAKE_OP, most, nullptr, gate(),
            FUTEX_OP(FUTEX_OP_OR, page_gate(kPageShut), FUTEX_OP_CMP_EQ, 0));
}

void RendezvousPage::open() {
    syscall(SYS_futex, gate(), FUTEX_WAKE_OP, 0, nullptr, arrived(),
            FUTEX_OP(FUTEX_OP_SET, 0, FUTEX_OP_CMP_EQ, 0));
    syscall(SYS_futex, gate(), FUTEX_WAKE_OP, 0, nullptr, gate(),
            FUTEX_OP(FUTEX_OP_ANDN, page_gate(kPageReleased), FUTEX_OP_CMP_EQ, 0));
    // The next number, and the bit that was set is not.
    constexpr uint32_t kStep = page_gate(page_next(0)) - page_gate(kPageShut);
    syscall(SYS_futex, gate(), FUTEX_WAKE_OP, 0, nullptr, gate(),
            FUTEX_OP(FUTEX_OP_ADD, kStep, FUTEX_OP_CMP_EQ, 0));
}

void RendezvousPage::end(int most) {
    syscall(SYS_futex, ended_word(), FUTEX_WAKE_OP, 0, nullptr, ended_word(),
            FUTEX_OP(FUTEX_OP_SET, 1, FUTEX_OP_CMP_EQ, 0));
    shut(most);
}

void RendezvousPage::release(int most) {
    syscall(SYS_futex, gate(), FUTEX_WAKE_OP, most, nullptr, gate(),
            FUTEX_OP(FUTEX_OP_OR, page_gate(kPageReleased), FUTEX_OP_CMP_EQ, 0));
}

void RendezvousPage::wait(uint32_t gate_was, std::chrono::milliseconds limit) {
    timespec time{};
    time.tv_sec = static_cast<time_t>(limit.count() / 1000);
    time.tv_nsec = static_cast<long>(limit.count() % 1000 * 1000000);
    const long woken = syscall(SYS_futex, gate(), FUTEX_WAIT, gate_was, &time, nullptr, 0);
    if (woken != 0 && errno == ETIMEDOUT && long_wait_) long_wait_();
}

void RendezvousPage::wake_on() {
    constexpr int kEach = 2;
    syscall(SYS_futex, gate(), FUTEX_WAKE, kEach, nullptr, nullptr, 0);
}

void RendezvousPage::wake_all() {
    syscall(SYS_futex, gate(), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool RendezvousPage::call_in(uint32_t number) {
    const uint64_t was = word().fetch_or(kPageShut, std::memory_order_acq_rel);
    wake_all();
    return page_number(was) == number;
}

}  // namespace muster
