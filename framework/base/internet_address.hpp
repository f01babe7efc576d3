// SPDX-License-Identifier: BSD-3-Clause
// An internet address with a port, of either family, and its form in a URI.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

class InternetAddress {
  public:
    InternetAddress() = default;
    /// The loopback address of AF_INET or AF_INET6, port 0.
    static InternetAddress loopback(sa_family_t family);
    /// From a socket address of either family; nothing for others.
    static std::optional<InternetAddress> from(const sockaddr* address);
    /// A numeric address without a port.
    static std::optional<InternetAddress> parse_host(std::string_view text);
    /// "tcp4://a.b.c.d:port" or "tcp6://[address]:port", where the brackets may be missing.
    static std::optional<InternetAddress> parse_uri(std::string_view uri);
    /// The ends of a connected (or bound) socket.
    static std::optional<InternetAddress> own_of(int fd);
    static std::optional<InternetAddress> peer_of(int fd);

    const sockaddr* get() const { return &any_; }
    socklen_t length() const { return family() == AF_INET ? sizeof v4_ : sizeof v6_; }
    sa_family_t family() const { return any_.sa_family; }
    uint16_t port() const { return ntohs(family() == AF_INET ? v4_.sin_port : v6_.sin6_port); }
    void set_port(uint16_t port) { (family() == AF_INET ? v4_.sin_port : v6_.sin6_port) = htons(port); }
    /// The address's bytes in network order: 4 or 16.
    const uint8_t* bytes() const;
    size_t size() const { return family() == AF_INET ? 4 : 16; }

    bool is_loopback() const;
    /// Usable only together with an interface, so not in a URI.
    bool is_link_local() const;
    bool same_host(const InternetAddress& other) const;
    /// Whether the first `prefix` bits are equal.
    bool in_network(const InternetAddress& network, unsigned prefix) const;

    /// "127.0.0.1", "::1"
    std::string host() const;
    /// "127.0.0.1:4711", "[::1]:4711"
    std::string text() const;
    /// The same as a URI's transport part.
    std::string uri() const;

  private:
    union {
        sockaddr any_;
        sockaddr_in v4_;
        sockaddr_in6 v6_{};
    };
};

/// The addresses that begin alike.
struct InternetNetwork {
    InternetAddress address;
    unsigned prefix = 0;

    /// "192.168.0.0/16"; an address alone is a network of itself.
    static std::optional<InternetNetwork> parse(std::string_view text);
    bool contains(const InternetAddress& other) const { return other.in_network(address, prefix); }
};

}  // namespace muster
