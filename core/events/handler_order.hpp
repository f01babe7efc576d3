// SPDX-License-Identifier: BSD-3-Clause
// The order of the handlers of one category in a chain, as "before" and "after" ask for it.
#pragma once

#include <cstddef>
#include <vector>

namespace muster {

/// One handler's wish: to stand before (or after) the one that is at `other` in the list. SIZE_MAX: no wish.
struct OrderWish {
    size_t other;
    bool before;
};

/// Places the elements 0..n-1 so that each wish is met; the order stays where no wish is against it. Wishes
/// that go in a circle are met as far as they can be.
std::vector<size_t> order_by_wishes(const std::vector<OrderWish>& wishes);

}  // namespace muster
