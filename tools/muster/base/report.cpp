// SPDX-License-Identifier: BSD-3-Clause
// The table of --report.
#include "tools/muster/base/report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace muster::launcher {
namespace {

double milliseconds(Report::Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

std::string Report::text(size_t ranks, size_t nodes) const {
    std::string table = fmt::format("muster: {} ranks on {} node{}; milliseconds since the start\n", ranks,
                                    nodes, nodes == 1 ? "" : "s");
    table += fmt::format("  {:<10} {:>7} {:>10} {:>10}\n", "", "count", "first", "last");
    auto row = [&](const char* name, const std::vector<Clock::time_point>& times) {
        if (times.empty()) return;
        table += fmt::format("  {:<10} {:>7} {:>10.2f} {:>10.2f}\n", name, times.size(),
                             milliseconds(times.front() - begin_), milliseconds(times.back() - begin_));
    };
    if (servers_) row("servers", std::vector<Clock::time_point>(nodes, *servers_));
    row("spawn", started_);
    row("init", connected_);
    row("finalize", finalized_);
    row("end", ended_);
    if (!fences_.empty()) {
        std::vector<Clock::duration> sorted = fences_;
        std::ranges::sort(sorted);
        table += fmt::format("  {:<10} {:>7}   took {:.2f} (median), {:.2f} (longest); {} bytes of data\n",
                             "fence", sorted.size(), milliseconds(sorted[sorted.size() / 2]),
                             milliseconds(sorted.back()), fence_bytes_);
    }
    return table;
}

}  // namespace muster::launcher
