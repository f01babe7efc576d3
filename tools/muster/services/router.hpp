// SPDX-License-Identifier: BSD-3-Clause
// What nodes want of each other goes through the launcher: fences are gathered and answered, direct modexes
// passed to the node of the process that is asked.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "tools/muster/exchange/link.hpp"
#include "tools/muster/jobs/job_table.hpp"
#include "tools/muster/loop.hpp"
#include "tools/muster/report.hpp"
#include "tools/muster/services/gather.hpp"

namespace muster::launcher {

class Router {
  public:
    using Send = std::function<bool(uint32_t node, Kind kind, uint64_t id, const Writer& body)>;

    Router(Loop& loop, JobTable& jobs, Report& report, Send send);

    /// Takes one of the messages Fence, Modex, ModexDone of a node.
    void on_message(uint32_t node, Kind kind, uint64_t id, std::string_view body);
    /// A rank has ended: it takes part in no more.
    void proc_ended();
    /// A node is gone; what waits for it fails.
    void node_gone(uint32_t node);

  private:
    struct Modex {
        uint32_t asker = 0, target = 0;
        uint64_t id = 0;  ///< the asker's
        Watch timer;
    };

    void fence(uint32_t node, uint64_t id, std::string_view body);
    void fence_done(int32_t status, const Gather::Operation& fence);
    void modex(uint32_t node, uint64_t id, std::string_view body);
    void answer_modex(uint64_t id, int32_t status, std::string_view bytes);

    Loop& loop_;
    JobTable& jobs_;
    Report& report_;
    Send send_;
    Gather fences_;
    std::map<uint64_t, Modex> modexes_;  ///< by our own id
    uint64_t next_id_ = 1;
    std::set<uint32_t> gone_;  ///< nodes
};

}  // namespace muster::launcher
