// SPDX-License-Identifier: BSD-3-Clause
// The text of lists of node names: ranges of numbers in brackets, and the commas between names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "framework/preg/number.hpp"

namespace muster::preg {

/// "007-012" or "7".
struct Range {
    uint64_t first = 0;
    uint64_t last = 0;
    size_t width = 0;  ///< digits of the first number as written
    std::string_view last_text;
};

inline bool take_range(std::string_view& text, Range& range) {
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
inline bool is_ranges(std::string_view text) {
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
        // The search from the end is slow, byte by byte: it is skipped for texts without a bracket.
        if (last_close_ != std::string_view::npos) last_close_ = text.rfind(']');
    }

    bool next(std::string_view& item) {
        if (at_ > text_.size() || text_.empty()) return false;
        size_t end = at_;
        while (end < text_.size() && text_[end] != ',') {
            // Only a bracket that is closed hides commas; the search for its end stays linear, because it
            // continues behind the end.
            if (text_[end] == '[' && last_close_ != std::string_view::npos && end < last_close_) {
                end = text_.find(']', end);
            }
            ++end;
        }
        item = text_.substr(at_, end - at_);
        at_ = end + 1;
        return true;
    }

    /// The rest of the text, which next() has not given yet.
    std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }
    /// Skips items of this length, including their commas, which have no brackets.
    void skip(size_t length) { at_ += length; }

  private:
    std::string_view text_;
    size_t last_close_;
    size_t at_ = 0;
};

}  // namespace muster::preg
