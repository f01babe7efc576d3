// SPDX-License-Identifier: BSD-3-Clause
// pmdl: see pmdl.hpp.
#include "framework/pmdl.hpp"

namespace muster {

Result<void> Pmdl::setup_fork(const muster_pmdl_process_t& process, Variables& variables) const {
    if (!MUSTER_HAS(operations_, setup_fork)) return unsupported(name_, "setup_fork");
    return take_variables("pmdl", name_, variables, [&](auto set, void* to, char* reason) {
        return operations_->setup_fork(operations_->context, &process, set, to, reason);
    });
}

}  // namespace muster
