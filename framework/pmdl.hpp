// SPDX-License-Identifier: BSD-3-Clause
// pmdl: what programming models need in the environment of a process. Facade over the SDK's C interface
// (pmix/sdk/pmdl.h).
#pragma once

#include <pmix/sdk/pmdl.h>

#include <string>
#include <utility>
#include <vector>

#include "framework/base/result.hpp"

namespace muster {

/// One component. One thread at a time.
class Pmdl {
  public:
    /// `operations` lives as long as this.
    Pmdl(const muster_pmdl_t* operations, std::string name)
        : operations_(operations), name_(std::move(name)) {}

    const std::string& name() const { return name_; }

    /// Appends the variables (name, value) that the process is to have; nothing on failure.
    Result<void> setup_fork(const muster_pmdl_process_t& process,
                            std::vector<std::pair<std::string, std::string>>& variables) const;

  private:
    const muster_pmdl_t* operations_;
    std::string name_;
};

}  // namespace muster
