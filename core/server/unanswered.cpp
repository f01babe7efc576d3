// SPDX-License-Identifier: BSD-3-Clause
// Counting what waits for an answer: see unanswered.hpp.
#include "core/server/unanswered.hpp"

namespace muster {
namespace {
/// What a request takes beside its bytes: callbacks, the lists that it stands in, this table.
constexpr size_t kOverhead = 1024;
}  // namespace

void Unanswered::Handling::returned(size_t memory) {
    if (answered_) return;
    all_.waiting_.emplace(tag_, memory + kOverhead);
    all_.memory_ += memory + kOverhead;
}

void Unanswered::answered(uint32_t tag) {
    for (Handling* one = handled_; one != nullptr; one = one->outer_) {
        if (one->tag_ != tag || one->answered_) continue;
        one->answered_ = true;
        return;
    }
    const auto found = waiting_.find(tag);
    if (found == waiting_.end()) return;
    memory_ -= found->second;
    waiting_.erase(found);
    if (waiting_.size() <= limits.requests / 2) refusing_ = false;
}

}  // namespace muster
