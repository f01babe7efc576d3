// SPDX-License-Identifier: BSD-3-Clause
// Counting what waits for an answer: see peer.hpp.
#include "core/exchange/peer.hpp"

namespace muster {
namespace {
/// The memory of a request in addition to its bytes: callbacks, list entries, this object.
constexpr size_t kOverhead = 1024;
}  // namespace

void OpenRequest::count(size_t memory) {
    if (counts_ || !all_) return;
    counts_ = true;
    memory_ += memory + kOverhead;
    ++all_->requests_;
    all_->memory_ += memory_;
}

bool OpenRequest::grow(size_t memory) {
    memory_ += memory;
    if (!counts_) return true;
    all_->memory_ += memory;
    return all_->memory_ < all_->limits.memory;
}

OpenRequest::OpenRequest(const std::shared_ptr<Peer>& peer, uint32_t tag)
    : all_(peer->unanswered), peer_(peer), tag_(tag) {}

OpenRequest::~OpenRequest() {
    if (const auto asking = peer_.lock()) asking->answer_lost(tag_);
    if (!counts_) return;
    --all_->requests_;
    all_->memory_ -= memory_;
    if (all_->requests_ <= all_->limits.requests / 2) all_->refusing_ = false;
}

}  // namespace muster
