// SPDX-License-Identifier: BSD-3-Clause
// Reading a job's map.
#include "framework/gds/job_map.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "framework/preg/name_list.hpp"
#include "framework/preg/number.hpp"

namespace muster {

namespace {

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Hashes a node's name, eight bytes at a time.
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

/// Appends the wanted ones of `ranks`.
template <class Wanted>
void append_ranks(std::string& out, const NodeRanks& ranks, Wanted&& wanted) {
    bool first = true;
    for (const pmix_rank_t rank : ranks) {
        if (!wanted(rank)) continue;
        if (!std::exchange(first, false)) out += ',';
        preg::append_number(out, rank);
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

preg::NameRow JobMap::name_row(const Row& row) const {
    return {text(row.prefix), row.first, row.count, row.width, text(row_suffix_)};
}

std::string JobMap::node_name(uint32_t node) const {
    if (rows_.empty()) return std::string(text(name_spans_[node]));
    const auto behind = std::upper_bound(rows_.begin(), rows_.end(), node,
                                         [](uint32_t wanted, const Row& row) { return wanted < row.node; });
    const Row& row = *(behind - 1);
    return preg::nth_name(name_row(row), node - row.node);
}

/// The slot in the index of the element for which `is_it` holds, or the free slot for it.
template <class Is>
static uint32_t slot_in(const std::vector<uint32_t>& index, std::string_view text, Is&& is_it) {
    const size_t mask = index.size() - 1;
    size_t slot = name_hash(text) & mask;
    while (index[slot] != JobMap::kNone && !is_it(index[slot]))
        slot = (slot + 1) & mask;
    return static_cast<uint32_t>(slot);
}

/// For the node of that name.
uint32_t JobMap::name_slot(std::string_view name) const {
    return slot_in(name_index_, name, [&](uint32_t node) { return text(name_spans_[node]) == name; });
}

/// For the first row with that prefix.
uint32_t JobMap::row_slot(std::string_view prefix) const {
    return slot_in(name_index_, prefix, [&](uint32_t row) { return text(rows_[row].prefix) == prefix; });
}

void JobMap::grow_index() {
    size_t wanted = std::max<size_t>(16, name_index_.size() * 4);
    while (wanted < size_t{2} * node_count())
        wanted *= 2;
    name_index_.assign(wanted, kNone);
    for (uint32_t node = 0; node < node_count(); ++node)
        index_name(node);
}

void JobMap::index_name(uint32_t node) {
    if (name_index_.size() < size_t{2} * node_count()) return grow_index();  // which takes the node in
    if (text(name_spans_[node]).empty()) return;
    uint32_t& slot = name_index_[name_slot(text(name_spans_[node]))];
    if (slot == kNone) slot = node;
}

/// The first row of its prefix.
void JobMap::index_row(uint32_t row) {
    if (name_index_.size() >= 2 * rows_.size()) {
        name_index_[row_slot(text(rows_[row].prefix))] = row;
        return;
    }
    name_index_.assign(name_index_.size() * 4, kNone);
    for (uint32_t first = 0; first < rows_.size(); first += rows_[first].group)
        name_index_[row_slot(text(rows_[first].prefix))] = first;
}

uint32_t JobMap::find_in_rows(std::string_view name) const {
    const std::string_view suffix = text(row_suffix_);
    if (!name.ends_with(suffix)) return kNone;
    const std::string_view body = name.substr(0, name.size() - suffix.size());
    // A prefix does not end in a digit: there is one way to take a name apart.
    const std::string_view prefix = body.substr(0, body.find_last_not_of("0123456789") + 1);
    const uint32_t group = name_index_[row_slot(prefix)];
    const std::string_view digits = body.substr(prefix.size());
    if (group == kNone || digits.empty()) return kNone;
    const std::string_view number = digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1));
    if (number.size() > preg::kMaxDigits) return kNone;
    const auto begin = rows_.begin() + group, end = begin + begin->group;
    const auto behind = std::upper_bound(begin, end, preg::value_of(number),
                                         [](uint64_t wanted, const Row& row) { return wanted < row.first; });
    if (behind == begin) return kNone;
    const Row& row = *(behind - 1);
    const auto place = preg::place_in(name_row(row), name);
    return place ? row.node + static_cast<uint32_t>(*place) : kNone;
}

uint32_t JobMap::find_name(std::string_view name) const {
    if (!rows_.empty()) return find_in_rows(name);
    return name.empty() || name_index_.empty() ? kNone : name_index_[name_slot(name)];
}

uint32_t JobMap::find_by_label(std::string_view host) const {
    const size_t dot = host.find('.');
    if (dot != std::string_view::npos) {
        const std::string_view label = host.substr(0, dot);
        return is_number(label) ? kNone : find_name(label);
    }
    if (!dots_ || is_number(host)) return kNone;
    for (const Row& row : rows_) {
        const preg::NameRow names = name_row(row);
        const size_t length = std::min(names.prefix.size(), host.size());
        if (names.prefix.substr(0, length) != host.substr(0, length)) continue;
        preg::RowNames name(names);
        for (uint32_t place = 0; place < row.count; ++place, name.next()) {
            if (same_host(name.name(), host)) return row.node + place;
        }
    }
    for (uint32_t node = 0; node < name_spans_.size(); ++node) {
        if (same_host(text(name_spans_[node]), host)) return node;
    }
    return kNone;
}

uint32_t JobMap::find_name_or_alias(std::string_view host) const {
    const uint32_t node = find_name(host);
    if (node != kNone || alias_index_.empty()) return node;
    const auto alias = alias_index_.find(host);
    return alias != alias_index_.end() ? alias->second : kNone;
}

uint32_t JobMap::find_node(std::string_view host) const {
    if (host.empty()) return kNone;
    const uint32_t node = find_name_or_alias(host);
    return node != kNone ? node : find_by_label(host);
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
        if (of == node) out.append(out.empty() ? "" : ",").append(alias);
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
    return ranks_on(node).place_of(rank);
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

/// Null if the application of the rank is not known.
const JobMap::AppRun* JobMap::app_run(pmix_rank_t rank) const {
    auto at = std::upper_bound(app_runs_.begin(), app_runs_.end(), rank,
                               [](pmix_rank_t wanted, const AppRun& run) { return wanted < run.first; });
    return at == app_runs_.begin() || (--at)->app == kNone ? nullptr : &*at;
}

std::optional<uint32_t> JobMap::appnum(pmix_rank_t rank) const {
    if (rank >= rank_end_) return std::nullopt;
    if (apps_.empty()) return 0;
    const AppRun* run = app_run(rank);
    return run != nullptr ? std::optional(run->app) : std::nullopt;
}

std::optional<uint32_t> JobMap::app_rank(pmix_rank_t rank) const {
    if (rank < app_ranks_.size() && app_ranks_[rank] != kNone) return app_ranks_[rank];
    if (rank >= rank_end_) return std::nullopt;
    if (apps_.empty()) return rank;
    const AppRun* run = app_run(rank);
    return run != nullptr ? std::optional(run->first_app_rank + (rank - run->first)) : std::nullopt;
}

const JobMap::App* JobMap::find_app(uint32_t number) const {
    const auto at = std::lower_bound(apps_.begin(), apps_.end(), number,
                                     [](const App& app, uint32_t wanted) { return app.number < wanted; });
    return at != apps_.end() && at->number == number ? &*at : nullptr;
}

std::string JobMap::peers(uint32_t node, std::optional<uint32_t> app) const {
    std::string out;
    append_ranks(out, ranks_on(node), [&](pmix_rank_t rank) { return !app || appnum(rank) == app; });
    return out;
}

void JobMap::append_nodes(std::string& list) const {
    list.reserve(list.size() + (rows_.empty() ? names_.size() : row_bytes_));
    const bool all = placed() == 0 || used_nodes_ == node_count_;
    if (!rows_.empty()) {
        if (!all) return append_nodes(list, [](std::string_view) { return true; });
        for (const Row& row : rows_)
            preg::append_names(list, name_row(row));
        return;
    }
    const auto used = [&](uint32_t node) {
        return name_spans_[node].length != 0 && (all || !ranks_on(node).empty());
    };
    for (uint32_t node = 0; node < node_count_; ++node) {
        if (!used(node)) continue;
        // Names of nodes in order lie in names_ as they do in the list.
        Span run = name_spans_[node];
        for (; node + 1 < node_count_ && used(node + 1); ++node) {
            const Span next = name_spans_[node + 1];
            if (next.begin != run.begin + run.length + 1) break;
            run.length += 1 + next.length;
        }
        if (!list.empty()) list += ',';
        list += text(run);
    }
}

std::string JobMap::node_list(std::optional<uint32_t> app) const {
    std::string out;
    if (!app) {
        append_nodes(out);
        return out;
    }
    each_node_name([&](uint32_t node, std::string_view name) {
        const auto ranks = ranks_on(node);
        const bool used =
            std::any_of(ranks.begin(), ranks.end(), [&](pmix_rank_t r) { return appnum(r) == app; });
        if (!used || name.empty()) return;
        if (!out.empty()) out += ',';
        out += name;
    });
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
    for (uint32_t node = 0; node < node_count(); ++node) {
        if (ranks_on(node).empty()) continue;
        if (!out.empty()) out += ';';
        append_ranks(out, ranks_on(node), [](pmix_rank_t) { return true; });
    }
    return out;
}

size_t JobMap::memory() const {
    const size_t columns = 2 * name_spans_.capacity() + rows_.capacity() * sizeof(Row) / sizeof(uint32_t) +
                           name_index_.capacity() + ids_.capacity() + by_id_.capacity() +
                           node_of_.capacity() + rank_starts_.capacity() + ranks_.capacity() +
                           local_ranks_.capacity() + node_ranks_.capacity() + global_ranks_.capacity() +
                           app_ranks_.capacity();
    return names_.capacity() + columns * sizeof(uint32_t) + app_runs_.capacity() * sizeof(AppRun) +
           apps_.capacity() * sizeof(App) + aliases_.capacity() * sizeof(aliases_[0]);
}

}  // namespace muster
