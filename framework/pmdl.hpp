// SPDX-License-Identifier: BSD-3-Clause
// pmdl: the environment variables of programming models. Facade over the SDK's C interface
// (pmix/sdk/pmdl.h).
#pragma once

#include <pmix/sdk/pmdl.h>

#include "framework/base/result.hpp"
#include "framework/component_table.hpp"

namespace muster {

/// One component. One thread at a time.
class Pmdl : public TableFacade<muster_pmdl_t> {
  public:
    using TableFacade::TableFacade;

    /// Appends the variables (name, value) of the process; nothing on failure.
    Result<void> setup_fork(const muster_pmdl_process_t& process, Variables& variables) const {
        if (!MUSTER_HAS(operations_, setup_fork)) return unsupported(name_, "setup_fork");
        return take_variables("pmdl", name_, variables, [&](auto set, void* to, char* reason) {
            return operations_->setup_fork(operations_->context, &process, set, to, reason);
        });
    }
};

}  // namespace muster
