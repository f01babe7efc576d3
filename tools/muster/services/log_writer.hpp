// SPDX-License-Identifier: BSD-3-Clause
// What is logged to standard output and error: muster's own, whatever node it comes from.
#pragma once

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

/// Topic::Log. The request: whether it is for standard error, and the text.
class LogWriter final : public Service {
  public:
    explicit LogWriter(Hub& hub) : Service(hub) {}
    void asked(Asker asker, Buffer& in) override;
};

}  // namespace muster::launcher
