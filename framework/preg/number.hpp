// SPDX-License-Identifier: BSD-3-Clause
// Decimal numbers in lists: reading digits without going past an end, and writing them padded.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
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

/// Adds to a number that is written in decimal digits between `begin` and `end`, in place. false where they
/// do not suffice (the digits are unspecified then).
inline bool add_to_digits(char* begin, char* end, uint64_t value) {
    while (value != 0 && end != begin) {
        --end;
        const uint64_t higher = value < 10 ? 0 : value / 10;
        uint64_t digit = static_cast<uint64_t>(*end - '0') + (value - 10 * higher);
        value = higher;
        if (digit >= 10) {
            digit -= 10;
            ++value;
        }
        *end = static_cast<char>('0' + digit);
    }
    return value == 0;
}

/// Whether `list` begins with `entry` and goes on with `separator`, or ends. For short entries.
inline bool begins_with_entry(std::string_view list, std::string_view entry, char separator) {
    const size_t n = entry.size();
    if (list.size() < n || (list.size() > n && list[n] != separator)) return false;
    if (n < 8) return std::memcmp(list.data(), entry.data(), n) == 0;
    const auto word = [](const char* at) {
        uint64_t bytes = 0;
        std::memcpy(&bytes, at, sizeof bytes);
        return bytes;
    };
    for (size_t i = 0; i + 8 < n; i += 8) {
        if (word(list.data() + i) != word(entry.data() + i)) return false;
    }
    return word(list.data() + n - 8) == word(entry.data() + n - 8);
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
