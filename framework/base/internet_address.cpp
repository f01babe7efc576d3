// SPDX-License-Identifier: BSD-3-Clause
// Internet addresses: see internet_address.hpp.
#include "framework/base/internet_address.hpp"

#include <arpa/inet.h>

#include <cstring>

#include "framework/base/words.hpp"

namespace muster {
namespace {

std::optional<InternetAddress> ask_socket(int fd, int (*ask)(int, sockaddr*, socklen_t*)) {
    sockaddr_storage storage{};
    socklen_t length = sizeof storage;
    auto* address = reinterpret_cast<sockaddr*>(&storage);
    if (ask(fd, address, &length) != 0) return std::nullopt;
    return InternetAddress::from(address);
}

}  // namespace

InternetAddress InternetAddress::loopback(sa_family_t family) {
    InternetAddress made;
    if (family == AF_INET) {
        made.v4_.sin_family = AF_INET;
        made.v4_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else {
        made.v6_.sin6_family = AF_INET6;
        made.v6_.sin6_addr = in6addr_loopback;
    }
    return made;
}

std::optional<InternetAddress> InternetAddress::from(const sockaddr* address) {
    InternetAddress made;
    if (address == nullptr) return std::nullopt;
    if (address->sa_family == AF_INET) {
        std::memcpy(&made.v4_, address, sizeof made.v4_);
    } else if (address->sa_family == AF_INET6) {
        std::memcpy(&made.v6_, address, sizeof made.v6_);
    } else {
        return std::nullopt;
    }
    return made;
}

std::optional<InternetAddress> InternetAddress::parse_host(std::string_view text) {
    const std::string host(text);
    InternetAddress made;
    if (inet_pton(AF_INET, host.c_str(), &made.v4_.sin_addr) == 1) {
        made.v4_.sin_family = AF_INET;
        return made;
    }
    made = InternetAddress();
    if (inet_pton(AF_INET6, host.c_str(), &made.v6_.sin6_addr) == 1) {
        made.v6_.sin6_family = AF_INET6;
        return made;
    }
    return std::nullopt;
}

std::optional<InternetAddress> InternetAddress::parse_uri(std::string_view uri) {
    const bool v4 = uri.starts_with("tcp4://");
    if (!v4 && !uri.starts_with("tcp6://")) return std::nullopt;
    uri.remove_prefix(7);
    const size_t colon = uri.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string_view host = uri.substr(0, colon);
    if (!v4 && host.size() >= 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
    }
    const uint16_t port = number_of<uint16_t>(uri.substr(colon + 1)).value_or(0);
    if (port == 0) return std::nullopt;
    std::optional<InternetAddress> made = parse_host(host);
    if (!made || (made->family() == AF_INET) != v4) return std::nullopt;
    made->set_port(port);
    return made;
}

std::optional<InternetAddress> InternetAddress::own_of(int fd) {
    return ask_socket(fd, [](int socket, sockaddr* address, socklen_t* length) {
        return ::getsockname(socket, address, length);
    });
}

std::optional<InternetAddress> InternetAddress::peer_of(int fd) {
    return ask_socket(fd, [](int socket, sockaddr* address, socklen_t* length) {
        return ::getpeername(socket, address, length);
    });
}

const uint8_t* InternetAddress::bytes() const {
    return family() == AF_INET ? reinterpret_cast<const uint8_t*>(&v4_.sin_addr) : v6_.sin6_addr.s6_addr;
}

bool InternetAddress::is_loopback() const {
    return family() == AF_INET ? bytes()[0] == 127 : IN6_IS_ADDR_LOOPBACK(&v6_.sin6_addr);
}

bool InternetAddress::is_link_local() const {
    return family() == AF_INET ? bytes()[0] == 169 && bytes()[1] == 254
                               : IN6_IS_ADDR_LINKLOCAL(&v6_.sin6_addr);
}

bool InternetAddress::same_host(const InternetAddress& other) const {
    return family() == other.family() && std::memcmp(bytes(), other.bytes(), size()) == 0;
}

bool InternetAddress::in_network(const InternetAddress& network, unsigned prefix) const {
    if (family() != network.family() || prefix > size() * 8) return false;
    for (size_t i = 0; i < size() && prefix > 0; ++i) {
        const unsigned bits = prefix < 8 ? prefix : 8;
        const auto mask = static_cast<uint8_t>(0xff00U >> bits);
        if (((bytes()[i] ^ network.bytes()[i]) & mask) != 0) return false;
        prefix -= bits;
    }
    return true;
}

std::string InternetAddress::host() const {
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(family(), bytes(), text, sizeof text);
    return text;
}

std::string InternetAddress::text() const {
    const std::string behind = ":" + std::to_string(port());
    return family() == AF_INET ? host() + behind : "[" + host() + "]" + behind;
}

std::string InternetAddress::uri() const {
    return (family() == AF_INET ? "tcp4://" : "tcp6://") + text();
}

std::optional<InternetNetwork> InternetNetwork::parse(std::string_view text) {
    const size_t slash = text.find('/');
    const std::optional<InternetAddress> address = InternetAddress::parse_host(text.substr(0, slash));
    if (!address) return std::nullopt;
    const auto whole = static_cast<unsigned>(address->size() * 8);
    const auto prefix = slash == std::string_view::npos
                            ? whole
                            : number_of<unsigned>(text.substr(slash + 1)).value_or(whole + 1);
    return prefix <= whole ? std::optional(InternetNetwork{*address, prefix}) : std::nullopt;
}

}  // namespace muster
