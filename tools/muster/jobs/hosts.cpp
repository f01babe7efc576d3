// SPDX-License-Identifier: BSD-3-Clause
// Reading host lists and files of hosts.
#include "tools/muster/jobs/hosts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "tools/muster/jobs/job.hpp"
#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {
namespace {

/// A host as it is written.
struct Mention {
    std::string name;
    std::optional<uint32_t> slots;
};

uint32_t slots_of(const std::string& text, const std::string& host) {
    return read_number(text, fmt::format("the slots of host '{}'", host), 1, kMostRanks);
}

Mention read_host(const std::string& text) {
    const size_t colon = text.find(':');
    Mention mention{text.substr(0, colon), std::nullopt};
    if (colon != std::string::npos) mention.slots = slots_of(text.substr(colon + 1), mention.name);
    return mention;
}

/// One host a line, with "slots=N"; other words are ignored; '#' begins a comment.
std::vector<Mention> read_hostfile(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw JobError(fmt::format("the file of nodes '{}' cannot be read", path));
    std::vector<Mention> mentions;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string word;
        if (!(words >> word)) continue;
        Mention& mention = mentions.emplace_back(read_host(word));
        while (words >> word) {
            if (lower(word).starts_with("slots="))
                mention.slots = slots_of(word.substr(word.find('=') + 1), mention.name);
        }
    }
    return mentions;
}

uint32_t number_of(const std::vector<std::string>& names, const std::string& name) {
    auto found = std::ranges::find(names, name);
    if (found == names.end() && names.size() == 1 && name == "localhost") found = names.begin();
    if (found == names.end()) {
        throw JobError(fmt::format("there is no node '{}'; the nodes are {}", name, fmt::join(names, ", ")));
    }
    return static_cast<uint32_t>(found - names.begin());
}

/// Each node once. A node that is named again without slots has one more.
std::vector<NamedNode> unite(const std::vector<std::string>& names, const std::vector<Mention>& mentions) {
    std::vector<NamedNode> nodes;
    for (const Mention& mention : mentions) {
        const uint32_t number = number_of(names, mention.name);
        const auto found = std::ranges::find(nodes, number, &NamedNode::node);
        if (found == nodes.end()) {
            nodes.push_back({number, mention.slots.value_or(0)});
            continue;
        }
        found->slots = std::max(found->slots, 1U) + mention.slots.value_or(1);
    }
    return nodes;
}

}  // namespace

std::vector<NamedNode> named_nodes(const std::vector<std::string>& names,
                                   const std::vector<std::string>& hosts, const std::string& hostfile) {
    std::vector<Mention> mentions;
    for (const std::string& host : hosts)
        mentions.push_back(read_host(host));
    std::vector<NamedNode> nodes = unite(names, mentions);
    if (hostfile.empty()) return nodes;
    for (const NamedNode& more : unite(names, read_hostfile(hostfile))) {
        const auto found = std::ranges::find(nodes, more.node, &NamedNode::node);
        if (found == nodes.end()) {
            nodes.push_back(more);
        } else if (found->slots == 0) {
            found->slots = more.slots;
        }
    }
    return nodes;
}

}  // namespace muster::launcher
