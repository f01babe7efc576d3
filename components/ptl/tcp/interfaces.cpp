// SPDX-License-Identifier: BSD-3-Clause
// Interfaces and ports: see interfaces.hpp.
#include "components/ptl/tcp/interfaces.hpp"

#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "framework/base/words.hpp"
#include "framework/ptl/sockets.hpp"

namespace muster::tcp {
namespace {

/// An item of a list: the name of an interface, or a network.
struct Item {
    std::string_view name;
    std::optional<InternetNetwork> network;

    bool matches(const Interface& interface) const {
        return network ? network->contains(interface.address) : interface.name == name;
    }
};

Result<std::vector<Item>> parse_items(std::string_view list) {
    std::vector<Item> items;
    for (const std::string_view text : words_of(list, ',')) {
        const Item item{text, InternetNetwork::parse(text)};
        if (!item.network && text.find('/') != std::string_view::npos) {
            return Error{PMIX_ERR_BAD_PARAM,
                         "\"" + std::string(text) +
                             "\" is no network: give an interface's name, an address, or an "
                             "address and prefix as in 192.168.0.0/16"};
        }
        items.push_back(item);
    }
    return items;
}

bool any_matches(const std::vector<Item>& items, const Interface& interface) {
    return std::any_of(items.begin(), items.end(), [&](const Item& item) { return item.matches(interface); });
}

std::string names_of(const std::vector<Interface>& available) {
    std::string text;
    for (const Interface& one : available) {
        if (text.find(one.name) == std::string::npos) text += (text.empty() ? "" : ", ") + one.name;
    }
    return text.empty() ? "none" : text;
}

}  // namespace

Result<std::vector<Interface>> interfaces_up() {
    ifaddrs* first = nullptr;
    if (getifaddrs(&first) != 0) return system_error("cannot list the network interfaces", errno);
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, &freeifaddrs);
    std::vector<Interface> found;
    for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
        const std::optional<Address> address = Address::from(one->ifa_addr);
        if (!address || (one->ifa_flags & IFF_UP) == 0) continue;
        if (address->family() == AF_INET6 && address->is_link_local()) continue;
        found.push_back({one->ifa_name, *address});
        found.back().address.set_port(0);
    }
    return found;
}

Result<std::vector<Address>> choose_addresses(const std::vector<Interface>& available,
                                              const AddressWish& wish) {
    if (!wish.include.empty() && !wish.exclude.empty()) {
        return Error{PMIX_ERR_BAD_PARAM, "ptl_tcp_if_include (" + wish.include +
                                             ") and ptl_tcp_if_exclude (" + wish.exclude +
                                             ") cannot be used together: give one"};
    }
    if (!wish.ipv4 && !wish.ipv6) {
        return Error{
            PMIX_ERR_BAD_PARAM,
            "ptl_tcp_disable_ipv4_family and ptl_tcp_disable_ipv6_family leave no address: unset one"};
    }
    const bool including = !wish.include.empty();
    auto items = parse_items(including ? wish.include : wish.exclude);
    if (!items) return items.error();

    std::vector<Address> loopback, others;
    bool loopback_excluded = false;
    for (const Interface& one : available) {
        if (one.address.family() == AF_INET ? !wish.ipv4 : !wish.ipv6) continue;
        const bool matches = any_matches(*items, one);
        const bool local = one.address.is_loopback();
        if (including ? !matches : matches) {
            loopback_excluded = loopback_excluded || local;
            continue;
        }
        (local ? loopback : others).push_back(one.address);
    }
    std::vector<Address> chosen;
    if (wish.remote) {
        chosen = std::move(others);
    } else if (loopback.empty() && loopback_excluded) {
        chosen = std::move(others);  // explicitly not the loopback interface
    } else {
        chosen = std::move(loopback);
    }
    if (chosen.empty()) {
        std::string why = wish.remote ? "no interface that other machines reach fits"
                                      : "no interface for connections from this machine fits";
        if (!items->empty()) {
            why += including ? " ptl_tcp_if_include (" + wish.include + ")"
                             : " what ptl_tcp_if_exclude (" + wish.exclude + ") leaves";
        }
        return Error{PMIX_ERR_NOT_AVAILABLE, why + "; interfaces that are up: " + names_of(available)};
    }
    std::stable_sort(chosen.begin(), chosen.end(), [](const Address& a, const Address& b) {
        const auto rank = [](const Address& address) {
            return (address.family() == AF_INET6 ? 1 : 0) + (address.is_link_local() ? 2 : 0);
        };
        return rank(a) < rank(b);
    });
    return chosen;
}

Result<std::vector<uint16_t>> parse_ports(std::string_view text) {
    std::vector<uint16_t> ports;
    for (const std::string_view item : words_of(text, ',')) {
        if (item == "-1") {
            ports.push_back(0);
            continue;
        }
        const size_t dash = item.find('-');
        const auto first = number_of<uint16_t>(item.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : number_of<uint16_t>(item.substr(dash + 1));
        if (!first || !last || *last < *first || (*first == 0 && *last != 0)) {
            return Error{PMIX_ERR_BAD_PARAM, "\"" + std::string(item) +
                                                 "\" is no port: give numbers up to 65535 and ranges, as in "
                                                 "4000-4010,5000"};
        }
        for (unsigned port = *first; port <= *last; ++port)
            ports.push_back(static_cast<uint16_t>(port));
    }
    if (ports.empty()) ports.push_back(0);
    return ports;
}

}  // namespace muster::tcp
