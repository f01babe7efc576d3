// SPDX-License-Identifier: BSD-3-Clause
// The addresses of a server, and their announcement (Standard: PMIx_server_init, attributes PMIX_TCP_...).
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pmix.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tests/integration/host.hpp"

namespace {

using integration::Host;

/// The directives of PMIx_server_init, whose values the test owns.
class Given {
  public:
    Given(const char* key, const void* value, pmix_data_type_t type) { add(key, value, type); }
    Given(const Given&) = delete;
    ~Given() {
        for (pmix_info_t& info : infos_)
            PMIx_Info_destruct(&info);
    }
    Given& add(const char* key, const void* value, pmix_data_type_t type) {
        infos_.emplace_back();
        EXPECT_EQ(PMIx_Info_load(&infos_.back(), key, value, type), PMIX_SUCCESS);
        return *this;
    }
    std::vector<pmix_info_t>& infos() { return infos_; }

  private:
    std::vector<pmix_info_t> infos_;
};

/// The address that clients are given.
std::string address_for_clients(Host& host) {
    const std::string name = "PMIX_SERVER_URI41=";
    for (const auto& variable : host.environment(host.start_job(1), 0)) {
        if (variable.rfind(name, 0) == 0) return variable.substr(name.size());
    }
    return {};
}

/// A port that is free now.
int free_port() {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
    close(fd);
    return ntohs(address.sin_port);
}

TEST(ServerAddress, IsReportedToAFileThatTheServerRemoves) {
    const std::string path = testing::TempDir() + "muster-address-" + std::to_string(getpid());
    // An existing file, as from mktemp.
    std::ofstream(path).close();
    {
        Host host({}, Given(PMIX_TCP_REPORT_URI, path.c_str(), PMIX_STRING).infos());
        std::ifstream file(path);
        std::string uri, version;
        std::getline(file, uri);
        std::getline(file, version);
        EXPECT_EQ(uri, address_for_clients(host));
        EXPECT_FALSE(version.empty());
        struct stat facts {};
        ASSERT_EQ(stat(path.c_str(), &facts), 0);
        EXPECT_EQ(facts.st_mode & 0777, 0600U);
    }
    EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(ServerAddress, IsReportedToADescriptorThatIsClosed) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const std::string number = std::to_string(ends[1]);
    Host host({}, Given(PMIX_TCP_REPORT_URI, number.c_str(), PMIX_STRING).infos());
    std::string text;
    char chunk[512];
    for (ssize_t got = 0; (got = read(ends[0], chunk, sizeof chunk)) > 0;)  // to the end: it has been closed
        text.append(chunk, static_cast<size_t>(got));
    close(ends[0]);
    EXPECT_EQ(text, "PMIX_SERVER_URI41;" + address_for_clients(host) + std::string(1, '\0'));
}

TEST(ServerAddress, FailsInitWhenTheReportFileCannotBeWritten) {
    Given nowhere(PMIX_TCP_REPORT_URI, "/proc/no/such/place", PMIX_STRING);
    pmix_server_module_t module;
    memset(static_cast<void*>(&module), 0, sizeof module);
    EXPECT_NE(PMIx_server_init(&module, nowhere.infos().data(), 1), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_Initialized(), 0);
}

TEST(ServerAddress, HasTheRequestedPortAndInterface) {
    const int port = free_port();
    Host host({},
              Given(PMIX_TCP_IPV4_PORT, &port, PMIX_INT).add(PMIX_TCP_IF_INCLUDE, "lo", PMIX_STRING).infos());
    const std::string uri = address_for_clients(host);
    EXPECT_NE(uri.find("tcp4://127.0.0.1:" + std::to_string(port)), std::string::npos) << uri;
}

/// Returns the log and the TCP address of a server whose host gives it this port.
std::pair<std::string, std::string> started_with(const char* key, const void* port, pmix_data_type_t type) {
    setenv("PMIX_MCA_ptl_base_verbose", "1", 1);
    testing::internal::CaptureStderr();
    std::string address;
    {
        Host host({}, Given(key, port, type).infos());
        address = address_for_clients(host);
    }
    unsetenv("PMIX_MCA_ptl_base_verbose");
    return {testing::internal::GetCapturedStderr(), address};
}

TEST(ServerAddress, InvalidPortsAreReportedOnce) {
    const auto expect_said = [](const std::pair<std::string, std::string>& started, const std::string& what) {
        const auto& [log, address] = started;
        const size_t at = log.find("\"" + what + "\" is no port");
        EXPECT_NE(at, std::string::npos) << what << ": " << log;
        EXPECT_EQ(log.find("is no port", at + what.size() + 12), std::string::npos) << "twice: " << log;
        EXPECT_EQ(address, "") << "listened on another port than the one that was wanted";
    };
    const int large = 70000, negative = -2;
    const bool flag = true;
    const uint64_t huge = UINT64_MAX;
    expect_said(started_with(PMIX_TCP_IPV4_PORT, &large, PMIX_INT), "70000");
    expect_said(started_with(PMIX_TCP_IPV4_PORT, &negative, PMIX_INT), "-2");
    expect_said(started_with(PMIX_TCP_IPV4_PORT, &huge, PMIX_UINT64), "18446744073709551615");
    expect_said(started_with(PMIX_TCP_IPV4_PORT, "many", PMIX_STRING), "many");
    expect_said(started_with(PMIX_TCP_IPV4_PORT, &flag, PMIX_BOOL), "a value of type PMIX_BOOL");

    // A list of ports is one text, as for the parameter; ports of the other family are not requested.
    const std::string port = std::to_string(free_port());
    const auto [log, address] = started_with(PMIX_TCP_IPV4_PORT, port.c_str(), PMIX_STRING);
    EXPECT_EQ(log, "");
    EXPECT_TRUE(address.ends_with(":" + port)) << address;
}

}  // namespace
