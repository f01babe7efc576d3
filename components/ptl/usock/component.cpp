// SPDX-License-Identifier: BSD-3-Clause
// The descriptor of ptl/usock, with its parameters.
#include <string>

#include "components/ptl/usock/usock.hpp"
#include "framework/base/own_component.hpp"

namespace {

constexpr muster_param_t kParams[] = {
    {"disable", MUSTER_PARAM_BOOL, "false", nullptr, "Do not listen on local sockets", nullptr, nullptr},
    {"mode", MUSTER_PARAM_STRING, "", nullptr,
     "Mode of the socket's file, such as 0660; empty is 0600, and 0666 where the server runs as root",
     nullptr, nullptr},
};

constexpr muster_param_attribute_t kAttributes[] = {
    {PMIX_USOCK_DISABLE, PMIX_BOOL, "disable"},
    {PMIX_SOCKET_MODE, PMIX_INT, "mode"},
};

std::unique_ptr<muster::Ptl> make(muster::sdk::Host host) {
    return std::make_unique<muster::usock::Usock>(muster::usock::Settings{
        .disabled = host.boolean("disable"), .mode = std::string(host.parameter("mode"))});
}

}  // namespace

MUSTER_COMPONENT(ptl, usock) {
    static const muster_component_t descriptor = muster::object_component<make>(
        "ptl", muster::kPtlInterface, muster::own_component("usock", 50, kParams, kAttributes));
    return &descriptor;
}
