// SPDX-License-Identifier: BSD-3-Clause
// Networks as text. The addresses themselves are tested with ptl/tcp.
#include "framework/base/internet_address.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

bool contains(const char* network, const char* address) {
    const auto parsed = InternetNetwork::parse(network);
    return parsed && parsed->contains(*InternetAddress::parse_host(address));
}

TEST(InternetNetwork, ContainsTheAddressesThatBeginAlike) {
    EXPECT_TRUE(contains("10.1.0.0/16", "10.1.2.3"));
    EXPECT_FALSE(contains("10.1.0.0/16", "10.2.2.3"));
    EXPECT_TRUE(contains("0.0.0.0/0", "10.2.2.3"));
    EXPECT_TRUE(contains("fd00::/8", "fd12::1"));
    EXPECT_FALSE(contains("fd00::/8", "10.1.2.3"));
    EXPECT_TRUE(contains("10.1.2.3", "10.1.2.3"));
    EXPECT_FALSE(contains("10.1.2.3", "10.1.2.4"));
}

TEST(InternetNetwork, RefusesOtherText) {
    for (const char* bad :
         {"", "/", "eth0", "10.1.0.0/", "10.1.0.0/33", "10.1.0.0/-1", "10.1.0.0/8x", "fd00::/129"})
        EXPECT_FALSE(InternetNetwork::parse(bad)) << bad;
}

TEST(InternetAddress, HostIsWithoutThePort) {
    auto address = *InternetAddress::parse_uri("tcp6://[::1]:4711");
    EXPECT_EQ(address.host(), "::1");
    EXPECT_EQ(address.text(), "[::1]:4711");
}

}  // namespace
}  // namespace muster
