// SPDX-License-Identifier: BSD-3-Clause
// The groups that there are.
#include "tools/muster/services/known_groups.hpp"

#include <map>

namespace muster::launcher {

void KnownGroups::asked(Asker asker, Buffer&) {
    // Shared by the answers of the nodes; the last one completes the question.
    struct Found {
        size_t left;
        std::map<std::string, KnownGroup> groups;
    };
    const auto found = std::make_shared<Found>(Found{hub_.nodes.size(), {}});
    const auto take = [this, asker, found](pmix_status_t status, Buffer& in) {
        std::vector<KnownGroup> groups;
        if (status == PMIX_SUCCESS && in.unpack(groups)) {
            for (KnownGroup& group : groups)
                found->groups.try_emplace(group.id, group);
        }
        if (--found->left > 0) return;
        groups.clear();
        for (auto& [id, group] : found->groups)
            groups.push_back(std::move(group));
        hub_.answer(asker, PMIX_SUCCESS, pack(groups));
    };
    for (uint32_t node = 0; node < hub_.nodes.size(); ++node)
        hub_.ask(node, Topic::KnownGroups, {}, take);
}

}  // namespace muster::launcher
