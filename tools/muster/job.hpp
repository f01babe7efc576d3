// SPDX-License-Identifier: BSD-3-Clause
// A job: its programs, its ranks, and the node, place and processors of each.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tools/muster/options.hpp"

namespace muster {

/// One program of a job; its ranks are `first_rank` and the `ranks` - 1 that follow.
struct App {
    std::vector<std::string> argv;
    std::vector<std::pair<std::string, std::string>> env;  ///< set over the launcher's own
    std::string wdir;                                      ///< absolute
    std::string pset;                                      ///< empty: none
    uint32_t first_rank = 0;
    uint32_t ranks = 0;
};

/// Where one rank runs.
struct Place {
    uint32_t app = 0;
    uint32_t node = 0;
    uint32_t local_rank = 0;
    std::vector<unsigned> cpus;  ///< the system's numbers of the processors it is bound to; empty: not bound
};

struct Job {
    uint32_t number = 1;
    std::string nspace;
    std::vector<App> apps;
    std::vector<Place> places;       ///< by rank
    std::vector<std::string> nodes;  ///< host names, by node number
    std::string map_by, bind_to;     ///< as given, for those who ask

    uint32_t size() const { return static_cast<uint32_t>(places.size()); }
    /// Ranks on a node, in order.
    std::vector<uint32_t> ranks_on(uint32_t node) const;
};

/// A job that cannot be laid out as asked for: says why in a sentence.
struct JobError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Lays the programs out over the nodes. Throws JobError.
Job make_job(const Options& options, const std::string& nspace, const std::string& hostname);

}  // namespace muster
