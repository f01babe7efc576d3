// SPDX-License-Identifier: BSD-3-Clause
// Building a job's map from the registered data.
#include <algorithm>
#include <map>
#include <numeric>

#include "framework/gds/job_map.hpp"
#include "framework/preg/name_list.hpp"
#include "framework/preg/number.hpp"

namespace muster {
namespace {

Error bad_map(std::string text) {
    return {PMIX_ERR_BAD_PARAM, std::move(text)};
}

}  // namespace

JobMapBuilder::JobMapBuilder(const JobMap& previous) : map_(previous), offset_(previous.global_offset_) {
    std::vector<uint32_t>& starts = map_.rank_starts_;
    while (map_.in_order_ && starts.size() > 1 && starts.back() == starts[starts.size() - 2])
        starts.pop_back();
    for (uint32_t node = 0; node < map_.ids_.size(); ++node)
        id_index_.emplace(map_.ids_[node], node);
    // Applications are collected by rank again.
    pmix_rank_t end = map_.rank_end_;
    for (auto run = map_.app_runs_.rbegin(); run != map_.app_runs_.rend(); ++run) {
        if (run->app != kNone) set_apps(run->first, end, run->app);
        end = run->first;
    }
}

Result<void> JobMapBuilder::take_nodes(PregSet pregs, ByteView node_map, NodeOrder& order) {
    struct State {
        JobMapBuilder* builder;
        NodeOrder* order;

        void add(const preg::NameRow& row) const {
            const uint32_t before = builder->node_count();
            if (builder->add_row(row)) return order->add(before, static_cast<uint32_t>(row.count));
            preg::RowNames names(row);
            for (uint64_t left = row.count; left != 0; --left, names.next())
                order->add(builder->node(names.name()));
        }
    } state{this, &order};
    const muster_preg_name_row_sink_t sink = {
        {&state,
         [](void* data, const char* name, size_t length) -> pmix_status_t {
             return preg::call_on<State>(data, [&](State& self) {
                 self.order->add(self.builder->node({name, length}));
                 return PMIX_SUCCESS;
             });
         }},
        [](void* data, const char* prefix, size_t prefix_length, uint64_t first, uint64_t count, size_t width,
           const char* suffix, size_t suffix_length) -> pmix_status_t {
            return preg::call_on<State>(data, [&](State& self) {
                self.add({{prefix, prefix_length}, first, count, width, {suffix, suffix_length}});
                return PMIX_SUCCESS;
            });
        }};
    return parse_node_regex(pregs, node_map, sink);
}

Result<void> JobMapBuilder::read_node_map(PregSet pregs, ByteView node_map) {
    NodeOrder order;
    return take_nodes(pregs, node_map, order);
}

/// Places ranks on nodes in the order of the node map.
struct JobMapBuilder::RankReader {
    JobMapBuilder& builder;
    const NodeOrder& order;
    size_t run = 0;     ///< of the order, where the current node is
    uint32_t past = 0;  ///< nodes of it that were passed
    size_t passed = 0;  ///< nodes in all
    std::string problem;

    bool at_end() const { return passed >= order.size(); }
    uint32_t node() const { return order.runs()[run].node + past; }
    /// Nodes from the current one on that follow each other.
    uint32_t following() const { return order.runs()[run].count - past; }
    void pass(uint32_t count) {
        passed += count;
        if (run == order.runs().size()) return;
        past += count;
        if (past == order.runs()[run].count) {
            ++run;
            past = 0;
        }
    }

