// SPDX-License-Identifier: BSD-3-Clause
// A peer that asks a server many things, each under a tag of its own.
#pragma once

#include <gtest/gtest.h>
#include <pmix.h>

#include <cstdint>
#include <map>
#include <utility>

#include "tests/integration/bad_input.hpp"

namespace integration {

/// Requests of one peer, in an own tag each, and what was answered.
class Asking {
  public:
    explicit Asking(RawPeer raw) : peer(std::move(raw)) {}
    uint32_t ask(const Packer& message) {
        EXPECT_TRUE(peer.say_frame(++tag_, message.view()));
        return tag_;
    }
    /// The statuses of the next answers, counted. Each is waited for as long as none that comes takes.
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
