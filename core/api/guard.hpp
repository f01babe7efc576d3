// SPDX-License-Identifier: BSD-3-Clause
// The C boundary: no exception crosses it.
#pragma once

#include <pmix_common.h>

#include <new>
#include <utility>

namespace muster {

/// Runs a function that returns a status; exceptions become PMIX_ERR_NOMEM (std::bad_alloc) or PMIX_ERROR.
template <class Function>
pmix_status_t guard(Function&& function) noexcept {
    try {
        return std::forward<Function>(function)();
    } catch (const std::bad_alloc&) {
        return PMIX_ERR_NOMEM;
    } catch (...) {
        return PMIX_ERROR;
    }
}

/// Runs a function of any other result; exceptions become `otherwise`.
template <class Function, class Otherwise>
auto guard(Function&& function, Otherwise otherwise) noexcept -> decltype(function()) {
    try {
        return std::forward<Function>(function)();
    } catch (...) {
        return otherwise;
    }
}

}  // namespace muster
