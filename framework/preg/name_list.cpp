// SPDX-License-Identifier: BSD-3-Clause
// Reading lists of node names. They are shortened in shorten_names.cpp.
#include "framework/preg/name_list.hpp"

#include "framework/preg/name_text.hpp"

namespace muster::preg {
namespace {

/// Brackets in one name: a bound on the recursion below.
constexpr int kMaxBrackets = 8;
/// Digits that a number may be padded to.
constexpr uint64_t kMaxWidth = 64;

/// Expands the names of one entry, within the limits of the whole list.
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

}  // namespace

std::optional<size_t> NameRow::size(size_t limit) const {
    size_t all = 0, digits = 1;
    uint64_t end = 10;  // of the numbers with that many digits
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

void append_names(std::string& list, const NameRow& row) {
    if (row.count == 0) return;
    if (!list.empty()) list += ',';
    const size_t before = list.size();
    list.resize(before + row.size(SIZE_MAX - before - row.count).value() + row.count);
    char* at = list.data() + before;
    const uint64_t end = row.first + row.count;
    for (uint64_t value = row.first, longer = 10; value != end; longer *= 10) {
        // Those of one length, with a comma after each.
        if (value >= longer) continue;
        const uint64_t same = std::min(end, longer);
        RowNames names({row.prefix, value, same - value, row.width, row.suffix});
        const size_t length = names.name().size() + 1;
        const auto write = [&] {
            *std::copy(names.name().begin(), names.name().end(), at) = ',';
            at += length;
        };
        // The first ten that begin with a multiple of ten. The others are the ten before with higher tens,
        // which takes a fifth of the time of a copy of each name right after its change.
        for (const uint64_t tens = std::min(same, (value + 9) / 10 * 10 + 10); value != tens; ++value) {
            write();
            names.next();
        }
        const size_t ten = length - 1 - row.suffix.size() - 2;  // the digit of tens
        for (size_t count = 0; value != same; value += count) {
            count = std::min<uint64_t>(10, same - value);
            std::copy(at - 10 * length, at - (10 - count) * length, at);
            for (const char* const last = at + count * length; at != last; at += length) {
                char* digit = at + ten;
                while (*digit == '9')
                    *digit-- = '0';
                ++*digit;
            }
        }
    }
    list.pop_back();
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

}  // namespace muster::preg
