// SPDX-License-Identifier: BSD-3-Clause
// ptl/tcp: addresses and their URIs, the choice of an interface and a port, the identity of the peer, and
// exhausted descriptors.
#include "components/ptl/tcp/tcp.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/wait.h>

#include "components/ptl/tcp/interfaces.hpp"
#include "components/ptl/tcp/owner.hpp"
#include "tests/unit/components/ptl/descriptors.hpp"

namespace muster::tcp {
namespace {

using namespace std::chrono_literals;

bool readable(int fd) {
    pollfd entry{fd, POLLIN, 0};
    return ::poll(&entry, 1, 10000) == 1;
}

bool has_ipv6() {
    const UniqueFd fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const Address any = Address::loopback(AF_INET6);
    return fd && ::bind(fd.get(), any.get(), any.length()) == 0;
}

TEST(TcpAddress, OfAUri) {
    const auto text = [](const char* uri) {
        const auto address = Address::parse_uri(uri);
        return address ? address->uri() : "none";
    };
    EXPECT_EQ(text("tcp4://127.0.0.1:4711"), "tcp4://127.0.0.1:4711");
    EXPECT_EQ(text("tcp6://[::1]:4711"), "tcp6://[::1]:4711");
    EXPECT_EQ(text("tcp6://::1:4711"), "tcp6://[::1]:4711");
    EXPECT_EQ(text("tcp6://2001:db8::7:65535"), "tcp6://[2001:db8::7]:65535");
    for (const char* bad :
         {"", "tcp4://", "tcp4://127.0.0.1", "tcp4://127.0.0.1:", "tcp4://127.0.0.1:0",
          "tcp4://127.0.0.1:65536", "tcp4://127.0.0.1:4711x", "tcp4://127.0.0.1:-1", "tcp4://localhost:4711",
          "tcp4://::1:4711", "tcp4://[127.0.0.1]:1", "tcp6://127.0.0.1:4711", "tcp6://[::1:4711",
          "tcp6://[]:1", "tcp://127.0.0.1:4711", "usock:///x"}) {
        EXPECT_EQ(text(bad), "none") << bad;
    }
}

TEST(TcpAddress, InANetwork) {
    const auto in = [](const char* address, const char* network, unsigned prefix) {
        return Address::parse_host(address)->in_network(*Address::parse_host(network), prefix);
    };
    EXPECT_TRUE(in("192.168.3.4", "192.168.0.0", 16));
    EXPECT_FALSE(in("192.169.3.4", "192.168.0.0", 16));
    EXPECT_TRUE(in("192.169.3.4", "192.168.0.0", 15));
    EXPECT_TRUE(in("10.0.0.1", "1.2.3.4", 0));
    EXPECT_TRUE(in("10.0.0.1", "10.0.0.1", 32));
    EXPECT_FALSE(in("10.0.0.1", "10.0.0.2", 32));
    EXPECT_FALSE(in("10.0.0.1", "10.0.0.1", 33));
    EXPECT_TRUE(in("2001:db8::1", "2001:db8::", 32));
    EXPECT_FALSE(in("2001:db9::1", "2001:db8::", 32));
    EXPECT_FALSE(in("10.0.0.1", "::", 0));
}

/// Possible interfaces of a machine.
std::vector<Interface> some_interfaces() {
    return {{"lo", *Address::parse_host("127.0.0.1")},      {"eth0", *Address::parse_host("10.1.2.3")},
            {"ib0", *Address::parse_host("192.168.7.8")},   {"lo", *Address::parse_host("::1")},
            {"eth0", *Address::parse_host("2001:db8::42")}, {"ll0", *Address::parse_host("169.254.1.1")}};
}

std::string chosen(const AddressWish& wish) {
    auto addresses = choose_addresses(some_interfaces(), wish);
    if (!addresses) return "error " + std::to_string(addresses.status());
    std::string text;
    for (const Address& address : *addresses)
        text += (text.empty() ? "" : " ") + address.text();
    return text;
}

TEST(TcpInterfaces, UseLoopbackByDefault) {
    EXPECT_EQ(chosen({}), "127.0.0.1:0 [::1]:0");
    EXPECT_EQ(chosen({.ipv4 = false}), "[::1]:0");
    EXPECT_EQ(chosen({.remote = true}), "10.1.2.3:0 192.168.7.8:0 [2001:db8::42]:0 169.254.1.1:0");
    EXPECT_EQ(chosen({.ipv4 = false, .remote = true}), "[2001:db8::42]:0");
    EXPECT_EQ(chosen({.ipv6 = false, .remote = true}), "10.1.2.3:0 192.168.7.8:0 169.254.1.1:0");
}

TEST(TcpInterfaces, ListsNarrowTheChoice) {
    EXPECT_EQ(chosen({.include = "ib0", .remote = true}), "192.168.7.8:0");
    EXPECT_EQ(chosen({.include = "192.168.0.0/16 , 2001:db8::/32", .remote = true}),
              "192.168.7.8:0 [2001:db8::42]:0");
    EXPECT_EQ(chosen({.include = "eth0"}), "10.1.2.3:0 [2001:db8::42]:0");  // requested explicitly
    EXPECT_EQ(chosen({.include = "eth0,lo"}), "127.0.0.1:0 [::1]:0");
    EXPECT_EQ(chosen({.exclude = "eth0", .remote = true}), "192.168.7.8:0 169.254.1.1:0");
    EXPECT_EQ(chosen({.exclude = "eth0"}), "127.0.0.1:0 [::1]:0");
    EXPECT_EQ(chosen({.exclude = "lo,ib0"}), "10.1.2.3:0 [2001:db8::42]:0 169.254.1.1:0");
    EXPECT_EQ(chosen({.exclude = "127.0.0.0/8"}), "[::1]:0");
}

TEST(TcpInterfaces, NameTheWrongParameter) {
    const auto error = [](const AddressWish& wish) {
        return choose_addresses(some_interfaces(), wish).error();
    };
    EXPECT_EQ(error({.include = "lo", .remote = true}).code, PMIX_ERR_NOT_AVAILABLE);
    EXPECT_NE(error({.include = "eth7"}).text.find("eth7"), std::string::npos);
    EXPECT_NE(error({.include = "eth7"}).text.find("lo, eth0, ib0"), std::string::npos)
        << error({.include = "eth7"}).text;
    EXPECT_EQ(error({.include = "a", .exclude = "b"}).code, PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(error({.ipv4 = false, .ipv6 = false}).code, PMIX_ERR_BAD_PARAM);
    for (const char* bad : {"10.0.0.0/33", "10.0.0.0/", "10.0.0/8", "::/129", "eth0/8"}) {
        EXPECT_EQ(error({.include = bad}).code, PMIX_ERR_BAD_PARAM) << bad;
    }
}

TEST(TcpInterfaces, PortsAndRanges) {
    using Ports = std::vector<uint16_t>;
    EXPECT_EQ(*parse_ports(""), Ports{0});
    EXPECT_EQ(*parse_ports("0"), Ports{0});
    EXPECT_EQ(*parse_ports("-1"), Ports{0});
    EXPECT_EQ(*parse_ports("4000"), Ports{4000});
    EXPECT_EQ(*parse_ports("4000-4002, 65535-65535"), (Ports{4000, 4001, 4002, 65535}));
    for (const char* bad : {"x", "65536", "5-4", "4-", "-4", "1-2-3", "0-3"}) {
        EXPECT_EQ(parse_ports(bad).status(), PMIX_ERR_BAD_PARAM) << bad;
    }
}

/// A listener and one connection to it.
class TcpTest : public testing::TestWithParam<int> {
  protected:
    static Settings settings() {
        Settings made;
        made.disable_ipv4_family = GetParam() == AF_INET6;
        return made;
    }
    void SetUp() override {
        if (GetParam() == AF_INET6 && !has_ipv6()) GTEST_SKIP() << "no IPv6 here";
        auto made = tcp_.listen({});
        ASSERT_TRUE(made.ok()) << made.error().text;
        listener_ = std::move(*made);
    }
    Result<Socket> accepted() {
        EXPECT_TRUE(readable(listener_->fd()));
        return listener_->accept();
    }
    Tcp tcp_{settings()};
    std::unique_ptr<Listener> listener_;
};

TEST_P(TcpTest, ListensOnLoopbackAndConnects) {
    EXPECT_TRUE(listener_->uri().starts_with(GetParam() == AF_INET ? "tcp4://127.0.0.1:" : "tcp6://[::1]:"));
    EXPECT_TRUE(tcp_.accepts(listener_->uri()));
    EXPECT_EQ(listener_->accept().status(), PMIX_ERR_NOT_FOUND);
    auto client = tcp_.connect(listener_->uri(), 5s);
    ASSERT_TRUE(client.ok()) << client.error().text;
    auto server = accepted();
    ASSERT_TRUE(server.ok()) << server.error().text;
    EXPECT_EQ(server->peer, Address::own_of(client->fd.get())->text());
    EXPECT_EQ("tcp" + std::string(GetParam() == AF_INET ? "4://" : "6://") + client->peer, listener_->uri());
    for (const Socket* socket : {&*client, &*server}) {
        EXPECT_TRUE(socket->local);
        int no_delay = 0;
        socklen_t size = sizeof no_delay;
        getsockopt(socket->fd.get(), IPPROTO_TCP, TCP_NODELAY, &no_delay, &size);
        EXPECT_EQ(no_delay, 1);
        EXPECT_NE(fcntl(socket->fd.get(), F_GETFL) & O_NONBLOCK, 0);
        EXPECT_NE(fcntl(socket->fd.get(), F_GETFD) & FD_CLOEXEC, 0);
    }
    ASSERT_EQ(::write(client->fd.get(), "hi", 2), 2);
    ASSERT_TRUE(readable(server->fd.get()));
}

TEST_P(TcpTest, TheKernelIdentifiesALocalPeer) {
    auto client = tcp_.connect(listener_->uri(), 5s);
    ASSERT_TRUE(client.ok());
    auto server = accepted();
    ASSERT_TRUE(server.ok());
    if (!server->credentials) GTEST_SKIP() << "no sock_diag here";
    EXPECT_EQ(server->credentials->uid, geteuid());
    EXPECT_EQ(server->credentials->gid, PeerCredentials::kNoGid);
    EXPECT_EQ(server->credentials->pid, 0);

    // A repeated request, with values that do not fit.
    OwnerQuery query;
    const Address own = *Address::own_of(server->fd.get()), peer = *Address::peer_of(server->fd.get());
    EXPECT_EQ(query.owner(own, peer), geteuid());
    Address other = peer;
    other.set_port(own.port());  // only a listener
    EXPECT_EQ(query.owner(own, other), std::nullopt);
    // A closed socket has no user, and must not be taken for root's.
    client->fd.reset();
    ASSERT_TRUE(readable(server->fd.get()));
    EXPECT_EQ(query.owner(own, peer), std::nullopt);
}

TEST_P(TcpTest, TheKernelIdentifiesAnotherUser) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to become someone else";
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        if (setgid(12346) != 0 || setuid(12345) != 0) _exit(2);
        auto client = tcp_.connect(listener_->uri(), 5s);
        if (!client.ok()) _exit(1);
        readable(client->fd.get());
        _exit(0);
    }
    auto server = accepted();
    ASSERT_TRUE(server.ok());
    if (server->credentials) {
        EXPECT_EQ(server->credentials->uid, 12345U);
    }
    server->fd.reset();
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_P(TcpTest, RefusesConnectionsWhenDescriptorsRunOut) {
    auto client = tcp_.connect(listener_->uri(), 5s);
    ASSERT_TRUE(client.ok());
    ASSERT_TRUE(readable(listener_->fd()));
    {
        const test::NoDescriptorsLeft none;
        EXPECT_EQ(listener_->accept().status(), PMIX_ERR_OUT_OF_RESOURCE);
        EXPECT_EQ(listener_->accept().status(), PMIX_ERR_NOT_FOUND);
    }
    ASSERT_TRUE(readable(client->fd.get()));
    char byte;
    EXPECT_EQ(::read(client->fd.get(), &byte, 1), 0);
    auto later = tcp_.connect(listener_->uri(), 5s);
    ASSERT_TRUE(later.ok());
    EXPECT_TRUE(accepted().ok());
}

TEST_P(TcpTest, TakesTheFirstFreePortOfAList) {
    const std::string taken = listener_->uri().substr(listener_->uri().rfind(':') + 1);
    Settings with_ports = settings();
    with_ports.ipv4_port = with_ports.ipv6_port = taken + ",0";
    Tcp tcp(with_ports);
    auto second = tcp.listen({});
    ASSERT_TRUE(second.ok()) << second.error().text;
    EXPECT_NE((*second)->uri(), listener_->uri());

    with_ports.ipv4_port = with_ports.ipv6_port = taken;
    with_ports.disable_ipv6_family = GetParam() == AF_INET;
    auto refused = Tcp(with_ports).listen({});
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().text.find(taken), std::string::npos) << refused.error().text;
    ListenOptions options;
    options.port = static_cast<uint16_t>(std::stoi(taken));
    EXPECT_FALSE(Tcp(with_ports).listen(options).ok());
    listener_.reset();
    EXPECT_TRUE(Tcp(with_ports).listen(options).ok());
}

TEST_P(TcpTest, ConnectFailsWithoutAListener) {
    const std::string uri = listener_->uri();
    listener_.reset();
    auto client = tcp_.connect(uri, 5s);
    EXPECT_EQ(client.status(), PMIX_ERR_UNREACH);
    EXPECT_NE(client.error().text.find(uri.substr(7)), std::string::npos) << client.error().text;
}

INSTANTIATE_TEST_SUITE_P(Family, TcpTest, testing::Values(AF_INET, AF_INET6),
                         [](const testing::TestParamInfo<int>& family) {
                             return family.param == AF_INET ? "IPv4" : "IPv6";
                         });

TEST(Tcp, ConnectTimesOut) {
    Tcp tcp({});
    // Its queue is full: further connections stay unanswered.
    UniqueFd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const Address any = Address::loopback(AF_INET);
    ASSERT_EQ(::bind(listening.get(), any.get(), any.length()), 0);
    ASSERT_EQ(::listen(listening.get(), 0), 0);
    const std::string uri = Address::own_of(listening.get())->uri();
    std::vector<Socket> connected;
    for (int i = 0; i < 10; ++i) {
        const auto before = std::chrono::steady_clock::now();
        auto socket = tcp.connect(uri, 50ms);
        if (socket.ok()) {
            connected.push_back(std::move(*socket));
            continue;
        }
        EXPECT_EQ(socket.status(), PMIX_ERR_TIMEOUT) << socket.error().text;
        EXPECT_GE(std::chrono::steady_clock::now() - before, 49ms);
        return;
    }
    FAIL() << "the queue took ten connections";
}

TEST(Tcp, InvalidAddressesAreRefused) {
    Tcp tcp({});
    EXPECT_FALSE(tcp.accepts("usock:///x"));
    EXPECT_EQ(tcp.connect("tcp4://here:1", 1s).status(), PMIX_ERR_BAD_PARAM);
    Settings settings;
    settings.disable_ipv4_family = settings.disable_ipv6_family = true;
    EXPECT_EQ(Tcp(settings).listen({}).status(), PMIX_ERR_BAD_PARAM);
    settings = {};
    settings.ipv4_port = "many";
    EXPECT_EQ(Tcp(settings).listen({}).status(), PMIX_ERR_BAD_PARAM);
}

TEST(Tcp, ListensForOtherMachinesWhenAsked) {
    ListenOptions options;
    options.remote = true;
    Tcp tcp({});
    auto listener = tcp.listen(options);
    if (!listener.ok()) {
        EXPECT_EQ(listener.status(), PMIX_ERR_NOT_AVAILABLE) << listener.error().text;
        GTEST_SKIP() << listener.error().text;
    }
    EXPECT_FALSE(Address::parse_uri((*listener)->uri())->is_loopback());
    auto client = tcp.connect((*listener)->uri(), 5s);
    ASSERT_TRUE(client.ok()) << client.error().text;
    ASSERT_TRUE(readable((*listener)->fd()));
    auto server = (*listener)->accept();
    ASSERT_TRUE(server.ok());
    EXPECT_TRUE(server->local);  // from this machine nevertheless
}

}  // namespace
}  // namespace muster::tcp
