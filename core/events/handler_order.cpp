// SPDX-License-Identifier: BSD-3-Clause
// Order of handlers: see handler_order.hpp.
#include "core/events/handler_order.hpp"

#include <algorithm>

namespace muster {

std::vector<size_t> order_by_wishes(const std::vector<OrderWish>& wishes) {
    const size_t n = wishes.size();
    std::vector<size_t> order(n);
    for (size_t i = 0; i < n; ++i)
        order[i] = i;
    // Each element has one wish, so wishes form trees: after as many rounds as there are elements all are
    // met.
    bool moved = true;
    for (size_t round = 0; moved && round < n; ++round) {
        moved = false;
        for (size_t i = 0; i < n; ++i) {
            if (wishes[i].other >= n || wishes[i].other == i) continue;
            const auto self = std::ranges::find(order, i);
            const auto other = std::ranges::find(order, wishes[i].other);
            if ((self < other) == wishes[i].before) continue;
            if (wishes[i].before) {
                std::rotate(other, self, self + 1);
            } else {
                std::rotate(self, self + 1, other + 1);
            }
            moved = true;
        }
    }
    return order;
}

}  // namespace muster
