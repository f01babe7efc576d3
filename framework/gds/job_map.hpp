// SPDX-License-Identifier: BSD-3-Clause
// The map of a job: its nodes, the node of each rank, the ranks of each node, and the derived numbers, in a
// few bytes a rank and without a string or a value per rank. A host's value of a rank is stored only if it
// differs from the derived one. Immutable once built, so any thread may read.
#pragma once

#include <pmix_common.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "framework/base/bytes.hpp"
#include "framework/base/result.hpp"
#include "framework/preg.hpp"
#include "framework/preg/name_list.hpp"

namespace muster {

/// The hash of a host's names. It is not keyed (keyed_hash.hpp), because a component builds the map and the
/// library searches it.
struct NameHash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
};
template <class T>
using NameIndex = std::unordered_map<std::string, T, NameHash, std::equal_to<>>;

/// Whether two host names can be taken for the same: equal, or one is the other's first label
/// ("node7" and "node7.cluster.org", but not "10" and "10.0.0.1").
bool same_host(std::string_view a, std::string_view b);

/// The ranks of a node, ascending: a part of a list, or consecutive numbers. Valid as long as the map.
class NodeRanks {
  public:
    /// Iterates over them by position.
    class Iterator {
      public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = pmix_rank_t;
        using difference_type = std::ptrdiff_t;
        using pointer = const pmix_rank_t*;
        using reference = pmix_rank_t;

        Iterator(const NodeRanks& ranks, size_t at) : listed_(ranks.listed_), first_(ranks.first_), at_(at) {}
        pmix_rank_t operator*() const {
            return listed_ != nullptr ? listed_[at_] : static_cast<pmix_rank_t>(first_ + at_);
        }
        Iterator& operator++() {
            ++at_;
            return *this;
        }
        bool operator==(const Iterator& other) const { return at_ == other.at_; }

      private:
        const pmix_rank_t* listed_;
        pmix_rank_t first_;
        size_t at_;
    };

    /// `listed` null: from `first` on.
    NodeRanks(const pmix_rank_t* listed, pmix_rank_t first, uint32_t count)
        : listed_(listed), first_(first), count_(count) {}
    size_t size() const { return count_; }
    bool empty() const { return count_ == 0; }
    pmix_rank_t operator[](size_t place) const {
        return listed_ != nullptr ? listed_[place] : static_cast<pmix_rank_t>(first_ + place);
    }
    pmix_rank_t front() const { return (*this)[0]; }
    /// The place of one of them.
    uint32_t place_of(pmix_rank_t rank) const {
        if (listed_ == nullptr) return rank - first_;
        return static_cast<uint32_t>(std::lower_bound(listed_, listed_ + count_, rank) - listed_);
    }
    Iterator begin() const { return {*this, 0}; }
    Iterator end() const { return {*this, count_}; }
    /// They are consecutive by construction, without a check.
    bool consecutive() const { return listed_ == nullptr; }

  private:
    const pmix_rank_t* listed_;
    pmix_rank_t first_;
    uint32_t count_;
};

class JobMap {
  public:
    static constexpr uint32_t kNone = UINT32_MAX;

    // --- nodes, by index: the order of the node map ---
    uint32_t node_count() const { return node_count_; }
    /// Nodes that hold a process.
    uint32_t used_nodes() const { return used_nodes_; }
    /// Empty for a node that is known by its id alone.
    std::string node_name(uint32_t node) const;
    /// Calls take(NODE, NAME) for each node in order: cheaper than a lookup of each. The name is valid during
    /// the call.
    template <class Take>
    void each_node_name(Take&& take) const {
        for (const Row& row : rows_) {
            preg::RowNames names(name_row(row));
            for (uint32_t node = row.node; node - row.node < row.count; ++node, names.next())
                take(node, names.name());
        }
        for (uint32_t node = 0; node < name_spans_.size(); ++node)
            take(node, text(name_spans_[node]));
    }
    /// Appends the names of the nodes that hold a process (where no process is placed: of all), each once, to
    /// a list with commas; those only for which wanted(NAME).
    template <class Wanted>
    void append_nodes(std::string& list, Wanted&& wanted) const {
        each_node_name([&](uint32_t node, std::string_view name) {
            if (name.empty() || (placed() != 0 && ranks_on(node).empty()) || !wanted(name)) return;
            if (!list.empty()) list += ',';
            list += name;
        });
    }
    void append_nodes(std::string& list) const;
    uint32_t node_id(uint32_t node) const { return ids_.empty() ? node : ids_[node]; }
    /// kNone if there is none. By name, alias, or the name's first label.
    uint32_t find_node(std::string_view host) const;
    uint32_t find_node_id(uint32_t id) const;
    /// Other names, as given: comma-separated, empty for none.
    std::string aliases(uint32_t node) const;
    bool has_aliases() const { return !aliases_.empty(); }

