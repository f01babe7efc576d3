// SPDX-License-Identifier: BSD-3-Clause
// Reading and shortening lists of node names.
#include "framework/preg/name_list.hpp"

#include <algorithm>
#include <array>

#include "framework/preg/number.hpp"

namespace muster::preg {
namespace {

/// Brackets in one name: a bound on the recursion below.
constexpr int kMaxBrackets = 8;
/// Digits that a number may be padded to.
constexpr uint64_t kMaxWidth = 64;

/// "007-012" or "7".
struct Range {
    uint64_t first = 0;
    uint64_t last = 0;
    size_t width = 0;  ///< digits of the first number as written
    std::string_view last_text;
};

bool take_range(std::string_view& text, Range& range) {
    const std::string_view first = take_digits(text);
    if (first.empty() || first.size() > kMaxDigits) return false;
    range.last_text = take(text, '-') ? take_digits(text) : first;
    if (range.last_text.empty() || range.last_text.size() > kMaxDigits) return false;
    range.first = value_of(first);
    range.last = value_of(range.last_text);
    range.width = first.size();
    return range.first <= range.last;
}

/// Whether `text` is a comma list of ranges, with at least one.
bool is_ranges(std::string_view text) {
    Range range;
    do {
        if (!take_range(text, range)) return false;
    } while (take(text, ','));
    return text.empty();
}

/// Splits a list at commas outside of brackets.
class Splitter {
  public:
    explicit Splitter(std::string_view text) : text_(text), last_close_(text.find(']')) {
        // The search from behind goes byte by byte: mostly there is nothing to search for.
        if (last_close_ != std::string_view::npos) last_close_ = text.rfind(']');
    }

    bool next(std::string_view& item) {
        if (at_ > text_.size() || text_.empty()) return false;
        size_t end = at_;
        while (end < text_.size() && text_[end] != ',') {
            // Only a bracket that is closed hides commas; looking for its end stays linear, for the search
            // goes on behind it.
            if (text_[end] == '[' && last_close_ != std::string_view::npos && end < last_close_) {
                end = text_.find(']', end);
            }
            ++end;
        }
        item = text_.substr(at_, end - at_);
        at_ = end + 1;
        return true;
    }

    /// What next() has not given yet.
    std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }
    /// Passes over items of this length with their commas, which have no brackets.
    void skip(size_t length) { at_ += length; }

  private:
    std::string_view text_;
    size_t last_close_;
    size_t at_ = 0;
};

/// Writes out the names that one entry stands for, within the limits of the whole list.
class Expander {
  public:
    Expander(size_t limit, const muster_preg_name_row_sink_t& sink)
        : names_left_(limit), bytes_left_(limit * kBytesPerName), sink_(sink) {}

    pmix_status_t entry(std::string_view text, Brackets brackets) {
        name_.clear();
        return append(text, brackets, 0);
    }

    /// prefix, each number of the ranges with `width` digits (0: as many as its range says), suffix.
    pmix_status_t numbers(std::string_view ranges, size_t width, std::string_view rest, Brackets brackets,
                          int depth) {
        const size_t length = name_.size();
        const bool plain = rest.find_first_of("[]") == std::string_view::npos;
        Range range;
        do {
            if (!take_range(ranges, range)) return PMIX_ERR_BAD_PARAM;
            if (plain) {
                const pmix_status_t status = row(range, width != 0 ? width : range.width, rest);
                if (status != PMIX_SUCCESS) return status;
                continue;
            }
            for (uint64_t value = range.first; value <= range.last; ++value) {
                append_number(name_, value, width != 0 ? width : range.width);
                const pmix_status_t status = append(rest, brackets, depth);
                if (status != PMIX_SUCCESS) return status;
                name_.resize(length);
            }
        } while (take(ranges, ','));
        return ranges.empty() ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    }

