// SPDX-License-Identifier: BSD-3-Clause
// Lists of processors: see cpu_list.hpp.
#include "framework/base/cpu_list.hpp"

#include <pthread.h>

#include <charconv>

namespace muster {
namespace {

/// More than a list can need that names each processor of a cpu_set_t once.
constexpr size_t kLongestList = size_t{CPU_SETSIZE} * 5;

/// Removes a number from the front of `text`; nothing if there is none, or if it exceeds cpu_set_t.
std::optional<unsigned> take_number(std::string_view& text) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number >= CPU_SETSIZE) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return number;
}

bool take(std::string_view& text, char wanted) {
    if (text.empty() || text.front() != wanted) return false;
    text.remove_prefix(1);
    return true;
}

}  // namespace

std::optional<cpu_set_t> read_cpu_list(std::string_view text) {
    if (text.size() > kLongestList) return std::nullopt;
    cpu_set_t processors;
    CPU_ZERO(&processors);
    do {
        const auto first = take_number(text);
        if (!first) return std::nullopt;
        const auto last = take(text, '-') ? take_number(text) : first;
        if (!last || *last < *first) return std::nullopt;
        for (unsigned cpu = *first; cpu <= *last; ++cpu)
            CPU_SET(cpu, &processors);
    } while (take(text, ','));
    if (!text.empty()) return std::nullopt;
    return processors;
}

bool can_bind_to(const cpu_set_t& processors) noexcept {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_t thread{};
    const auto nothing = [](void*) -> void* { return nullptr; };
    const bool bound = pthread_attr_setaffinity_np(&attributes, sizeof processors, &processors) == 0 &&
                       pthread_create(&thread, &attributes, nothing, nullptr) == 0;
    if (bound) pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    return bound;
}

}  // namespace muster
