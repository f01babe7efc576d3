// SPDX-License-Identifier: BSD-3-Clause
// ptl/tcp: see tcp.hpp.
#include "components/ptl/tcp/tcp.hpp"

#include <netinet/tcp.h>

#include <cerrno>
#include <vector>

#include "components/ptl/tcp/interfaces.hpp"
#include "components/ptl/tcp/owner.hpp"
#include "framework/base/own_component.hpp"
#include "framework/ptl/sockets.hpp"

namespace muster::tcp {
namespace {

void set_option(int fd, int level, int option, int value) {
    setsockopt(fd, level, option, &value, sizeof value);
}

/// Messages are answered one by one, so none may wait for more to send (Nagle). A vanished machine is noticed
/// within about two minutes.
void tune(const Socket& socket) {
    const int fd = socket.fd.get();
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    if (socket.local) return;
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 60);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 15);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
}

class TcpListener : public StreamListener {
  public:
    TcpListener(UniqueFd fd, const Address& bound) : StreamListener(std::move(fd), bound.uri()) {}

    Result<Socket> accept() override {
        for (;;) {
            auto fd = next();
            if (!fd) return fd.error();
            const std::optional<Address> own = Address::own_of(fd->get());
            const std::optional<Address> peer = Address::peer_of(fd->get());
            if (!own || !peer) continue;  // already closed
            Socket socket;
            socket.fd = std::move(*fd);
            socket.peer = peer->text();
            socket.local = peer->is_loopback() || peer->same_host(*own);
            if (socket.local) {
                if (const std::optional<uid_t> uid = owner_query_.owner(*own, *peer)) {
                    socket.credentials.emplace().uid = *uid;
                }
            }
            tune(socket);
            return socket;
        }
    }

  private:
    OwnerQuery owner_query_;
};

/// The addresses to try. Without restrictions the interfaces need not be read.
Result<std::vector<Address>> candidates(const AddressWish& wish) {
    if (!wish.remote && wish.include.empty() && wish.exclude.empty() && (wish.ipv4 || wish.ipv6)) {
        std::vector<Address> loopback;
        if (wish.ipv4) loopback.push_back(Address::loopback(AF_INET));
        if (wish.ipv6) loopback.push_back(Address::loopback(AF_INET6));
        return loopback;
    }
    auto available = interfaces_up();
    if (!available) return available.error();
    return choose_addresses(*available, wish);
}

Result<UniqueFd> listen_on(const Address& address) {
    auto fd = stream_socket(address.family());
    if (!fd) return fd;
    // A fixed port is free immediately after the end of its server.
    if (address.port() != 0) set_option(fd->get(), SOL_SOCKET, SO_REUSEADDR, 1);
    if (address.family() == AF_INET6) set_option(fd->get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
    if (::bind(fd->get(), address.get(), address.length()) != 0 || ::listen(fd->get(), SOMAXCONN) != 0) {
        return system_error("cannot listen on " + address.text(), errno);
    }
    return fd;
}

}  // namespace

bool Tcp::accepts(std::string_view uri) const {
    return uri.starts_with("tcp4://") || uri.starts_with("tcp6://");
}

Result<std::unique_ptr<Listener>> Tcp::listen(const ListenOptions& options) {
    AddressWish wish;
    wish.include = options.interfaces.empty() ? settings_.if_include : options.interfaces;
    wish.exclude = options.interfaces.empty() ? settings_.if_exclude : "";
    wish.ipv4 = !settings_.disable_ipv4_family;
    wish.ipv6 = !settings_.disable_ipv6_family;
    wish.remote = options.remote;
    auto addresses = candidates(wish);
    if (!addresses) return addresses.error();
    if (addresses->empty())
        return Error{PMIX_ERR_NOT_AVAILABLE, "no interface has an address to listen on (ptl_tcp_if_include)"};

    Error last;
    for (Address address : *addresses) {
        std::vector<uint16_t> ports{options.port};
        if (options.port == 0) {
            auto wanted =
                parse_ports(address.family() == AF_INET ? settings_.ipv4_port : settings_.ipv6_port);
            if (!wanted) return wanted.error();
            ports = std::move(*wanted);
        }
        for (const uint16_t port : ports) {
            address.set_port(port);
            auto fd = listen_on(address);
            if (!fd) {
                last = fd.error();
                continue;
            }
            const std::optional<Address> bound = Address::own_of(fd->get());
            if (!bound) return system_error("cannot tell the port of " + address.text(), errno);
            return std::unique_ptr<Listener>(std::make_unique<TcpListener>(std::move(*fd), *bound));
        }
    }
    return last;
}

