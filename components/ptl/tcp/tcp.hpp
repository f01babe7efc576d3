// SPDX-License-Identifier: BSD-3-Clause
// ptl/tcp: connections by TCP, over the loopback interface by default.
#pragma once

#include <string>

#include "framework/ptl.hpp"

namespace muster::tcp {

/// The component's parameters.
struct Settings {
    std::string if_include;
    std::string if_exclude;
    std::string ipv4_port;
    std::string ipv6_port;
    bool disable_ipv4_family = false;
    bool disable_ipv6_family = false;
};

class Tcp : public Ptl {
  public:
    explicit Tcp(Settings settings) : settings_(std::move(settings)) {}

    const char* name() const override { return "tcp"; }
    bool accepts(std::string_view uri) const override;
    bool universal() const override { return true; }
    bool gone_with_server() const override { return false; }
    Result<std::unique_ptr<Listener>> listen(const ListenOptions& options) override;
    Result<Socket> connect(std::string_view uri, std::chrono::milliseconds limit) override;

  private:
    const Settings settings_;
};

}  // namespace muster::tcp
