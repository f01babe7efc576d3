// SPDX-License-Identifier: BSD-3-Clause
// Reading and shortening lists of the ranks on each node.
#include "framework/preg/rank_list.hpp"

#include <algorithm>
#include <span>
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
    const std::optional<uint64_t> value = take_number(text);
    if (!value || *value >= PMIX_RANK_VALID) return false;
    rank = static_cast<uint32_t>(*value);
    return true;
}

bool take_run(std::string_view& text, Run& run) {
    skip_spaces(text);
    if (!take_rank(text, run.first)) return false;
    run.last = run.first;
    if (take(text, '-') && (!take_rank(text, run.last) || run.last < run.first)) return false;
    skip_spaces(text);
    return true;
}

/// One of the runs that each node of a row has: "(K)" with "@START+STEP" perhaps.
struct Part {
    uint32_t span = 0;
    uint32_t start = 1;
    uint32_t step = 1;

    bool follows_itself() const { return step == uint64_t{span} + 1; }
};

/// "Nx(K)@START+STEP", with further parts behind commas perhaps: N nodes.
struct Row {
    uint64_t count = 0;
    std::vector<Part> parts;
};

bool read_part(std::string_view& text, Part& part) {
    part = {};
    if (!take(text, '(') || !take_rank(text, part.span) || !take(text, ')')) return false;
    return !take(text, '@') || (take_rank(text, part.start) && take(text, '+') && take_rank(text, part.step));
}

/// @return false when `text` is not of this form.
bool read_row(std::string_view text, Row& row) {
    const std::optional<uint64_t> count = take_number(text);
    if (!count || !take(text, 'x')) return false;
    row.count = *count;
    row.parts.clear();
    do {
        Part part;
        if (!read_part(text, part)) return false;
        row.parts.push_back(part);
    } while (take(text, ','));
    return text.empty();
}

/// Counts the names passed to the sink against the limits.
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
    pmix_status_t row(uint64_t count, std::span<const Part> parts) {
        if (count > nodes_left_) return PMIX_ERR_OUT_OF_RESOURCE;
        if (parts.size() == 1 && gives_row(count, parts[0])) {
            ranks_left_ -= count * (uint64_t{parts[0].span} + 1);
            nodes_left_ -= count;
            return sink_.row(sink_.ranks.data, count, parts[0].start, parts[0].span, parts[0].step);
        }
        for (uint64_t i = 0; i < count; ++i) {
            for (const Part& part : parts) {
                // Neither factor exceeds 32 bits: there are fewer nodes.
                const uint64_t first = part.start + i * part.step, last = first + part.span;
                if (last >= PMIX_RANK_VALID) return PMIX_ERR_BAD_PARAM;
                const pmix_status_t status =
                    ranks({static_cast<uint32_t>(first), static_cast<uint32_t>(last)});
                if (status != PMIX_SUCCESS) return status;
            }
            const pmix_status_t status = next_node();
            if (status != PMIX_SUCCESS) return status;
        }
        return PMIX_SUCCESS;
    }
    /// "@START:C,C*N,...": nodes with C ranks each, which continue those of the node before.
    pmix_status_t chain(std::string_view text) {
        uint32_t next = 0;
        if (!take_rank(text, next) || !take(text, ':')) return PMIX_ERR_BAD_PARAM;
        do {
            uint32_t each = 0, count = 1;
            if (!take_rank(text, each) || each == 0 || (take(text, '*') && !take_rank(text, count)))
                return PMIX_ERR_BAD_PARAM;
            if (each > PMIX_RANK_VALID - next || count > (PMIX_RANK_VALID - next) / each)
                return PMIX_ERR_BAD_PARAM;
            const Part part{each - 1, next, each};
            const pmix_status_t status = row(count, {&part, 1});
            if (status != PMIX_SUCCESS) return status;
            next += each * count;
        } while (take(text, ','));
        return text.empty() ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    }

  private:
    bool gives_row(uint64_t count, const Part& part) const {
        return sink_.row != nullptr && count > 1 && count <= ranks_left_ / (uint64_t{part.span} + 1) &&
               count <= PMIX_RANK_VALID && part.start + (count - 1) * part.step + part.span < PMIX_RANK_VALID;
    }

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

/// Nodes with one run each, which continues that of the node before. Few of them are written one by
/// one, more by their counts.
class Chain {
  public:
    /// That many nodes with `each` ranks; `text` is their form one by one.
    bool add(uint64_t start, uint64_t each, uint64_t count, const std::string& text) {
        if (nodes_ == 0) {
            start_ = next_ = start;
        } else if (start != next_) {
            return false;
        }
        if (elements_ < kFew) {
            if (nodes_ != 0) one_by_one_ += ';';
            one_by_one_ += text;
        }
        if (nodes_ != 0) counts_ += ',';
        append_number(counts_, each);
        if (count != 1) {
            counts_ += '*';
            append_number(counts_, count);
        }
        ++elements_;
        nodes_ += count;
        next_ += each * count;
        return true;
    }
    bool empty() const { return nodes_ == 0; }
    /// Nodes of which add() need not know the text.
    bool long_already() const { return elements_ >= kFew; }
    uint64_t next() const { return next_; }

    void write(std::string& out) {
        if (elements_ < kFew) {
            out += one_by_one_;
        } else {
            out += '@';
            append_number(out, start_);
            out += ':';
            out += counts_;
        }
        nodes_ = elements_ = 0;
        one_by_one_.clear();
        counts_.clear();
    }

