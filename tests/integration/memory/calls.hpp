// SPDX-License-Identifier: BSD-3-Clause
// The calls in which allocations fail, by role.
#pragma once

#include <pmix_common.h>

#include <functional>
#include <string>
#include <vector>

namespace failing {

/// One call, made repeatedly. The allocations of `run` fail, those of `before` and `after` do not.
struct Call {
    std::string name;
    std::function<pmix_status_t()> run;
    std::function<void()> before = [] {};
    std::function<void()> after = [] {};  ///< after it has succeeded
};

/// The calls of an initialised process of the role "client", "tool" or "server", with init and finalize.
std::vector<Call> calls_of(const std::string& role);

/// Waits for the callbacks of calls that are not blocking. Returns whether each accepted call got exactly one
/// callback, and no other call got one.
bool callbacks_are_right();

}  // namespace failing
