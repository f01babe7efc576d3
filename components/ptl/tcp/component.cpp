// SPDX-License-Identifier: BSD-3-Clause
// The descriptor of ptl/tcp, with its parameters.
#include <string>

#include "components/ptl/tcp/tcp.hpp"
#include "framework/base/own_component.hpp"

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
