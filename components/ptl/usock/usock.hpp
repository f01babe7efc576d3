// SPDX-License-Identifier: BSD-3-Clause
// ptl/usock: local stream sockets with a name in the session directory.
#pragma once

#include <string>
#include <utility>

#include "framework/ptl.hpp"

namespace muster::usock {

struct Settings {
    bool disabled = false;  ///< does not listen; connect() is not affected
    std::string mode{};  ///< of the socket's file, octal where it begins with 0; empty: by the server's user
};

class Usock : public Ptl {
  public:
    explicit Usock(Settings settings = {}) : settings_(std::move(settings)) {}
    const char* name() const override { return "usock"; }
    bool accepts(std::string_view uri) const override;
    bool universal() const override { return false; }
    bool gone_with_server() const override { return true; }
    /// `directory` must exist. Other options do not apply: even for a server that accepts other machines,
    /// this transport is local.
    Result<std::unique_ptr<Listener>> listen(const ListenOptions& options) override;
    Result<Socket> connect(std::string_view uri, std::chrono::milliseconds limit) override;

  private:
    Settings settings_;
};

}  // namespace muster::usock
