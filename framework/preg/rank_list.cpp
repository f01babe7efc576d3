// SPDX-License-Identifier: BSD-3-Clause
// Reading and shortening lists of the ranks on each node.
#include "framework/preg/rank_list.hpp"

#include <algorithm>
#include <vector>

#include "framework/preg/number.hpp"

namespace muster::preg {
namespace {

struct Run {
    uint32_t first = 0;
    uint32_t last = 0;
};

void skip_spaces(std::string_view& text) {
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
}

bool take_rank(std::string_view& text, uint32_t& rank) {
    const std::string_view digits = take_digits(text);
    if (digits.empty() || digits.size() > kMaxDigits) return false;
    const uint64_t value = value_of(digits);
    rank = static_cast<uint32_t>(value);
    return value < PMIX_RANK_VALID;
}

bool take_run(std::string_view& text, Run& run) {
    skip_spaces(text);
    if (!take_rank(text, run.first)) return false;
    run.last = run.first;
    if (take(text, '-') && (!take_rank(text, run.last) || run.last < run.first)) return false;
    skip_spaces(text);
    return true;
}

/// "Nx(K)" with "@START+STEP" perhaps: N nodes.
struct Nodes {
    uint64_t count = 0;
    uint32_t span = 0;
    uint32_t start = 1;
    uint32_t step = 1;
};

/// @return false when `text` is not of this form.
bool read_nodes(std::string_view text, Nodes& nodes) {
    const std::string_view count = take_digits(text);
    if (count.empty() || count.size() > kMaxDigits || !take(text, 'x') || !take(text, '(')) return false;
    nodes.count = value_of(count);
    if (!take_rank(text, nodes.span) || !take(text, ')')) return false;
    if (take(text, '@')) {
        if (!take_rank(text, nodes.start) || !take(text, '+') || !take_rank(text, nodes.step)) return false;
    }
    return text.empty();
}

/// Counts against the limits what goes to the sink.
class Counter {
  public:
    Counter(size_t limit, const muster_preg_rank_row_sink_t& sink)
        : ranks_left_(limit), nodes_left_(limit), sink_(sink) {}

    pmix_status_t ranks(Run run) {
        const uint64_t count = uint64_t{run.last} - run.first + 1;
        if (count > ranks_left_) return PMIX_ERR_OUT_OF_RESOURCE;
        ranks_left_ -= count;
        return sink_.ranks.ranks(sink_.ranks.data, run.first, run.last);
    }
    pmix_status_t next_node() {
        if (nodes_left_ == 0) return PMIX_ERR_OUT_OF_RESOURCE;
        --nodes_left_;
        return sink_.ranks.next_node(sink_.ranks.data);
    }
    pmix_status_t nodes(const Nodes& nodes) {
        if (nodes.count > nodes_left_) return PMIX_ERR_OUT_OF_RESOURCE;
        const uint64_t each = uint64_t{nodes.span} + 1;
        if (sink_.row != nullptr && nodes.count > 1 && nodes.count <= ranks_left_ / each &&
            nodes.count <= PMIX_RANK_VALID &&
            nodes.start + (nodes.count - 1) * nodes.step + nodes.span < PMIX_RANK_VALID) {
            ranks_left_ -= nodes.count * each;
            nodes_left_ -= nodes.count;
            return sink_.row(sink_.ranks.data, nodes.count, nodes.start, nodes.span, nodes.step);
        }
        uint64_t first = nodes.start;
        for (uint64_t i = 0; i < nodes.count; ++i, first += nodes.step) {
            const uint64_t last = first + nodes.span;
            if (last >= PMIX_RANK_VALID) return PMIX_ERR_BAD_PARAM;
            pmix_status_t status = ranks({static_cast<uint32_t>(first), static_cast<uint32_t>(last)});
            if (status == PMIX_SUCCESS) status = next_node();
            if (status != PMIX_SUCCESS) return status;
        }
        return PMIX_SUCCESS;
    }

  private:
    uint64_t ranks_left_;
    uint64_t nodes_left_;
    const muster_preg_rank_row_sink_t& sink_;
};

/// Calls `entry` for each entry between semicolons.
template <class F>
pmix_status_t for_each_entry(std::string_view text, F&& entry) {
    if (text.empty()) return PMIX_SUCCESS;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(';', at), text.size());
        const pmix_status_t status = entry(text.substr(at, end - at));
        if (status != PMIX_SUCCESS) return status;
        at = end + 1;
    }
    return PMIX_SUCCESS;
}

template <class F>
pmix_status_t for_each_run(std::string_view entry, F&& each) {
    skip_spaces(entry);
    while (!entry.empty()) {
        Run run;
        if (!take_run(entry, run)) return PMIX_ERR_BAD_PARAM;
        const pmix_status_t status = each(run);
        if (status != PMIX_SUCCESS) return status;
        if (!entry.empty() && (!take(entry, ',') || entry.empty())) return PMIX_ERR_BAD_PARAM;
    }
    return PMIX_SUCCESS;
}

