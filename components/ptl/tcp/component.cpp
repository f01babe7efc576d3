// SPDX-License-Identifier: BSD-3-Clause
// The descriptor of ptl/tcp, with its parameters.
#include <pmix/sdk/component.h>

#include <cstdio>
#include <new>
#include <string>

#include "components/ptl/tcp/tcp.hpp"

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

pmix_status_t create(const muster_host_t* host, void** instance, char* reason) {
    try {
        const auto text = [&](const char* name) {
            const char* value = host->parameter(host->context, name);
            return std::string(value != nullptr ? value : "");
        };
        Settings settings;
        settings.if_include = text("if_include");
        settings.if_exclude = text("if_exclude");
        settings.ipv4_port = text("ipv4_port");
        settings.ipv6_port = text("ipv6_port");
        settings.disable_ipv4_family = text("disable_ipv4_family") == "true";
        settings.disable_ipv6_family = text("disable_ipv6_family") == "true";
        *instance = static_cast<Ptl*>(new Tcp(std::move(settings)));
        return PMIX_SUCCESS;
    } catch (const std::bad_alloc&) {
        std::snprintf(reason, 256, "out of memory");
        return PMIX_ERR_NOMEM;
    }
}

}  // namespace

MUSTER_COMPONENT(ptl, tcp) {
    static const muster_component_t descriptor = {
        .struct_size = sizeof(muster_component_t),
        .sdk_major = MUSTER_SDK_MAJOR,
        .sdk_minor = MUSTER_SDK_MINOR,
        .framework = "ptl",
        .interface_version = muster::kPtlInterface,
        .name = "tcp",
        .version = MUSTER_VERSION,
        .vendor = "Muster",
        .flags = MUSTER_COMPONENT_HOSTILE_INPUT,
        .priority = 30,
        .params = kParams,
        .nparams = std::size(kParams),
        .create = create,
        .destroy = [](void* instance) { delete static_cast<Ptl*>(instance); },
    };
    return &descriptor;
}
