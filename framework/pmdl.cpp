// SPDX-License-Identifier: BSD-3-Clause
// pmdl: see pmdl.hpp.
#include "framework/pmdl.hpp"

#include <iterator>

#include "framework/component_table.hpp"

namespace muster {

Result<void> Pmdl::setup_fork(const muster_pmdl_process_t& process,
                              std::vector<std::pair<std::string, std::string>>& variables) const {
    if (!MUSTER_HAS(operations_, setup_fork)) return unsupported(name_, "setup_fork");
    struct Taken {
        std::vector<std::pair<std::string, std::string>> list;
        bool no_memory = false;
    } taken;
    const muster_pmdl_set_fn_t set = [](void* to, const char* name, const char* value) noexcept {
        auto* in = static_cast<Taken*>(to);
        if (name == nullptr || value == nullptr || *name == '\0') return;
        try {
            in->list.emplace_back(name, value);
        } catch (...) {
            in->no_memory = true;
        }
    };
    Reason reason;
    const pmix_status_t status =
        operations_->setup_fork(operations_->context, &process, set, &taken, reason.text);
    if (status != PMIX_SUCCESS) return failed("pmdl", name_, status, reason);
    if (taken.no_memory) return Error{PMIX_ERR_NOMEM, "pmdl/" + name_ + ": out of memory"};
    variables.insert(variables.end(), std::make_move_iterator(taken.list.begin()),
                     std::make_move_iterator(taken.list.end()));
    return {};
}

}  // namespace muster
