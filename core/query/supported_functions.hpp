// SPDX-License-Identifier: BSD-3-Clause
// Which functions are supported, by level (Standard: PMIX_CLIENT_FUNCTIONS and its like): those of this
// library, and those that the host's upcalls serve.
#pragma once

#include <pmix_server.h>

#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// The names of the library's functions for PMIX_CLIENT_FUNCTIONS, PMIX_SERVER_FUNCTIONS or
/// PMIX_TOOL_FUNCTIONS, with a space between two; empty for other keys.
std::string_view functions_of_level(const char* level);

/// The functions that users call and that an upcall of the host serves.
std::vector<std::string> functions_of_host(const pmix_server_module_t& module);

}  // namespace muster
