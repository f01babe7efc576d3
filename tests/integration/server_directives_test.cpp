// SPDX-License-Identifier: BSD-3-Clause
// The effects of directives of PMIx_server_init (Standard: Server Initialization): the addresses, and the
// library's work in place of the host.
#include <gtest/gtest.h>
#include <pmix.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "tests/integration/host.hpp"

namespace {

using integration::Host;

pmix_info_t directive(const char* key, bool value) {
    pmix_info_t info;
    EXPECT_EQ(PMIx_Info_load(&info, key, &value, PMIX_BOOL), PMIX_SUCCESS);
    return info;
}

/// All addresses that a client is given.
std::vector<std::string> addresses(Host& host) {
    std::vector<std::string> found;
    for (const auto& variable : host.environment(host.start_job(1), 0)) {
        if (variable.find("_URI") != std::string::npos && variable.find("://") != std::string::npos)
            found.push_back(variable);
    }
    return found;
}

bool has_scheme(const std::vector<std::string>& addresses, const std::string& scheme) {
    for (const std::string& address : addresses) {
        if (address.find(scheme) != std::string::npos) return true;
    }
    return false;
}

TEST(ServerDirectives, LocalSocketsCanBeSwitchedOff) {
    Host host({}, {directive(PMIX_USOCK_DISABLE, true)});
    const auto given = addresses(host);
    EXPECT_FALSE(has_scheme(given, "usock://"));
    EXPECT_TRUE(has_scheme(given, "tcp4://"));
}

TEST(ServerDirectives, ASingleListenerIsTheFirstTransport) {
    Host host({}, {directive(PMIX_SINGLE_LISTENER, true)});
    const auto given = addresses(host);
    EXPECT_TRUE(has_scheme(given, "usock://"));
    EXPECT_FALSE(has_scheme(given, "tcp4://"));
}

TEST(ServerDirectives, TheSocketGetsTheModeThatIsWanted) {
    const uint32_t wanted = 0640;
    pmix_info_t mode;
    ASSERT_EQ(PMIx_Info_load(&mode, PMIX_SOCKET_MODE, &wanted, PMIX_UINT32), PMIX_SUCCESS);
    Host host({}, {mode});
    bool seen = false;
    for (const std::string& address : addresses(host)) {
        const size_t at = address.find("usock://");
        if (at == std::string::npos) continue;
        std::string path = address.substr(at + 8);
        path.resize(path.find_first_of(";,\n") == std::string::npos ? path.size()
                                                                    : path.find_first_of(";,\n"));
        struct stat facts {};
        ASSERT_EQ(stat(path.c_str(), &facts), 0) << path;
        EXPECT_EQ(facts.st_mode & 0777, wanted);
        seen = true;
    }
    EXPECT_TRUE(seen);
}

pmix_status_t write_to_the_gateway() {
    pmix_info_t entry;
    EXPECT_EQ(PMIx_Info_load(&entry, PMIX_LOG_GLOBAL_SYSLOG, "muster: a test", PMIX_STRING), PMIX_SUCCESS);
    const pmix_status_t status = PMIx_Log(&entry, 1, nullptr, 0);
    PMIx_Info_destruct(&entry);
    return status;
}

TEST(ServerDirectives, OnlyTheGatewayHasTheGlobalLog) {
    const auto without_log = [](pmix_server_module_t& module) { module.log = nullptr; };
    {
        const Host host(without_log);
        EXPECT_NE(write_to_the_gateway(), PMIX_SUCCESS);
    }
    const Host host(without_log, {directive(PMIX_SERVER_GATEWAY, true)});
    EXPECT_EQ(write_to_the_gateway(), PMIX_SUCCESS);
}

pmix_status_t watch_myself() {
    pmix_info_t what, period;
    const uint32_t seconds = 3600;
    PMIx_Info_construct(&what);
    EXPECT_EQ(PMIx_Info_load(&what, PMIX_MONITOR_HEARTBEAT, nullptr, PMIX_POINTER), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Info_load(&period, PMIX_MONITOR_HEARTBEAT_TIME, &seconds, PMIX_UINT32), PMIX_SUCCESS);
    pmix_info_t* results = nullptr;
    size_t nresults = 0;
    const pmix_status_t status =
        PMIx_Process_monitor(&what, PMIX_MONITOR_HEARTBEAT_ALERT, &period, 1, &results, &nresults);
    PMIx_Info_free(results, nresults);
    return status;
}

TEST(ServerDirectives, MonitoringCanBeLeftToTheHost) {
    const auto without_monitor = [](pmix_server_module_t& module) { module.monitor = nullptr; };
    {
        const Host host(without_monitor);
        EXPECT_EQ(watch_myself(), PMIX_SUCCESS);
    }
    const Host host(without_monitor, {directive(PMIX_SERVER_ENABLE_MONITORING, false)});
    EXPECT_EQ(watch_myself(), PMIX_ERR_NOT_SUPPORTED);
}

TEST(ServerDirectives, WithoutTheHostTheChosenComponentMakesTheCredential) {
    const Host host([](pmix_server_module_t& module) { module.get_credential = nullptr; });
    pmix_byte_object_t credential;
    PMIx_Byte_object_construct(&credential);
    EXPECT_EQ(PMIx_Get_credential(nullptr, 0, &credential), PMIX_SUCCESS);
    EXPECT_GT(credential.size, 0U);
    PMIx_Byte_object_destruct(&credential);
}

/// The status of an init call with this directive; a server that it starts is finalized again.
pmix_status_t init_with(pmix_info_t& directive) {
    pmix_server_module_t module{};
    const pmix_status_t status = PMIx_server_init(&module, &directive, 1);
    if (status == PMIX_SUCCESS) {
        EXPECT_EQ(PMIx_server_finalize(), PMIX_SUCCESS);
    }
    return status;
}

// docs/decisions/0042: both are hints that nothing acts upon, and are refused if required.
TEST(ServerDirectives, HomogeneityAndALoopOfTheHostAreNotActedUpon) {
    int loop = 0;
    pmix_info_t directives[2];
    directives[0] = directive(PMIX_HOMOGENEOUS_SYSTEM, true);
    ASSERT_EQ(PMIx_Info_load(&directives[1], PMIX_EVENT_BASE, &loop, PMIX_POINTER), PMIX_SUCCESS);
    for (pmix_info_t& one : directives) {
        SCOPED_TRACE(one.key);
        EXPECT_EQ(init_with(one), PMIX_SUCCESS);
        PMIx_Info_required(&one);
        EXPECT_EQ(init_with(one), PMIX_ERR_NOT_SUPPORTED);
    }
}

}  // namespace
