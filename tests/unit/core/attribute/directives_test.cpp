// SPDX-License-Identifier: BSD-3-Clause
// The checks of directives by the table of functions and attributes.
#include "core/attribute/directives.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster {
namespace {

constexpr const char* kUnknown = "muster.test.unknown";

Info one(const char* key, bool required, Value value = Value::from(true)) {
    Info info;
    info.add(key, std::move(value));
    if (required) info[0].flags |= PMIX_INFO_REQD;
    return info;
}

pmix_status_t check(Function function, const Info& info, bool others) {
    static const Log log("test");
    return check_directives(function, info, others, log).status();
}

TEST(Directives, RefuseRequiredOnesThatNobodyActsUpon) {
    for (size_t i = 0; i < kFunctions; ++i) {
        const auto function = static_cast<Function>(i);
        const bool data =
            function == Function::ServerRegisterNspace || function == Function::ServerRegisterResources ||
            function == Function::ServerSetupLocalSupport || function == Function::ServerIofDeliver;
        EXPECT_EQ(check(function, one(kUnknown, true), false), data ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED)
            << function_name(function);
        EXPECT_EQ(check(function, one(kUnknown, false), false), PMIX_SUCCESS) << function_name(function);
    }
}

/// docs/decisions/0058
TEST(Directives, RefuseNewsOfOpenPmixThatHaveNoEffect) {
    for (const Function function :
         {Function::Init, Function::ToolInit, Function::ServerInit, Function::Spawn}) {
        EXPECT_EQ(check(function, one(PMIX_IOF_INHERIT, true), false), PMIX_ERR_NOT_SUPPORTED);
        for (const char* key : {PMIX_SERVER_ALT_URIS, PMIX_MYSERVER_ALT_URIS, PMIX_SPAWN_TREE_ROOT})
            EXPECT_EQ(check(function, one(key, true, Value::from("text")), false), PMIX_ERR_NOT_SUPPORTED)
                << key;
    }
}

TEST(Directives, AreNotRequiredByFlagsThatNobodyHasSet) {
    Info info = one(kUnknown, true);
    for (const pmix_info_directives_t undefined : {0x20U, 0x1374027cU, 0x8000U}) {
        info[0].flags = PMIX_INFO_REQD | undefined;
        EXPECT_EQ(check(Function::GroupDestruct, info, false), PMIX_SUCCESS) << undefined;
    }
    info[0].flags = PMIX_INFO_REQD | PMIX_INFO_PERSISTENT;
    EXPECT_EQ(check(Function::GroupDestruct, info, false), PMIX_ERR_NOT_SUPPORTED);
}

TEST(Directives, LeaveRequiredOnesToAHostThatCanBeAsked) {
    for (const Function function : {Function::Fence, Function::Connect, Function::Lookup, Function::Spawn,
                                    Function::Log, Function::GroupConstruct, Function::IofPull})
        EXPECT_EQ(check(function, one(kUnknown, true), true), PMIX_SUCCESS) << function_name(function);
    for (const Function function : {Function::Get, Function::Finalize, Function::GroupInvite})
        EXPECT_EQ(check(function, one(kUnknown, true), true), PMIX_ERR_NOT_SUPPORTED)
            << function_name(function);
}

TEST(Directives, RefuseRequiredKeysThatAHostWouldTakeForData) {
    for (const Function function : {Function::Publish, Function::NotifyEvent}) {
        EXPECT_EQ(check(function, one(kUnknown, true), true), PMIX_ERR_NOT_SUPPORTED);
        EXPECT_EQ(check(function, one(kUnknown, false), true), PMIX_SUCCESS);
        EXPECT_EQ(check(function, one(PMIX_EXIT_CODE, true), true), PMIX_SUCCESS);  // data of an event
        // A program's own keys: some programs leave their flags undefined.
        EXPECT_EQ(check(function, one("my.port", true), false), PMIX_SUCCESS);
        EXPECT_FALSE(needs_host(function, one(PMIX_EXIT_CODE, true)));
    }
    EXPECT_TRUE(needs_host(Function::NotifyEvent, one(PMIX_EVENT_TERMINATE_JOB, true)));
}

TEST(Directives, MustBeReadableAsTheirType) {
    EXPECT_EQ(check(Function::Fence, one(PMIX_TIMEOUT, false, Value::from("soon")), true),
              PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(check(Function::Fence, one(PMIX_TIMEOUT, false, Value::uint64(3)), true), PMIX_SUCCESS);
    EXPECT_EQ(check(Function::Get, one(PMIX_HOSTNAME, false, Value::uint64(3)), true), PMIX_ERR_BAD_PARAM);
    EXPECT_EQ(check(Function::Get, one(PMIX_OPTIONAL, false, Value()), true), PMIX_SUCCESS);
    // Types that only the host reads have changed between versions of the Standard.
    EXPECT_EQ(check(Function::Spawn, one(PMIX_HOST, false, Value::from(true)), true), PMIX_SUCCESS);
}

TEST(Directives, AreMarkedForTheHostWhereTheLibraryActsUponThem) {
    Info info = one(PMIX_TIMEOUT, true, Value::uint64(3));
    info.add(kUnknown, true);
    info[1].flags |= PMIX_INFO_REQD;
    EXPECT_TRUE(needs_host(Function::Connect, info));
    mark_processed("connect", info);
    EXPECT_NE(info[0].flags & PMIX_INFO_REQD_PROCESSED, 0U);
    EXPECT_EQ(info[1].flags & PMIX_INFO_REQD_PROCESSED, 0U);
    // The host also forwards output.
    Info spawn = one(PMIX_FWD_STDOUT, true);
    mark_processed("spawn", spawn);
    EXPECT_EQ(spawn[0].flags & PMIX_INFO_REQD_PROCESSED, 0U);
}

TEST(Directives, BelongToAFunctionByTheNameOfItsUpcall) {
    EXPECT_EQ(function_of_upcall("log2"), Function::Log);
    EXPECT_EQ(function_of_upcall("fence_nb"), Function::Fence);
    EXPECT_EQ(function_of_upcall(""), std::nullopt);
    EXPECT_EQ(function_of_upcall("loge"), std::nullopt);
}

TEST(Directives, AreListedByWhoActsUponThem) {
    std::vector<std::string> names;
    for_each_use(Function::ToolSetServer, kTool, [&](const Attribute& use) { names.emplace_back(use.name); });
    EXPECT_EQ(names, (std::vector<std::string>{"PMIX_WAIT_FOR_CONNECTION", "PMIX_TIMEOUT"}));
    for_each_use(Function::ToolSetServer, kHost, [&](const Attribute&) { ADD_FAILURE(); });
}

}  // namespace
}  // namespace muster
