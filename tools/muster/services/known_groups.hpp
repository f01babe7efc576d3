// SPDX-License-Identifier: BSD-3-Clause
// The groups that there are, for queries: each node's server knows those with members there, whether or not
// the launcher had a part in making them, so that all nodes are asked.
#pragma once

#include <string>
#include <vector>

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

/// A group, as a node's server knows it.
struct KnownGroup {
    std::string id;
    std::vector<ProcName> members;  ///< by rank
    static auto fields(auto& self) { return std::tie(self.id, self.members); }
};

/// The question has no body, and is asked of each node in turn. The answer: a KnownGroup of each.
class KnownGroups final : public Service {
  public:
    explicit KnownGroups(Hub& hub) : Service(hub) {}
    void asked(Asker asker, Buffer& in) override;
};

}  // namespace muster::launcher