    // --- ranks ---
    /// Ranks whose node is known.
    uint32_t placed() const { return rank_starts_.back(); }
    /// One more than the highest rank of which anything is known.
    pmix_rank_t rank_end() const { return rank_end_; }
    uint32_t node_of(pmix_rank_t rank) const {
        if (in_order_) return node_in_order(rank);
        return rank < node_of_.size() ? node_of_[rank] : kNone;
    }
    NodeRanks ranks_on(uint32_t node) const {
        const uint32_t first = rank_starts_[node];
        return {in_order_ ? nullptr : ranks_.data() + first, first, rank_starts_[node + 1] - first};
    }
    /// The first of them, and their number, where anything is known of processes.
    std::optional<pmix_rank_t> leader(uint32_t node) const {
        const NodeRanks ranks = ranks_on(node);
        return ranks.empty() ? std::nullopt : std::optional(ranks.front());
    }
    std::optional<uint32_t> local_size(uint32_t node) const {
        return placed() != 0 ? std::optional(static_cast<uint32_t>(ranks_on(node).size())) : std::nullopt;
    }
    /// The ranks from 0 on are placed on the nodes in order: ranks_on(NODE).front() is sufficient.
    bool in_order() const { return in_order_; }
    /// N, where the node of each rank is its number divided by N, which is known without looking at each.
    std::optional<uint32_t> block() const;
    /// Numbers that are all as they follow from the places of ranks on their nodes.
    bool plain_local_ranks() const { return local_ranks_.empty(); }
    bool plain_node_ranks() const { return node_ranks_.empty() && local_ranks_.empty(); }
    /// Global ranks that all are the rank and this number, or all unknown where it is nothing.
    bool plain_global_ranks() const { return global_ranks_.empty(); }
    std::optional<uint32_t> global_offset() const { return global_offset_; }
    /// The ranks in the one application are the ranks of the job.
    bool plain_app_ranks() const { return apps_.empty() && app_ranks_.empty(); }
    std::optional<uint32_t> local_rank(pmix_rank_t rank) const;
    std::optional<uint32_t> node_rank(pmix_rank_t rank) const;
    std::optional<uint32_t> global_rank(pmix_rank_t rank) const;

    // --- applications ---
    /// No application was registered: there is one, with number 0.
    bool single_app() const { return apps_.size() <= 1; }
    std::optional<uint32_t> appnum(pmix_rank_t rank) const;
    std::optional<uint32_t> app_rank(pmix_rank_t rank) const;
    struct App {
        uint32_t number = 0;
        uint32_t size = 0;
        pmix_rank_t leader = 0;
    };
    /// By number; empty if no application was registered.
    std::span<const App> apps() const { return apps_; }
    const App* find_app(uint32_t number) const;

    // --- as text ---
    /// "0,1,5": the ranks on a node, only those of an application when one is given.
    std::string peers(uint32_t node, std::optional<uint32_t> app = {}) const;
    /// Names of the nodes that hold processes (of the application), comma-separated.
    std::string node_list(std::optional<uint32_t> app = {}) const;
    /// Nodes that hold processes of the application.
    uint32_t app_nodes(uint32_t app) const;
    /// "0,1;2,3": PMIX_PROC_MAP_RAW.
    std::string proc_map() const;

    /// A compact form for a client that is this library too; a regular map of any size takes some dozens of
    /// bytes.
    void encode(Bytes& out) const;
    /// Reads it, from a peer that is not trusted.
    static Result<JobMap> decode(ByteView bytes);

    /// Bytes on the heap.
    size_t memory() const;

  private:
    friend class JobMapBuilder;

