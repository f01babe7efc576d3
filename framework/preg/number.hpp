// SPDX-License-Identifier: BSD-3-Clause
// Decimal numbers in lists: reading digits without going past an end, and writing them padded.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster::preg {

/// More digits than this are text, not a number.
inline constexpr size_t kMaxDigits = 18;

inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// The digits at the front of `text`, which are taken off; empty where there are none.
inline std::string_view take_digits(std::string_view& text) {
    size_t n = 0;
    while (n < text.size() && is_digit(text[n]))
        ++n;
    const std::string_view digits = text.substr(0, n);
    text.remove_prefix(n);
    return digits;
}

inline bool take(std::string_view& text, char c) {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
}

/// Value of at most kMaxDigits digits.
inline uint64_t value_of(std::string_view digits) {
    uint64_t value = 0;
    for (const char c : digits)
        value = value * 10 + static_cast<uint64_t>(c - '0');
    return value;
}

/// Appends a number with zeros in front up to `width` digits.
inline void append_number(std::string& out, uint64_t value, size_t width = 0) {
    char digits[24];
    const char* end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    const size_t n = static_cast<size_t>(end - digits);
    if (n < width) out.append(width - n, '0');
    out.append(digits, n);
}

inline bool same_number_text(std::string_view text, uint64_t value, size_t width) {
    char digits[24];
    const char* end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    const size_t n = static_cast<size_t>(end - digits);
    if (text.size() != (n < width ? width : n)) return false;
    const size_t zeros = text.size() - n;
    return text.substr(0, zeros).find_first_not_of('0') == std::string_view::npos &&
           text.substr(zeros) == std::string_view(digits, n);
}

}  // namespace muster::preg
