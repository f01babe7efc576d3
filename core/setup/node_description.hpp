// SPDX-License-Identifier: BSD-3-Clause
// The hardware of this node as hwloc's XML (PMIX_HWLOC_XML_V2, PMIX_HWLOC_XML_V1), for clients that ask for
// it where the host has not given it with their job, and for the data of jobs where the host shares its
// topology: found once, when the first asks, instead of by each (docs/decisions/0025). Belongs to the loop.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/control/file_worker.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/modex/modex.hpp"
#include "framework/base/result.hpp"
#include "framework/gds.hpp"

namespace muster {

/// The keys of the node's topology as text: the forms in which servers give it, best first; the last one is
/// for clients of OpenPMIx before 3.0.
inline constexpr std::array<const char*, 3> kTopologyKeys{PMIX_HWLOC_XML_V2, PMIX_HWLOC_XML_V1,
                                                          PMIX_LOCAL_TOPO};

class NodeDescription {
  public:
    /// Makes the text, in the form of hwloc 2 or of hwloc 1; may take as long as hwloc does. Any thread.
    using Source = std::function<Result<std::string>(bool version_1)>;

    explicit NodeDescription(FileWorker& worker) : worker_(worker) {}

    /// Without a source nothing is offered. Before the loop runs.
    void set_source(Source source) { source_ = std::move(source); }
    /// Whether the process may get the requested text: it runs as this server's user, so that it gets no data
    /// beyond its rights, and is confined to the same resources (cgroup) as this server.
    bool offers(const GetRequest& request) const;
    /// Answers a request that offers() is true of; PMIX_ERR_NOT_FOUND where hwloc cannot describe the node.
    /// `done` is called once, not necessarily within the call.
    void answer(const GetRequest& request, Modex::OnGet done);

    /// The host shares its topology: each job has it with its data. Before the loop runs.
    void share_with_jobs(Source source) { job_source_ = std::move(source); }
    /// The first process of the job connects: adds the topology to the job's data, if requested and not
    /// provided by the host.
    void describe(Namespace& nspace, Gds& store);

  private:
    /// The text, or null if there is none.
    using OnText = std::function<void(const std::string* text)>;
    struct Form {
        std::optional<std::string> text;
        bool known = false;  ///< `text` is all that there will be
        std::vector<OnText> waiting;
    };
    void find(bool version_1, OnText done);

    FileWorker& worker_;
    Source source_;
    Source job_source_;
    std::optional<std::string> job_text_;
    std::array<Form, 2> forms_;  ///< of hwloc 2 and of hwloc 1
};

}  // namespace muster
