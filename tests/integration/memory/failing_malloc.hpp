// SPDX-License-Identifier: BSD-3-Clause
// The program's malloc, of which one call fails on request. All libraries of the process use it, as the
// symbols of a program come before theirs.
#pragma once

namespace failing {

enum class How { Once, AndAllLater };

/// From now on the `number`-th allocation of the process fails, or that and all later ones; 0: none.
void arm(long number, How how);
/// Stops failures. Returns the number of allocations since arm().
long disarm();

}  // namespace failing
