// SPDX-License-Identifier: BSD-3-Clause
// Real numbers as text: whole texts only, in every locale, as printf("%f") writes them.
#include "framework/base/decimal.hpp"

#include <gtest/gtest.h>

#include <cfloat>
#include <clocale>
#include <cmath>
#include <limits>
#include <string>

namespace muster {
namespace {

std::string written(double value) {
    char text[kDecimalSize];
    const size_t length = write_decimal(value, text);
    EXPECT_EQ(text[length], '\0');
    return {text, length};
}

TEST(Decimal, IsWrittenWithSixPlaces) {
    EXPECT_EQ(written(0), "0.000000");
    EXPECT_EQ(written(-2.5), "-2.500000");
    EXPECT_EQ(written(1e-9), "0.000000");
    EXPECT_EQ(written(std::numeric_limits<double>::infinity()), "inf");
    EXPECT_EQ(written(std::nan("")), "nan");
    EXPECT_EQ(written(-DBL_MAX).size(), 1U + 309 + 1 + 6);
}

TEST(Decimal, RoundTrips) {
    for (const double value : {0.0, 1.0, -3.25, 123456789.125, DBL_MAX, -DBL_MAX}) {
        EXPECT_EQ(read_decimal(written(value)), value);
    }
    EXPECT_EQ(read_decimal<float>(written(double{FLT_MAX})), FLT_MAX);
    EXPECT_EQ(read_decimal("1e3"), 1000.0);
    EXPECT_EQ(read_decimal(".5"), 0.5);
    EXPECT_EQ(read_decimal("-inf"), -std::numeric_limits<double>::infinity());
    const auto nan = read_decimal("nan");
    EXPECT_TRUE(nan && std::isnan(*nan));
}

TEST(Decimal, RefusesOtherForms) {
    for (const char* text :
         {"", "-", "+1", " 1", "1 ", "1,5", "0x10", "-0X1p3", "1e", "one", "--1", "1e999", "-1e999"}) {
        EXPECT_FALSE(read_decimal(text)) << text;
    }
    EXPECT_FALSE(read_decimal<float>("1e39"));
    EXPECT_FALSE(read_decimal(std::string(400, '1')));
    EXPECT_FALSE(read_decimal(std::string_view("1\0", 2)));
}

TEST(Decimal, IgnoresTheLocale) {
    const std::string before = std::setlocale(LC_NUMERIC, nullptr);
    const char* const comma = std::setlocale(LC_NUMERIC, "de_DE.UTF-8");
    EXPECT_EQ(written(1.5), "1.500000");
    EXPECT_EQ(read_decimal("1.5"), 1.5);
    EXPECT_FALSE(read_decimal("1,5"));
    std::setlocale(LC_NUMERIC, before.c_str());
    RecordProperty("with_comma", comma != nullptr);
}

}  // namespace
}  // namespace muster
