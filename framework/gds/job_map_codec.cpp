// SPDX-License-Identifier: BSD-3-Clause
// The compact form of a job's map, as sent to clients that also run this library. All numbers are in
// groups of seven bits, least significant first, the highest bit of a byte saying that another follows:
//   version 1
//   nodes: count; 1 and a shortened list as in preg, or 0 and each name's length and bytes
//   ids: 0, or 1 and one for each node
//   aliases: count, each its node, length and bytes
// ranks: end of ranks; then until all nodes are given:
//          0, number of ranks, first rank, runs of (distance to the next, how often)
//          or 1, K, S: the next K nodes hold what the one before holds, each S higher
//   applications: number of runs, each its first rank and application (0: not said, else number + 1)
//   global ranks: 0, or 1 and the first one's
//   local, node, global and application ranks: each 0, or 1 and one for each rank (0: derived, else value +
//   1)
#include <algorithm>
#include <array>

#include "framework/gds/job_map.hpp"
#include "framework/preg/name_list.hpp"

namespace muster {
namespace {

constexpr uint64_t kVersion = 1;

void put(Bytes& out, uint64_t value) {
    while (value >= 0x80) {
        out.push_back(static_cast<uint8_t>(value | 0x80));
        value >>= 7;
    }
    out.push_back(static_cast<uint8_t>(value));
}

void put(Bytes& out, std::string_view text) {
    put(out, text.size());
    out.append(text.data(), text.size());
}

/// Reads; after a failure everything is zero and failed() true.
class In {
  public:
    explicit In(ByteView bytes) : reader_(bytes) {}
    uint64_t number(uint64_t limit = UINT32_MAX) {
        uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            uint8_t byte = 0;
            if (!reader_.read_byte(byte)) break;
            value |= uint64_t{byte & 0x7fu} << shift;
            if ((byte & 0x80) == 0) {
                if (value > limit) break;
                return value;
            }
        }
        failed_ = true;
        return 0;
    }
    std::string_view text() {
        ByteView bytes;
        if (!reader_.read(number(), bytes)) failed_ = true;
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    bool flag() { return number(1) == 1; }
    size_t remaining() const { return reader_.remaining(); }
    bool failed() const { return failed_; }
    void fail() { failed_ = true; }

  private:
    ByteReader reader_;
    bool failed_ = false;
};

bool joinable(std::string_view name) {
    return !name.empty() && name.find_first_of(",[]") == std::string_view::npos;
}

void put_names(Bytes& out, const JobMap& map) {
    std::string list, shortened;
    bool plain = true;
    map.each_node_name([&](uint32_t node, std::string_view name) {
        plain = plain && joinable(name);
        if (node != 0) list += ',';
        list += name;
    });
    put(out, map.node_count());
    if (plain && preg::shorten_names(list, shortened)) {
        put(out, 1);
        put(out, shortened);
        return;
    }
    put(out, 0);
    map.each_node_name([&](uint32_t, std::string_view name) { put(out, name); });
}

/// How much higher the ranks of `next` are than those of `node`; nothing if they are not the same so.
std::optional<uint32_t> shift_of(const JobMap& map, uint32_t node, uint32_t next) {
    const auto a = map.ranks_on(node), b = map.ranks_on(next);
    if (a.empty() || a.size() != b.size() || b[0] < a[0]) return std::nullopt;
    const uint32_t shift = b[0] - a[0];
    if (a.consecutive() && b.consecutive()) return shift;
    for (size_t i = 0; i < a.size(); ++i) {
        if (b[i] - a[i] != shift) return std::nullopt;
    }
    return shift;
}

void put_ranks(Bytes& out, const JobMap& map) {
    put(out, map.rank_end());
    uint32_t repeated = 0, shift = 0;
    const auto flush = [&] {
        if (repeated == 0) return;
        put(out, 1);
        put(out, repeated);
        put(out, shift);
        repeated = 0;
    };
    for (uint32_t node = 0; node < map.node_count(); ++node) {
        if (node != 0) {
            const std::optional<uint32_t> by = shift_of(map, node - 1, node);
            if (by && (repeated == 0 || *by == shift)) {
                shift = *by;
                ++repeated;
                continue;
            }
        }
        flush();
        const auto ranks = map.ranks_on(node);
        put(out, 0);
        put(out, ranks.size());
        if (ranks.empty()) continue;
        put(out, ranks[0]);
        for (size_t i = 1; i < ranks.size();) {
            const uint32_t distance = ranks[i] - ranks[i - 1];
            size_t end = ranks.consecutive() ? ranks.size() : i + 1;
            while (end < ranks.size() && ranks[end] - ranks[end - 1] == distance)
                ++end;
            put(out, distance);
            put(out, end - i);
            i = end;
        }
    }
    flush();
}

/// Ranks of one node, `distance` from each to the next.
struct RankRun {
    uint64_t first = 0;
    uint64_t distance = 1;
    uint64_t count = 1;

