// SPDX-License-Identifier: BSD-3-Clause
// The names of this machine.
#include "tools/muster/jobs/machines.hpp"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <memory>
#include <string_view>

#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {
namespace {

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
