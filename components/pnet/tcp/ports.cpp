// SPDX-License-Identifier: BSD-3-Clause
// Static ports: see ports.hpp.
#include "components/pnet/tcp/ports.hpp"

#include <algorithm>

#include "framework/base/words.hpp"

namespace muster::pnet_tcp {
namespace {

std::string_view next(std::string_view& text, char separator) {
    const size_t end = text.find(separator);
    const std::string_view part = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    return part;
}

bool read_port(std::string_view text, uint16_t& port) {
    port = number_of<uint16_t>(text).value_or(0);
    return port != 0;
}

bool read_ranges(std::string_view text, std::vector<uint16_t>& ports) {
    while (!text.empty()) {
        std::string_view last = next(text, ',');
        const bool run = last.find('-') != std::string_view::npos;
        const std::string_view first = next(last, '-');
        uint16_t begin = 0;
        if (!read_port(first, begin)) return false;
        uint16_t end = begin;
        if (run && (!read_port(last, end) || end < begin)) return false;
        for (uint32_t port = begin; port <= end; ++port)
            ports.push_back(static_cast<uint16_t>(port));
    }
    return !ports.empty();
}

}  // namespace

std::string to_text(const PortRanges& ranges) {
    std::string text;
    for (const PortRange& range : ranges) {
        if (!text.empty()) text += ',';
        text += std::to_string(range.first);
        if (range.last != range.first) text += "-" + std::to_string(range.last);
    }
    return text;
}

size_t count_of(const PortRanges& ranges) {
    size_t count = 0;
    for (const PortRange& range : ranges)
        count += size_t{range.last} - range.first + 1;
    return count;
}

uint16_t port_at(const PortRanges& ranges, size_t position) {
    for (const PortRange& range : ranges) {
        const size_t length = size_t{range.last} - range.first + 1;
        if (position < length) return static_cast<uint16_t>(range.first + position);
        position -= length;
    }
    return 0;
}

bool Ports::parse(std::string_view text, std::string& complaint) {
    std::vector<Pool> pools;
    while (!text.empty()) {
        const std::string_view part = next(text, ';');
        if (part.empty()) continue;
        // A plane may be an IPv6 subnet, which contains colons.
        const size_t first = part.find(':');
        const size_t last = part.rfind(':');
        std::vector<uint16_t> numbers;
        if (first == std::string_view::npos || first == last || first == 0 ||
            !read_ranges(part.substr(last + 1), numbers)) {
            complaint = "'" + std::string(part) + "' is not type:plane:ports, such as tcp:eth0:32000-32100";
            return false;
        }
        std::sort(numbers.begin(), numbers.end());
        numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
        Pool& pool = pools.emplace_back();
        pool.type = part.substr(0, first);
        pool.plane = part.substr(first + 1, last - first - 1);
        for (const uint16_t number : numbers)
            pool.ports.push_back({number, {}});
    }
    pools_ = std::move(pools);
    return true;
}

Ports::Outcome Ports::take(const std::string& owner, size_t count, std::string& type, std::string& plane,
                           PortRanges& taken) {
    Outcome outcome = Outcome::NoSuchPool;
    for (Pool& pool : pools_) {
        if ((!type.empty() && type != pool.type) || (!plane.empty() && plane != pool.plane)) continue;
        outcome = Outcome::TooFew;
        const auto is_free = [](const Port& port) { return port.owner.empty(); };
        if (static_cast<size_t>(std::count_if(pool.ports.begin(), pool.ports.end(), is_free)) < count)
            continue;
        taken.clear();
        for (Port& port : pool.ports) {
            if (count == 0) break;
            if (!is_free(port)) continue;
            port.owner = owner;
            --count;
            if (!taken.empty() && taken.back().last + 1 == port.number) {
                taken.back().last = port.number;
            } else {
                taken.push_back({port.number, port.number});
            }
        }
        type = pool.type;
        plane = pool.plane;
        return Outcome::Taken;
    }
    return outcome;
}

void Ports::give_back(const std::string& owner) {
    for (Pool& pool : pools_) {
        for (Port& port : pool.ports) {
            if (port.owner == owner) port.owner.clear();
        }
    }
}

size_t Ports::free_ports() const {
    size_t count = 0;
    for (const Pool& pool : pools_) {
        for (const Port& port : pool.ports)
            count += port.owner.empty() ? 1 : 0;
    }
    return count;
}

}  // namespace muster::pnet_tcp
