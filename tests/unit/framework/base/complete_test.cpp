// SPDX-License-Identifier: BSD-3-Clause
// The values that can be sent to other processes.
#include "framework/base/complete.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/framework/base/sample_values.hpp"

namespace muster {
namespace {

std::vector<pmix_data_type_t> types_in_values() {
    std::vector<pmix_data_type_t> types;
    for (pmix_data_type_t number = 1; number <= PMIX_ALLOC_INHERIT; ++number) {
        const DataType* type = find_data_type(number);
        if (type != nullptr && type->storage != ValueStorage::kNone) types.push_back(number);
    }
    return types;
}

class EachType : public testing::TestWithParam<pmix_data_type_t> {};

TEST_P(EachType, IsIncompleteWithANullPointer) {
    const DataType* type = find_data_type(GetParam());
    ASSERT_NE(type, nullptr);
    test::Element element = test::sample(GetParam());
    const Value whole = Value::of(GetParam(), test::load_argument(element));
    EXPECT_EQ(value_complete(*whole), PMIX_SUCCESS);

    pmix_value_t hollow = PMIX_VALUE_STATIC_INIT;
    hollow.type = GetParam();
    const bool needs_object =
        (type->storage == ValueStorage::kBoxed && GetParam() != PMIX_DATA_ARRAY) || GetParam() == PMIX_REGEX;
    EXPECT_EQ(value_complete(hollow), needs_object ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS) << type->name;

    // The same inside of other values.
    pmix_info_t info = PMIX_INFO_STATIC_INIT;
    info.value = hollow;
    pmix_data_array_t array = {PMIX_INFO, 1, &info};
    pmix_value_t outer = PMIX_VALUE_STATIC_INIT;
    outer.type = PMIX_DATA_ARRAY;
    outer.data.darray = &array;
    EXPECT_EQ(value_complete(outer), value_complete(hollow));
}

INSTANTIATE_TEST_SUITE_P(Complete, EachType, testing::ValuesIn(types_in_values()));

TEST(Complete, ARegexNeedsATerminator) {
    char text[] = {'r', 'a', 'w', ':', 'a'};
    pmix_value_t value = PMIX_VALUE_STATIC_INIT;
    value.type = PMIX_REGEX;
    value.data.bo = {text, sizeof text};
    EXPECT_EQ(value_complete(value), PMIX_ERR_BAD_PARAM);
}

}  // namespace
}  // namespace muster
