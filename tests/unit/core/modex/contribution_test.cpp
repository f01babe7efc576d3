// SPDX-License-Identifier: BSD-3-Clause
// Contributions to fences in the forms of all versions: recorded ones, round trips, and malformed ones.
#include "core/modex/contribution.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "framework/base/compress.hpp"
#include "framework/base/proc.hpp"
#include "framework/base/value.hpp"
#include "tests/unit/components/bfrops/codec.hpp"

namespace muster {
namespace {

constexpr auto kPlainBuffer = BufferType::NonDescribed;
WireFormat format() {
    return {&test::codec(), kPlainBuffer};
}

std::vector<uint8_t> recorded(const std::string& version) {
    std::ifstream file(MUSTER_TEST_DATA "/golden/hostblobs.tsv");
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        std::string name, kind, hex;
        if (std::getline(fields, name, '\t') && std::getline(fields, kind, '\t') &&
            std::getline(fields, hex, '\t') && name == version && kind == "fence")
            return test::from_hex(hex);
    }
    return {};
}

/// The decoded entries: keys, with the type of the value, by process.
struct Reading {
    pmix_status_t status = PMIX_SUCCESS;
    ContributorsSeen seen;
    std::map<std::string, std::map<std::string, pmix_data_type_t>> posted;
};
Reading read(ByteView data, const CountedProcesses& counted) {
    Reading reading;
    const auto visit = [&](const pmix_proc_t& proc, const char* key, const pmix_value_t& value) {
        reading.posted[std::string(proc.nspace) + ":" + std::to_string(proc.rank)][key] = value.type;
        return PMIX_SUCCESS;
    };
    reading.status = read_contributions(format(), data, counted, zlib_decompress, visit, reading.seen);
    return reading;
}

CountedProcesses of_job(const char* nspace, uint32_t size) {
    CountedProcesses counted;
    counted.add(nspace, size);
    return counted;
}

PostedValues posted(const char* nspace, pmix_rank_t rank, const char* key) {
    Packer values(format());
    values.kval(key, *Value::from(uint32_t{rank}));
    return {make_proc(nspace, rank), values.take()};
}

template <class... Posted>
std::vector<PostedValues> list(Posted&&... each) {
    std::vector<PostedValues> all;
    (all.push_back(std::forward<Posted>(each)), ...);
    return all;
}

TEST(Contribution, OfEachVersionIsRead) {
    for (const char* version : {"4.2.2", "5.0.11", "6.1.0"}) {
        SCOPED_TRACE(version);
        const std::vector<uint8_t> bytes = recorded(version);
        ASSERT_FALSE(bytes.empty());
        const Reading reading = read({bytes.data(), bytes.size()}, of_job("goldns", 2));
        EXPECT_EQ(reading.status, PMIX_SUCCESS);
        EXPECT_EQ(reading.seen.older, version[0] < '6');
        EXPECT_EQ(reading.seen.newer, version[0] >= '6');
        ASSERT_EQ(reading.posted.size(), 2U);
        for (const char* proc : {"goldns:0", "goldns:1"}) {
            ASSERT_TRUE(reading.posted.contains(proc));
            EXPECT_EQ(reading.posted.at(proc).size(), 3U);
            EXPECT_EQ(reading.posted.at(proc).at("g.u32"), PMIX_UINT32);
        }
    }
}

TEST(Contribution, IsReadAsItWasWritten) {
    CountedProcesses counted;
    for (const auto& [nspace, size] : {std::pair{"zeta", 3U}, {"alpha", 2U}, {"zeta", 3U}})
        counted.add(nspace, size);
    const std::vector<PostedValues> all =
        list(posted("alpha", 1, "a"), posted("zeta", 0, "b"), posted("zeta", 2, "c"));
    for (const auto form : {ContributionForm::Older, ContributionForm::Newer, ContributionForm::Marked}) {
        const Bytes written = write_contribution(form, format(), true, all, counted);
        const Reading reading = read(written.view(), counted);
        EXPECT_EQ(reading.status, PMIX_SUCCESS);
        EXPECT_EQ(reading.seen.older, form == ContributionForm::Older);
        EXPECT_EQ(reading.seen.newer, form == ContributionForm::Newer);
        EXPECT_EQ(reading.posted, (std::map<std::string, std::map<std::string, pmix_data_type_t>>{
                                      {"alpha:1", {{"a", PMIX_UINT32}}},
                                      {"zeta:0", {{"b", PMIX_UINT32}}},
                                      {"zeta:2", {{"c", PMIX_UINT32}}}}));
    }
}

// Servers of OpenPMIx read objects up to the first empty one, without an error.
TEST(Contribution, MarkedOneBeginsWithAnEmptyObject) {
    const CountedProcesses counted = of_job("job", 4);
    const auto values = list(posted("job", 0, "key"));
    const Bytes marked = write_contribution(ContributionForm::Marked, format(), true, values, counted);
    Unpacker servers(format(), marked.view());
    ByteView object;
    ASSERT_TRUE(servers.bytes(object));
    EXPECT_EQ(object.size(), 0U);
    const Bytes newer = write_contribution(ContributionForm::Newer, format(), true, values, counted);
    EXPECT_EQ(servers.rest().size(), newer.size());
    // A mark is for one object.
    Bytes both;
    both.append(marked.view());
    both.append(newer.view());
    EXPECT_TRUE(read(both.view(), counted).seen.newer);
}

// The contributions of several servers are concatenated, in any mix of forms.
TEST(Contribution, OfSeveralServersMayDiffer) {
    const CountedProcesses counted = of_job("job", 4);
    Bytes both;
    for (const uint32_t rank : {0U, 1U}) {
        const auto form = rank == 0 ? ContributionForm::Newer : ContributionForm::Older;
        const Bytes one = write_contribution(form, format(), true, list(posted("job", rank, "key")), counted);
        both.append(one.view());
    }
    both.append(write_contribution(ContributionForm::Newer, format(), false, {}, counted).view());
    both.append(write_contribution(ContributionForm::Older, format(), false, {}, counted).view());
    const Reading reading = read(both.view(), counted);
    EXPECT_EQ(reading.status, PMIX_SUCCESS);
    EXPECT_EQ(reading.posted.size(), 2U);
}

// The first byte of a compressed one equals that of an older one without key names.
TEST(Contribution, MayBeCompressed) {
    const Bytes plain = write_contribution(ContributionForm::Newer, format(), true,
                                           list(posted("job", 3, std::string(400, 'k').c_str())), {});
    Unpacker whole(format(), plain.view());
    ByteView object, content;
    bool compressed = true;
    ASSERT_TRUE(whole.bytes(object));
    Unpacker envelope(format(), object);
    ASSERT_TRUE(envelope.boolean(compressed) && envelope.bytes(content));
    const auto small = zlib_compress(content);
    ASSERT_TRUE(small);
    Packer again(format());
    again.boolean(true);
    again.bytes(small->view());
    Packer out(format());
    out.bytes(again.view());
    const Reading reading = read(out.view(), of_job("job", 4));
    EXPECT_EQ(reading.status, PMIX_SUCCESS);
    EXPECT_EQ(reading.seen, (ContributorsSeen{.older = false, .newer = true}));
    EXPECT_TRUE(reading.posted.contains("job:3"));
}

TEST(Contribution, ProcessOfNoParticipantIsRefusedInTheOlderForm) {
    const Bytes written = write_contribution(ContributionForm::Older, format(), true,
                                             list(posted("job", 3, "key")), of_job("job", 4));
    EXPECT_EQ(read(written.view(), of_job("job", 3)).status, PMIX_ERR_UNPACK_FAILURE);
    EXPECT_EQ(read(written.view(), {}).status, PMIX_ERR_UNPACK_FAILURE);
    // None is written either.
    const Bytes none = write_contribution(ContributionForm::Older, format(), true,
                                          list(posted("other", 0, "key")), of_job("job", 3));
    EXPECT_TRUE(read(none.view(), of_job("job", 3)).posted.empty());
}

TEST(Contribution, CutShortIsRefused) {
    for (const char* version : {"4.2.2", "5.0.11", "6.1.0"}) {
        const std::vector<uint8_t> bytes = recorded(version);
        for (size_t length = 1; length < bytes.size(); ++length)
            EXPECT_NE(read({bytes.data(), length}, of_job("goldns", 2)).status, PMIX_SUCCESS)
                << version << " " << length;
    }
}

TEST(Contribution, NumberOfAKeyBeyondTheirNamesIsRefused) {
    Packer object(format());
    object.rank(0).uint32(1);
    const pmix_value_t value = *Value::from(uint32_t{7});
    object.items(&value, 1, PMIX_VALUE);
    const char* names[] = {"only"};
    Packer server(format());
    server.byte(3).uint32(1).items(names, 1, PMIX_STRING);
    server.bytes(object.view());
    Packer out(format());
    out.bytes(server.view());
    EXPECT_EQ(read(out.view(), of_job("job", 1)).status, PMIX_ERR_UNPACK_FAILURE);
}

}  // namespace
}  // namespace muster
