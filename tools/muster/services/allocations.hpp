// SPDX-License-Identifier: BSD-3-Clause
// The allocations that the scheduler was asked for on behalf of jobs, for queries.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <tuple>

namespace muster::launcher {

struct Allocation {
    enum class State : uint32_t { Pending, Granted, Refused, Released };
    std::string request;  ///< the requestor's name for it (PMIX_ALLOC_REQ_ID); may be empty
    std::string id;       ///< the scheduler's name for it; empty until it is granted
    std::string nodes;    ///< a comma list
    State state = State::Pending;
    static auto fields(auto& self) { return std::tie(self.request, self.id, self.nodes, self.state); }
};

/// The state of an allocation in a word, as PMIX_QUERY_ALLOC_STATUS gives it.
const char* word_of(Allocation::State state);

/// All allocations that are pending or granted, and the last ones of the others.
class Allocations {
  public:
    /// The result stays where it is until its state is Refused or Released.
    Allocation& request(const std::string& request);
    /// The scheduler's answer.
    void grant(Allocation& allocation, const std::string& id, const std::string& nodes);
    void refuse(Allocation& allocation);
    /// A job uses an allocation.
    void use(uint32_t job, const std::string& id) { of_jobs_[job] = id; }
    /// The job has ended. Returns its allocation; empty if it had none.
    std::string leave(uint32_t job);
    /// Marks an allocation as released; false if a job uses it, or there is no such allocation.
    bool release(const std::string& id);
    /// The allocation of a job; empty if it has none.
    std::string of_job(uint32_t job) const;
    const std::list<Allocation>& all() const { return all_; }

  private:
    void end(Allocation& allocation, Allocation::State state);

    std::list<Allocation> all_;  ///< in the order of the requests
    std::map<uint32_t, std::string> of_jobs_;
};

}  // namespace muster::launcher
