// SPDX-License-Identifier: BSD-3-Clause
// See failing_malloc.hpp. Allocations of other libraries do not fail if these libraries cannot handle it.
#include "tests/integration/memory/failing_malloc.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <initializer_list>

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
}

namespace {

std::atomic<bool> armed{false}, all_later{false};
std::atomic<long> wanted{0}, count{0};

/// Libraries that crash on a failed allocation, because they do not check it.
bool is_careless(const void* caller) {
    Dl_info found;
    if (dladdr(caller, &found) == 0 || found.dli_fname == nullptr) return false;
    for (const char* name :
         {"/libhwloc", "/libxml2", "/libpciaccess", "/libudev", "/libltdl", "/ld-linux", "/libfabric"}) {
        if (std::strstr(found.dli_fname, name) != nullptr) return true;
    }
    return false;
}

bool fails(const void* caller) {
    if (!armed || is_careless(caller)) return false;
    const long number = ++count;
    if (number != wanted && !(all_later && wanted > 0 && number > wanted)) return false;
    errno = ENOMEM;
    return true;
}

}  // namespace

void failing::arm(long number, How how) {
    count = 0;
    wanted = number;
    all_later = how == How::AndAllLater;
    armed = true;
}

long failing::disarm() {
    armed = false;
    return count;
}

extern "C" {

void* malloc(size_t size) noexcept {
    return fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(size);
}

void* calloc(size_t number, size_t size) noexcept {
    return fails(__builtin_return_address(0)) ? nullptr : __libc_calloc(number, size);
}

void* realloc(void* block, size_t size) noexcept {
    return fails(__builtin_return_address(0)) ? nullptr : __libc_realloc(block, size);
}

/// The C library's function would hide the caller.
char* strdup(const char* text) noexcept {
    if (fails(__builtin_return_address(0))) return nullptr;
    const size_t size = std::strlen(text) + 1;
    void* copy = __libc_malloc(size);
    if (copy != nullptr) std::memcpy(copy, text, size);
    return static_cast<char*>(copy);
}

}  // extern "C"
