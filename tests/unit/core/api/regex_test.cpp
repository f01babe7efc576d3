// SPDX-License-Identifier: BSD-3-Clause
// PMIx_generate_regex and PMIx_generate_ppn through the library, before PMIx_Init.
#include <gtest/gtest.h>
#include <pmix.h>
#include <pmix_server.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/covers.hpp"

namespace {

std::string generate(pmix_status_t (*function)(const char*, char**), const char* input) {
    char* out = nullptr;
    if (function(input, &out) != PMIX_SUCCESS) return "failed";
    std::string text = out;
    std::free(out);
    return text;
}

TEST(GenerateRegex, NamesTheFormInFrontOfTheList) {
    covers("SRV-03", "SRV-04");
    EXPECT_EQ(generate(PMIx_generate_regex, "odin009.org,odin010.org,odin[011-012].org"),
              "raw:odin009.org,odin010.org,odin011.org,odin012.org");
}

TEST(GeneratePpn, NamesTheFormInFrontOfTheList) {
    covers("SRV-06");
    EXPECT_EQ(generate(PMIx_generate_ppn, "1-4;2-5;8,10,11,12;6,7,9"),
              "raw:1,2,3,4;2,3,4,5;8,10,11,12;6,7,9");
}

TEST(GenerateRegex, LeavesOtherInputUnchanged) {
    covers("SRV-02");
    EXPECT_EQ(generate(PMIx_generate_regex, "vm"), "raw:vm");
    EXPECT_EQ(generate(PMIx_generate_regex, "a[x"), "raw:a[x");
    EXPECT_EQ(generate(PMIx_generate_ppn, "0"), "raw:0");
}

TEST(GenerateRegex, RefusesNull) {
    char* out = nullptr;
    EXPECT_EQ(PMIx_generate_regex(nullptr, &out), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_generate_regex("a", nullptr), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_generate_ppn(nullptr, &out), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_generate_ppn("0", nullptr), PMIX_ERR_BAD_PARAM);
}

// A typed value carries the length, which strlen() cannot determine.
TEST(GenerateRegex, ACompressedFormIsLoadedWhole) {
    using namespace std::string_literals;
    const std::string regex =
        "blob:\0component=zlib:\0size=300:\0"s + std::string(150, '\0') + std::string(150, 'x');
    pmix_info_t info;
    ASSERT_EQ(PMIx_Info_load(&info, PMIX_NODE_MAP, regex.data(), PMIX_REGEX), PMIX_SUCCESS);
    const pmix_byte_object_t& bytes = info.value.data.bo;
    ASSERT_EQ(bytes.size, regex.size());
    EXPECT_EQ(std::memcmp(bytes.bytes, regex.data(), bytes.size), 0);
    PMIx_Info_destruct(&info);
}

std::string decoded(const pmix_regex2_t& regex) {
    char* list = nullptr;
    const pmix_status_t status = PMIx_parse_regex2(&regex, nullptr, 0, &list);
    if (status != PMIX_SUCCESS) return PMIx_Error_string(status);
    std::string text = list;
    std::free(list);
    return text;
}

TEST(Regex2, DecodesTheList) {
    std::string names, ranks;
    for (unsigned i = 0; i < 3000; ++i) {
        names += (i != 0 ? ",node" : "node") + std::to_string(i);
        ranks += (i != 0 ? ";" : "") + std::to_string(2 * i) + "," + std::to_string(2 * i + 1);
    }
    for (const std::string& list : {std::string(), std::string("a"), std::string("b,a,b"), names, ranks}) {
        pmix_regex2_t regex;
        ASSERT_EQ(PMIx_generate_regex2(list.c_str(), nullptr, 0, &regex), PMIX_SUCCESS);
        EXPECT_STREQ(regex.type, "raw") << "which every OpenPMIx reads";
        EXPECT_EQ(regex.len, list.size() + 1);
        EXPECT_EQ(decoded(regex), list);
        PMIx_Regex2_destruct(&regex);
        EXPECT_EQ(regex.bytes, nullptr);
    }
}

TEST(Regex2, DecodesACompressedList) {
    std::string names;
    for (unsigned i = 0; i < 3000; ++i)
        names += (i != 0 ? ",node" : "node") + std::to_string(i);
    char type[] = "compress";
    pmix_regex2_t regex = {type, nullptr, 0};
    const auto* bytes = reinterpret_cast<const uint8_t*>(names.c_str());
    ASSERT_TRUE(PMIx_Data_compress(bytes, names.size() + 1, &regex.bytes, &regex.len));
    EXPECT_EQ(decoded(regex), names);
    std::free(regex.bytes);
}

TEST(Regex2, RefusesMalformedLists) {
    char raw[] = "raw", compress[] = "compress", other[] = "zz";
    uint8_t bytes[] = {'a', 0, 'b', 0};
    EXPECT_EQ(decoded({other, bytes, 2}), "PMIX_ERR_NOT_SUPPORTED");
    EXPECT_EQ(decoded({raw, bytes, 4}), "PMIX_ERR_BAD_PARAM");
    EXPECT_EQ(decoded({raw, bytes, 0}), "PMIX_ERR_BAD_PARAM");
    EXPECT_EQ(decoded({raw, nullptr, 4}), "PMIX_ERR_BAD_PARAM");
    EXPECT_EQ(decoded({nullptr, bytes, 4}), "PMIX_ERR_BAD_PARAM");
    EXPECT_EQ(decoded({compress, bytes, 4}), "PMIX_ERR_BAD_PARAM");
    EXPECT_EQ(decoded({raw, bytes, 1}), "a");  // without its terminator
    pmix_regex2_t regex;
    char* list = raw;
    EXPECT_EQ(PMIx_generate_regex2(nullptr, nullptr, 0, &regex), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_generate_regex2("a", nullptr, 0, nullptr), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(PMIx_parse_regex2(nullptr, nullptr, 0, &list), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(list, nullptr);
}

}  // namespace
