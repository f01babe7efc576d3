// SPDX-License-Identifier: BSD-3-Clause
// The style of output that the PMIX_IOF_* directives ask for.
#pragma once

#include "framework/base/info.hpp"
#include "framework/base/output_format.hpp"

namespace muster {

/// Takes over what the directives say, former names of the attributes included. PMIX_ERR_BAD_PARAM for a
/// value of the wrong type.
pmix_status_t read_style(InfoView directives, OutputStyle& style);

}  // namespace muster