void append_run(std::string& out, Run run) {
    append_number(out, run.first);
    if (run.last != run.first) {
        out += '-';
        append_number(out, run.last);
    }
}

/// Writes entries, holding back nodes with one run each for as long as they form a row.
class Shortener {
  public:
    explicit Shortener(std::string& out) : out_(out) {}

    void node(const std::vector<Run>& runs) {
        if (runs.size() == 1 && continues(runs[0])) {
            ++pending_.count;
            return;
        }
        flush();
        if (runs.size() == 1) {
            pending_ = {1, runs[0].last - runs[0].first, runs[0].first, 0};
            return;
        }
        separate();
        for (size_t i = 0; i < runs.size(); ++i) {
            if (i != 0) out_ += ',';
            append_run(out_, runs[i]);
        }
    }

    void flush() {
        if (pending_.count == 0) return;
        std::string row;
        if (pending_.count > 1) {
            row = std::to_string(pending_.count) + "x(" + std::to_string(pending_.span) + ")";
            if (pending_.start != 1 || pending_.step != 1)
                row += "@" + std::to_string(pending_.start) + "+" + std::to_string(pending_.step);
        }
        std::string written;
        uint64_t first = pending_.start;
        for (uint64_t i = 0; i < pending_.count; ++i, first += pending_.step) {
            if (i != 0) written += ';';
            append_run(written, {static_cast<uint32_t>(first), static_cast<uint32_t>(first + pending_.span)});
            if (!row.empty() && written.size() > row.size()) break;
        }
        separate();
        out_.append(!row.empty() && row.size() < written.size() ? row : written);
        pending_ = {};
    }

    /// Takes the entries at the front of `list` that go on with the row, as most entries of most lists do.
    /// @return their length with what separates them from the next one, or the list from nothing.
    size_t take_following(std::string_view list) {
        if (pending_.count < 2) return 0;
        const size_t whole = list.size();
        uint64_t first = pending_.start + pending_.count * pending_.step;
        char* text = expected_.data();
        size_t first_end = 0, end = 0;  // of the first rank, and of all; 0: not made yet
        for (; first + pending_.span < PMIX_RANK_VALID; first += pending_.step) {
            if (end == 0) {
                expected_.clear();
                append_number(expected_, first);
                first_end = expected_.size();
                if (pending_.span != 0) {
                    expected_ += '-';
                    append_number(expected_, first + pending_.span);
                }
                end = expected_.size();
                text = expected_.data();
            }
            if (!begins_with_entry(list, {text, end}, ';')) break;
            ++pending_.count;
            if (list.size() == end) return whole + 1;
            list.remove_prefix(end + 1);
            if (!add_to_digits(text, text + first_end, pending_.step) ||
                (pending_.span != 0 && !add_to_digits(text + first_end + 1, text + end, pending_.step))) {
                end = 0;
            }
        }
        return whole - list.size();
    }

  private:
    bool continues(Run run) {
        if (pending_.count == 0 || run.last - run.first != pending_.span) return false;
        if (pending_.count == 1) {
            if (run.first < pending_.start) return false;
            pending_.step = run.first - pending_.start;
            return true;
        }
        return run.first == pending_.start + pending_.count * pending_.step;
    }
    void separate() {
        if (any_) out_ += ';';
        any_ = true;
    }

    std::string& out_;
    Nodes pending_;
    std::string expected_;
    bool any_ = false;
};

}  // namespace

pmix_status_t parse_ranks(std::string_view text, size_t limit, const muster_preg_rank_row_sink_t& sink,
                          bool runs) {
    Counter counter(limit, sink);
    return for_each_entry(text, [&](std::string_view entry) -> pmix_status_t {
        Nodes nodes;
        if (runs && read_nodes(entry, nodes)) return counter.nodes(nodes);
        const pmix_status_t status = for_each_run(entry, [&](Run run) { return counter.ranks(run); });
        return status == PMIX_SUCCESS ? counter.next_node() : status;
    });
}

bool shorten_ranks(std::string_view list, std::string& out) {
    const size_t before = out.size();
    Shortener shortener(out);
    std::vector<Run> runs;
    for (size_t at = 0; at <= list.size() && !list.empty();) {
        if (const size_t taken = shortener.take_following(list.substr(at)); taken != 0) {
            at += taken;
            continue;
        }
        const size_t end = std::min(list.find(';', at), list.size());
        runs.clear();
        const pmix_status_t status = for_each_run(list.substr(at, end - at), [&](Run run) {
            if (!runs.empty() && run.first == runs.back().last + 1) {
                runs.back().last = run.last;
            } else {
                runs.push_back(run);
            }
            return pmix_status_t{PMIX_SUCCESS};
        });
        if (status != PMIX_SUCCESS) return false;
        shortener.node(runs);
        at = end + 1;
    }
    shortener.flush();
    // One node without ranks would be written as nothing, which stands for no node.
    return list.empty() || out.size() != before;
}

}  // namespace muster::preg
