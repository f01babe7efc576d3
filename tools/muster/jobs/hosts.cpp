// SPDX-License-Identifier: BSD-3-Clause
// Reading host lists and files of hosts.
#include "tools/muster/jobs/hosts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <climits>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "tools/muster/jobs/job.hpp"
#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {
namespace {

Mention read_host(const std::string& text, const std::string& place = {}) {
    // An address of IPv6 has several colons and no slots.
    const size_t colon = text.find(':') == text.rfind(':') ? text.find(':') : std::string::npos;
    Mention mention{text.substr(0, colon), std::nullopt};
    if (colon != std::string::npos) {
        mention.slots =
            read_number(text.substr(colon + 1), fmt::format("{}the slots of host '{}'", place, mention.name),
                        1, kMostRanks);
    }
    return mention;
}

/// The words of a line after its host. Open MPI's files may have spaces around '='.
std::vector<std::string> words_of_line(std::string line) {
    for (size_t equals = 0; (equals = line.find('=', equals)) != std::string::npos; ++equals) {
        while (equals + 1 < line.size() && std::isspace(static_cast<unsigned char>(line[equals + 1])) != 0)
            line.erase(equals + 1, 1);
        while (equals > 0 && std::isspace(static_cast<unsigned char>(line[equals - 1])) != 0)
            line.erase(--equals, 1);
    }
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

/// Reads one word KEY=VALUE into the mention.
void read_word(const std::string& word, const std::string& place, Mention& mention) {
    constexpr std::array<std::string_view, 3> kSlots = {"slots", "count", "cpu"};
    // For a login on another machine, or a description that hwloc gives better.
    constexpr std::array<std::string_view, 7> kIgnored = {
        "username", "port", "boards", "sockets", "sockets_per_board", "cores", "cores_per_socket"};
    const size_t equals = word.find('=');
    std::string key = lower(word.substr(0, equals));
    std::ranges::replace(key, '-', '_');
    if (key == "user_name") key = "username";
    const auto is_in = [&](const auto& keys) { return std::ranges::find(keys, key) != keys.end(); };
    const bool bound = is_in(std::array<std::string_view, 6>{"max_slots", "slots_max", "max_count",
                                                             "count_max", "max_cpu", "cpu_max"});
    if (equals == std::string::npos || !(bound || is_in(kSlots) || is_in(kIgnored))) {
        throw JobError(fmt::format("{}unknown word '{}'; valid are slots=N and max_slots=N", place, word));
    }
    if (!bound && !is_in(kSlots)) return;
    const uint32_t number = read_number(word.substr(equals + 1),
                                        fmt::format("{}{}", place, word.substr(0, equals)), 1, kMostRanks);
    if (bound) {
        mention.most = number;
    } else {
        mention.slots = number;
    }
}

/// One host a line, with "slots=N" and "max_slots=N"; '#' begins a comment.
std::vector<Mention> read_hostfile(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw JobError(fmt::format("the file of nodes '{}' cannot be read", path));
    std::vector<Mention> mentions;
    unsigned number = 0;
    for (std::string line; std::getline(file, line);) {
        const std::string place = fmt::format("file of nodes '{}', line {}: ", path, ++number);
        const std::vector<std::string> words = words_of_line(line.substr(0, line.find('#')));
        if (words.empty()) continue;
        Mention& mention = mentions.emplace_back(read_host(words[0], place));
        for (size_t i = 1; i < words.size(); ++i)
            read_word(words[i], place, mention);
        if (mention.most > 0 && mention.slots.value_or(0) > mention.most) {
            throw JobError(
                fmt::format("{}host '{}' has {} slots, but max_slots={}; give it no more slots than that",
                            place, mention.name, *mention.slots, mention.most));
        }
    }
    return mentions;
}

uint32_t number_of(const std::vector<std::string>& names, const std::string& name) {
    auto found = std::ranges::find(names, name);
    if (found == names.end() && names.size() == 1 && is_this_machine(name)) found = names.begin();
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
            nodes.push_back({number, mention.slots.value_or(0), mention.most});
            continue;
        }
        found->most = std::max(found->most, mention.most);
        found->slots = std::max(found->slots, 1U) + mention.slots.value_or(1);
    }
    return nodes;
}

bool same_address(const sockaddr& one, const sockaddr& other) {
    if (one.sa_family != other.sa_family) return false;
    if (one.sa_family == AF_INET) {
        return reinterpret_cast<const sockaddr_in&>(one).sin_addr.s_addr ==
               reinterpret_cast<const sockaddr_in&>(other).sin_addr.s_addr;
    }
    return one.sa_family == AF_INET6 &&
           memcmp(&reinterpret_cast<const sockaddr_in6&>(one).sin6_addr,
                  &reinterpret_cast<const sockaddr_in6&>(other).sin6_addr, sizeof(in6_addr)) == 0;
}

bool resolves_to_us(const std::string& name) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return false;
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return false;
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> interfaces(list, freeifaddrs);
    for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
        for (const ifaddrs* own = list; own != nullptr; own = own->ifa_next) {
            if (own->ifa_addr != nullptr && same_address(*address->ai_addr, *own->ifa_addr)) return true;
        }
    }
    return false;
}

std::string short_form(const std::string& name) {
    return name.substr(0, name.find('.'));
}

}  // namespace

std::vector<Mention> mentioned_hosts(const std::vector<std::string>& hosts, const std::string& hostfile) {
    std::vector<Mention> mentions;
    for (const std::string& host : hosts)
        mentions.push_back(read_host(host));
    if (!hostfile.empty()) {
        for (Mention& mention : read_hostfile(hostfile))
            mentions.push_back(std::move(mention));
    }
    return mentions;
}

std::vector<NamedNode> named_nodes(const std::vector<std::string>& names,
                                   const std::vector<std::string>& hosts, const std::string& hostfile) {
    std::vector<NamedNode> nodes = unite(names, mentioned_hosts(hosts, ""));
    if (hostfile.empty()) return nodes;
    for (const NamedNode& more : unite(names, read_hostfile(hostfile))) {
        const auto found = std::ranges::find(nodes, more.node, &NamedNode::node);
        if (found == nodes.end()) {
            nodes.push_back(more);
        } else {
            found->most = std::max(found->most, more.most);
            if (found->slots == 0) found->slots = more.slots;
        }
    }
    return nodes;
}

bool is_this_machine(const std::string& given) {
    const std::string name = lower(given);
    if (name == "localhost" || name.starts_with("localhost.") || name.starts_with("127.")) return true;
    char buffer[HOST_NAME_MAX + 1] = "";
    if (gethostname(buffer, sizeof buffer - 1) == 0) {
        const std::string own = lower(buffer);
        const bool one_is_short = name.find('.') == std::string::npos || own.find('.') == std::string::npos;
        if (name == own || (one_is_short && short_form(name) == short_form(own))) return true;
    }
    return resolves_to_us(given);
}

}  // namespace muster::launcher
