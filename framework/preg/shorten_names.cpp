// SPDX-License-Identifier: BSD-3-Clause
// Shortening lists of node names, name by name; expected continuations are only compared.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "framework/preg/name_list.hpp"
#include "framework/preg/name_text.hpp"

namespace muster::preg {
namespace {

/// A name split into numbers and the text between them.
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

    /// Digits, or a bracket with ranges. False for ranges whose ends do not determine the padding.
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

    /// That many more numbers, which continue the last range in written form.
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
        // Continues after the end of the last range, with its number of digits.
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

    /// `name` with `ranges` instead of its field `active`. False if it cannot be written.
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

    /// The field of the first bracket, where the entry that was added last has two.
    std::optional<Pattern::Field> outer() const {
        if (!waiting_ || outer_ == Pattern::kMaxFields) return std::nullopt;
        return first_.fields[outer_];
    }
    /// That many more entries with consecutive outer numbers.
    void grow(uint64_t count) { outer_ranges_.grow(count); }

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
        const char* begin = size_ > 1 ? first_.name.data() : nullptr;
        if (!flush_group()) return false;
        block_ = begin == nullptr ? std::string_view()
                                  : std::string_view(begin, static_cast<size_t>(name.name.data() - begin));
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

    /// Right after add() of the name at the front of `list`: takes the groups from there on that are like the
    /// one before but for the next outer number each ("n0p0,n0p1," before "n1p0,n1p1,n2p0,n2p1").
    /// @return as take_following().
    size_t take_alike(std::string_view list) {
        const auto outer = size_ == 1 && !block_.empty() ? entries_.outer() : std::nullopt;
        if (!outer || block_.find('[') != std::string_view::npos) return 0;
        // The number may have more digits than that of the first entry.
        std::string_view number = block_.substr(outer->begin);
        const size_t digits = take_digits(number).size();
        expected_ = block_;
        block_ = {};
        std::vector<char*> numbers;
        for (size_t at = 0; at < expected_.size(); at = expected_.find(',', at) + 1)
            numbers.push_back(&expected_[at + outer->begin]);
        const size_t step = expected_.size();  // with the comma at the end
        const auto next = [&] {
            return std::all_of(numbers.begin(), numbers.end(),
                               [&](char* at) { return add_to_digits(at, at + digits, 1); });
        };
        uint64_t matched = 0;
        size_t length = 0;
        while (length <= list.size() && next()) {
            const std::string_view rest = list.substr(length);
            if (!rest.starts_with(std::string_view(expected_).substr(0, step - 1))) break;
            if (rest.size() >= step && rest[step - 1] != ',') break;
            length += step;
            ++matched;
        }
        // The last group may have more names than those before it.
        if (length <= list.size() && matched > 0) {
            --matched;
            length -= step;
        }
        expected_.clear();
        if (matched == 0) return 0;
        entries_.grow(matched);
        size_ = 0;
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

    /// Makes the name that follows the last one, after `more` names that ranges_ does not count yet.
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
    std::string_view block_;  ///< the previous group, with the comma after it
    std::string expected_;    ///< the name that follows the last one; empty: not made yet
    size_t number_begin_ = 0, number_end_ = 0;
};

}  // namespace

bool shorten_names(std::string_view list, std::string& out) {
    Group group(out);
    Splitter splitter(list);
    Pattern pattern;
    for (std::string_view item;;) {
        splitter.skip(group.take_following(splitter.rest()));
        if (!splitter.next(item)) return group.flush();
        if (item.empty() || !pattern.read(item) || !group.add(pattern)) return false;
        const auto from = static_cast<size_t>(item.data() - list.data());
        if (const size_t taken = group.take_alike(list.substr(from)); taken != 0)
            splitter.skip(taken - (item.size() + 1));
    }
}

}  // namespace muster::preg
