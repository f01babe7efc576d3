// SPDX-License-Identifier: BSD-3-Clause
// What a spawn asks for, in words of muster: a node translates the attributes, the launcher acts.
#pragma once

#include <string>
#include <vector>

#include "tools/muster/command_line/options.hpp"
#include "tools/muster/exchange/buffer.hpp"
#include "tools/muster/jobs/job_table.hpp"

namespace muster::launcher {

struct SpawnRequest {
    ProcName parent;
    std::vector<AppSpec> apps;
    std::string map_by, bind_to;  ///< empty: as usual
    uint32_t cpus_per_proc = 0;   ///< 0: as usual
    bool no_oversubscribe = false;
    bool not_on_head = false;
    InputPolicy input;
    OutputPolicy output;
    uint32_t spawn_seconds = 0;  ///< 0: no limit
    uint32_t job_seconds = 0;    ///< 0: no limit
    JobWishes wishes;
    std::string attributes;         ///< packed, for the job's data
    std::string allocation;         ///< packed, what is wanted of the scheduler; empty: nothing
    bool needs_allocation = false;  ///< does not do without
    static auto fields(auto& self) {
        return std::tie(self.parent, self.apps, self.map_by, self.bind_to, self.cpus_per_proc,
                        self.no_oversubscribe, self.not_on_head, self.input, self.output, self.spawn_seconds,
                        self.job_seconds, self.wishes, self.attributes, self.allocation,
                        self.needs_allocation);
    }
};

}  // namespace muster::launcher