    pmix_status_t append(std::string_view text, Brackets brackets, int depth) {
        const size_t open = text.find('[');
        const size_t close = open == std::string_view::npos ? open : text.find(']', open);
        if (close == std::string_view::npos) {
            if (brackets == Brackets::Strict && (open != close || text.find(']') != close))
                return PMIX_ERR_BAD_PARAM;
            return emit(text);
        }
        const std::string_view inside = text.substr(open + 1, close - open - 1);
        if (depth == kMaxBrackets || !is_ranges(inside)) {
            return brackets == Brackets::Strict ? PMIX_ERR_BAD_PARAM : emit(text);
        }
        name_.append(text.substr(0, open));
        return numbers(inside, 0, text.substr(close + 1), brackets, depth + 1);
    }

    std::string& name() { return name_; }

  private:
    /// The names of one range.
    pmix_status_t row(const Range& range, size_t width, std::string_view rest) {
        const NameRow row{name_, range.first, range.last - range.first + 1, width, rest};
        if (sink_.row != nullptr) {
            const std::optional<size_t> size = row.size(bytes_left_);
            if (row.count > names_left_ || !size) return PMIX_ERR_OUT_OF_RESOURCE;
            names_left_ -= row.count;
            bytes_left_ -= *size;
            return sink_.row(sink_.names.data, name_.data(), name_.size(), row.first, row.count, row.width,
                             rest.data(), rest.size());
        }
        RowNames names(row);
        for (uint64_t left = row.count;; names.next()) {
            const std::string_view name = names.name();
            if (names_left_ == 0 || name.size() > bytes_left_) return PMIX_ERR_OUT_OF_RESOURCE;
            --names_left_;
            bytes_left_ -= name.size();
            const pmix_status_t status = sink_.names.name(sink_.names.data, name.data(), name.size());
            if (status != PMIX_SUCCESS || --left == 0) return status;
        }
    }

    pmix_status_t emit(std::string_view rest) {
        const size_t length = name_.size() + rest.size();
        if (length == 0) return PMIX_SUCCESS;
        if (names_left_ == 0 || length > bytes_left_) return PMIX_ERR_OUT_OF_RESOURCE;
        --names_left_;
        bytes_left_ -= length;
        if (name_.empty()) return sink_.names.name(sink_.names.data, rest.data(), rest.size());
        name_.append(rest);
        return sink_.names.name(sink_.names.data, name_.data(), name_.size());
    }

    size_t names_left_;
    size_t bytes_left_;
    const muster_preg_name_row_sink_t& sink_;
    std::string name_;
};

/// A name taken apart into numbers and what is between them.
struct Pattern {
    static constexpr size_t kMaxFields = 16;
    struct Field {
        size_t begin = 0;
        size_t length = 0;
    };

    std::string_view name;
    std::array<Field, kMaxFields> fields;
    size_t count = 0;
    size_t bracket = kMaxFields;  ///< field that is a bracket with ranges; kMaxFields: none

    std::string_view text(size_t i) const { return name.substr(fields[i].begin, fields[i].length); }

    /// @return false for brackets that are no list of ranges, or more than one.
    bool read(std::string_view from) {
        name = from;
        count = 0;
        bracket = kMaxFields;
        for (size_t i = 0; i < name.size();) {
            if (name[i] == ']') return false;
            if (name[i] == '[') {
                const size_t close = name.find(']', i);
                if (close == std::string_view::npos || bracket != kMaxFields || count == kMaxFields)
                    return false;
                if (!is_ranges(name.substr(i + 1, close - i - 1))) return false;
                bracket = count;
                fields[count++] = {i, close + 1 - i};
                i = close + 1;
            } else if (is_digit(name[i])) {
                size_t end = i + 1;
                while (end < name.size() && is_digit(name[end]))
                    ++end;
                if (end - i <= kMaxDigits && count < kMaxFields) fields[count++] = {i, end - i};
                i = end;
            } else {
                ++i;
            }
        }
        return true;
    }
};

/// Ranges under construction: "007-012,020".
class RangeList {
  public:
    void clear() {
        text_.clear();
        open_ = false;
    }

    /// Digits, or a bracket with ranges. False for ranges whose ends do not show how they are padded.
    bool add(std::string_view text) {
        Range range;
        if (!take(text, '[')) return take_range(text, range) && add(range);
        text.remove_suffix(1);
        do {
            if (!take_range(text, range) || !same_number_text(range.last_text, range.last, range.width))
                return false;
            add(range);
        } while (take(text, ','));
        return true;
    }