  private:
    static constexpr size_t kFew = 16;
    uint64_t start_ = 0, next_ = 0;
    uint64_t nodes_ = 0, elements_ = 0;
    std::string one_by_one_;
    std::string counts_;
};

/// Writes entries, holding back nodes for as long as they form a row.
class Shortener {
  public:
    explicit Shortener(std::string& out) : out_(out) {}

    void node(const std::vector<Run>& runs) {
        if (continues(runs)) {
            ++pending_.count;
            return;
        }
        flush_row();
        if (runs.empty()) {
            close_chain();
            separate();
            return;
        }
        pending_.count = 1;
        pending_.parts.clear();
        for (const Run run : runs)
            pending_.parts.push_back({run.last - run.first, run.first, 0});
    }

    void flush() {
        flush_row();
        close_chain();
    }

    /// Takes the entries at the front of `list` that continue the row, as most entries of most lists do.
    /// @return their length with what separates them from the next one, or the list from nothing.
    size_t take_following(std::string_view list) {
        if (pending_.count < 2 || pending_.parts.size() != 1) return 0;
        const size_t whole = list.size();
        const auto [span, start, step] = pending_.parts[0];
        uint64_t first = start + pending_.count * step;
        char* text = expected_.data();
        size_t first_end = 0, end = 0;  // of the first rank, and of all; 0: not made yet
        for (; first + span < PMIX_RANK_VALID; first += step) {
            if (end == 0) {
                expected_.clear();
                append_number(expected_, first);
                first_end = expected_.size();
                if (span != 0) {
                    expected_ += '-';
                    append_number(expected_, first + span);
                }
                end = expected_.size();
                text = expected_.data();
            }
            if (!begins_with_entry(list, {text, end}, ';')) break;
            ++pending_.count;
            if (list.size() == end) return whole + 1;
            list.remove_prefix(end + 1);
            if (!add_to_digits(text, text + first_end, step) ||
                (span != 0 && !add_to_digits(text + first_end + 1, text + end, step))) {
                end = 0;
            }
        }
        return whole - list.size();
    }

  private:
    bool continues(const std::vector<Run>& runs) {
        if (pending_.count == 0 || runs.size() != pending_.parts.size()) return false;
        for (size_t i = 0; i < runs.size(); ++i) {
            const Part& part = pending_.parts[i];
            if (runs[i].last - runs[i].first != part.span) return false;
            if (pending_.count == 1 ? runs[i].first < part.start
                                    : runs[i].first != part.start + pending_.count * part.step)
                return false;
        }
        for (size_t i = 0; pending_.count == 1 && i < runs.size(); ++i)
            pending_.parts[i].step = runs[i].first - pending_.parts[i].start;
        return true;
    }

    void flush_row() {
        if (pending_.count == 0) return;
        const Part& first = pending_.parts[0];
        const bool in_order = pending_.parts.size() == 1 && (pending_.count == 1 || first.follows_itself());
        // The text is not needed where the counts are enough.
        const bool counted = in_order && chain_.long_already() && first.start == chain_.next();
        const std::string text = counted ? std::string() : shorter_text();
        if (in_order && chain_.add(first.start, uint64_t{first.span} + 1, pending_.count, text)) {
            pending_.count = 0;
            return;
        }
        close_chain();
        if (in_order) {
            chain_.add(first.start, uint64_t{first.span} + 1, pending_.count, text);
        } else {
            separate();
            out_ += text;
        }
        pending_.count = 0;
    }

    /// The row as such, or its nodes one by one.
    std::string shorter_text() const {
        std::string row;
        if (pending_.count > 1) {
            row = std::to_string(pending_.count) + "x";
            for (const Part& part : pending_.parts) {
                if (row.back() != 'x') row += ',';
                row += "(" + std::to_string(part.span) + ")";
                if (part.start != 1 || part.step != 1)
                    row += "@" + std::to_string(part.start) + "+" + std::to_string(part.step);
            }
        }
        std::string written;
        for (uint64_t i = 0; i < pending_.count; ++i) {
            if (i != 0) written += ';';
            for (const Part& part : pending_.parts) {
                const auto first = static_cast<uint32_t>(part.start + i * part.step);
                if (&part != pending_.parts.data()) written += ',';
                append_run(written, {first, first + part.span});
            }
            if (!row.empty() && written.size() > row.size()) return row;
        }
        return !row.empty() && row.size() < written.size() ? row : written;
    }

    void close_chain() {
        if (chain_.empty()) return;
        separate();
        chain_.write(out_);
    }

    void separate() {
        if (any_) out_ += ';';
        any_ = true;
    }

    std::string& out_;
    Row pending_;
    Chain chain_;
    std::string expected_;
    bool any_ = false;
};

}  // namespace

pmix_status_t parse_ranks(std::string_view text, size_t limit, const muster_preg_rank_row_sink_t& sink,
                          bool runs) {
    Counter counter(limit, sink);
    Row row;
    return for_each_entry(text, [&](std::string_view entry) -> pmix_status_t {
        if (runs && !entry.empty() && entry.front() == '@') return counter.chain(entry.substr(1));
        if (runs && read_row(entry, row)) return counter.row(row.count, row.parts);
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
    // One node without ranks would be written as an empty text, which means no node.
    return list.empty() || out.size() != before;
}

}  // namespace muster::preg
