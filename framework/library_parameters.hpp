// SPDX-License-Identifier: BSD-3-Clause
// The parameters that belong to no component: those of the library's roles and services. They are in one
// table, so that pmix_info has them without core/.
#pragma once

#include "framework/parameters.hpp"

namespace muster {

/// Defines them all. A value from outside that does not fit is among the complaints; the default holds.
void define_library_parameters(Parameters& parameters);

}  // namespace muster
