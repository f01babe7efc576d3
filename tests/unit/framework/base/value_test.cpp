// SPDX-License-Identifier: BSD-3-Clause
// Reading of values, and the owners Value, Info and Proc.

#include "framework/base/value.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_set>

#include "framework/base/info.hpp"

namespace muster {
namespace {

TEST(ValueAsBool, FollowsTheStandardsRules) {
    pmix_value_t undefined = {};
    EXPECT_EQ(value_as_bool(&undefined), true);
    EXPECT_EQ(value_as_bool(Value::from(true).get()), true);
    EXPECT_EQ(value_as_bool(Value::from(false).get()), false);
    EXPECT_EQ(value_as_bool(Value::from(1).get()), std::nullopt);
    EXPECT_EQ(value_as_bool(nullptr), std::nullopt);
    for (const char* text : {"", "  ", "yes", "TRUE", "y", "t", "Enabled", "1", " 12", "on"}) {
        EXPECT_EQ(value_as_bool(Value::from(text).get()), true) << text;
    }
    for (const char* text : {"no", "False", "n", "f", "disabled", "0", "off"}) {
        EXPECT_EQ(value_as_bool(Value::from(text).get()), false) << text;
    }
    EXPECT_EQ(value_as_bool(Value::from("maybe").get()), std::nullopt);
}

TEST(ValueAsNumber, ConvertsOnlyWhatFits) {
    EXPECT_EQ(value_as_number<std::uint32_t>(Value::from(7).get()), 7U);
    EXPECT_EQ(value_as_number<std::uint32_t>(Value::from(-7).get()), std::nullopt);
    EXPECT_EQ(value_as_number<int>(Value::from(-7).get()), -7);
    EXPECT_EQ(value_as_number<std::uint8_t>(Value::from(256).get()), std::nullopt);
    EXPECT_EQ(value_as_number<std::int8_t>(Value::from(-129).get()), std::nullopt);
    EXPECT_EQ(value_as_number<std::int8_t>(Value::from(-128).get()), -128);
    EXPECT_EQ(value_as_number<std::int64_t>(Value::uint64(UINT64_MAX).get()), std::nullopt);
    EXPECT_EQ(value_as_number<std::uint64_t>(Value::uint64(UINT64_MAX).get()), UINT64_MAX);
    EXPECT_EQ(value_as_number<pmix_rank_t>(Value::rank(PMIX_RANK_WILDCARD).get()), PMIX_RANK_WILDCARD);
    EXPECT_EQ(value_as_number<int>(Value::rank(PMIX_RANK_WILDCARD).get()), std::nullopt);
    EXPECT_EQ(value_as_number<std::uint16_t>(Value::rank(65535).get()), 65535);
    EXPECT_EQ(value_as_number<std::uint16_t>(Value::rank(65536).get()), std::nullopt);
    EXPECT_EQ(value_as_number<int>(Value::from("7").get()), std::nullopt);
    EXPECT_EQ(value_as_number<int>(Value::from(true).get()), std::nullopt);
    EXPECT_EQ(value_as_number<int>(Value::from(1.0).get()), std::nullopt);
    EXPECT_EQ(value_as_number<double>(Value::from(0.5F).get()), 0.5);
    EXPECT_EQ(value_as_number<double>(Value::from(3).get()), 3.0);
    EXPECT_EQ(value_as_number<int>(nullptr), std::nullopt);
}

TEST(ValueGetNumber, ReportsLossOfSignAndPrecision) {
    int integer = 42;
    std::size_t size = 42;
    std::uint8_t byte = 42;
    float real = 42;
    EXPECT_EQ(value_get_number(Value::from(std::uint8_t{200}).get(), &integer, PMIX_INT), PMIX_SUCCESS);
    EXPECT_EQ(integer, 200);
    EXPECT_EQ(value_get_number(Value::from(-1).get(), &size, PMIX_SIZE), PMIX_ERR_CHANGE_SIGN);
    // Enumerations are numbers, too.
    pmix_value_t state = {};
    state.type = PMIX_PERSIST;
    state.data.persist = PMIX_PERSIST_NSPACE;
    EXPECT_EQ(value_get_number(&state, &byte, PMIX_UINT8), PMIX_SUCCESS);
    EXPECT_EQ(byte, PMIX_PERSIST_NSPACE);
    pmix_persistence_t persistence = 0;
    EXPECT_EQ(value_get_number(Value::from(3).get(), &persistence, PMIX_PERSIST), PMIX_SUCCESS);
    EXPECT_EQ(persistence, 3);
    EXPECT_EQ(value_get_number(Value::from(300).get(), &byte, PMIX_UINT8), PMIX_ERR_LOST_PRECISION);
    EXPECT_EQ(value_get_number(Value::from(1.5F).get(), &integer, PMIX_INT), PMIX_ERR_LOST_PRECISION);
    EXPECT_EQ(value_get_number(Value::from(std::nan("")).get(), &integer, PMIX_INT), PMIX_ERR_LOST_PRECISION);
    EXPECT_EQ(value_get_number(Value::from("1").get(), &integer, PMIX_INT), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(value_get_number(Value::from(1).get(), &integer, PMIX_STRING), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(value_get_number(Value::from(0.1).get(), &real, PMIX_FLOAT), PMIX_ERR_LOST_PRECISION);
    EXPECT_EQ(value_get_number(Value::from((1 << 24) + 1).get(), &real, PMIX_FLOAT), PMIX_ERR_LOST_PRECISION);
    EXPECT_EQ(value_get_number(Value::uint64(UINT64_MAX).get(), &real, PMIX_FLOAT), PMIX_ERR_LOST_PRECISION);
    EXPECT_EQ(integer, 200) << "untouched by failures";
    EXPECT_EQ(size, 42U);
    EXPECT_EQ(byte, PMIX_PERSIST_NSPACE);
    EXPECT_EQ(real, 42.0F);
    EXPECT_EQ(value_get_number(Value::from(8.0).get(), &byte, PMIX_UINT8), PMIX_SUCCESS);
    EXPECT_EQ(byte, 8);
    EXPECT_EQ(value_get_number(Value::from(-8.0).get(), &integer, PMIX_INT), PMIX_SUCCESS);
    EXPECT_EQ(integer, -8);
    EXPECT_EQ(value_get_number(Value::from(16).get(), &real, PMIX_FLOAT), PMIX_SUCCESS);
    EXPECT_EQ(real, 16.0F);
}

TEST(ValueUnload, UsesTheBufferOfTheCaller) {
    const Value value = Value::from(std::uint32_t{77});
    std::uint32_t room = 0;
    void* data = &room;
    std::size_t size = 0;
    ASSERT_EQ(value_unload(value.get(), &data, &size), PMIX_SUCCESS);
    EXPECT_EQ(data, &room);
    EXPECT_EQ(room, 77U);
    EXPECT_EQ(size, sizeof room);

    pmix_value_t undefined = {};
    EXPECT_EQ(value_unload(&undefined, &data, &size), PMIX_ERR_UNKNOWN_DATA_TYPE);
}

TEST(ValueUnload, OfAScalarNeedsABuffer) {
    for (pmix_data_type_t number = 1; number <= PMIX_ALLOC_INHERIT; ++number) {
        const DataType* type = find_data_type(number);
        if (type == nullptr || type->storage == ValueStorage::kNone) continue;
        pmix_value_t value = PMIX_VALUE_STATIC_INIT;
        value.type = number;
        void* data = nullptr;
        std::size_t size = 7;
        // All others are allocated, and empty here.
        const bool room = (!type->owning && number != PMIX_POINTER && number != PMIX_RESOURCE_UNIT);
        const bool scalar_struct = number == PMIX_ENVAR;
        EXPECT_EQ(value_unload(&value, &data, &size), room ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS) << type->name;
        EXPECT_EQ(data == nullptr, !scalar_struct) << type->name;
        if (scalar_struct) data_free_elements(data, 1, number);
    }
}

TEST(ValueUnload, OfANullPointerReturnsNoBytes) {
    pmix_value_t missing = {};
    missing.type = PMIX_PROC;
    pmix_proc_t room{};
    void* data = &room;
    std::size_t size = 7;
    EXPECT_EQ(value_unload(&missing, &data, &size), PMIX_SUCCESS);
    EXPECT_EQ(data, nullptr);
    EXPECT_EQ(size, 0U);
}

TEST(Value, MovesOwnership) {
    Value first = Value::from("text");
    Value second = std::move(first);
    EXPECT_EQ(first.type(), PMIX_UNDEF);  // NOLINT(bugprone-use-after-move)
    EXPECT_STREQ(value_as_string(second.get()), "text");
    second = Value::from(std::string_view("other", 3));
    EXPECT_STREQ(value_as_string(second.get()), "oth");
    pmix_value_t raw = second.release();
    EXPECT_EQ(second.type(), PMIX_UNDEF);
    value_destruct(&raw);
    EXPECT_EQ(value_as_string(Value::from(1).get()), nullptr);
    EXPECT_FALSE(Value::copy_of(&raw)->type());
}

TEST(Value, HoldsArrays) {
    const pmix_rank_t ranks[] = {3, 1, 2};
    const Value value = Value::array(ranks, 3, PMIX_PROC_RANK);
    ASSERT_EQ(value.type(), PMIX_DATA_ARRAY);
    EXPECT_EQ(value->data.darray->size, 3U);
    EXPECT_EQ(static_cast<pmix_rank_t*>(value->data.darray->array)[2], 2U);
}

TEST(Info, GrowsFindsAndReleases) {
    Info info;
    EXPECT_EQ(info.find("a"), nullptr);
    for (int i = 0; i < 20; ++i)
        info.add(("key" + std::to_string(i)).c_str(), i);
    info.add("flag", true);
    info.add("off", false);
    info.add("name", std::string("value"));
    info.add("rank", Value::rank(4));
    info.add("proc", make_proc("job", 2));
    info.add("self", Proc("job", 1));
    const pmix_status_t code = PMIX_ERR_TIMEOUT;
    EXPECT_EQ(info.add("status", &code, PMIX_STATUS), PMIX_SUCCESS);
    EXPECT_EQ(info.add("bad", &code, PMIX_APP), PMIX_ERR_NOT_SUPPORTED);
    EXPECT_EQ(info.size(), 27U);

    const InfoView view = info;
    EXPECT_EQ(view.number<int>("key13"), 13);
    EXPECT_EQ(view.number<int>("none"), std::nullopt);
    EXPECT_TRUE(view.is_true("flag"));
    EXPECT_FALSE(view.is_true("off"));
    EXPECT_FALSE(view.is_true("none"));
    EXPECT_STREQ(view.string("name"), "value");
    EXPECT_EQ(view.proc("proc")->rank, 2U);
    EXPECT_EQ(view.proc("rank"), nullptr);
    EXPECT_FALSE(view.has("bad"));
    for (const char* near : {"", "k", "key", "key1x", "fla", "flagg", "namenamename"})
        EXPECT_FALSE(view.has(near)) << near;
    EXPECT_FALSE(view.has(nullptr));
    Info similar;
    for (const char* key : {"pmix.rank", "pmix.ra", "pmix.ran", "pmix.rank2", "a"})
        similar.add(key, key);
    for (const char* key : {"pmix.rank", "pmix.ra", "pmix.ran", "pmix.rank2", "a"})
        EXPECT_STREQ(InfoView(similar).string(key), key);

    auto [data, size] = info.release();
    EXPECT_TRUE(info.empty());
    Info again = Info::adopt(data, size);
    EXPECT_EQ(again.size(), 27U);
    std::optional<Info> copy = Info::copy_of(again.view());
    ASSERT_TRUE(copy.has_value());
    EXPECT_EQ(again.add_copy(again[0]), PMIX_SUCCESS) << "an entry of its own, while it grows";
    EXPECT_STREQ(again[27].key, "key0");
    Value array = std::move(*copy).to_value();
    EXPECT_EQ(value_as_infos(array.get()).size, 27U);
    EXPECT_EQ(value_as_infos(again[0].value.type == PMIX_INT ? &again[0].value : nullptr).size, 0U);
}

TEST(Info, MovesEntries) {
    Info from;
    from.add("key", "text");
    Info to;
    to.add_move(from[0]);
    EXPECT_EQ(from[0].value.type, PMIX_UNDEF);
    EXPECT_STREQ(to.view().string("key"), "text");
    auto [none, size] = Info().release();
    EXPECT_EQ(none, nullptr);
    EXPECT_EQ(size, 0U);
}

TEST(Info, BorrowedValuesAreNotFreedButCopied) {
    char borrowed[] = "borrowed";
    pmix_info_t info = {};
    key_load(info.key, "key");
    info.flags = PMIX_INFO_PERSISTENT | PMIX_INFO_REQD;
    info.value.type = PMIX_STRING;
    info.value.data.string = borrowed;
    pmix_info_t copy;
    ASSERT_EQ(info_copy(&copy, &info), PMIX_SUCCESS);
    EXPECT_NE(copy.value.data.string, borrowed);
    EXPECT_EQ(copy.flags, pmix_info_directives_t{PMIX_INFO_REQD});
    info_destruct(&copy);
    info_destruct(&info);
    EXPECT_STREQ(borrowed, "borrowed");
}

TEST(Proc, ComparesHashesAndConverts) {
    const Proc proc("job", 3);
    EXPECT_EQ(proc, Proc(proc.to_c()));
    EXPECT_NE(proc, Proc("job", 4));
    EXPECT_LT(proc, Proc("job", 4));
    EXPECT_LT(proc, Proc("jobs", 0));
    EXPECT_EQ(proc.text(), "job:3");
    EXPECT_EQ(Proc("job", PMIX_RANK_WILDCARD).text(), "job:*");
    std::unordered_set<Proc> set = {proc, Proc("job", 3), Proc("job", 4)};
    EXPECT_EQ(set.size(), 2U);
}

TEST(Names, AreTruncatedToTheirBuffer) {
    const std::string longest(PMIX_MAX_KEYLEN + 100, 'k');
    pmix_key_t key;
    key_load(key, longest);
    EXPECT_EQ(strlen(key), size_t{PMIX_MAX_KEYLEN});
    EXPECT_TRUE(key_is(key, longest.c_str()));
    pmix_nspace_t nspace;
    nspace_load(nspace, longest);
    EXPECT_EQ(strlen(nspace), size_t{PMIX_MAX_NSLEN});
    std::memset(nspace, 'x', sizeof nspace);  // without a terminator
    EXPECT_EQ(nspace_view(nspace).size(), size_t{PMIX_MAX_NSLEN});
    EXPECT_FALSE(nspace_is("", ""));
    EXPECT_FALSE(nspace_is(nullptr, "a"));
    EXPECT_FALSE(key_is("a", nullptr));
    EXPECT_TRUE(key_is_reserved("pmix.x"));
    EXPECT_FALSE(key_is_reserved("mine"));
}

}  // namespace
}  // namespace muster
