// SPDX-License-Identifier: BSD-3-Clause
// The table of allocations.
#include "tools/muster/services/allocations.hpp"

#include <algorithm>

namespace muster::launcher {
namespace {

constexpr auto kEndedKept = 64;

bool has_ended(const Allocation& allocation) {
    return allocation.state == Allocation::State::Refused || allocation.state == Allocation::State::Released;
}

}  // namespace

const char* word_of(Allocation::State state) {
    switch (state) {
        case Allocation::State::Pending:
            return "pending";
        case Allocation::State::Granted:
            return "granted";
        case Allocation::State::Refused:
            return "refused";
        case Allocation::State::Released:
            return "released";
    }
    return "unknown";
}

Allocation& Allocations::request(const std::string& request) {
    return all_.emplace_back(Allocation{request, {}, {}, Allocation::State::Pending});
}

void Allocations::grant(Allocation& allocation, const std::string& id, const std::string& nodes) {
    allocation.id = id;
    allocation.nodes = nodes;
    allocation.state = Allocation::State::Granted;
}

void Allocations::refuse(Allocation& allocation) {
    end(allocation, Allocation::State::Refused);
}

std::string Allocations::leave(uint32_t job) {
    const auto found = of_jobs_.find(job);
    if (found == of_jobs_.end()) return {};
    std::string id = std::move(found->second);
    of_jobs_.erase(found);
    return id;
}

bool Allocations::release(const std::string& id) {
    if (id.empty() || std::ranges::any_of(of_jobs_, [&](const auto& entry) { return entry.second == id; }))
        return false;
    const auto granted = std::ranges::find_if(
        all_, [&](const Allocation& one) { return one.id == id && one.state == Allocation::State::Granted; });
    if (granted == all_.end()) return false;
    end(*granted, Allocation::State::Released);
    return true;
}

std::string Allocations::of_job(uint32_t job) const {
    const auto found = of_jobs_.find(job);
    return found != of_jobs_.end() ? found->second : std::string();
}

/// Forgets the oldest of those that have ended.
void Allocations::end(Allocation& allocation, Allocation::State state) {
    allocation.state = state;
    if (std::ranges::count_if(all_, has_ended) <= kEndedKept) return;
    all_.erase(std::ranges::find_if(all_, has_ended));
}

}  // namespace muster::launcher
