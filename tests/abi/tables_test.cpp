// SPDX-License-Identifier: BSD-3-Clause
//
// The numbers and keys of the public headers against those that programs were compiled with (data/). A name
// that is missing, or a function with another signature, already stops the build of this test.

#include <gtest/gtest.h>

#include "measure.h"

namespace {

void expect_numbers(const Measured& measured) {
    ASSERT_GT(measured.number_count, 1500U);
    for (size_t i = 0; i < measured.number_count; ++i) {
        const NumberRow& row = measured.numbers[i];
        EXPECT_EQ(row.found, row.expected) << row.what << " differs from OpenPMIx " << row.version;
    }
}

void expect_keys(const Measured& measured) {
    ASSERT_GT(measured.key_count, 1500U);
    for (size_t i = 0; i < measured.key_count; ++i) {
        const KeyRow& row = measured.keys[i];
        EXPECT_STREQ(row.found, row.expected) << row.what << " differs from OpenPMIx " << row.version;
    }
}

TEST(AbiTables, NumbersInC) {
    expect_numbers(measured_in_c());
}

TEST(AbiTables, NumbersInCxx) {
    expect_numbers(measured_in_cxx());
}

TEST(AbiTables, KeysInC) {
    expect_keys(measured_in_c());
}

TEST(AbiTables, KeysInCxx) {
    expect_keys(measured_in_cxx());
}

}  // namespace