    /// So many more numbers, which follow the last range as they would be written.
    void grow(uint64_t count) { current_.last += count; }

    /// The number that would make the last range grow; its digits have the width of that range.
    uint64_t next() const { return current_.last + 1; }
    size_t width() const { return current_.width; }

    const std::string& text() {
        close();
        return text_;
    }

  private:
    bool add(const Range& range) {
        // Going on where the last range ended, with the digits that it would give.
        if (open_ && range.first == current_.last + 1) {
            const size_t digits = std::to_string(range.first).size();
            if (std::max(digits, current_.width) == std::max(digits, range.width)) {
                current_.last = range.last;
                return true;
            }
        }
        close();
        current_ = range;
        open_ = true;
        return true;
    }

    void close() {
        if (!open_) return;
        if (!text_.empty()) text_ += ',';
        append_number(text_, current_.first, current_.width);
        if (current_.last != current_.first) {
            text_ += '-';
            append_number(text_, current_.last, current_.width);
        }
        open_ = false;
    }

    std::string text_;  ///< finished ranges
    Range current_;     ///< the range that may still grow
    bool open_ = false;
};

/// Whether two names are the same but for the texts of their fields `one` and `other`.
bool alike_but_for(const Pattern& a, const Pattern& b, size_t one, size_t other) {
    if (a.count != b.count) return false;
    size_t end_a = 0, end_b = 0;
    for (size_t i = 0; i < a.count; ++i) {
        if (a.name.substr(end_a, a.fields[i].begin - end_a) !=
            b.name.substr(end_b, b.fields[i].begin - end_b)) {
            return false;
        }
        if (i != one && i != other && a.text(i) != b.text(i)) return false;
        end_a = a.fields[i].begin + a.fields[i].length;
        end_b = b.fields[i].begin + b.fields[i].length;
    }
    return a.name.substr(end_a) == b.name.substr(end_b);
}

/// Entries of the shortened list with one bracket each; those that follow each other and differ in one number
/// before that bracket become one with two ("rack[0-3]node[0-15]").
class Entries {
  public:
    explicit Entries(std::string& out) : out_(out) {}

    void plain(std::string_view name) {
        flush();
        separate();
        out_.append(name);
    }

    /// `name` with `ranges` in the place of its field `active`. False when it cannot be written.
    bool add(const Pattern& name, size_t active, const std::string& ranges) {
        if (waiting_ && joins(name, active, ranges)) return outer_ranges_.add(name.text(outer_));
        flush();
        first_ = name;
        active_ = active;
        outer_ = Pattern::kMaxFields;
        ranges_ = ranges;
        outer_ranges_.clear();
        waiting_ = true;
        return true;
    }

    void flush() {
        if (!waiting_) return;
        waiting_ = false;
        separate();
        size_t end = 0;
        const auto field = [&](size_t index, const std::string& ranges) {
            out_.append(first_.name.substr(end, first_.fields[index].begin - end));
            out_ += '[';
            out_.append(ranges);
            out_ += ']';
            end = first_.fields[index].begin + first_.fields[index].length;
        };
        if (outer_ != Pattern::kMaxFields) field(outer_, outer_ranges_.text());
        field(active_, ranges_);
        out_.append(first_.name.substr(end));
    }

  private:
    bool joins(const Pattern& name, size_t active, const std::string& ranges) {
        if (active != active_ || ranges != ranges_ || name.count != first_.count) return false;
        size_t outer = outer_;
        if (outer == Pattern::kMaxFields) {
            // The bracket behind changes faster when the names are written out: the other one is before it.
            for (outer = 0; outer < active && name.text(outer) == first_.text(outer);)
                ++outer;
            if (outer == active) return false;
        }
        if (!alike_but_for(first_, name, active, outer)) return false;
        if (outer_ != Pattern::kMaxFields) return true;
        outer_ = outer;
        return outer_ranges_.add(first_.text(outer));
    }

