// SPDX-License-Identifier: BSD-3-Clause
// The URI by which a server is reached: "nspace.rank;transport".
#pragma once

#include <pmix_common.h>

#include <string>

namespace muster {

/// Splits "nspace.rank;transport". The namespace ends at the last dot before the semicolon.
bool split_server_uri(const std::string& uri, pmix_proc_t& server, std::string& transport);

}  // namespace muster
