// SPDX-License-Identifier: BSD-3-Clause
// Flow control of input: which producers the host has suspended, and the steps of their pushes that wait for
// the host to resume them. Belongs to the loop.
#pragma once

#include <pmix_common.h>

#include <functional>
#include <vector>

namespace muster {

class InputGate {
  public:
    /// PMIX_SUCCESS: continue. An error: answer with that.
    using Step = std::function<void(pmix_status_t status)>;

    /// Whether all producers of `inner` are among `producers`, where an empty namespace and
    /// PMIX_RANK_WILDCARD match all.
    static bool matches(const pmix_proc_t& producers, const pmix_proc_t& inner);

    /// Suspends or resumes the producers that match: an empty namespace and PMIX_RANK_WILDCARD match all. The
    /// latest call that matches a producer decides, also for later producers. Runs the steps of those that
    /// are resumed, in order.
    void apply(const pmix_proc_t& producers, bool suspend);
    bool suspended(const pmix_proc_t& producer) const;
    /// Keeps `step` until the producer is resumed.
    void hold(const pmix_proc_t& producer, Step step);
    /// The producer has ended: its steps end with PMIX_ERR_LOST_CONNECTION.
    void forget(const pmix_proc_t& producer);
    /// The same for all, for good.
    void close();

  private:
    struct Rule {
        pmix_proc_t producers;
        bool suspend;
    };
    struct Held {
        pmix_proc_t producer;
        Step step;
    };
    template <class Ends>
    void run(pmix_status_t status, Ends&& ends);

    std::vector<Rule> rules_;
    std::vector<Held> held_;
};

}  // namespace muster
