// SPDX-License-Identifier: BSD-3-Clause
// The requests of one peer that wait for their answer, counted: what a peer may have a server keep for it has
// an end. Belongs to the loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace muster {

class Unanswered {
  public:
    struct Limits {
        size_t requests = SIZE_MAX;
        size_t memory = SIZE_MAX;  ///< bytes that they may take together
    };

    /// A request from the call of its handler to the handler's return. What is answered in between, which is
    /// most, is never kept here.
    class Handling {
      public:
        Handling(Unanswered& all, uint32_t tag) : all_(all), tag_(tag), outer_(all.handled_) {
            all.handled_ = this;
        }
        Handling(const Handling&) = delete;
        Handling& operator=(const Handling&) = delete;
        ~Handling() { all_.handled_ = outer_; }
        /// The handler has returned. Where it has not answered, the request counts from now on with these
        /// bytes.
        void returned(size_t memory);

      private:
        friend class Unanswered;
        Unanswered& all_;
        const uint32_t tag_;
        bool answered_ = false;
        Handling* const outer_;
    };

    Limits limits;

    bool full() const { return waiting_.size() >= limits.requests || memory_ >= limits.memory; }
    size_t size() const { return waiting_.size(); }
    size_t memory() const { return memory_; }
    /// A request with this tag has its answer. A peer chooses the tags: several may have the same.
    void answered(uint32_t tag);
    /// Whether the peer has not been told on the log that it asks too much since it last did not.
    bool first_refusal() { return !std::exchange(refusing_, true); }

  private:
    std::unordered_multimap<uint32_t, size_t> waiting_;  // tag, bytes
    size_t memory_ = 0;
    Handling* handled_ = nullptr;
    bool refusing_ = false;
};

}  // namespace muster
