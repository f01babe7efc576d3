// SPDX-License-Identifier: BSD-3-Clause
// The handshake's bytes against those that OpenPMIx's libraries exchanged, and against hostile ones.
#include "framework/ptl/handshake.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace muster {
namespace {

Bytes from_hex(const std::string& text) {
    Bytes bytes;
    for (size_t i = 0; i + 1 < text.size(); i += 2) {
        bytes.push_back(static_cast<uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

std::string text_of(ByteView bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The connect request and the reply of a recorded connection.
struct Recorded {
    Bytes request, reply;
};

Recorded recorded(const std::string& name) {
    Recorded found;
    std::ifstream file(std::string(MUSTER_TEST_DATA) + "/golden/" + name + ".cap");
    EXPECT_TRUE(file.is_open()) << name;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("C1 > ")) {
            if (!found.request.empty()) break;
            found.request = from_hex(line.substr(5));
        } else if (line.starts_with("C1 < ")) {
            found.reply.append(from_hex(line.substr(5)).view());
        }
    }
    return found;
}

ConnectRequest parsed(const Recorded& capture) {
    auto length = parse_connect_header(capture.request.view());
    EXPECT_TRUE(length.ok()) << length.error().text;
    EXPECT_EQ(*length, capture.request.size() - 16);
    auto request = parse_connect_request(capture.request.view().subspan(16));
    EXPECT_TRUE(request.ok()) << request.error().text;
    return std::move(*request);
}

struct Case {
    const char* name;
    PeerKind kind;
    const char* nspace;
    uint32_t rank;
    const char* version;
    const char* bfrops;
    size_t rest;  // bytes behind the store's name
    bool tool_reply;
    bool refused = false;  // the server closed the connection
};
void PrintTo(const Case& one, std::ostream* out) {
    *out << one.name;
}

class RecordedHandshake : public testing::TestWithParam<Case> {};

TEST_P(RecordedHandshake, RequestIsParsed) {
    const Case& want = GetParam();
    const ConnectRequest got = parsed(recorded(want.name));
    EXPECT_EQ(got.psec, "native");
    EXPECT_EQ(got.credential.size(), 8U);
    EXPECT_EQ(got.kind, want.kind);
    EXPECT_EQ(got.nspace, want.nspace);
    EXPECT_EQ(got.rank, want.rank);
    EXPECT_EQ(got.version, want.version);
    EXPECT_EQ(got.bfrops, want.bfrops);
    EXPECT_EQ(got.buffer_type, 1);
    EXPECT_EQ(got.gds, "hash");
    EXPECT_EQ(got.info_blob.size(), want.rest > 1 ? want.rest : 0);
}

TEST_P(RecordedHandshake, RequestIsBuiltToTheSameBytes) {
    const Recorded capture = recorded(GetParam().name);
    Bytes built = build_connect_request(parsed(capture));
    // The extra byte of versions 4.2 without a blob is not a part of the request.
    if (built.size() + 1 == capture.request.size()) {
        built.push_back(0);
        ++built.data()[8];
    }
    EXPECT_EQ(text_of(built.view()), text_of(capture.request.view()));
}

TEST_P(RecordedHandshake, TruncatedRequestsAreRefusedOrReadWithoutABlob) {
    const Recorded capture = recorded(GetParam().name);
    const ByteView body = capture.request.view().subspan(16);
    size_t refused = 0;
    for (size_t size = 0; size < body.size(); ++size) {
        const Bytes cut(body.first(size));  // a separate allocation, for the sanitizer
        refused += parse_connect_request(cut.view()).ok() ? 0 : 1;
    }
    // All truncations before the end of the store's name, except the form of version 2.0.
    EXPECT_EQ(refused, body.size() - GetParam().rest - 1);
}

TEST_P(RecordedHandshake, ReplyRoundTrips) {
    const Case& want = GetParam();
    const Recorded capture = recorded(want.name);
    ASSERT_EQ(capture.reply.empty(), want.refused);
    if (want.refused) return;
    const ReplyParser parser{want.kind, want.tool_reply};
    size_t have = 0;
    while (const size_t more = parser.wanted(capture.reply.view().first(have))) {
        ASSERT_LE(have + more, capture.reply.size());
        const Bytes cut(capture.reply.view().first(have + more - 1));
        EXPECT_EQ(parser.wanted(cut.view()), 1U);
        EXPECT_FALSE(parser.parse(cut.view()).ok());
        have += more;
    }
    const ByteView reply = capture.reply.view().first(have);
    auto got = parser.parse(reply);
    ASSERT_TRUE(got.ok()) << got.error().text;
    EXPECT_EQ(got->tool.status, PMIX_SUCCESS);
    if (want.tool_reply) {
        EXPECT_EQ(have, capture.reply.size());
        EXPECT_STREQ(got->tool.server.nspace, "hostns");
        EXPECT_EQ(got->tool.server.rank, 0U);
        EXPECT_EQ(got->tool.assigned.has_value(), needs_identity(want.kind));
        if (got->tool.assigned) {
            EXPECT_STREQ(got->tool.assigned->nspace, "toolns1");
        }
        EXPECT_EQ(text_of(build_tool_reply(got->tool).view()), text_of(reply));
    } else {
        EXPECT_EQ(have, 8U);
        EXPECT_EQ(text_of(build_client_reply(PMIX_SUCCESS, got->peer_index).view()), text_of(reply));
    }
}

INSTANTIATE_TEST_SUITE_P(
    Golden, RecordedHandshake,
    testing::Values(
        Case{"4.2.2-abort-rank0", PeerKind::Client, "goldns", 0, "4.2.2rc2", "v41", 1, false},
        Case{"5.0.11-abort-rank0", PeerKind::Client, "goldns", 0, "5.0.11rc1", "v41", 0, false},
        Case{"6.1.0-abort-rank0", PeerKind::Client, "goldns", 0, "6.1.0", "v61", 53, false},
        Case{"4.2.2-singleton", PeerKind::Singleton, "singleton.vm.19914", 0, "4.2.2rc2", "v41", 54, true},
        Case{"5.0.11-singleton", PeerKind::Singleton, "singleton.vm.20094", 0, "5.0.11rc1", "v41", 54, false,
             true},
        Case{"6.1.0-singleton", PeerKind::Singleton, "singleton.vm.20233", 0, "6.1.0", "v61", 53, false,
             true},
        Case{"4.2.2-tool-given-id", PeerKind::ToolGivenId, "mytoolns", 3, "4.2.2rc2", "v41", 101, true},
        Case{"6.1.0-tool-given-id", PeerKind::ToolGivenId, "mytoolns", 3, "6.1.0", "v61", 156, true},
        Case{"4.2.2-tool-needs-id", PeerKind::ToolNeedsId, "", 0, "4.2.2rc2", "v41", 52, true},
        Case{"5.0.11-tool-needs-id", PeerKind::ToolNeedsId, "", 0, "5.0.11rc1", "v41", 108, true},
        Case{"6.1.0-tool-needs-id", PeerKind::ToolNeedsId, "", 0, "6.1.0", "v61", 107, true}),
    [](const testing::TestParamInfo<Case>& one) {
        std::string name = one.param.name;
        for (char& c : name) {
            if (c == '.' || c == '-') c = '_';
        }
        return name;
    });

TEST(ConnectHeader, LengthInEitherByteOrder) {
    const Bytes little = from_hex("ffffffffffffffff3300000000000000");
    const Bytes big = from_hex("ffffffffffffffff0000003300000000");
    EXPECT_EQ(*parse_connect_header(little.view()), 0x33U);
    EXPECT_EQ(*parse_connect_header(big.view()), 0x33U);
}

TEST(ConnectHeader, RefusesOtherBytes) {
    for (const char* hex : {"", "ffffffffffffffff330000000000", "ffffffffffffffff0000000000000000",
                            "ffffffffffffffff0102030400000000", "fffffffffffffeff3300000000000000",
                            "474554202f20485454502f312e310d0a"}) {
        EXPECT_FALSE(parse_connect_header(from_hex(hex).view()).ok()) << hex;
    }
    EXPECT_TRUE(parse_connect_header(from_hex("ffffffffffffffff0000020000000000").view()).ok());
    EXPECT_FALSE(parse_connect_header(from_hex("ffffffffffffffff0100020100000000").view()).ok());
}

ConnectRequest plain_request() {
    ConnectRequest request;
    request.psec = "native";
    request.credential.append("12345678", 8);
    request.nspace = "job";
    request.rank = 7;
    request.version = own_wire_version();
    request.bfrops = "v41";
    request.gds = "hash";
    return request;
}

Result<ConnectRequest> through_the_wire(const ConnectRequest& request) {
    const Bytes bytes = build_connect_request(request);
    return parse_connect_request(bytes.view().subspan(16));
}

TEST(ConnectRequest, EveryKindRoundTrips) {
    for (int kind = 0; kind <= 10; ++kind) {
        ConnectRequest request = plain_request();
        request.kind = static_cast<PeerKind>(kind);
        request.euid = 1001;
        request.egid = 1002;
        request.info_blob.append("blob", 4);
        auto got = through_the_wire(request);
        ASSERT_TRUE(got.ok()) << kind << got.error().text;
        EXPECT_EQ(got->kind, request.kind);
        EXPECT_EQ(got->euid, kind == 0 ? 0U : 1001U);
        EXPECT_EQ(got->egid, kind == 0 ? 0U : 1002U);
        EXPECT_EQ(got->nspace, carries_identity(request.kind) ? "job" : "");
        EXPECT_EQ(got->rank, carries_identity(request.kind) ? 7U : 0U);
        EXPECT_EQ(text_of(got->info_blob.view()), "blob");
    }
}

TEST(ConnectRequest, RefusesOversizedFields) {
    ConnectRequest request = plain_request();
    request.nspace = std::string(255, 'n');
    EXPECT_TRUE(through_the_wire(request).ok());
    request.nspace += 'n';
    EXPECT_FALSE(through_the_wire(request).ok());
    request.nspace = "";
    EXPECT_FALSE(through_the_wire(request).ok());
    request = plain_request();
    request.buffer_type = 3;
    EXPECT_FALSE(through_the_wire(request).ok());
    request = plain_request();
    request.kind = static_cast<PeerKind>(11);
    EXPECT_FALSE(through_the_wire(request).ok());
    // A credential whose length exceeds the message.
    Bytes bytes = build_connect_request(plain_request());
    std::memset(bytes.data() + 16 + 7, 0xff, 4);
    EXPECT_FALSE(parse_connect_request(bytes.view().subspan(16)).ok());
}

TEST(ConnectRequest, OfVersion20EndsAfterTheVersion) {
    Bytes body;
    body.append(
        "native\0\0\0\0\0\0job\0\0\0\0\0"
        "2.0.3",
        25);
    body.push_back(0);
    auto got = parse_connect_request(body.view());
    ASSERT_TRUE(got.ok()) << got.error().text;
    EXPECT_EQ(got->version, "2.0.3");
    EXPECT_EQ(got->bfrops, "");
}

TEST(Reply, OfFailureIsTheStatusAlone) {
    const Bytes client = build_client_reply(PMIX_ERR_INVALID_CRED, 5);
    EXPECT_EQ(client.size(), 4U);
    const ReplyParser client_parser{PeerKind::Client, false};
    EXPECT_EQ(client_parser.wanted({}), 4U);
    EXPECT_EQ(client_parser.wanted(client.view()), 0U);
    EXPECT_EQ(client_parser.parse(client.view())->tool.status, PMIX_ERR_INVALID_CRED);

    ToolReply refusal;
    refusal.status = PMIX_ERR_NOT_SUPPORTED;
    const Bytes tool = build_tool_reply(refusal);
    const ReplyParser tool_parser{PeerKind::ToolNeedsId, true};
    EXPECT_EQ(tool_parser.parse(tool.view())->tool.status, PMIX_ERR_NOT_SUPPORTED);
}

TEST(Reply, AnUnterminatedNamespaceIsRefused) {
    ToolReply reply;
    std::strcpy(reply.server.nspace, "server");
    Bytes bytes = build_tool_reply(reply);
    const ReplyParser parser{PeerKind::ToolGivenId, true};
    EXPECT_TRUE(parser.parse(bytes.view()).ok());
    std::memset(bytes.data() + 4, 'x', 256);
    EXPECT_EQ(parser.wanted(bytes.view()), 0U);
    EXPECT_FALSE(parser.parse(bytes.view()).ok());
}

TEST(Version, ParsesVersionsOfOtherLibraries) {
    const auto check = [](const char* text, int major, int minor, int release, bool ours) {
        const PeerVersion got = parse_version(text);
        EXPECT_EQ(got.major, major) << text;
        EXPECT_EQ(got.minor, minor) << text;
        EXPECT_EQ(got.release, release) << text;
        EXPECT_EQ(got.can(Capability::SilentCommit), ours) << text;
        EXPECT_EQ(got.can(Capability::ReadsToTheEnd), ours) << text;
    };
    check("4.2.2rc2", 4, 2, 2, false);
    check("v5.0.11", 5, 0, 11, false);
    check("6.1.0", 6, 1, 0, false);
    check("6.1.0muster12", 6, 1, 0, true);
    check("6.1.0muster0", 6, 1, 0, false);
    check("7", 7, 0, 0, false);
    check("", 0, 0, 0, false);
    check("garbage", 0, 0, 0, false);
    check("99999999999999999999.1.2", 65535, 1, 2, false);
    EXPECT_FALSE(parse_version("6.1.0muster1").can(Capability::DataDelete));
    EXPECT_TRUE(parse_version("7.0.0muster2").can(Capability::DataDelete));
    EXPECT_TRUE(parse_version("4.2.2").at_least(4, 2));
    EXPECT_FALSE(parse_version("4.1.9").at_least(4, 2));
    EXPECT_TRUE(parse_version("5.0.0").at_least(4, 2));
}

TEST(Version, OursIsReadByOpenPmix) {
    EXPECT_TRUE(parse_version(own_wire_version()).can(Capability::GroupDetails));
    EXPECT_TRUE(parse_version(own_wire_version()).at_least(6, 1));
    // As OpenPMIx reads it.
    char* end = nullptr;
    EXPECT_EQ(std::strtoul(own_wire_version(), &end, 10), 7U);
    EXPECT_EQ(std::strtoul(end + 1, &end, 10), 0U);
    EXPECT_EQ(std::strtoul(end + 1, &end, 10), 0U);
}

}  // namespace
}  // namespace muster