    void separate() {
        if (any_) out_ += ',';
        any_ = true;
    }

    std::string& out_;
    Pattern first_;
    size_t active_ = 0;
    size_t outer_ = Pattern::kMaxFields;  ///< kMaxFields: none yet
    std::string ranges_;
    RangeList outer_ranges_;
    bool waiting_ = false;
    bool any_ = false;  ///< something was written
};

/// Neighbours in the list that differ in one number only.
class Group {
  public:
    explicit Group(std::string& out) : entries_(out) {}

    bool add(const Pattern& name) {
        expected_.clear();
        if (size_ != 0 && joins(name)) return append(name);
        if (!flush_group()) return false;
        first_ = name;
        active_ = name.bracket;
        size_ = 1;
        ranges_.clear();
        return active_ == Pattern::kMaxFields || append(name);
    }

    /// Takes the names at the front of `list` that follow the last one, as most names of most lists do.
    /// @return their length with what separates them from the next one, or the list from nothing.
    size_t take_following(std::string_view list) {
        if (size_ < 2) return 0;
        size_t length = 0;
        uint64_t taken = 0;
        for (;;) {
            if (expected_.empty()) expect(taken);
            if (number_end_ - number_begin_ > kMaxDigits) break;
            const std::string_view rest = list.substr(length);
            uint64_t more = entries_of_decade(rest, expected_, number_end_ - 1, ',');
            if (more == 0) more = begins_with_entry(rest, expected_, ',') ? 1 : 0;
            if (more == 0) break;
            taken += more;
            // The next number: in place, as long as its digits suffice.
            length += more * (expected_.size() + 1);
            char* digits = expected_.data();
            if (!add_to_digits(digits + number_begin_, digits + number_end_, more)) expected_.clear();
            if (length > list.size()) break;
        }
        ranges_.grow(taken);
        size_ += taken;
        return length;
    }

    bool flush() {
        if (!flush_group()) return false;
        entries_.flush();
        return true;
    }

  private:
    bool flush_group() {
        if (size_ == 0) return true;
        const bool alone = size_ == 1 && first_.bracket == Pattern::kMaxFields;
        size_ = 0;
        if (!alone) return entries_.add(first_, active_, ranges_.text());
        entries_.plain(first_.name);
        return true;
    }

    /// Whether `name` is the group's first one but for one number, the one in which all of the group differ.
    bool joins(const Pattern& name) {
        if (name.count != first_.count || name.count == 0) return false;
        size_t differing = name.bracket;
        for (size_t i = 0; i < name.count; ++i) {
            if (i == active_ || first_.text(i) == name.text(i)) continue;
            if (differing != Pattern::kMaxFields && differing != i) return false;
            differing = i;
        }
        if (active_ != Pattern::kMaxFields) {
            return (differing == Pattern::kMaxFields || differing == active_) &&
                   alike_but_for(first_, name, active_, active_);
        }
        const size_t active = differing != Pattern::kMaxFields ? differing : name.count - 1;
        if (!alike_but_for(first_, name, active, active)) return false;
        active_ = active;
        return ranges_.add(first_.text(active_));
    }

    bool append(const Pattern& name) {
        ++size_;
        return ranges_.add(name.text(active_));
    }

    /// What follows the last one, when `more` were taken that ranges_ does not know yet.
    void expect(uint64_t more) {
        const Pattern::Field field = first_.fields[active_];
        expected_ = first_.name.substr(0, field.begin);
        number_begin_ = expected_.size();
        append_number(expected_, ranges_.next() + more, ranges_.width());
        number_end_ = expected_.size();
        expected_.append(first_.name.substr(field.begin + field.length));
    }

    Entries entries_;
    Pattern first_;
    size_t active_ = Pattern::kMaxFields;
    size_t size_ = 0;
    RangeList ranges_;
    std::string expected_;  ///< the name that follows the last one; empty: not made yet
    size_t number_begin_ = 0, number_end_ = 0;
};

}  // namespace

