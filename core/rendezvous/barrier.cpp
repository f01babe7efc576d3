// SPDX-License-Identifier: BSD-3-Clause
// Arriving and passing: see barrier.hpp.
#include "core/rendezvous/barrier.hpp"

namespace muster {

Barrier::Passage Barrier::pass(bool posted, const TellServer& tell) {
    bool last = false;
    const Entry entry = enter([&](uint64_t now) {
        last = page_arrived(now) + 1 == size();
        const uint64_t with_us = (now + 1) | (posted ? kPagePosted : 0);
        return last && !page_posted(with_us) ? page_next(now) : with_us;
    });
    if (entry == Entry::Refused) return Passage::AskServer;
    if (entry == Entry::Through) {
        page().wake_on();
        return Passage::Passed;
    }
    if (last && !tell()) shut();
    const bool through = wait();
    if (leave(through)) return Passage::Passed;
    return page().ended() ? Passage::Ended : Passage::AskServer;
}

}  // namespace muster
