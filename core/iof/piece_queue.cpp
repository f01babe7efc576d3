// SPDX-License-Identifier: BSD-3-Clause
// Pieces that wait for a reader: see piece_queue.hpp.
#include "core/iof/piece_queue.hpp"

#include <algorithm>
#include <bit>

namespace muster {

std::shared_ptr<OutputPiece> copy_piece(const OutputPiece& piece, size_t begin, size_t size) {
    auto copy = std::make_shared<OutputPiece>();
    copy->source = piece.source;
    copy->channel = piece.channel;
    // The infos describe the piece's end.
    if (begin + size >= piece.bytes.size()) copy->own_info.add_copies(piece.info);
    copy->info = copy->own_info;
    copy->own_bytes = Bytes(piece.bytes.subspan(begin, std::min(size, piece.bytes.size() - begin)));
    copy->bytes = copy->own_bytes.view();
    return copy;
}

pmix_status_t OverflowPolicy::read(InfoView directives, size_t default_limit) {
    for (const char* key : {PMIX_IOF_DROP_OLDEST, PMIX_IOF_DROP_NEWEST}) {
        const pmix_value_t* value = directives.value(key);
        if (value != nullptr && value->type != PMIX_BOOL && value->type != PMIX_UNDEF)
            return PMIX_ERR_BAD_PARAM;
    }
    const bool oldest = directives.is_true(PMIX_IOF_DROP_OLDEST);
    const bool newest = directives.is_true(PMIX_IOF_DROP_NEWEST);
    if (oldest && newest) return PMIX_ERR_BAD_PARAM;
    const bool sized = directives.has(PMIX_IOF_CACHE_SIZE);
    const auto size = directives.number<uint32_t>(PMIX_IOF_CACHE_SIZE);
    if (sized && !size) return PMIX_ERR_BAD_PARAM;
    if (!oldest && !newest && !sized) return PMIX_SUCCESS;
    when = oldest ? When::DropOldest : When::DropNewest;
    limit = sized ? *size : default_limit;
    return PMIX_SUCCESS;
}

PieceQueue::Lane& PieceQueue::lane(pmix_iof_channel_t channel) {
    // stdout, stderr, stddiag are the bits from 1 on.
    const auto bit = static_cast<size_t>(std::countr_zero(static_cast<unsigned>(channel) | 0x10000U));
    return lanes_[bit >= 1 && bit <= 3 ? bit - 1 : 3];
}

void PieceQueue::append(Lane& lane, PiecePtr piece) {
    lane.bytes += piece->bytes.size();
    bytes_ += piece->bytes.size();
    lane.pieces.push_back({next_number_++, std::move(piece)});
    ++count_;
}

void PieceQueue::drop_oldest(Lane& lane, size_t bytes) {
    const auto erase = [&](size_t at) {
        lane.pieces.erase(lane.pieces.begin() + static_cast<std::ptrdiff_t>(at));
        --count_;
    };
    for (size_t at = 0; bytes > 0 && at < lane.pieces.size();) {
        PiecePtr& oldest = lane.pieces[at].piece;
        const size_t size = oldest->bytes.size();
        const size_t gone = std::min(size, bytes);
        bytes -= gone;
        lane.bytes -= gone;
        bytes_ -= gone;
        dropped_ += gone;
        if (gone < size || oldest->completes()) {
            // The end of a channel is not dropped with its bytes.
            if (gone > 0) oldest = copy_piece(*oldest, gone, size - gone);
            ++at;
        } else {
            erase(at);
        }
    }
    if (lane.pieces.size() < kMostPieces) return;
    const size_t size = lane.pieces.front().piece->bytes.size();
    lane.bytes -= size;
    bytes_ -= size;
    dropped_ += size;
    erase(0);
}

void PieceQueue::push(const PiecePtr& piece) {
    Lane& lane = this->lane(piece->channel);
    if (policy_.when == OverflowPolicy::When::Wait) return append(lane, piece);
    const size_t size = piece->bytes.size();
    const size_t keep = std::min(size, policy_.limit);
    if (policy_.when == OverflowPolicy::When::DropOldest) {
        const size_t free = policy_.limit - std::min(lane.bytes, policy_.limit);
        drop_oldest(lane, keep > free ? keep - free : 0);
        dropped_ += size - keep;
        return append(lane, copy_piece(*piece, size - keep, keep));
    }
    const bool room = lane.pieces.size() < kMostPieces;
    const size_t free = room ? policy_.limit - std::min(lane.bytes, policy_.limit) : 0;
    const size_t taken = std::min(size, free);
    dropped_ += size - taken;
    // The end of a channel is always worth a few bytes.
    if (taken == 0 && !piece->completes()) return;
    auto copy = copy_piece(*piece, 0, taken);
    if (taken < size && piece->completes()) {
        copy->own_info.add_copies(piece->info);
        copy->info = copy->own_info;
    }
    append(lane, std::move(copy));
}

PiecePtr PieceQueue::pop() {
    Lane* next = nullptr;
    for (Lane& lane : lanes_) {
        if (lane.pieces.empty()) continue;
        if (next == nullptr || lane.pieces.front().number < next->pieces.front().number) next = &lane;
    }
    if (next == nullptr) return nullptr;
    PiecePtr piece = std::move(next->pieces.front().piece);
    next->pieces.pop_front();
    next->bytes -= piece->bytes.size();
    bytes_ -= piece->bytes.size();
    --count_;
    return piece;
}

}  // namespace muster