    /// Consecutive ranks of one application; the first has `first_app_rank` in it.
    struct AppRun {
        pmix_rank_t first = 0;
        uint32_t app = 0;  ///< kNone: unknown
        uint32_t first_app_rank = 0;
    };
    const AppRun* app_run(pmix_rank_t rank) const;
    /// By this very name.
    uint32_t find_name(std::string_view name) const;
    uint32_t find_name_or_alias(std::string_view host) const;
    uint32_t find_in_rows(std::string_view name) const;
    uint32_t name_slot(std::string_view name) const;
    void index_name(uint32_t node);
    void index_row(uint32_t row);
    void grow_index();
    uint32_t find_by_label(std::string_view host) const;
    uint32_t node_in_order(pmix_rank_t rank) const;

    struct Span {
        uint32_t begin = 0;
        uint32_t length = 0;
    };
    /// Consecutive nodes whose names differ only in an ascending number.
    struct Row {
        uint32_t node = 0;
        uint32_t count = 0;
        uint64_t first = 0;  ///< the first one's number
        uint32_t width = 0;  ///< digits that it has at least
        uint32_t group = 0;  ///< at the first of the adjacent ones with this prefix: their number
        Span prefix;
    };
    std::string_view text(Span span) const {
        return std::string_view(names_).substr(span.begin, span.length);
    }
    uint32_t row_slot(std::string_view prefix) const;
    preg::NameRow name_row(const Row& row) const;
    uint32_t node_count_ = 0;
    std::string names_;  ///< texts that rows or spans are parts of; a comma follows each name of a node
    /// If all names are a number with one common suffix, and provably distinct, rows describe all names and
    /// map names to node numbers and back. Else rows_ is empty, and each node has its part of names_.
    std::vector<Row> rows_;
    Span row_suffix_;               ///< of all rows
    uint64_t row_bytes_ = 0;        ///< of all their names, with commas
    std::vector<Span> name_spans_;  ///< empty with rows_
    /// Open hash of nodes by name, with rows of the first row of each prefix; kNone: free.
    std::vector<uint32_t> name_index_;
    bool dots_ = false;                                      ///< a name has labels
    std::vector<uint32_t> ids_;                              ///< empty: the index is the id
    std::vector<uint32_t> by_id_;                            ///< nodes, ascending by id; empty with ids_
    std::vector<std::pair<std::string, uint32_t>> aliases_;  ///< in the order given
    NameIndex<uint32_t> alias_index_;

    /// The ranks from 0 on are placed on the nodes in order, as usual: then the first rank of each node is
    /// sufficient, and the two lists are empty.
    bool in_order_ = true;
    std::vector<uint32_t> node_of_;         ///< by rank
    std::vector<pmix_rank_t> ranks_;        ///< of all nodes, one after the other
    std::vector<uint32_t> rank_starts_{0};  ///< where those of each node begin in ranks_, and the end
    pmix_rank_t rank_end_ = 0;
    uint32_t used_nodes_ = 0;

    std::vector<AppRun> app_runs_;
    std::vector<App> apps_;
    std::optional<uint32_t> global_offset_;  ///< global rank of rank 0, where all follow from it
    // By rank, empty where all follow from the rest, kNone if the entry does.
    std::vector<uint32_t> local_ranks_, node_ranks_, global_ranks_, app_ranks_;
};

/// Collects the data of a job, in any order, and builds the map. Not thread-safe.
class JobMapBuilder {
  public:
    static constexpr uint32_t kNone = JobMap::kNone;
    /// Ranks from here on are refused: the map has an entry for each up to the highest.
    static constexpr pmix_rank_t kMaxRank = pmix_rank_t{1} << 24;

    JobMapBuilder() = default;
    /// Starts with the known data.
    explicit JobMapBuilder(const JobMap& previous);

    /// Reads PMIX_NODE_MAP and PMIX_PROC_MAP, which replace the placement known so far.
    Result<void> read_maps(PregSet pregs, ByteView node_map, ByteView proc_map);
    /// Names nodes only (PMIX_NODE_MAP without a process map).
    Result<void> read_node_map(PregSet pregs, ByteView node_map);
    /// PMIX_ANL_MAP: "(vector,(FIRST_NODE,NODES,RANKS_EACH),...)", nodes by index; placement as above.
    Result<void> read_anl_map(std::string_view text);
    /// Forgets where ranks are; nodes stay.
    void clear_placement();

