// SPDX-License-Identifier: BSD-3-Clause
// Network interfaces: see interfaces.hpp.
#include "components/pnet/tcp/interfaces.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netpacket/packet.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

#include "framework/base/internet_address.hpp"
#include "framework/base/words.hpp"

namespace muster::pnet_tcp {
namespace {

// A node has some dozens at most; an inventory with more is not taken whole.
constexpr size_t kMaxInterfaces = 4096;
constexpr size_t kMaxAddresses = 256;

uint64_t number_in(const std::string& path) {
    std::ifstream in(path);
    int64_t number = 0;
    return in >> number && number > 0 ? static_cast<uint64_t>(number) : 0;
}

std::string hardware_text(const sockaddr* address) {
    sockaddr_ll link{};
    std::memcpy(&link, address, sizeof link);
    std::string text;
    bool any = false;
    for (size_t i = 0; i < std::min<size_t>(link.sll_halen, sizeof link.sll_addr); ++i) {
        char part[4];
        std::snprintf(part, sizeof part, "%s%02x", i == 0 ? "" : ":", link.sll_addr[i]);
        text += part;
        any = any || link.sll_addr[i] != 0;
    }
    return any ? text : std::string();
}

bool in_subnet(const std::string& text, const std::string& subnet) {
    if (subnet.find('/') == std::string::npos) return false;
    const auto address = InternetAddress::parse_host(text);
    const auto network = InternetNetwork::parse(subnet);
    return address && network && network->contains(*address);
}

bool any_plane(const std::string& plane) {
    return plane.empty() || plane == "any";
}

}  // namespace

std::vector<Interface> local_interfaces() {
    std::vector<Interface> found;
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return found;
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
        const auto same = [&](const Interface& one) { return one.name == entry->ifa_name; };
        auto at = std::find_if(found.begin(), found.end(), same);
        if (at == found.end()) {
            at = found.insert(found.end(), Interface{});
            at->name = entry->ifa_name;
            at->up = (entry->ifa_flags & IFF_UP) != 0;
            at->loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
            const std::string facts = "/sys/class/net/" + at->name + "/";
            at->mtu = number_in(facts + "mtu");
            at->speed = number_in(facts + "speed") * 1000000;
        }
        if (entry->ifa_addr == nullptr) continue;
        const int family = entry->ifa_addr->sa_family;
        if (family == AF_PACKET) {
            at->hardware_address = hardware_text(entry->ifa_addr);
        } else if (const auto address = InternetAddress::from(entry->ifa_addr)) {
            // A link-local address means nothing on another node.
            if (family == AF_INET || !address->is_link_local()) at->addresses.push_back(address->host());
        }
    }
    return found;
}

Value to_devices(const std::vector<Interface>& interfaces, const char* hostname) {
    Info devices;
    for (const Interface& one : interfaces) {
        Info facts;
        if (hostname != nullptr) facts.add(PMIX_HOSTNAME, hostname);
        facts.add(PMIX_FABRIC_DEVICE_NAME, one.name.c_str());
        facts.add(PMIX_FABRIC_DEVICE_TYPE, one.loopback ? "loopback" : "ip");
        if (!one.hardware_address.empty())
            facts.add(PMIX_FABRIC_DEVICE_ADDRESS, one.hardware_address.c_str());
        if (one.mtu != 0) facts.add(PMIX_FABRIC_DEVICE_MTU, size_t{one.mtu});
        if (one.speed != 0) facts.add(PMIX_FABRIC_DEVICE_SPEED, size_t{one.speed});
        const pmix_link_state_t state = one.up ? PMIX_LINK_UP : PMIX_LINK_DOWN;
        facts.add(PMIX_FABRIC_DEVICE_STATE, Value::of(PMIX_LINK_STATE, &state));
        std::string addresses;
        for (const std::string& address : one.addresses)
            addresses += (addresses.empty() ? "" : ",") + address;
        if (!addresses.empty()) facts.add(kAddressesKey, addresses.c_str());
        devices.add(PMIX_FABRIC_DEVICE, std::move(facts).to_value());
    }
    return std::move(devices).to_value();
}

std::vector<Interface> from_devices(InfoView devices) {
    std::vector<Interface> found;
    for (const pmix_info_t& device : devices) {
        if (!key_is(device.key, PMIX_FABRIC_DEVICE) || found.size() >= kMaxInterfaces) continue;
        const InfoView facts = value_as_infos(&device.value);
        const char* name = facts.string(PMIX_FABRIC_DEVICE_NAME);
        if (name == nullptr) continue;
        Interface& one = found.emplace_back();
        one.name = name;
        if (const char* address = facts.string(PMIX_FABRIC_DEVICE_ADDRESS)) one.hardware_address = address;
        if (const char* type = facts.string(PMIX_FABRIC_DEVICE_TYPE))
            one.loopback = std::strcmp(type, "loopback") == 0;
        one.mtu = facts.number<uint64_t>(PMIX_FABRIC_DEVICE_MTU).value_or(0);
        one.speed = facts.number<uint64_t>(PMIX_FABRIC_DEVICE_SPEED).value_or(0);
        const pmix_value_t* state = facts.value(PMIX_FABRIC_DEVICE_STATE);
        one.up = state != nullptr && state->type == PMIX_LINK_STATE && state->data.linkstate == PMIX_LINK_UP;
        const char* list = facts.string(kAddressesKey);
        for (const std::string_view address : words_of(list == nullptr ? "" : list, ',')) {
            if (one.addresses.size() < kMaxAddresses && InternetAddress::parse_host(address))
                one.addresses.emplace_back(address);
        }
    }
    return found;
}

Address address_on(const std::vector<Interface>& interfaces, const std::string& plane) {
    for (const bool loopback : {false, true}) {
        for (const Interface& one : interfaces) {
            if (!one.up || one.loopback != loopback) continue;
            for (const std::string& address : one.addresses) {
                if (any_plane(plane) || one.name == plane || in_subnet(address, plane) ||
                    address.compare(0, plane.size(), plane) == 0) {
                    return {one.name, address};
                }
            }
        }
    }
    return {};
}

}  // namespace muster::pnet_tcp
