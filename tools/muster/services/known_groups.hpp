// SPDX-License-Identifier: BSD-3-Clause
// The groups that there are, for queries: each node's server knows those with members there, whether or not
// the launcher had a part in making them, so that all nodes are asked.
#pragma once

#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

/// A group, as a node's server knows it.
struct KnownGroup {
    std::string id;
    std::vector<ProcName> members;  ///< by rank
};
void write_groups(Writer& out, const std::vector<KnownGroup>& groups);
std::vector<KnownGroup> read_groups(Reader& in);

/// Asked for all groups (without a body), it tells each node a number (u64); a node tells the number and its
/// groups. The answer is all of them, each once.
class KnownGroups final : public Service {
  public:
    explicit KnownGroups(Hub& hub) : hub_(hub) {}
    void asked(Asker asker, Reader& in) override;
    void told(uint32_t node, Reader& in) override;
    void node_gone(uint32_t node) override;

  private:
    struct Question {
        Asker asker;
        std::set<uint32_t> awaited;  ///< nodes
        std::map<std::string, KnownGroup> found;
    };
    void take(uint32_t node, uint64_t number, std::vector<KnownGroup> groups);

    Hub& hub_;
    std::map<uint64_t, Question> questions_;
    uint64_t next_number_ = 1;
    std::set<uint32_t> gone_;  ///< nodes
};

}  // namespace muster::launcher
