// SPDX-License-Identifier: BSD-3-Clause
// The facts about this installation, collected once; the reports select from them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/parameters.hpp"
#include "framework/registry.hpp"

namespace muster::info {

/// A fact under the key that programs know from OpenPMIx, with a label for people.
struct Fact {
    std::string label, key, value;
};

struct Inventory {
    std::string package;                                     ///< name and release of this implementation
    std::string version;                                     ///< level of the PMIx interface
    std::vector<std::pair<std::string, std::string>> paths;  ///< kind ("libdir") and folder
    std::vector<Fact> configuration;
    std::string architecture;
    std::vector<ComponentRecord> components;
    std::vector<ParameterView> parameters;
    std::vector<Parameters::Unknown> unknown;
    std::vector<std::string> complaints;
};

/// `parameters` must live as long as the result.
Inventory collect(Parameters& parameters);

/// As the data source is shown: "default", "environment", "file (path:line)", "command line".
std::string source_text(const ParameterView& view);
/// The type's name as OpenPMIx's pmix_info has it.
const char* type_name(ParameterType type);

}  // namespace muster::info
