// SPDX-License-Identifier: BSD-3-Clause
// Deep operations on every data type of the API; the address build also checks for leaks.

#include "framework/base/element.hpp"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "framework/base/print.hpp"
#include "framework/base/value.hpp"
#include "sample_values.hpp"

namespace muster {
namespace {

using test::Element;
using test::sample;

std::vector<pmix_data_type_t> all_types() {
    std::vector<pmix_data_type_t> types;
    for (pmix_data_type_t type = 0; type <= PMIX_ALLOC_INHERIT; ++type) {
        if (find_data_type(type) != nullptr && test::has_elements(type)) types.push_back(type);
    }
    return types;
}

class EveryType : public testing::TestWithParam<pmix_data_type_t> {
  protected:
    pmix_data_type_t type() const { return GetParam(); }
    bool holds() const { return find_data_type(type())->storage != ValueStorage::kNone; }
};

INSTANTIATE_TEST_SUITE_P(Types, EveryType, testing::ValuesIn(all_types()),
                         [](const auto& of) { return std::string(data_type_name(of.param)); });

TEST(DataTypes, AreAllThoseOfTheApi) {
    // 0 to 75 without the unassigned 29 and 44; three of them have no element.
    EXPECT_EQ(all_types().size(), 71U);
    EXPECT_EQ(find_data_type(29), nullptr);
    EXPECT_EQ(find_data_type(44), nullptr);
    EXPECT_EQ(find_data_type(76), nullptr);
    EXPECT_EQ(find_data_type(UINT16_MAX), nullptr);
    EXPECT_EQ(data_type_size(PMIX_UNDEF), 0U);
    EXPECT_EQ(data_type_size(PMIX_KVAL), 0U);
    EXPECT_STREQ(data_type_name(PMIX_RESBLOCK_DIRECTIVE), "PMIX_RESBLOCK_DIRECTIVE");
}

TEST_P(EveryType, CopiesAreEqualAndIndependent) {
    Element original = sample(type());
    Element same = sample(type());
    Element greater = sample(type(), 2);
    EXPECT_EQ(data_compare_elements(original.get(), same.get(), 1, type()), PMIX_EQUAL);
    EXPECT_EQ(data_compare_elements(original.get(), greater.get(), 1, type()), PMIX_VALUE2_GREATER);
    EXPECT_EQ(data_compare_elements(greater.get(), original.get(), 1, type()), PMIX_VALUE1_GREATER);

    Element copy(type());
    ASSERT_EQ(data_copy_elements(copy.get(), original.get(), 1, type()), PMIX_SUCCESS);
    data_destruct_elements(original.get(), 1, type());
    EXPECT_EQ(data_compare_elements(copy.get(), same.get(), 1, type()), PMIX_EQUAL);
}

TEST_P(EveryType, ZeroedElementsAreGoodForEverything) {
    Element zero(type());
    Element copy(type());
    std::size_t size = 0;
    std::string text;
    EXPECT_EQ(data_copy_elements(copy.get(), zero.get(), 1, type()), PMIX_SUCCESS);
    EXPECT_EQ(data_compare_elements(copy.get(), zero.get(), 1, type()), PMIX_EQUAL);
    EXPECT_EQ(data_size_elements(zero.get(), 1, type(), &size), PMIX_SUCCESS);
    EXPECT_EQ(size, data_type_size(type()));
    const bool by_content = type() == PMIX_STRING || type() == PMIX_POINTER || type() == PMIX_REGEX;
    EXPECT_EQ(print_element(text, "", by_content ? nullptr : zero.get(), type()), PMIX_SUCCESS);
    EXPECT_FALSE(text.empty());
}

TEST_P(EveryType, ReportsItsSizeWithOwnedMemory) {
    Element original = sample(type());
    std::size_t size = 0;
    ASSERT_EQ(data_size_elements(original.get(), 1, type(), &size), PMIX_SUCCESS);
    if (find_data_type(type())->owning && type() != PMIX_INFO) {
        EXPECT_GT(size, data_type_size(type()));
    } else {
        EXPECT_EQ(size, data_type_size(type()));
    }
}

TEST_P(EveryType, ArraysCopyAndDestruct) {
    constexpr std::size_t kCount = 3;
    const std::size_t size = data_type_size(type());
    void* block = calloc(kCount, size);
    for (int i = 0; i < static_cast<int>(kCount); ++i) {
        Element one = sample(type(), i + 1);
        ASSERT_EQ(data_copy_elements(static_cast<char*>(block) + i * size, one.get(), 1, type()),
                  PMIX_SUCCESS);
    }
    pmix_data_array_t array = {type(), kCount, block};
    pmix_data_array_t copy = {};
    ASSERT_EQ(data_copy_elements(&copy, &array, 1, PMIX_DATA_ARRAY), PMIX_SUCCESS);
    EXPECT_EQ(copy.size, kCount);
    EXPECT_EQ(data_compare_elements(&copy, &array, 1, PMIX_DATA_ARRAY), PMIX_EQUAL);
    std::string text;
    EXPECT_EQ(print_element(text, "", &array, PMIX_DATA_ARRAY), PMIX_SUCCESS);
    data_destruct_elements(&array, 1, PMIX_DATA_ARRAY);
    EXPECT_EQ(array.array, nullptr);
    EXPECT_EQ(data_compare_elements(&copy, &array, 1, PMIX_DATA_ARRAY), PMIX_VALUE_TYPE_DIFFERENT);
    data_destruct_elements(&copy, 1, PMIX_DATA_ARRAY);
}

TEST_P(EveryType, ValuesLoadCopyCompareAndUnload) {
    Element original = sample(type());
    pmix_value_t value;
    if (!holds()) {
        EXPECT_EQ(value_load(&value, original.get(), type()), PMIX_ERR_NOT_SUPPORTED);
        return;
    }
    ASSERT_EQ(value_load(&value, test::load_argument(original), type()), PMIX_SUCCESS);
    Value owner = Value::adopt(value);
    EXPECT_EQ(owner.type(), type());
    Value copy = owner.copy();
    EXPECT_EQ(value_compare(owner.get(), copy.get()), PMIX_EQUAL);
    EXPECT_FALSE(value_text(copy.get()).empty());
    std::size_t size = 0;
    EXPECT_EQ(value_size(copy.get(), &size), PMIX_SUCCESS);
    EXPECT_GT(size, 0U);

    Element other = sample(type(), 2);
    Value greater = Value::of(type(), test::load_argument(other));
    EXPECT_EQ(value_compare(owner.get(), greater.get()), PMIX_VALUE2_GREATER);

    const bool needs_room =
        !find_data_type(type())->owning && type() != PMIX_POINTER && type() != PMIX_RESOURCE_UNIT;
    void* data = needs_room ? data_create_elements(1, type()) : nullptr;
    ASSERT_EQ(value_unload(copy.get(), &data, &size), PMIX_SUCCESS);
    switch (type()) {
        case PMIX_POINTER:
            EXPECT_EQ(data, original.as<void*>());
            break;
        case PMIX_STRING:
            EXPECT_STREQ(static_cast<char*>(data), original.as<char*>());
            EXPECT_EQ(size, strlen(original.as<char*>()));
            free(data);
            break;
        case PMIX_BYTE_OBJECT:
        case PMIX_COMPRESSED_STRING:
        case PMIX_COMPRESSED_BYTE_OBJECT:
        case PMIX_REGEX:
            ASSERT_EQ(size, original.as<pmix_byte_object_t>().size);
            EXPECT_EQ(std::memcmp(data, original.as<pmix_byte_object_t>().bytes, size), 0);
            free(data);
            break;
        default:
            EXPECT_EQ(data_compare_elements(data, original.get(), 1, type()), PMIX_EQUAL);
            data_free_elements(data, 1, type());
            break;
    }
}

TEST_P(EveryType, ValuesLoadedFromNullAreZero) {
    pmix_value_t value;
    if (!holds()) return;
    ASSERT_EQ(value_load(&value, nullptr, type()), PMIX_SUCCESS);
    Value owner = Value::adopt(value);
    EXPECT_EQ(owner->data.flag, type() == PMIX_BOOL);
    Value copy = owner.copy();
    EXPECT_EQ(value_compare(owner.get(), copy.get()), PMIX_EQUAL);
    EXPECT_FALSE(value_text(owner.get()).empty());
    std::size_t size = 0;
    EXPECT_EQ(value_size(owner.get(), &size), PMIX_SUCCESS);
}

TEST_P(EveryType, CreatedElementsCanBeFreed) {
    void* block = data_create_elements(4, type());
    ASSERT_NE(block, nullptr);
    data_free_elements(block, 4, type());
    EXPECT_EQ(data_create_elements(0, type()), nullptr);
    const std::size_t size = data_type_size(type());
    if (size > 1) {
        EXPECT_EQ(data_create_elements(SIZE_MAX / size + 1, type()), nullptr) << "too many bytes";
    }
}

// ---- nesting ------------------------------------------------------------------------------------------

// A value holding `depth` data arrays within each other, by values or by infos.
pmix_value_t nested(int depth, pmix_data_type_t by) {
    pmix_value_t value = {};
    value.type = PMIX_STRING;
    value.data.string = strdup("core");
    for (int i = 0; i < depth; ++i) {
        auto* array = static_cast<pmix_data_array_t*>(malloc(sizeof(pmix_data_array_t)));
        *array = {by, 1, calloc(1, data_type_size(by))};
        (by == PMIX_VALUE ? *static_cast<pmix_value_t*>(array->array)
                          : static_cast<pmix_info_t*>(array->array)->value) = value;
        value.type = PMIX_DATA_ARRAY;
        value.data.darray = array;
    }
    return value;
}

TEST(Nesting, IsCopiedToTheLimitAndRefusedBeyond) {
    for (const pmix_data_type_t by : {PMIX_VALUE, PMIX_INFO}) {
        const Value deepest = Value::adopt(nested(kMaxNesting, by));
        pmix_value_t copy = {};
        ASSERT_EQ(value_copy(&copy, deepest.get()), PMIX_SUCCESS);
        EXPECT_EQ(value_compare(&copy, deepest.get()), PMIX_EQUAL);
        value_destruct(&copy);

        const Value too_deep = Value::adopt(nested(kMaxNesting + 1, by));
        copy.type = PMIX_INT;
        EXPECT_EQ(value_copy(&copy, too_deep.get()), PMIX_ERR_BAD_PARAM);
        EXPECT_EQ(copy.type, PMIX_INT) << "a failure leaves the destination alone";
        std::size_t size = 0;
        EXPECT_EQ(value_size(too_deep.get(), &size), PMIX_ERR_BAD_PARAM);
        EXPECT_EQ(value_compare(too_deep.get(), too_deep.get()), PMIX_VALUE_COMPARISON_NOT_AVAIL);
        EXPECT_NE(value_text(too_deep.get()).find("too deep"), std::string::npos);
    }
}

TEST(Nesting, OfAnyDepthIsDestructedWithoutRecursion) {
    pmix_value_t value = nested(300000, PMIX_VALUE);
    value_destruct(&value);
    EXPECT_EQ(value.type, PMIX_UNDEF);
}

TEST(Nesting, OfArraysInArrays) {
    pmix_data_array_t array = {};
    for (int i = 0; i < 1000; ++i) {
        auto* inner = static_cast<pmix_data_array_t*>(malloc(sizeof(pmix_data_array_t)));
        *inner = array;
        array = {PMIX_DATA_ARRAY, 1, inner};
    }
    pmix_data_array_t copy;
    EXPECT_EQ(data_copy_elements(&copy, &array, 1, PMIX_DATA_ARRAY), PMIX_ERR_BAD_PARAM);
    data_destruct_elements(&array, 1, PMIX_DATA_ARRAY);
}

// ---- refused copies -------------------------------------------------------------------------------

TEST(Copy, OfAnArrayWithABadElementLeaksNothing) {
    Info info;
    info.add("good", "text");
    info.add("bad", "text");
    info[1].value.type = 29;
    free(info[1].value.data.string);
    EXPECT_FALSE(Info::copy_of(info.view()).has_value());
    pmix_data_array_t array = {PMIX_INFO, info.size(), info.data()};
    pmix_data_array_t copy;
    EXPECT_EQ(data_copy_elements(&copy, &array, 1, PMIX_DATA_ARRAY), PMIX_ERR_UNKNOWN_DATA_TYPE);
}

TEST(Copy, OfTypesThatAValueCannotHold) {
    pmix_value_t value = {};
    pmix_value_t copy = {};
    for (const pmix_data_type_t type : {PMIX_INFO, PMIX_APP, PMIX_VALUE, PMIX_KVAL, PMIX_BUFFER}) {
        value.type = type;
        EXPECT_EQ(value_copy(&copy, &value), PMIX_ERR_NOT_SUPPORTED) << type;
    }
    value.type = 499;
    EXPECT_EQ(value_copy(&copy, &value), PMIX_ERR_UNKNOWN_DATA_TYPE);
}

TEST(Copy, OfForeignHardwareObjects) {
    char source[] = "other";
    int handle = 0;
    const pmix_cpuset_t cpuset = {source, &handle};
    pmix_cpuset_t copy;
    EXPECT_EQ(data_copy_elements(&copy, &cpuset, 1, PMIX_PROC_CPUSET), PMIX_ERR_NOT_SUPPORTED);
    const pmix_topology_t topology = {source, &handle};
    pmix_topology_t topology_copy;
    EXPECT_EQ(data_copy_elements(&topology_copy, &topology, 1, PMIX_TOPO), PMIX_ERR_NOT_SUPPORTED);
}

TEST(Copy, OfABufferKeepsTheUnreadPart) {
    Element buffer = sample(PMIX_DATA_BUFFER);
    Element copy(PMIX_DATA_BUFFER);
    ASSERT_EQ(data_copy_elements(copy.get(), buffer.get(), 1, PMIX_DATA_BUFFER), PMIX_SUCCESS);
    EXPECT_STREQ(std::string(copy.as<pmix_data_buffer_t>().unpack_ptr, 3).c_str(), "xt1");
}

TEST(Compare, ReportsIncomparableValues) {
    pmix_coord_t logical = {PMIX_COORD_LOGICAL_VIEW, nullptr, 0};
    pmix_coord_t physical = {PMIX_COORD_PHYSICAL_VIEW, nullptr, 0};
    EXPECT_EQ(data_compare_elements(&logical, &physical, 1, PMIX_COORD), PMIX_VALUE_INCOMPATIBLE_OBJECTS);
    const Value number = Value::from(1);
    const Value text = Value::from("1");
    EXPECT_EQ(value_compare(number.get(), text.get()), PMIX_VALUE_TYPE_DIFFERENT);
    EXPECT_EQ(value_compare(Value::from(-1).get(), Value::from(1).get()), PMIX_VALUE2_GREATER)
        << "numbers compare as numbers, not as bytes";
    EXPECT_EQ(value_compare(Value::from(256U).get(), Value::from(255U).get()), PMIX_VALUE1_GREATER);
}

TEST(Regex, LengthDependsOnItsForm) {
    EXPECT_EQ(regex_length("pmix[a[1:1-3]]"), sizeof "pmix[a[1:1-3]]");
    static constexpr char kBlob[] = "blob:\0component=zlib:\0size=5:\0\1\0\2\0\3";
    EXPECT_EQ(regex_length(kBlob), sizeof kBlob - 1);
    EXPECT_EQ(regex_length("blob:\0component=zlib:\0length"), sizeof "blob:");
    EXPECT_EQ(regex_length("blob:\0"), sizeof "blob:");
    EXPECT_EQ(regex_length("blobs"), sizeof "blobs");
}

}  // namespace
}  // namespace muster
