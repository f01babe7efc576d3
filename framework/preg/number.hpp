// SPDX-License-Identifier: BSD-3-Clause
// Decimal numbers in lists: reading digits within bounds, and writing them padded.
#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace muster::preg {

/// More digits than this are text, not a number.
inline constexpr size_t kMaxDigits = 18;

inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Removes the digits at the front of `text`; empty if there are none.
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

/// Removes the digits at the front of `text`, at most `most` of them; nothing if there are none, or more.
inline std::optional<uint64_t> take_number(std::string_view& text, size_t most = kMaxDigits) {
    uint64_t value = 0;
    size_t n = 0;
    for (; n < text.size() && is_digit(text[n]); ++n) {
        if (n == most) return std::nullopt;
        value = value * 10 + static_cast<uint64_t>(text[n] - '0');
    }
    text.remove_prefix(n);
    return n != 0 ? std::optional(value) : std::nullopt;
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

/// Whether `list` begins with `entry`, followed by `separator` or the end. For short entries.
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

/// How many entries at the front of `list` are `entry` with its last digit, at `place`, counted up in steps
/// of one, to 9 at most: "n4,n5,n6,x1" has 3 of "n4". Each must be followed by `separator` or the end. None
/// if `entry` is too short or too long for that: compare one by one then. The comparands stay in registers:
/// loading a word right after a store of one of its digits would stall, which costs more than all the rest.
inline uint64_t entries_of_decade(std::string_view list, std::string_view entry, size_t place,
                                  char separator) {
    const size_t n = entry.size();
    constexpr size_t kWord = sizeof(uint64_t);
    if (std::endian::native != std::endian::little || n < kWord || n > 3 * kWord) return 0;
    const auto word = [](std::string_view text, size_t at) {
        uint64_t bytes = 0;
        std::memcpy(&bytes, text.data() + at, sizeof bytes);
        return bytes;
    };
    // The words at the front, behind it, and at the end, which may overlap.
    const std::array<size_t, 3> at = {0, n > 2 * kWord ? kWord : 0, n - kWord};
    std::array<uint64_t, 3> wanted{}, step{};
    for (size_t i = 0; i < at.size(); ++i) {
        wanted[i] = word(entry, at[i]);
        if (place >= at[i] && place < at[i] + kWord) step[i] = uint64_t{1} << (8 * (place - at[i]));
    }
    uint64_t taken = 0;
    for (char digit = entry[place];; ++digit) {
        if (list.size() < n || (list.size() > n && list[n] != separator)) return taken;
        if (word(list, at[0]) != wanted[0] || word(list, at[1]) != wanted[1] ||
            word(list, at[2]) != wanted[2])
            return taken;
        ++taken;
        if (digit == '9' || list.size() == n) return taken;
        for (size_t i = 0; i < at.size(); ++i)
            wanted[i] += step[i];
        list.remove_prefix(n + 1);
    }
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
