// SPDX-License-Identifier: BSD-3-Clause
// A parameter set for a part of a test.
#pragma once

#include <stdlib.h>

#include <string>

namespace muster::testing_in_memory {

/// Sets a parameter in the environment while it lives. Processes read it at their creation.
class ParameterScope {
  public:
    ParameterScope(const std::string& name, const std::string& value) : name_("PMIX_MCA_" + name) {
        ::setenv(name_.c_str(), value.c_str(), 1);
    }
    ~ParameterScope() { ::unsetenv(name_.c_str()); }
    ParameterScope(const ParameterScope&) = delete;
    ParameterScope& operator=(const ParameterScope&) = delete;

  private:
    std::string name_;
};

}  // namespace muster::testing_in_memory
