// SPDX-License-Identifier: BSD-3-Clause
// Finds a process in a long list of them, such as the range of an event, which is held against each process
// that listens.
#pragma once

#include <pmix_common.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace muster {

/// The index of a list that does not change. A short list is searched linearly.
class ProcIndex {
  public:
    ProcIndex() = default;
    /// Takes time as it takes to sort the list.
    explicit ProcIndex(const std::vector<pmix_proc_t>& procs);
    /// Whether `proc` is one of the list that this was made of, among which wildcards count, in either.
    bool has(const std::vector<pmix_proc_t>& procs, const pmix_proc_t& proc) const;
    /// Whether a process of that job is in the list.
    bool has_job(const std::vector<pmix_proc_t>& procs, const char* nspace) const;
    /// Bytes that it takes, for bounds.
    size_t cost() const { return (places_.capacity() + jobs_.capacity()) * sizeof places_[0]; }

  private:
    using Place = std::pair<uint64_t, uint32_t>;  ///< keyed hash, and where in the list
    bool found(const std::vector<pmix_proc_t>& procs, const pmix_proc_t& proc) const;

    // Both in order, and empty for a short list.
    std::vector<Place> places_;
    std::vector<Place> jobs_;  ///< one process of each
};

/// Whether two mean the same process: the same job, and the same rank, where a wildcard is any.
bool same_or_wildcard(const pmix_proc_t& a, const pmix_proc_t& b);

}  // namespace muster