    uint64_t last() const { return first + distance * (count - 1); }
};

/// The ranks of one node, `count` in all and not none.
bool take_runs(In& in, uint64_t count, std::vector<RankRun>& runs) {
    runs.clear();
    runs.push_back({in.number(JobMapBuilder::kMaxRank)});
    for (uint64_t more = count - 1; more != 0 && !in.failed();) {
        const uint64_t last = runs.back().last();
        const uint64_t distance = in.number(JobMapBuilder::kMaxRank);
        const uint64_t times = in.number(more);
        if (times == 0 || distance == 0 || last + distance * times >= JobMapBuilder::kMaxRank) return false;
        if (runs.back().count == 1) {
            runs.back() = {last, distance, times + 1};
        } else {
            runs.push_back({last + distance, distance, times});
        }
        more -= times;
    }
    return !in.failed();
}

bool take_ranks(In& in, JobMapBuilder& builder) {
    builder.set_rank_end(static_cast<pmix_rank_t>(in.number(JobMapBuilder::kMaxRank)));
    std::vector<RankRun> runs;
    // False if a rank is too high, or on a node already.
    const auto place = [&](uint32_t node) {
        return std::all_of(runs.begin(), runs.end(), [&](const RankRun& run) {
            const uint64_t last = run.last();
            return last < JobMapBuilder::kMaxRank &&
                   !builder.place_new(static_cast<pmix_rank_t>(run.first), static_cast<pmix_rank_t>(last),
                                      node, static_cast<uint32_t>(run.distance));
        });
    };
    for (uint32_t node = 0; node < builder.node_count() && !in.failed();) {
        if (in.flag()) {
            const uint64_t repeated = in.number(builder.node_count() - node);
            const uint64_t shift = in.number();
            if (runs.empty() || repeated == 0) return false;
            for (uint64_t i = 0; i < repeated; ++i, ++node) {
                for (RankRun& run : runs)
                    run.first += shift;
                if (!place(node)) return false;
            }
            continue;
        }
        runs.clear();
        const uint64_t count = in.number(JobMapBuilder::kMaxRank);
        if (count != 0 && (!take_runs(in, count, runs) || !place(node))) return false;
        ++node;
    }
    return !in.failed();
}

}  // namespace

void JobMap::encode(Bytes& out) const {
    put(out, kVersion);
    put_names(out, *this);
    put(out, ids_.empty() ? 0 : 1);
    for (const uint32_t id : ids_)
        put(out, id);
    put(out, aliases_.size());
    for (const auto& [alias, node] : aliases_) {
        put(out, node);
        put(out, alias);
    }
    put_ranks(out, *this);
    put(out, app_runs_.size());
    for (const AppRun& run : app_runs_) {
        put(out, run.first);
        put(out, (uint64_t{run.app} + 1) & UINT32_MAX);
    }
    put(out, global_offset_ ? 1 : 0);
    if (global_offset_) put(out, *global_offset_);
    for (const auto* column : {&local_ranks_, &node_ranks_, &global_ranks_, &app_ranks_}) {
        put(out, column->empty() ? 0 : 1);
        if (!column->empty()) put(out, column->size());
        for (const uint32_t value : *column)
            put(out, (uint64_t{value} + 1) & UINT32_MAX);
    }
}

Result<JobMap> JobMap::decode(ByteView bytes) {
    const Error broken{PMIX_ERR_UNPACK_FAILURE, "the map of the job that the server sent cannot be read"};
    In in(bytes);
    if (in.number() != kVersion) {
        return Error{PMIX_ERR_UNPACK_FAILURE,
                     "the map of the job is of another version than this library reads"};
    }
    JobMapBuilder builder;
    const uint64_t nodes = in.number(preg::kDefaultLimit);
    if (in.flag()) {
        struct State {
            JobMapBuilder* builder;
            uint64_t nodes;

            pmix_status_t name(std::string_view name) const {
                const uint32_t before = builder->node_count();
                if (before == nodes) return PMIX_ERR_BAD_PARAM;
                return builder->node(name) == before ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
            }
            pmix_status_t row(const preg::NameRow& row) const {
                if (row.count > nodes - builder->node_count()) return PMIX_ERR_BAD_PARAM;
                if (builder->add_row(row)) return PMIX_SUCCESS;
                preg::RowNames names(row);
                pmix_status_t status = PMIX_SUCCESS;
                for (uint64_t left = row.count; left != 0 && status == PMIX_SUCCESS; --left, names.next())
                    status = name(names.name());
                return status;
            }
        } state{&builder, nodes};
        const muster_preg_name_row_sink_t sink = {
            {&state,
             [](void* data, const char* name, size_t length) -> pmix_status_t {
                 return static_cast<State*>(data)->name({name, length});
             }},
            [](void* data, const char* prefix, size_t prefix_length, uint64_t first, uint64_t count,
               size_t width, const char* suffix, size_t suffix_length) -> pmix_status_t {
                return static_cast<State*>(data)->row(
                    {{prefix, prefix_length}, first, count, width, {suffix, suffix_length}});
            }};
        // The sink counts: the limit is also one for the bytes of all names, which a few long ones may need.
        if (preg::parse_names(in.text(), preg::kDefaultLimit, sink, preg::Brackets::Strict) != PMIX_SUCCESS)
            return broken;
    } else {
        if (nodes > in.remaining()) return broken;
        for (uint64_t i = 0; i < nodes; ++i) {
            const std::string_view name = in.text();
            if (in.failed()) return broken;
            if (name.empty() ? builder.add_node() != i : builder.node(name) != i) return broken;
        }
    }
    if (in.failed() || builder.node_count() != nodes) return broken;
    if (in.flag()) {
        for (uint32_t node = 0; node < nodes; ++node)
            builder.set_id(node, static_cast<uint32_t>(in.number()));
    }
    for (uint64_t n = in.number(in.remaining()); n != 0 && !in.failed(); --n) {
        const uint64_t node = in.number();
        const std::string_view alias = in.text();
        if (in.failed() || node >= nodes) return broken;
        builder.add_alias(static_cast<uint32_t>(node), alias);
    }
    if (in.failed() || !take_ranks(in, builder)) return broken;

    const pmix_rank_t rank_end = builder.rank_end();
    const uint64_t runs = in.number(in.remaining());
    uint64_t first = 0, app = 0;
    for (uint64_t i = 0; i <= runs && runs != 0; ++i) {
        const uint64_t end = i == runs ? rank_end : in.number();
        const uint64_t next = i == runs ? 0 : in.number();
        if (in.failed() || end < first || end > rank_end) return broken;
        if (app != 0) {
            builder.set_apps(static_cast<pmix_rank_t>(first), static_cast<pmix_rank_t>(end),
                             static_cast<uint32_t>(app - 1));
        }
        first = end;
        app = next;
    }
    if (in.flag()) builder.set_global_offset(static_cast<uint32_t>(in.number()));
    using Set = bool (JobMapBuilder::*)(pmix_rank_t, uint32_t);
    for (const Set set : std::array<Set, 4>{&JobMapBuilder::set_local_rank, &JobMapBuilder::set_node_rank,
                                            &JobMapBuilder::set_global_rank, &JobMapBuilder::set_app_rank}) {
        if (!in.flag()) continue;
        const uint64_t count = in.number(rank_end);
        if (count > in.remaining()) return broken;
        for (uint64_t rank = 0; rank < count; ++rank) {
            const uint64_t value = in.number();
            if (value != 0) (builder.*set)(static_cast<pmix_rank_t>(rank), static_cast<uint32_t>(value - 1));
        }
    }
    if (in.failed()) return broken;
    return std::move(builder).build();
}

}  // namespace muster
