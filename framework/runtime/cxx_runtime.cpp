// SPDX-License-Identifier: BSD-3-Clause
// What we replace of the C++ runtime that is linked into the library and into each file of components
// (MUSTER_STATIC_RUNTIME; docs/decisions/0020). Part of no library: the linker takes these in place of the
// archive's.
#include <cxxabi.h>
#include <unwind.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace __gnu_cxx {

/// What std::terminate() calls: the archive's would print, and bring a demangler and its tables with it. A
/// debugger shows more than the message did.
void __verbose_terminate_handler() {
    std::abort();
}

}  // namespace __gnu_cxx

// Where the record's form is another one the archive's own functions stay: then an exception without memory
// that goes from a component to the library ends the process.
#if defined(__LP64__) && defined(__GNUC__)

namespace {

/// Before an exception stands the runtime's record of it (__cxa_refcounted_exception): a count of four bytes,
/// a gap up to the next multiple of 16, and 112 bytes. What other copies of the runtime allocate, a host's
/// among them, has zero in the gap and came from malloc, so that each may free what another one has
/// allocated. Ours says in the gap whether it came from the reserve, and from which slot, whosever copy that
/// is.
constexpr std::size_t kRecord = 128;
constexpr std::size_t kGap = 8;
constexpr std::size_t kPointer = sizeof(void*);
static_assert(sizeof(_Unwind_Exception) == 32, "the record has another form here");

/// For exceptions when there is no memory: they are std::bad_alloc, one in each thread that has run short.
struct Slot {
    std::atomic<bool> taken{false};
    alignas(16) std::array<std::byte, kRecord + 128> memory{};
};
// Out of the way of what every process writes to (cmake/MusterStartup.cmake).
[[gnu::section(".data1")]] constinit std::array<Slot, 32> reserve;

/// A record, all zero but its gap, and room for `size` bytes behind it.
std::byte* allocate(std::size_t size) {
    const std::size_t all = kRecord + size;
    auto* record = static_cast<std::byte*>(std::malloc(all));
    std::atomic<bool>* taken = nullptr;
    if (record == nullptr && all <= sizeof(Slot::memory)) {
        for (Slot& slot : reserve) {
            if (slot.taken.exchange(true)) continue;
            record = slot.memory.data();
            taken = &slot.taken;
            break;
        }
    }
    if (record == nullptr) std::terminate();
    std::memset(record, 0, kRecord);
    std::memcpy(record + kGap, &taken, kPointer);
    return record;
}

void release(std::byte* record) {
    std::atomic<bool>* taken = nullptr;
    std::memcpy(&taken, record + kGap, kPointer);
    if (taken == nullptr) return std::free(record);
    taken->store(false);
}

}  // namespace

// The archive has the two of std::rethrow_exception in the same file: who uses that here gets an error of the
// linker.
extern "C" {

void* __cxa_allocate_exception(std::size_t size) noexcept {
    return allocate(size) + kRecord;
}

void __cxa_free_exception(void* exception) noexcept {
    release(static_cast<std::byte*>(exception) - kRecord);
}
}

#endif
