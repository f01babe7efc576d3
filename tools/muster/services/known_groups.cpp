// SPDX-License-Identifier: BSD-3-Clause
// The groups that there are.
#include "tools/muster/services/known_groups.hpp"

#include <utility>

namespace muster::launcher {

void write_groups(Writer& out, const std::vector<KnownGroup>& groups) {
    out.u32(static_cast<uint32_t>(groups.size()));
    for (const KnownGroup& group : groups)
        out.bytes(group.id).names(group.members);
}

std::vector<KnownGroup> read_groups(Reader& in) {
    std::vector<KnownGroup> groups;
    for (uint32_t left = in.count(sizeof(uint64_t)); left > 0 && in.ok(); --left) {
        KnownGroup group;
        group.id = in.bytes();
        group.members = in.names();
        groups.push_back(std::move(group));
    }
    return groups;
}

void KnownGroups::asked(Asker asker, Reader&) {
    const uint64_t number = next_number_++;
    Question& question = questions_[number];
    question.asker = asker;
    for (uint32_t node = 0; node < hub_.nodes().size(); ++node) {
        if (!gone_.contains(node)) question.awaited.insert(node);
    }
    const std::set<uint32_t> nodes =
        question.awaited;  // a node may be lost, and with it the question, at once
    for (const uint32_t node : nodes)
        hub_.tell(node, Topic::KnownGroups, Writer().u64(number));
}

void KnownGroups::told(uint32_t node, Reader& in) {
    const uint64_t number = in.u64();
    std::vector<KnownGroup> groups = read_groups(in);
    if (!in.ok()) groups.clear();
    take(node, number, std::move(groups));
}

void KnownGroups::take(uint32_t node, uint64_t number, std::vector<KnownGroup> groups) {
    const auto found = questions_.find(number);
    if (found == questions_.end() || found->second.awaited.erase(node) == 0) return;
    Question& question = found->second;
    for (KnownGroup& group : groups) {
        const std::string id = group.id;
        question.found.try_emplace(id, std::move(group));
    }
    if (!question.awaited.empty()) return;
    std::vector<KnownGroup> all;
    for (auto& [id, group] : question.found)
        all.push_back(std::move(group));
    Writer body;
    write_groups(body, all);
    const Asker asker = question.asker;
    questions_.erase(found);
    hub_.answer(asker, PMIX_SUCCESS, body.body());
}

void KnownGroups::node_gone(uint32_t node) {
    gone_.insert(node);
    std::vector<uint64_t> numbers;
    for (const auto& [number, question] : questions_)
        numbers.push_back(number);
    for (const uint64_t number : numbers)
        take(node, number, {});
}

}  // namespace muster::launcher
