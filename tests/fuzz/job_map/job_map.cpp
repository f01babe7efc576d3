// SPDX-License-Identifier: BSD-3-Clause
// The map of a job as a server sends it to a client. A readable map must be consistent, and read as the same
// when it is written again.

#include "framework/gds/job_map.hpp"

#include <algorithm>
#include "tests/fuzz/require.hpp"

namespace {

using namespace muster;

/// So many ranks of a map are looked at, and maps of more than kLong are not written again: a few bytes may
/// place 16 million, and each step of such a map is watched.
constexpr size_t kLooks = 65536;
constexpr pmix_rank_t kLong = 1 << 20;

void check(const JobMap& map) {
    const size_t step = 1 + map.placed() / kLooks;
    size_t placed = 0;
    for (uint32_t node = 0; node < map.node_count(); ++node) {
        require(map.find_node_id(map.node_id(node)) != JobMap::kNone);
        const auto ranks = map.ranks_on(node);
        placed += ranks.size();
        for (size_t i = 0; i < ranks.size(); i += step) {
            const pmix_rank_t rank = ranks[i];
            require(map.node_of(rank) == node && rank < map.rank_end());
            require(map.local_rank(rank).has_value());
            (void)map.appnum(rank);
            (void)map.app_rank(rank);
        }
    }
    require(placed == map.placed());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const Result<JobMap> map = JobMap::decode({data, size});
    if (!map) return 0;
    check(*map);
    if (map->rank_end() > kLong) return 0;
    Bytes first;
    (*map).encode(first);
    const Result<JobMap> again = JobMap::decode(first.view());
    require(again.ok());
    check(*again);
    Bytes second;
    (*again).encode(second);
    require(first.size() == second.size() &&
            std::equal(first.data(), first.data() + first.size(), second.data()));
    return 0;
}
