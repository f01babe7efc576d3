// SPDX-License-Identifier: BSD-3-Clause
// Reading a job's map, and building it.
#include "framework/gds/job_map.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "framework/preg/name_list.hpp"
#include "framework/preg/number.hpp"

namespace muster {

namespace {

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Error bad_map(std::string text) {
    return {PMIX_ERR_BAD_PARAM, std::move(text)};
}

/// Of a node's name; eight bytes at a time.
uint64_t name_hash(std::string_view name) {
    constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
    uint64_t hash = name.size();
    while (name.size() >= 8) {
        uint64_t word = 0;
        std::memcpy(&word, name.data(), 8);
        hash = (hash ^ word) * kFactor;
        hash ^= hash >> 32;
        name.remove_prefix(8);
    }
    uint64_t word = 0;
    std::memcpy(&word, name.data(), name.size());
    hash = (hash ^ word) * kFactor;
    return hash ^ hash >> 32;
}

template <class T>
void append_comma_list(std::string& out, const T& values) {
    bool first = true;
    for (const auto value : values) {
        if (!first) out += ',';
        first = false;
        preg::append_number(out, value);
    }
}

}  // namespace

bool same_host(std::string_view a, std::string_view b) {
    if (a == b) return true;
    if (a.size() > b.size()) std::swap(a, b);
    return !a.empty() && a.size() < b.size() && b[a.size()] == '.' && b.starts_with(a) &&
           a.find('.') == std::string_view::npos && !is_number(a);
}

// --- reading ---

std::string_view JobMap::node_name(uint32_t node) const {
    return std::string_view(names_).substr(name_spans_[node].begin, name_spans_[node].length);
}

/// The place in the index of the node of that name, or the free one where it would be.
uint32_t JobMap::name_slot(std::string_view name) const {
    const size_t mask = name_index_.size() - 1;
    size_t slot = name_hash(name) & mask;
    while (name_index_[slot] != kNone && node_name(name_index_[slot]) != name)
        slot = (slot + 1) & mask;
    return static_cast<uint32_t>(slot);
}

void JobMap::grow_index() {
    const size_t wanted = std::max<size_t>(16, name_index_.size() * 4);
    name_index_.assign(wanted, kNone);
    for (uint32_t node = 0; node < node_count(); ++node) {
        if (node_name(node).empty()) continue;
        uint32_t& slot = name_index_[name_slot(node_name(node))];
        if (slot == kNone) slot = node;
    }
}

void JobMap::index_name(uint32_t node) {
    if (name_index_.size() < size_t{2} * node_count()) {
        grow_index();  // takes the node in
    } else if (!node_name(node).empty()) {
        uint32_t& slot = name_index_[name_slot(node_name(node))];
        if (slot == kNone) slot = node;
    }
}

uint32_t JobMap::find_by_label(std::string_view host) const {
    for (uint32_t node = 0; node < node_count(); ++node) {
        if (same_host(node_name(node), host)) return node;
    }
    return kNone;
}

uint32_t JobMap::find_node(std::string_view host) const {
    if (host.empty() || name_index_.empty()) return kNone;
    const uint32_t node = name_index_[name_slot(host)];
    if (node != kNone) return node;
    const auto alias = alias_index_.find(host);
    if (alias != alias_index_.end()) return alias->second;
    return find_by_label(host);
}

uint32_t JobMap::find_node_id(uint32_t id) const {
    if (ids_.empty()) return id < node_count() ? id : kNone;
    const auto at = std::lower_bound(by_id_.begin(), by_id_.end(), id,
                                     [this](uint32_t node, uint32_t wanted) { return ids_[node] < wanted; });
    return at != by_id_.end() && ids_[*at] == id ? *at : kNone;
}

std::string JobMap::aliases(uint32_t node) const {
    std::string out;
    for (const auto& [alias, of] : aliases_) {
        if (of != node) continue;
        if (!out.empty()) out += ',';
        out += alias;
    }
    return out;
}

uint32_t JobMap::node_in_order(pmix_rank_t rank) const {
    if (rank >= rank_starts_.back()) return kNone;
    // Mostly all nodes hold as many as the first.
    if (const uint32_t each = rank_starts_[1]; each != 0) {
        const uint32_t node = rank / each;
        if (node + size_t{1} < rank_starts_.size() && rank_starts_[node] <= rank &&
            rank < rank_starts_[node + size_t{1}]) {
            return node;
        }
    }
    const auto behind = std::upper_bound(rank_starts_.begin(), rank_starts_.end(), rank);
    return static_cast<uint32_t>(behind - rank_starts_.begin() - 1);
}

std::optional<uint32_t> JobMap::block() const {
    if (!in_order_ || placed() == 0 || placed() != rank_end_) return std::nullopt;
    const uint64_t each = rank_starts_[1];
    for (size_t node = 1; node < rank_starts_.size(); ++node) {
        if (rank_starts_[node] != std::min<uint64_t>(node * each, placed())) return std::nullopt;
    }
    return rank_starts_[1];
}

std::optional<uint32_t> JobMap::local_rank(pmix_rank_t rank) const {
    if (rank < local_ranks_.size() && local_ranks_[rank] != kNone) return local_ranks_[rank];
    const uint32_t node = node_of(rank);
    if (node == kNone) return std::nullopt;
    if (in_order_) return rank - rank_starts_[node];
    const NodeRanks ranks = ranks_on(node);
    return static_cast<uint32_t>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

std::optional<uint32_t> JobMap::node_rank(pmix_rank_t rank) const {
    if (rank < node_ranks_.size() && node_ranks_[rank] != kNone) return node_ranks_[rank];
    return local_rank(rank);
}

std::optional<uint32_t> JobMap::global_rank(pmix_rank_t rank) const {
    if (rank < global_ranks_.size() && global_ranks_[rank] != kNone) return global_ranks_[rank];
    if (global_offset_ && rank < rank_end_) return *global_offset_ + rank;
    return std::nullopt;
}

const JobMap::AppRun* JobMap::app_run(pmix_rank_t rank) const {
    if (rank >= rank_end_) return nullptr;
    auto at = std::upper_bound(app_runs_.begin(), app_runs_.end(), rank,
                               [](pmix_rank_t wanted, const AppRun& run) { return wanted < run.first; });
    return at == app_runs_.begin() ? nullptr : &*--at;
}

std::optional<uint32_t> JobMap::appnum(pmix_rank_t rank) const {
    if (rank >= rank_end_) return std::nullopt;
    if (apps_.empty()) return 0;
    const AppRun* run = app_run(rank);
    if (run == nullptr || run->app == kNone) return std::nullopt;
    return run->app;
}

std::optional<uint32_t> JobMap::app_rank(pmix_rank_t rank) const {
    if (rank < app_ranks_.size() && app_ranks_[rank] != kNone) return app_ranks_[rank];
    if (rank >= rank_end_) return std::nullopt;
    if (apps_.empty()) return rank;
    const AppRun* run = app_run(rank);
    if (run == nullptr || run->app == kNone) return std::nullopt;
    return run->first_app_rank + (rank - run->first);
}

const JobMap::App* JobMap::find_app(uint32_t number) const {
    const auto at = std::lower_bound(apps_.begin(), apps_.end(), number,
                                     [](const App& app, uint32_t wanted) { return app.number < wanted; });
    return at != apps_.end() && at->number == number ? &*at : nullptr;
}

std::string JobMap::peers(uint32_t node, std::optional<uint32_t> app) const {
    std::string out;
    if (!app) {
        append_comma_list(out, ranks_on(node));
        return out;
    }
    for (const pmix_rank_t rank : ranks_on(node)) {
        if (appnum(rank) != app) continue;
        if (!out.empty()) out += ',';
        preg::append_number(out, rank);
    }
    return out;
}

std::string JobMap::node_list(std::optional<uint32_t> app) const {
    std::string out;
    for (uint32_t node = 0; node < node_count(); ++node) {
        const auto ranks = ranks_on(node);
        const bool used =
            app ? std::any_of(ranks.begin(), ranks.end(), [&](pmix_rank_t r) { return appnum(r) == app; })
                : !ranks.empty() || placed() == 0;
        if (!used || node_name(node).empty()) continue;
        if (!out.empty()) out += ',';
        out += node_name(node);
    }
    return out;
}

uint32_t JobMap::app_nodes(uint32_t app) const {
    uint32_t count = 0;
    for (uint32_t node = 0; node < node_count(); ++node) {
        const auto ranks = ranks_on(node);
        count += std::any_of(ranks.begin(), ranks.end(), [&](pmix_rank_t r) { return appnum(r) == app; });
    }
    return count;
}

std::string JobMap::proc_map() const {
    std::string out;
    bool first = true;
    for (uint32_t node = 0; node < node_count(); ++node) {
        if (ranks_on(node).empty()) continue;
        if (!first) out += ';';
        first = false;
        append_comma_list(out, ranks_on(node));
    }
    return out;
}

size_t JobMap::memory() const {
    const size_t columns = 2 * name_spans_.capacity() + name_index_.capacity() + ids_.capacity() +
                           by_id_.capacity() + node_of_.capacity() + rank_starts_.capacity() +
                           ranks_.capacity() + local_ranks_.capacity() + node_ranks_.capacity() +
                           global_ranks_.capacity() + app_ranks_.capacity();
    return names_.capacity() + columns * sizeof(uint32_t) + app_runs_.capacity() * sizeof(AppRun) +
           apps_.capacity() * sizeof(App) + aliases_.capacity() * sizeof(aliases_[0]);
}

// --- building ---

JobMapBuilder::JobMapBuilder(const JobMap& previous) : map_(previous), offset_(previous.global_offset_) {
    std::vector<uint32_t>& starts = map_.rank_starts_;
    while (map_.in_order_ && starts.size() > 1 && starts.back() == starts[starts.size() - 2])
        starts.pop_back();
    for (uint32_t node = 0; node < map_.ids_.size(); ++node)
        id_index_.emplace(map_.ids_[node], node);
    // Applications are collected by rank again.
    for (pmix_rank_t rank = 0; !map_.app_runs_.empty() && rank < map_.rank_end_; ++rank) {
        const std::optional<uint32_t> app = map_.appnum(rank);
        if (app) set(app_of_, rank, *app);
    }
}

Result<void> JobMapBuilder::take_nodes(PregSet pregs, ByteView node_map, std::vector<uint32_t>& order) {
    struct State {
        JobMapBuilder* builder;
        std::vector<uint32_t>* order;
    } state{this, &order};
    const muster_preg_name_sink_t sink = {&state,
                                          [](void* data, const char* name, size_t length) -> pmix_status_t {
                                              auto* self = static_cast<State*>(data);
                                              try {
                                                  self->order->push_back(self->builder->node({name, length}));
                                              } catch (const std::bad_alloc&) {
                                                  return PMIX_ERR_NOMEM;
                                              }
                                              return PMIX_SUCCESS;
                                          }};
    return parse_node_regex(pregs, node_map, sink);
}

Result<void> JobMapBuilder::read_node_map(PregSet pregs, ByteView node_map) {
    std::vector<uint32_t> order;
    return take_nodes(pregs, node_map, order);
}

Result<void> JobMapBuilder::read_maps(PregSet pregs, ByteView node_map, ByteView proc_map) {
    std::vector<uint32_t> order;
    Result<void> nodes = take_nodes(pregs, node_map, order);
    if (!nodes) return nodes;
    clear_placement();

    struct State {
        JobMapBuilder* builder;
        const std::vector<uint32_t>* order;
        size_t at = 0;
        std::string problem;
    } state{this, &order, 0, {}};
    const muster_preg_rank_sink_t sink = {
        &state,
        [](void* data, uint32_t first, uint32_t last) -> pmix_status_t {
            auto* self = static_cast<State*>(data);
            try {
                if (self->at >= self->order->size()) return PMIX_ERR_BAD_PARAM;
                if (last >= kMaxRank) {
                    self->problem =
                        "the process map names rank " + std::to_string(last) + ", which is too high";
                    return PMIX_ERR_OUT_OF_RESOURCE;
                }
                const auto twice = self->builder->place_new(first, last, (*self->order)[self->at]);
                if (twice) {
                    self->problem = "the process map places rank " + std::to_string(*twice) + " twice";
                    return PMIX_ERR_BAD_PARAM;
                }
            } catch (const std::bad_alloc&) {
                return PMIX_ERR_NOMEM;
            }
            return PMIX_SUCCESS;
        },
        [](void* data) -> pmix_status_t {
            ++static_cast<State*>(data)->at;
            return PMIX_SUCCESS;
        }};
    Result<void> procs = parse_ppn_regex(pregs, proc_map, sink);
    if (!procs) {
        if (!state.problem.empty()) return Error{procs.status(), state.problem};
        if (state.at >= order.size()) {
            return bad_map("the process map has more entries than the node map, which names " +
                           std::to_string(order.size()) + " nodes");
        }
        return procs;
    }
    if (state.at < order.size()) {
        return bad_map("the process map has " + std::to_string(state.at) + " entries, the node map names " +
                       std::to_string(order.size()) + " nodes");
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
            const std::string_view digits = preg::take_digits(text);
            if (digits.empty() || digits.size() > 9 || !preg::take(text, i < 2 ? ',' : ')')) return bad();
            block[i] = preg::value_of(digits);
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
    if (name.empty() || map_.name_index_.empty()) return kNone;
    const uint32_t node = map_.name_index_[map_.name_slot(name)];
    if (node != kNone) return node;
    if (!map_.alias_index_.empty()) {
        const auto alias = map_.alias_index_.find(name);
        if (alias != map_.alias_index_.end()) return alias->second;
    }
    const auto found = found_.find(name);
    if (found != found_.end()) return found->second;
    const uint32_t by_label = map_.find_by_label(name);
    found_.emplace(name, by_label);
    return by_label;
}

uint32_t JobMapBuilder::node(std::string_view name) {
    // Exact names and aliases only: in one list two names are two nodes, however alike.
    if (!map_.name_index_.empty()) {
        const uint32_t known = map_.name_index_[map_.name_slot(name)];
        if (known != kNone) return known;
        const auto alias = map_.alias_index_.empty() ? map_.alias_index_.end() : map_.alias_index_.find(name);
        if (alias != map_.alias_index_.end()) return alias->second;
    }
    const uint32_t added = add_node();
    set_name(added, name);
    return added;
}

uint32_t JobMapBuilder::add_node() {
    const uint32_t node = map_.node_count();
    map_.name_spans_.push_back({});
    if (!map_.ids_.empty()) map_.ids_.push_back(kNone);
    return node;
}

void JobMapBuilder::set_name(uint32_t node, std::string_view name) {
    map_.name_spans_[node] = {static_cast<uint32_t>(map_.names_.size()), static_cast<uint32_t>(name.size())};
    map_.names_.append(name);
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

std::optional<pmix_rank_t> JobMapBuilder::place_new(pmix_rank_t first, pmix_rank_t last, uint32_t node) {
    if (append(first, last, node)) return std::nullopt;
    list_nodes();
    make_room(last + 1);
    for (pmix_rank_t rank = first; rank <= last; ++rank) {
        if (map_.node_of_[rank] != kNone) return rank;
        map_.node_of_[rank] = node;
    }
    return std::nullopt;
}

/// Places ranks that follow those placed before on the last node so far, or one behind it.
bool JobMapBuilder::append(pmix_rank_t first, pmix_rank_t last, uint32_t node) {
    std::vector<uint32_t>& starts = map_.rank_starts_;
    if (!map_.in_order_ || first != starts.back() || node + size_t{2} < starts.size()) return false;
    if (starts.size() < node + size_t{2}) starts.resize(node + size_t{2}, starts.back());
    starts.back() = last + 1;
    set_rank_end(last + 1);
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
    end = std::min(end, kMaxRank);
    map_.rank_end_ = std::max(map_.rank_end_, end);
}

bool JobMapBuilder::set(std::vector<uint32_t>& column, pmix_rank_t rank, uint32_t value) {
    if (rank >= kMaxRank) return false;
    map_.rank_end_ = std::max(map_.rank_end_, rank + 1);
    if (column.size() <= rank) column.resize(rank + size_t{1}, kNone);
    column[rank] = value;
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
    std::unordered_map<uint32_t, JobMap::App> apps;
    for (pmix_rank_t rank = 0; rank < map_.rank_end_; ++rank) {
        const uint32_t number = rank < app_of_.size() ? app_of_[rank] : kNone;
        JobMap::App* app = nullptr;
        if (number != kNone) {
            auto [at, fresh] = apps.try_emplace(number);
            app = &at->second;
            if (fresh) *app = {number, 0, rank};
        }
        if (map_.app_runs_.empty() || map_.app_runs_.back().app != number) {
            map_.app_runs_.push_back({rank, number, app != nullptr ? app->size : 0});
        }
        if (app != nullptr) ++app->size;
    }
    for (const auto& [number, app] : apps)
        map_.apps_.push_back(app);
    std::sort(map_.apps_.begin(), map_.apps_.end(),
              [](const JobMap::App& a, const JobMap::App& b) { return a.number < b.number; });
}

/// Columns that say nothing new are dropped; they are what makes a job large.
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
        // Nodes of which no id was said get those that nobody has.
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
