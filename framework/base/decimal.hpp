// SPDX-License-Identifier: BSD-3-Clause
// Real numbers as text, the same in every locale. Not std::to_chars and std::from_chars: for real numbers
// they bring 250 KB of code and tables and the mathematics library into each component that uses them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace muster {

/// Size of the largest number in write_decimal's form: 309 digits, the sign, the point and what follows it.
constexpr size_t kDecimalSize = 336;

/// Writes the output of printf("%f") in the C locale, followed by a zero byte; returns the length without
/// that byte.
size_t write_decimal(double value, char (&text)[kDecimalSize]);

/// The number that the whole text is: digits with a point and an exponent, "inf" or "nan", each with or
/// without a minus; nothing if it is not one, or is too large for the type.
template <class Real = double>
std::optional<Real> read_decimal(std::string_view text);

}  // namespace muster
