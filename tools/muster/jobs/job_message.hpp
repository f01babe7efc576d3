// SPDX-License-Identifier: BSD-3-Clause
// A job as the launcher describes it to the nodes.
#pragma once

#include "tools/muster/exchange/message.hpp"
#include "tools/muster/jobs/job.hpp"

namespace muster::launcher {

void write_job(Writer& out, const Job& job);

/// The changes of an application's environment, in jobs and in requests to spawn some.
void write_env_changes(Writer& out, const std::vector<EnvChange>& changes);
std::vector<EnvChange> read_env_changes(Reader& in);

/// False when it is damaged, or contradicts itself; `job` is not to be used then.
bool read_job(Reader& in, Job& job);

}  // namespace muster::launcher
