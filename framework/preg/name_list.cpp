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
    range.first = range.last = value_of(first);
    range.width = first.size();
    range.last_text = first;
    if (take(text, '-')) {
        const std::string_view last = take_digits(text);
        if (last.empty() || last.size() > kMaxDigits) return false;
        range.last = value_of(last);
        range.last_text = last;
        if (range.last < range.first) return false;
    }
    return true;
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
    explicit Splitter(std::string_view text) : text_(text), last_close_(text.rfind(']')) {}

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

  private:
    std::string_view text_;
    size_t last_close_;
    size_t at_ = 0;
};

/// Writes out the names that one entry stands for, within the limits of the whole list.
class Expander {
  public:
    Expander(size_t limit, const muster_preg_name_sink_t& sink)
        : names_left_(limit), bytes_left_(limit * kBytesPerName), sink_(sink) {}

    pmix_status_t entry(std::string_view text, Brackets brackets) {
        name_.clear();
        return append(text, brackets, 0);
    }

    /// prefix, each number of the ranges with `width` digits (0: as many as its range says), suffix.
    pmix_status_t numbers(std::string_view ranges, size_t width, std::string_view rest, Brackets brackets,
                          int depth) {
        const size_t length = name_.size();
        Range range;
        do {
            if (!take_range(ranges, range)) return PMIX_ERR_BAD_PARAM;
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
    pmix_status_t emit(std::string_view rest) {
        const size_t length = name_.size() + rest.size();
        if (length == 0) return PMIX_SUCCESS;
        if (names_left_ == 0 || length > bytes_left_) return PMIX_ERR_OUT_OF_RESOURCE;
        --names_left_;
        bytes_left_ -= length;
        if (name_.empty()) return sink_.name(sink_.data, rest.data(), rest.size());
        name_.append(rest);
        return sink_.name(sink_.data, name_.data(), name_.size());
    }

    size_t names_left_;
    size_t bytes_left_;
    const muster_preg_name_sink_t& sink_;
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

/// Neighbours in the list that differ in one number only.
class Group {
  public:
    explicit Group(std::string& out) : out_(out) {}

    bool add(const Pattern& name) {
        if (size_ != 0 && joins(name)) return append(name);
        flush();
        first_ = name;
        active_ = name.bracket;
        size_ = 1;
        ranges_.clear();
        open_ = false;
        if (active_ != Pattern::kMaxFields) return append(name);
        return true;
    }

    void flush() {
        if (size_ == 0) return;
        if (any_) out_ += ',';
        any_ = true;
        if (size_ == 1 && first_.bracket == Pattern::kMaxFields) {
            out_.append(first_.name);
        } else {
            close_range();
            const Pattern::Field field = first_.fields[active_];
            out_.append(first_.name.substr(0, field.begin));
            out_ += '[';
            out_.append(ranges_);
            out_ += ']';
            out_.append(first_.name.substr(field.begin + field.length));
        }
        size_ = 0;
    }

  private:
    /// Whether `name` is the group's first one but for one number, the one in which all of the group differ.
    bool joins(const Pattern& name) {
        if (name.count != first_.count || name.count == 0) return false;
        size_t differing = name.bracket;
        size_t end_a = 0, end_b = 0;
        for (size_t i = 0; i < name.count; ++i) {
            const Pattern::Field &a = first_.fields[i], &b = name.fields[i];
            if (first_.name.substr(end_a, a.begin - end_a) != name.name.substr(end_b, b.begin - end_b))
                return false;
            if (first_.text(i) != name.text(i) && i != active_) {
                if (differing != Pattern::kMaxFields && differing != i) return false;
                differing = i;
            }
            end_a = a.begin + a.length;
            end_b = b.begin + b.length;
        }
        if (first_.name.substr(end_a) != name.name.substr(end_b)) return false;
        if (active_ != Pattern::kMaxFields) return differing == Pattern::kMaxFields || differing == active_;
        active_ = differing != Pattern::kMaxFields ? differing : name.count - 1;
        return append_text(first_.text(active_));
    }

    bool append(const Pattern& name) {
        ++size_;
        return append_text(name.text(active_));
    }

    bool append_text(std::string_view text) {
        if (!take(text, '[')) return append_range(text);
        text.remove_suffix(1);
        Range range;
        do {
            if (!take_range(text, range)) return false;
            if (!same_number_text(range.last_text, range.last, range.width)) return false;
            if (!add_range(range)) return false;
        } while (take(text, ','));
        return true;
    }

    bool append_range(std::string_view digits) {
        Range range;
        return take_range(digits, range) && add_range(range);
    }

    bool add_range(const Range& range) {
        // Going on where the last range ended, with the digits that it would give.
        if (open_ && range.first == current_.last + 1 &&
            std::max(width_of(range.first), current_.width) == std::max(width_of(range.first), range.width)) {
            current_.last = range.last;
            return true;
        }
        close_range();
        current_ = range;
        open_ = true;
        return true;
    }

    static size_t width_of(uint64_t value) {
        size_t width = 1;
        while (value >= 10) {
            value /= 10;
            ++width;
        }
        return width;
    }

    void close_range() {
        if (!open_) return;
        if (!ranges_.empty()) ranges_ += ',';
        append_number(ranges_, current_.first, current_.width);
        if (current_.last != current_.first) {
            ranges_ += '-';
            append_number(ranges_, current_.last, current_.width);
        }
        open_ = false;
    }

    std::string& out_;
    Pattern first_;
    size_t active_ = Pattern::kMaxFields;
    size_t size_ = 0;
    std::string ranges_;  ///< finished ranges
    Range current_;       ///< the range that may still grow
    bool open_ = false;
    bool any_ = false;  ///< something was written
};

}  // namespace

pmix_status_t parse_names(std::string_view text, size_t limit, const muster_preg_name_sink_t& sink,
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
                                      const muster_preg_name_sink_t& sink) {
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
    for (std::string_view item; splitter.next(item);) {
        if (item.empty() || !pattern.read(item) || !group.add(pattern)) return false;
    }
    group.flush();
    return true;
}

}  // namespace muster::preg
