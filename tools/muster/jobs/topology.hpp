// SPDX-License-Identifier: BSD-3-Clause
// What the launcher asks of this machine's topology (hwloc): counts of objects, and the processors of a rank.
#pragma once

#include <memory>
#include <vector>

#include "tools/muster/command_line/options.hpp"

namespace muster::launcher {

class Topology {
  public:
    /// Reads the topology of the processors that this process may use. Throws JobError.
    Topology();
    ~Topology();
    Topology(const Topology&) = delete;
    Topology& operator=(const Topology&) = delete;

    /// Number of objects of a level; 1 for levels above the machine's parts, and for levels that it does not
    /// have.
    unsigned count(Level level) const;

    /// The processors of the `index`-th rank of a node under the two policies. Throws JobError when they are
    /// all taken and may not be shared.
    std::vector<unsigned> place(unsigned index, const MapPolicy& map, const BindPolicy& bind) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::launcher
