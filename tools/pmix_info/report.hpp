// SPDX-License-Identifier: BSD-3-Clause
// The three forms of pmix_info's output: for people, as `key:value` lines, and JSON. The first two are those
// that users of OpenPMIx's pmix_info know, with a line more for each component: why it was or was not chosen.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/pmix_info/inventory.hpp"

namespace muster::info {

/// The requested parts of the report.
struct Selection {
    bool version = false;
    bool architecture = false;
    bool configuration = false;
    bool components = false;
    bool parameters = false;
    bool hostname = false;
    std::vector<std::string> paths;            ///< kinds; "all" for all
    std::string framework = "all";             ///< of components and parameters
    std::vector<std::string> component_names;  ///< empty: all
    std::vector<std::string> types;            ///< of parameters; empty: all
    std::string version_part = "full";         ///< full, major, minor, release
    bool selected_only = false;                ///< only chosen components and their parameters

    bool wants(const ComponentRecord& component) const;
    bool wants(const ParameterView& parameter, const Inventory& inventory) const;
};

class Report {
  public:
    virtual ~Report() = default;
    /// Writes to standard output.
    virtual void print(const Inventory& inventory, const Selection& selection) = 0;
};

std::unique_ptr<Report> pretty_report(bool color);
std::unique_ptr<Report> parsable_report();
std::unique_ptr<Report> json_report();

}  // namespace muster::info