Result<Socket> Tcp::connect(std::string_view uri, std::chrono::milliseconds limit) {
    const std::optional<Address> address = Address::parse_uri(uri);
    if (!address) {
        return Error{PMIX_ERR_BAD_PARAM,
                     "\"" + std::string(uri) +
                         "\" is no address: expected tcp4://a.b.c.d:port or tcp6://[address]:port"};
    }
    auto socket = connect_stream(address->get(), address->length(), limit, address->text());
    if (!socket) return socket;
    const std::optional<Address> own = Address::own_of(socket->fd.get());
    // A socket can connect to itself if no process listens on an ephemeral port.
    if (own && own->same_host(*address) && own->port() == address->port()) {
        return system_error("cannot connect to " + socket->peer, ECONNREFUSED);
    }
    socket->local = address->is_loopback() || (own && own->same_host(*address));
    tune(*socket);
    return socket;
}

}  // namespace muster::tcp

namespace {

using muster::Ptl;
using muster::tcp::Settings;
using muster::tcp::Tcp;

constexpr muster_param_t kParams[] = {
    {"if_include", MUSTER_PARAM_STRING, "", nullptr,
     "Comma list of the interfaces (eth0), addresses and networks (192.168.0.0/16) that may be listened on; "
     "not together "
     "with if_exclude",
     nullptr, "ptl_base_if_include"},
    {"if_exclude", MUSTER_PARAM_STRING, "", nullptr,
     "Comma list of the interfaces, addresses and networks that may not be listened on", nullptr,
     "ptl_base_if_exclude"},
    {"ipv4_port", MUSTER_PARAM_STRING, "0", nullptr,
     "IPv4 port to listen on, or a list of ports and ranges (4000-4010,5000) of which the first free one is "
     "taken; 0 is "
     "any",
     nullptr, "ptl_base_ipv4_port,ptl_base_ipv4_ports"},
    {"ipv6_port", MUSTER_PARAM_STRING, "0", nullptr, "The same for IPv6", nullptr,
     "ptl_base_ipv6_port,ptl_base_ipv6_ports"},
    {"disable_ipv4_family", MUSTER_PARAM_BOOL, "false", nullptr, "Do not listen on IPv4 addresses", nullptr,
     "ptl_base_disable_ipv4_family"},
    {"disable_ipv6_family", MUSTER_PARAM_BOOL, "false", nullptr,
     "Do not listen on IPv6 addresses, which are taken where there is no IPv4 address", nullptr,
     "ptl_base_disable_ipv6_family"},
};

constexpr muster_param_attribute_t kAttributes[] = {
    {PMIX_TCP_IF_INCLUDE, PMIX_STRING, "if_include"},
    {PMIX_TCP_IF_EXCLUDE, PMIX_STRING, "if_exclude"},
    {PMIX_TCP_IPV4_PORT, PMIX_INT, "ipv4_port"},
    {PMIX_TCP_IPV6_PORT, PMIX_INT, "ipv6_port"},
    {PMIX_TCP_DISABLE_IPV4, PMIX_BOOL, "disable_ipv4_family"},
    {PMIX_TCP_DISABLE_IPV6, PMIX_BOOL, "disable_ipv6_family"},
};

std::unique_ptr<Ptl> make(muster::sdk::Host host) {
    const auto text = [&](const char* name) { return std::string(host.parameter(name)); };
    return std::make_unique<Tcp>(Settings{.if_include = text("if_include"),
                                          .if_exclude = text("if_exclude"),
                                          .ipv4_port = text("ipv4_port"),
                                          .ipv6_port = text("ipv6_port"),
                                          .disable_ipv4_family = host.boolean("disable_ipv4_family"),
                                          .disable_ipv6_family = host.boolean("disable_ipv6_family")});
}

}  // namespace

MUSTER_COMPONENT(ptl, tcp) {
    static const muster_component_t descriptor = muster::object_component<make>(
        "ptl", muster::kPtlInterface, muster::own_component("tcp", 30, kParams, kAttributes));
    return &descriptor;
}
