// SPDX-License-Identifier: BSD-3-Clause
// The supported attributes, by function and level (Standard: PMIX_QUERY_ATTRIBUTE_SUPPORT): the
// library's own from a table, the host's as it registers them (PMIx_Register_attributes).
#pragma once

#include <pmix_server.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/info.hpp"

namespace muster {

/// The host's registrations. Belongs to the loop of a server.
class HostAttributes {
  public:
    /// `function`: name of the upcall; `names`: of attributes, "PMIX_TIMEOUT". A name that is not in the
    /// Standard is the host's own and kept as it is: hosts (PRRTE) name attributes that are newer or older
    /// than this library. PMIX_ERR_REPEAT_ATTR_REGISTRATION for a function that is registered already.
    pmix_status_t add(const std::string& function, const std::vector<std::string>& names);
    const std::map<std::string, std::vector<std::string>>& all() const { return by_function_; }

  private:
    std::map<std::string, std::vector<std::string>> by_function_;
};

/// Answers the query for one level (PMIX_CLIENT_ATTRIBUTES, PMIX_TOOL_ATTRIBUTES, PMIX_SERVER_ATTRIBUTES,
/// PMIX_HOST_ATTRIBUTES):
/// adds an entry of that key to `found`, an array with an info for each function, whose value is an array of
/// pmix_regattr_t. `functions`: comma list, or "all". False if none is known.
bool add_attribute_support(const char* level, const char* functions, const HostAttributes* host, Info& found);

/// The names of the library's functions for PMIX_CLIENT_FUNCTIONS, PMIX_SERVER_FUNCTIONS or
/// PMIX_TOOL_FUNCTIONS, with a space between two; empty for other keys.
std::string_view functions_of_level(const char* level);

/// The functions that users call and that an upcall of the host serves.
std::vector<std::string> functions_of_host(const pmix_server_module_t& module);

}  // namespace muster