    uint32_t node_count() const { return map_.node_count(); }
    pmix_rank_t rank_end() const { return map_.rank_end(); }
    /// Finds a node by any of its names, or adds it.
    uint32_t node(std::string_view name);
    uint32_t find_node(std::string_view name);
    /// By this name only.
    uint32_t find_node_named(std::string_view name) const { return map_.find_name(name); }
    /// The node that was given the id, or that of this index if it was given none.
    uint32_t find_node_id(uint32_t id) const;
    bool has_id(uint32_t node) const { return !map_.ids_.empty() && map_.ids_[node] != kNone; }
    uint32_t add_node();  ///< one without a name
    /// Adds a node for each name of the row. false, with nothing done, where a name may be known already.
    bool add_row(const preg::NameRow& row);
    /// Sets the name of a node without one.
    void set_name(uint32_t node, std::string_view name);
    /// false when the node has another id, or another node has this one.
    bool set_id(uint32_t node, uint32_t id);
    void add_alias(uint32_t node, std::string_view alias);
    std::string node_name(uint32_t node) const { return map_.node_name(node); }

    bool placed(pmix_rank_t rank) const { return node_of(rank) != kNone; }
    uint32_t node_of(pmix_rank_t rank) const { return map_.node_of(rank); }
    /// false when the rank is too high, or on another node already.
    bool place(pmix_rank_t rank, uint32_t node);
    /// The same for each from `first` to `last`, `step` from one to the next; else the rank that it is false
    /// for.
    std::optional<pmix_rank_t> place_new(pmix_rank_t first, pmix_rank_t last, uint32_t node,
                                         uint32_t step = 1);
    /// Moves a rank. false when it is too high.
    bool replace(pmix_rank_t rank, uint32_t node);

    /// Numbers that a host gives for one rank. false when the rank is too high.
    bool set_app(pmix_rank_t rank, uint32_t app) { return set(app_of_, rank, app); }
    /// The same for each from `first` on, before `end`.
    bool set_apps(pmix_rank_t first, pmix_rank_t end, uint32_t app);
    bool has_app(pmix_rank_t rank) const { return rank < app_of_.size() && app_of_[rank] != kNone; }
    bool set_app_rank(pmix_rank_t rank, uint32_t value) { return set(map_.app_ranks_, rank, value); }
    bool set_local_rank(pmix_rank_t rank, uint32_t value) { return set(map_.local_ranks_, rank, value); }
    bool set_node_rank(pmix_rank_t rank, uint32_t value) { return set(map_.node_ranks_, rank, value); }
    bool has_node_rank(pmix_rank_t rank) const {
        return rank < map_.node_ranks_.size() && map_.node_ranks_[rank] != kNone;
    }
    bool set_global_rank(pmix_rank_t rank, uint32_t value) { return set(map_.global_ranks_, rank, value); }
    void set_global_offset(uint32_t offset) { offset_ = offset; }
    /// Extends the map to ranks up to `end`, including those without other data.
    void set_rank_end(pmix_rank_t end);

    JobMap build() &&;

  private:
    void make_room(pmix_rank_t end);
    /// Nodes in the order of a node map, in runs that follow each other.
    class NodeOrder {
      public:
        struct Run {
            uint32_t node = 0;
            uint32_t count = 0;
        };
        void add(uint32_t node, uint32_t count = 1) {
            size_ += count;
            if (!runs_.empty() && runs_.back().node + runs_.back().count == node) {
                runs_.back().count += count;
            } else {
                runs_.push_back({node, count});
            }
        }
        size_t size() const { return size_; }
        const std::vector<Run>& runs() const { return runs_; }

      private:
        std::vector<Run> runs_;
        size_t size_ = 0;
    };
    struct RankReader;

    bool append(pmix_rank_t first, pmix_rank_t last, uint32_t node);
    bool append_row(uint32_t node, uint32_t count, pmix_rank_t first, uint32_t each);
    bool joins_rows(const preg::NameRow& row) const;
    void index_rows();
    void list_nodes();
    bool set(std::vector<uint32_t>& column, pmix_rank_t rank, uint32_t value);
    Result<void> take_nodes(PregSet pregs, ByteView node_map, NodeOrder& order);
    void build_ranks();
    void build_apps();
    void drop_derived();

    JobMap map_;
    std::vector<uint32_t> app_of_;  ///< by rank
    std::optional<uint32_t> offset_;
    std::unordered_map<uint32_t, uint32_t> id_index_;
    NameIndex<uint32_t> found_;  ///< answers of find_node by label, for many ranks ask for the same
};

}  // namespace muster
