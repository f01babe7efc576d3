// SPDX-License-Identifier: BSD-3-Clause
// The names of this machine.
#pragma once

#include <string>

namespace muster::launcher {

/// Whether the name means this machine: localhost, the host's name with or without its domain, or a name or
/// an address that resolves to an address of one of its interfaces. May ask the name service; a name that is
/// not known there is not ours.
bool is_this_machine(const std::string& name);

}  // namespace muster::launcher
