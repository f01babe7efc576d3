// SPDX-License-Identifier: BSD-3-Clause
// Policies of placing ranks, and this machine's topology (hwloc): counts of objects, and the processors of a
// rank.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace muster::launcher {

/// Levels of the machine's topology that ranks are mapped by or bound to.
enum class Level { None, Slot, Node, Hwthread, Core, L1, L2, L3, Numa, Package };

struct MapPolicy {
    Level level = Level::Slot;
    unsigned per_resource = 0;  ///< ppr:N:<level>; 0 when not given
    unsigned cpus = 1;          ///< PE=N: units of the binding level a rank gets
    bool no_oversubscribe = false;
    bool span = false;          ///< the objects of all nodes in turn, as if they were one node's
    bool not_on_head = false;   ///< nothing on the first node
    bool hwthreads = false;     ///< slots, and the units of PE, are hardware threads
    std::string cpu_list;       ///< the processors to use; empty: not given
    std::string text = "slot";  ///< as given

    /// The unit that counts as a slot of a node.
    Level slot_level() const { return hwthreads ? Level::Hwthread : Level::Core; }
};

struct BindPolicy {
    Level level = Level::None;
    bool overload = false;  ///< more ranks than units may share them
    bool report = false;    ///< the bindings are displayed
    std::string text = "none";
};

/// The order in which the processes of a program get ranks. Mapped: in which they were given nodes. Slot:
/// those of one node after the other. Node: one of each node in turn. Fill: on each node, those of one object
/// of the mapping's level after the other. Span: one of each object of all nodes in turn.
enum class RankPolicy { Mapped, Slot, Node, Fill, Span };

/// The policies in the syntax of the command line ("core:PE=2", "ppr:2:node", "none"). Throw
/// std::runtime_error with a sentence.
MapPolicy read_map_policy(const std::string& text);
BindPolicy read_bind_policy(const std::string& text);
RankPolicy read_rank_policy(const std::string& text);
/// The numbers in a list of processors ("0,2-3"); none for "".
std::vector<unsigned> read_cpu_list(const std::string& text);

class Topology {
  public:
    /// Reads the topology of the processors that this process may use; of these of them, where some are
    /// named. Throws JobError, also for one that it may not use.
    explicit Topology(const std::vector<unsigned>& cpus = {});
    ~Topology();
    Topology(const Topology&) = delete;
    Topology& operator=(const Topology&) = delete;

    /// Number of objects of a level; 1 for levels above the machine's parts, and for levels that it does not
    /// have.
    unsigned count(Level level) const;

    /// The number of the object of the mapping's level that the `index`-th rank of a node is mapped to.
    unsigned domain(unsigned index, const MapPolicy& map) const;

    /// The processors of the `index`-th rank of a node under the two policies. Throws JobError when they are
    /// all taken and may not be shared.
    std::vector<unsigned> place(unsigned index, const MapPolicy& map, const BindPolicy& bind) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::launcher
