// SPDX-License-Identifier: BSD-3-Clause
// The names of status codes.
#pragma once

#include <pmix_common.h>

#include <optional>

namespace muster {

/// "PMIX_ERR_NOT_FOUND"; null for a number that the API does not define.
const char* status_name(pmix_status_t code);

/// The same for messages: never null.
const char* status_text(pmix_status_t code);

/// The number of a name, in any case of letters.
std::optional<pmix_status_t> status_code(const char* name);

}  // namespace muster