    pmix_status_t ranks(uint32_t first, uint32_t last) {
        if (at_end()) return PMIX_ERR_BAD_PARAM;
        if (last >= kMaxRank) {
            problem = "the process map names rank " + std::to_string(last) + ", which is too high";
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        if (const auto twice = builder.place_new(first, last, node())) {
            problem = "the process map places rank " + std::to_string(*twice) + " twice";
            return PMIX_ERR_BAD_PARAM;
        }
        return PMIX_SUCCESS;
    }

    pmix_status_t row(uint64_t count, uint32_t first, uint32_t span, uint32_t step) {
        uint64_t next = first;
        while (count != 0 && step == uint64_t{span} + 1 && !at_end()) {
            const auto these = static_cast<uint32_t>(std::min<uint64_t>(count, following()));
            if (next + uint64_t{these} * step > kMaxRank ||
                !builder.append_row(node(), these, static_cast<pmix_rank_t>(next), step)) {
                break;
            }
            pass(these);
            count -= these;
            next += uint64_t{these} * step;
        }
        for (; count != 0; --count, next += step, pass(1)) {
            const pmix_status_t status =
                ranks(static_cast<uint32_t>(next), static_cast<uint32_t>(next + span));
            if (status != PMIX_SUCCESS) return status;
        }
        return PMIX_SUCCESS;
    }
};

Result<void> JobMapBuilder::read_maps(PregSet pregs, ByteView node_map, ByteView proc_map) {
    NodeOrder order;
    Result<void> nodes = take_nodes(pregs, node_map, order);
    if (!nodes) return nodes;
    clear_placement();

    RankReader reader{*this, order, 0, 0, 0, {}};
    const muster_preg_rank_row_sink_t sink = {
        {&reader,
         [](void* data, uint32_t first, uint32_t last) -> pmix_status_t {
             return preg::call_on<RankReader>(data, [&](RankReader& to) { return to.ranks(first, last); });
         },
         [](void* data) -> pmix_status_t {
             static_cast<RankReader*>(data)->pass(1);
             return PMIX_SUCCESS;
         }},
        [](void* data, uint64_t count, uint32_t first, uint32_t span, uint32_t step) -> pmix_status_t {
            return preg::call_on<RankReader>(
                data, [&](RankReader& to) { return to.row(count, first, span, step); });
        }};
    Result<void> procs = parse_ppn_regex(pregs, proc_map, sink);
    if (!procs) {
        if (!reader.problem.empty()) return Error{procs.status(), reader.problem};
        if (reader.at_end()) {
            return bad_map("the process map has more entries than the node map, which names " +
                           std::to_string(order.size()) + " nodes");
        }
        return procs;
    }
    if (!reader.at_end()) {
        return bad_map("the process map has " + std::to_string(reader.passed) +
                       " entries, the node map names " + std::to_string(order.size()) + " nodes");
    }
    return {};
}

Result<void> JobMapBuilder::read_anl_map(std::string_view text) {
    static constexpr std::string_view kTag = "(vector,";
    const auto bad = [] { return bad_map("PMIX_ANL_MAP is not (vector,(node,nodes,ranks),...)"); };
    if (!text.starts_with(kTag) || !text.ends_with(')')) return bad();
    text = text.substr(kTag.size(), text.size() - kTag.size() - 1);
    clear_placement();
    uint64_t rank = 0;
    while (!text.empty()) {
        uint64_t block[3] = {};
        if (!preg::take(text, '(')) return bad();
        for (int i = 0; i < 3; ++i) {
            const std::optional<uint64_t> number = preg::take_number(text, 9);
            if (!number || !preg::take(text, i < 2 ? ',' : ')')) return bad();
            block[i] = *number;
        }
        if (!text.empty() && !preg::take(text, ',')) return bad();
        if (rank + block[1] * block[2] > kMaxRank) {
            return Error{PMIX_ERR_OUT_OF_RESOURCE, "PMIX_ANL_MAP names too many ranks"};
        }
        if (block[0] + block[1] > std::max<uint64_t>(node_count(), preg::kDefaultLimit)) return bad();
        while (node_count() < block[0] + block[1])
            add_node();
        for (uint64_t node = block[0]; node < block[0] + block[1] && block[2] != 0; ++node) {
            place_new(static_cast<pmix_rank_t>(rank), static_cast<pmix_rank_t>(rank + block[2] - 1),
                      static_cast<uint32_t>(node));
            rank += block[2];
        }
    }
    return {};
}

void JobMapBuilder::clear_placement() {
    map_.in_order_ = true;
    map_.rank_starts_.assign(1, 0);
    map_.node_of_.clear();
    map_.local_ranks_.clear();
    map_.node_ranks_.clear();
    map_.rank_end_ = 0;
}

uint32_t JobMapBuilder::find_node(std::string_view name) {
    if (name.empty()) return kNone;
    const uint32_t node = map_.find_name_or_alias(name);
    if (node != kNone) return node;
    const auto found = found_.find(name);
    if (found != found_.end()) return found->second;
    const uint32_t by_label = map_.find_by_label(name);
    found_.emplace(name, by_label);
    return by_label;
}

uint32_t JobMapBuilder::node(std::string_view name) {
    // Exact names and aliases only: in one list two names are two nodes, however alike.
    const uint32_t known = map_.find_name_or_alias(name);
    if (known != kNone) return known;
    const uint32_t added = add_node();
    set_name(added, name);
    return added;
}

uint32_t JobMapBuilder::add_node() {
    index_rows();
    const uint32_t node = map_.node_count_++;
    map_.name_spans_.push_back({});
    if (!map_.ids_.empty()) map_.ids_.push_back(kNone);
    return node;
}

/// Whether it is plain that no name of the row is one of those of the rows before, and how it is taken apart.
bool JobMapBuilder::joins_rows(const preg::NameRow& row) const {
    if (!map_.name_spans_.empty() || !map_.alias_index_.empty()) return false;
    if (!row.prefix.empty() && preg::is_digit(row.prefix.back())) return false;
    if (!row.suffix.empty() && preg::is_digit(row.suffix.front())) return false;
    if (map_.rows_.empty()) return true;
    if (row.suffix != map_.text(map_.row_suffix_)) return false;
    const uint32_t group = map_.name_index_[map_.row_slot(row.prefix)];
    if (group == kNone) return true;
    const JobMap::Row& last = map_.rows_.back();
    return group + map_.rows_[group].group == map_.rows_.size() && row.first >= last.first + last.count;
}

bool JobMapBuilder::add_row(const preg::NameRow& row) {
    // The limits of preg are lower.
    if (row.count == 0 || row.count > UINT32_MAX - node_count() || row.prefix.size() > UINT16_MAX ||
        row.suffix.size() > UINT16_MAX || !joins_rows(row)) {
        return false;
    }
    // There must be space for the names of all rows if they may have to be stored one by one.
    const std::optional<size_t> size = row.size(UINT32_MAX - map_.row_bytes_);
    if (!size || *size + row.count > UINT32_MAX - map_.row_bytes_) return false;
    map_.row_bytes_ += *size + row.count;
    const auto keep = [this](std::string_view text) {
        const auto at = static_cast<uint32_t>(map_.names_.size());
        map_.names_.append(text);
        return JobMap::Span{at, static_cast<uint32_t>(text.size())};
    };
    std::vector<JobMap::Row>& rows = map_.rows_;
    if (rows.empty()) {
        map_.row_suffix_ = keep(row.suffix);
        map_.name_index_.assign(16, kNone);
    }
    const bool more = !rows.empty() && map_.text(rows.back().prefix) == row.prefix;
    rows.push_back({node_count(), static_cast<uint32_t>(row.count), row.first,
                    static_cast<uint32_t>(row.width), 0, more ? rows.back().prefix : keep(row.prefix)});
    if (more) {
        ++rows[map_.name_index_[map_.row_slot(row.prefix)]].group;
    } else {
        rows.back().group = 1;
        map_.index_row(static_cast<uint32_t>(rows.size() - 1));
    }
    map_.node_count_ += static_cast<uint32_t>(row.count);
    if (!map_.ids_.empty()) map_.ids_.resize(map_.node_count_, kNone);
    const auto dotted = [](std::string_view text) { return text.find('.') != std::string_view::npos; };
    map_.dots_ = map_.dots_ || dotted(row.prefix) || dotted(row.suffix);
    found_.clear();
    return true;
}

/// From here on each node has its own name, found by the index.
void JobMapBuilder::index_rows() {
    if (map_.rows_.empty()) return;
    std::string names;
    std::vector<JobMap::Span> spans;
    spans.reserve(node_count());
    map_.each_node_name([&](uint32_t, std::string_view name) {
        spans.push_back({static_cast<uint32_t>(names.size()), static_cast<uint32_t>(name.size())});
        names.append(name) += ',';
    });
    map_.names_ = std::move(names);
    map_.name_spans_ = std::move(spans);
    map_.rows_.clear();
    map_.row_bytes_ = 0;
    map_.name_index_.clear();
    map_.grow_index();
}

void JobMapBuilder::set_name(uint32_t node, std::string_view name) {
    index_rows();
    map_.dots_ = map_.dots_ || name.find('.') != std::string_view::npos;
    map_.name_spans_[node] = {static_cast<uint32_t>(map_.names_.size()), static_cast<uint32_t>(name.size())};
    map_.names_.append(name) += ',';
    map_.index_name(node);
    if (!found_.empty()) found_.clear();
}

uint32_t JobMapBuilder::find_node_id(uint32_t id) const {
    const auto known = id_index_.find(id);
    if (known != id_index_.end()) return known->second;
    return id < node_count() && !has_id(id) ? id : kNone;
}

bool JobMapBuilder::set_id(uint32_t node, uint32_t id) {
    if (map_.ids_.empty()) map_.ids_.assign(node_count(), kNone);
    if (map_.ids_[node] != kNone) return map_.ids_[node] == id;
    if (!id_index_.emplace(id, node).second) return false;
    map_.ids_[node] = id;
    return true;
}

void JobMapBuilder::add_alias(uint32_t node, std::string_view alias) {
    if (alias.empty() || alias == map_.node_name(node)) return;
    if (!map_.alias_index_.emplace(alias, node).second) return;
    map_.aliases_.emplace_back(alias, node);
}

bool JobMapBuilder::place(pmix_rank_t rank, uint32_t node) {
    if (placed(rank)) return node_of(rank) == node;
    return replace(rank, node);
}

bool JobMapBuilder::replace(pmix_rank_t rank, uint32_t node) {
    if (rank >= kMaxRank) return false;
    if (append(rank, rank, node) || node_of(rank) == node) return true;
    list_nodes();
    make_room(rank + 1);
    map_.node_of_[rank] = node;
    return true;
}

std::optional<pmix_rank_t> JobMapBuilder::place_new(pmix_rank_t first, pmix_rank_t last, uint32_t node,
                                                    uint32_t step) {
    if ((step == 1 || first == last) && append(first, last, node)) return std::nullopt;
    list_nodes();
    make_room(last + 1);
    for (pmix_rank_t rank = first; rank <= last; rank += step) {
        if (map_.node_of_[rank] != kNone) return rank;
        map_.node_of_[rank] = node;
    }
    return std::nullopt;
}

/// Places the next ranks on the last node so far, or on the one after it.
bool JobMapBuilder::append(pmix_rank_t first, pmix_rank_t last, uint32_t node) {
    std::vector<uint32_t>& starts = map_.rank_starts_;
    if (!map_.in_order_ || first != starts.back() || node + size_t{2} < starts.size()) return false;
    if (starts.size() < node + size_t{2}) starts.resize(node + size_t{2}, starts.back());
    starts.back() = last + 1;
    set_rank_end(last + 1);
    return true;
}

/// The same for `count` nodes, with `each` ranks each.
bool JobMapBuilder::append_row(uint32_t node, uint32_t count, pmix_rank_t first, uint32_t each) {
    std::vector<uint32_t>& starts = map_.rank_starts_;
    if (count == 0 || !append(first, first + each - 1, node)) return false;
    starts.resize(node + size_t{1} + count);
    for (uint32_t i = 1; i < count; ++i)
        starts[node + size_t{1} + i] = first + (i + 1) * each;
    set_rank_end(starts.back());
    return true;
}

/// From here on each rank may be on any node.
void JobMapBuilder::list_nodes() {
    if (!map_.in_order_) return;
    const std::vector<uint32_t>& starts = map_.rank_starts_;
    map_.node_of_.resize(starts.back());
    for (uint32_t node = 0; node + size_t{1} < starts.size(); ++node) {
        std::fill(map_.node_of_.begin() + starts[node], map_.node_of_.begin() + starts[node + size_t{1}],
                  node);
    }
    map_.in_order_ = false;
}

/// For ranks up to `end` in the list.
void JobMapBuilder::make_room(pmix_rank_t end) {
    set_rank_end(end);
    if (map_.node_of_.size() < end) map_.node_of_.resize(end, kNone);
}

void JobMapBuilder::set_rank_end(pmix_rank_t end) {
    map_.rank_end_ = std::max(map_.rank_end_, std::min(end, kMaxRank));
}

bool JobMapBuilder::set(std::vector<uint32_t>& column, pmix_rank_t rank, uint32_t value) {
    if (rank >= kMaxRank) return false;
    set_rank_end(rank + 1);
    if (column.size() <= rank) column.resize(rank + size_t{1}, kNone);
    column[rank] = value;
    return true;
}

bool JobMapBuilder::set_apps(pmix_rank_t first, pmix_rank_t end, uint32_t app) {
    if (first >= end) return true;
    if (!set(app_of_, end - 1, app)) return false;
    std::fill(app_of_.begin() + first, app_of_.begin() + end, app);
    return true;
}

void JobMapBuilder::build_ranks() {
    const uint32_t nodes = node_count();
    std::vector<uint32_t>& starts = map_.rank_starts_;
    map_.ranks_ = {};
    if (map_.in_order_) {
        starts.resize(nodes + size_t{1}, starts.back());
    } else {
        starts.assign(nodes + size_t{1}, 0);
        for (const uint32_t node : map_.node_of_) {
            if (node != kNone) ++starts[node + size_t{1}];
        }
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        map_.ranks_.resize(starts[nodes]);
        std::vector<uint32_t> at(starts.begin(), starts.end() - 1);
        for (pmix_rank_t rank = 0; rank < map_.node_of_.size(); ++rank) {
            if (map_.node_of_[rank] != kNone) map_.ranks_[at[map_.node_of_[rank]]++] = rank;
        }
        map_.in_order_ = true;
        for (pmix_rank_t place = 0; place < map_.ranks_.size() && map_.in_order_; ++place)
            map_.in_order_ = map_.ranks_[place] == place;
        if (map_.in_order_) {
            map_.node_of_ = {};
            map_.ranks_ = {};
        }
    }
    map_.used_nodes_ = 0;
    for (uint32_t node = 0; node < nodes; ++node)
        map_.used_nodes_ += starts[node] != starts[node + size_t{1}];
}

void JobMapBuilder::build_apps() {
    map_.app_runs_.clear();
    map_.apps_.clear();
    if (app_of_.empty()) return;
    app_of_.resize(map_.rank_end_, kNone);
    std::map<uint32_t, JobMap::App> apps;
    const auto begin = app_of_.begin();
    for (pmix_rank_t first = 0, end = 0; first < map_.rank_end_; first = end) {
        const uint32_t number = app_of_[first];
        const auto other =
            std::find_if(begin + first, app_of_.end(), [number](uint32_t app) { return app != number; });
        end = static_cast<pmix_rank_t>(other - begin);
        if (number == kNone) {
            map_.app_runs_.push_back({first, kNone, 0});
            continue;
        }
        JobMap::App& app = apps.try_emplace(number, JobMap::App{number, 0, first}).first->second;
        map_.app_runs_.push_back({first, number, app.size});
        app.size += end - first;
    }
    for (const auto& [number, app] : apps)
        map_.apps_.push_back(app);
}

/// Redundant columns are dropped; they are the largest part of a job.
void JobMapBuilder::drop_derived() {
    const auto drop = [](std::vector<uint32_t>& column, auto&& derived) {
        if (column.empty()) return;
        std::vector<uint32_t> given;
        given.swap(column);  // so that the accessor derives
        for (pmix_rank_t rank = 0; rank < given.size(); ++rank) {
            if (given[rank] != kNone && derived(rank) != given[rank]) {
                given.shrink_to_fit();
                given.swap(column);
                return;
            }
        }
    };
    // The place of each rank on its node, as mostly: found without asking for each.
    const auto by_place = [this](const std::vector<uint32_t>& column) {
        if (!map_.in_order_ || column.size() > map_.placed()) return false;
        pmix_rank_t rank = 0;
        for (uint32_t node = 0; node < node_count() && rank < column.size(); ++node) {
            const uint32_t first = rank, end = map_.rank_starts_[node + size_t{1}];
            for (; rank < end && rank < column.size(); ++rank) {
                if (column[rank] != kNone && column[rank] != rank - first) return false;
            }
        }
        return true;
    };
    if (by_place(map_.local_ranks_)) map_.local_ranks_ = {};
    if (map_.local_ranks_.empty() && by_place(map_.node_ranks_)) map_.node_ranks_ = {};
    drop(map_.local_ranks_, [this](pmix_rank_t rank) { return map_.local_rank(rank); });
    drop(map_.node_ranks_, [this](pmix_rank_t rank) { return map_.node_rank(rank); });
    drop(map_.app_ranks_, [this](pmix_rank_t rank) { return map_.app_rank(rank); });
    if (!offset_ && map_.global_ranks_.size() == map_.rank_end_ && !map_.global_ranks_.empty() &&
        std::find(map_.global_ranks_.begin(), map_.global_ranks_.end(), kNone) == map_.global_ranks_.end()) {
        offset_ = map_.global_ranks_[0];
    }
    map_.global_offset_ = offset_;
    drop(map_.global_ranks_, [this](pmix_rank_t rank) { return map_.global_rank(rank); });
}

JobMap JobMapBuilder::build() && {
    build_ranks();
    build_apps();
    drop_derived();
    map_.by_id_.clear();
    if (!map_.ids_.empty()) {
        // Nodes without an id get unused ones.
        std::vector<uint32_t> taken(map_.ids_);
        std::sort(taken.begin(), taken.end());
        for (uint32_t node = 0, next = 0; node < node_count(); ++node) {
            if (map_.ids_[node] != kNone) continue;
            while (std::binary_search(taken.begin(), taken.end(), next))
                ++next;
            map_.ids_[node] = next++;
        }
        map_.by_id_.resize(map_.ids_.size());
        std::iota(map_.by_id_.begin(), map_.by_id_.end(), 0);
        std::stable_sort(map_.by_id_.begin(), map_.by_id_.end(),
                         [this](uint32_t a, uint32_t b) { return map_.ids_[a] < map_.ids_[b]; });
        bool identity = true;
        for (uint32_t node = 0; node < node_count(); ++node)
            identity = identity && map_.ids_[node] == node;
        if (identity) {
            map_.ids_.clear();
            map_.by_id_.clear();
        }
    }
    return std::move(map_);
}

}  // namespace muster
