// SPDX-License-Identifier: BSD-3-Clause
// A peer that sends a server many requests, each with its own tag.
#pragma once

#include <gtest/gtest.h>
#include <pmix.h>

#include <cstdint>
#include <map>
#include <utility>

#include "tests/integration/bad_input.hpp"

namespace integration {

/// Requests of one peer, each with its own tag, and the answers.
class Asking {
  public:
    explicit Asking(RawPeer raw) : peer(std::move(raw)) {}
    uint32_t ask(const Packer& message) {
        EXPECT_TRUE(peer.say_frame(++tag_, message.view()));
        return tag_;
    }
    /// The statuses of the next answers, counted. The limit of each wait is longer than any answer takes.
    std::map<pmix_status_t, int> answers(int count) {
        std::map<pmix_status_t, int> seen;
        for (int i = 0; i < count; ++i) {
            const auto payload = peer.hear_frame(100);
            muster::Unpacker in(format(), payload);
            pmix_status_t status = PMIX_ERR_TIMEOUT;
            in.status(status);
            ++seen[status];
            if (payload.empty()) break;
        }
        return seen;
    }
    pmix_status_t answer() { return answers(1).begin()->first; }

    RawPeer peer;

  private:
    uint32_t tag_ = 100;
};

}  // namespace integration
