// SPDX-License-Identifier: BSD-3-Clause
// Lists of processors as people write them, such as "0-3,8", and whether a thread of this process may be
// bound to them.
#pragma once

#include <sched.h>

#include <optional>
#include <string_view>

namespace muster {

/// The processors that `text` names: numbers and ranges with both ends, separated by commas. Nothing for any
/// other text: empty, with blanks, with a descending range, or with a number beyond cpu_set_t.
std::optional<cpu_set_t> read_cpu_list(std::string_view text);

/// Whether a thread of this process can be bound to some of them: tried with a thread that ends at once.
bool can_bind_to(const cpu_set_t& processors) noexcept;

}  // namespace muster
