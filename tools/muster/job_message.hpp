// SPDX-License-Identifier: BSD-3-Clause
// A job as the launcher describes it to the nodes.
#pragma once

#include "tools/muster/job.hpp"
#include "tools/muster/message.hpp"

namespace muster {

void write_job(Writer& out, const Job& job);

/// False when it is damaged, or contradicts itself; `job` is not to be used then.
bool read_job(Reader& in, Job& job);

}  // namespace muster
