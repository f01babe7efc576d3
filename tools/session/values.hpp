// SPDX-License-Identifier: BSD-3-Clause
// Names of attributes, and values as text and as JSON.
#pragma once

#include <pmix_common.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace muster::tools {

/// "PMIX_JOB_SIZE" for "pmix.job.size", and a name that is no attribute's as it is.
std::string name_of_key(const std::string& key);
/// The other way round; a key as it is. Empty for a name of the form PMIX_... that is no attribute's.
std::string key_of_name(const std::string& name);

nlohmann::json to_json(const pmix_value_t& value);
std::string to_text(const pmix_value_t& value);

std::vector<std::string> split(const std::string& text, char separator);

}  // namespace muster::tools
