// SPDX-License-Identifier: BSD-3-Clause
// The hardware of a node, as described by hwloc: the source and the owner of a description.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "framework/base/mutex.hpp"
#include "framework/base/result.hpp"

struct hwloc_topology;

namespace muster {

/// Names the maker of a description in pmix_topology_t and pmix_cpuset_t, and begins their text forms.
constexpr const char* kHwlocSource = "hwloc";

/// True when `source` (of a topology or a cpuset) says that hwloc made it: "hwloc", or "hwloc:<version>", in
/// any case of letters. False for null.
bool is_hwloc_source(const char* source);

/// A loaded description. Read-only, so any thread may read it.
class Topology {
  public:
    /// Discovers this machine (some milliseconds).
    static Result<Topology> discover();
    /// Reads hwloc's XML (its version 1 or 2) of this machine, as a server hands it to its clients.
    static Result<Topology> from_xml(const std::string& xml);
    /// The same from a file, named by the parameter pmix_hwloc_topo_file.
    static Result<Topology> from_xml_file(const std::string& path);
    /// A copy of a description with another owner. PMIX_ERR_NOT_AVAILABLE where another version of
    /// hwloc, of another layout, has made it.
    static Result<Topology> copy_of(hwloc_topology* topology);

    hwloc_topology* get() const { return topology_.get(); }
    /// The XML form of hwloc 2, or of hwloc 1 for older readers.
    Result<std::string> xml(bool version_1 = false) const;

  private:
    using Handle = std::unique_ptr<hwloc_topology, void (*)(hwloc_topology*)>;
    explicit Topology(Handle topology) : topology_(std::move(topology)) {}
    static Result<Topology> load(Handle topology, const std::string& whence);

    Handle topology_;
};

/// The topology of the node that this process runs on: found when it is first asked for, kept until reset().
/// Any thread.
class NodeTopology {
  public:
    /// Sources that are tried in this order before hwloc's discovery: the XML of the server, then the file
    /// that a parameter names. A source may return nothing.
    struct Origins {
        std::function<std::optional<std::string>()> xml;
        std::function<std::optional<std::string>()> file;
    };

    void set_origins(Origins origins);
    /// Copies the host's topology (PMIX_TOPOLOGY2): hosts free it with their other arguments of
    /// PMIx_server_init (PRRTE). If the copy fails, nothing changes.
    Result<void> provide(hwloc_topology* topology);
    /// The topology, or the reason why there is none. It lives until reset().
    Result<hwloc_topology*> get();
    /// The XML form of get()'s result.
    Result<std::string> xml(bool version_1 = false);
    /// Forgets the topology; the origins stay.
    void reset();

  private:
    Result<hwloc_topology*> find() MUSTER_REQUIRES(lock_);

    Mutex lock_;
    Origins origins_ MUSTER_GUARDED_BY(lock_);
    std::optional<Topology> topology_ MUSTER_GUARDED_BY(lock_);
};

}  // namespace muster
