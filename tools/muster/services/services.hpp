// SPDX-License-Identifier: BSD-3-Clause
// All services of the launcher.
#pragma once

#include <map>
#include <memory>

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

/// One object for each topic that there is a service for. `hub` outlives them.
std::map<Topic, std::unique_ptr<Service>> make_services(Hub& hub);

}  // namespace muster::launcher
