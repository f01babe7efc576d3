// SPDX-License-Identifier: BSD-3-Clause
// See decimal.hpp.
#include "framework/base/decimal.hpp"

#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include <locale.h>

namespace muster {
namespace {

/// The C locale; the C library has it ready, nothing is allocated.
locale_t c_locale() {
    static const locale_t locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
    return locale;
}

/// strtod() would also accept blanks, a plus and hexadecimal digits.
bool is_decimal(std::string_view text) {
    if (!text.empty() && text[0] == '-') text.remove_prefix(1);
    if (text.empty()) return false;
    const char first = text[0];
    if (first == 'i' || first == 'I' || first == 'n' || first == 'N') return true;
    if (first != '.' && (first < '0' || first > '9')) return false;
    return text.find_first_of("xX") == std::string_view::npos;
}

}  // namespace

size_t write_decimal(double value, char (&text)[kDecimalSize]) {
    const locale_t before = ::uselocale(c_locale());
    const int length = std::snprintf(text, sizeof text, "%f", value);
    ::uselocale(before);
    return static_cast<size_t>(length);
}

template <class Real>
std::optional<Real> read_decimal(std::string_view text) {
    // No sensible number is longer; the output of write_decimal fits.
    char buffer[kDecimalSize + 16];
    if (!is_decimal(text) || text.size() >= sizeof buffer) return std::nullopt;
    std::memcpy(buffer, text.data(), text.size());
    buffer[text.size()] = '\0';
    char* end = nullptr;
    Real value = 0;
    if constexpr (std::is_same_v<Real, float>) {
        value = ::strtof_l(buffer, &end, c_locale());
    } else {
        value = ::strtod_l(buffer, &end, c_locale());
    }
    if (end != buffer + text.size()) return std::nullopt;
    if (std::isinf(value) && text.find_first_of("iI") == std::string_view::npos) return std::nullopt;
    return value;
}
template std::optional<float> read_decimal(std::string_view text);
template std::optional<double> read_decimal(std::string_view text);

}  // namespace muster