std::optional<size_t> NameRow::size(size_t limit) const {
    size_t all = 0, digits = 1;
    uint64_t end = 10;  // of the numbers with so many digits
    for (uint64_t value = first, left = count; left != 0;) {
        while (value >= end && digits <= kMaxDigits) {
            end *= 10;
            ++digits;
        }
        const uint64_t these = std::min(left, end - value);
        const size_t length = prefix.size() + std::max(digits, width) + suffix.size();
        if (these > (limit - all) / length) return std::nullopt;
        all += these * length;
        left -= these;
        value += these;
    }
    return all;
}

std::string nth_name(const NameRow& row, uint64_t place) {
    std::string name(row.prefix);
    append_number(name, row.first + place, row.width);
    name += row.suffix;
    return name;
}

std::optional<uint64_t> place_in(const NameRow& row, std::string_view name) {
    if (name.size() <= row.prefix.size() + row.suffix.size() || !name.starts_with(row.prefix) ||
        !name.ends_with(row.suffix)) {
        return std::nullopt;
    }
    std::string_view digits =
        name.substr(row.prefix.size(), name.size() - row.prefix.size() - row.suffix.size());
    const size_t length = digits.size();
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), length - 1));
    const std::string_view number = take_digits(digits);
    // As many digits as it is written with, no zero more or less.
    if (!digits.empty() || number.size() > kMaxDigits || length != std::max(row.width, number.size()))
        return std::nullopt;
    const uint64_t value = value_of(number);
    if (value < row.first || value - row.first >= row.count) return std::nullopt;
    return value - row.first;
}

RowNames::RowNames(const NameRow& row) : text_(row.prefix) {
    begin_ = text_.size();
    append_number(text_, row.first, row.width);
    end_ = text_.size();
    text_.append(row.suffix);
}

void RowNames::next() {
    size_t digit = end_;
    while (digit > begin_ && text_[digit - 1] == '9')
        text_[--digit] = '0';
    if (digit > begin_) {
        ++text_[digit - 1];
    } else {
        text_.insert(begin_, 1, '1');
        ++end_;
    }
}

pmix_status_t parse_names(std::string_view text, size_t limit, const muster_preg_name_row_sink_t& sink,
                          Brackets brackets) {
    Expander expander(limit, sink);
    Splitter splitter(text);
    for (std::string_view item; splitter.next(item);) {
        const pmix_status_t status = expander.entry(item, brackets);
        if (status != PMIX_SUCCESS) return status;
    }
    return PMIX_SUCCESS;
}

pmix_status_t parse_names_with_digits(std::string_view text, size_t limit,
                                      const muster_preg_name_row_sink_t& sink) {
    Expander expander(limit, sink);
    Splitter splitter(text);
    for (std::string_view item; splitter.next(item);) {
        const size_t open = item.find('[');
        const size_t close = item.rfind(']');
        expander.name().clear();
        pmix_status_t status = PMIX_ERR_BAD_PARAM;
        if (open == std::string_view::npos && close == std::string_view::npos) {
            status = expander.append(item, Brackets::Strict, 0);
        } else if (open != std::string_view::npos && close != std::string_view::npos && open < close) {
            std::string_view inside = item.substr(open + 1, close - open - 1);
            const std::string_view digits = take_digits(inside);
            if (!digits.empty() && digits.size() <= 3 && value_of(digits) <= kMaxWidth && take(inside, ':')) {
                const size_t width = std::max<size_t>(1, value_of(digits));
                expander.name().append(item.substr(0, open));
                status =
                    expander.numbers(inside, width, item.substr(close + 1), Brackets::Strict, kMaxBrackets);
            }
        }
        if (status != PMIX_SUCCESS) return status;
    }
    return PMIX_SUCCESS;
}

bool shorten_names(std::string_view list, std::string& out) {
    Group group(out);
    Splitter splitter(list);
    Pattern pattern;
    for (std::string_view item;;) {
        splitter.skip(group.take_following(splitter.rest()));
        if (!splitter.next(item)) return group.flush();
        if (item.empty() || !pattern.read(item) || !group.add(pattern)) return false;
    }
}

}  // namespace muster::preg
