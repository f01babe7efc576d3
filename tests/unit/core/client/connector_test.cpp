// SPDX-License-Identifier: BSD-3-Clause
// Connecting to a server: its address in the environment, dead addresses, servers that do not answer, and
// servers that refuse.
#include "core/client/connector.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include "core/server/server.hpp"
#include "tests/unit/core/in_memory/job.hpp"

namespace muster::testing_in_memory {
namespace {

/// Variables that are set as long as it lives.
class Variables {
  public:
    Variables(std::initializer_list<std::pair<const char*, std::string>> values) {
        for (const auto& [name, value] : values) {
            ::setenv(name, value.c_str(), 1);
            names_.emplace_back(name);
        }
    }
    ~Variables() {
        for (const std::string& name : names_)
            ::unsetenv(name.c_str());
    }
    Variables(const Variables&) = delete;
    Variables& operator=(const Variables&) = delete;

  private:
    std::vector<std::string> names_;
};

TEST(ServerContactTest, SaysNothingWithoutAServer) {
    auto none = ServerContact::from_environment();
    ASSERT_TRUE(none);
    EXPECT_FALSE(none->has_value());
    const Variables only_name{{"PMIX_NAMESPACE", "job"}};
    none = ServerContact::from_environment();
    ASSERT_TRUE(none);
    EXPECT_FALSE(none->has_value());
}

TEST(ServerContactTest, ReadsTheEnvironment) {
    const Variables variables{{"PMIX_NAMESPACE", "job"},
                              {"PMIX_RANK", "3"},
                              {"PMIX_SERVER_URI41", "server.0;tcp4://127.0.0.1:9"},
                              {"PMIX_SERVER_URI4", "server.0;tcp4://127.0.0.1:9"},
                              {"PMIX_SERVER_URI2", "server.0;tcp4://127.0.0.1:8"},
                              {"PMIX_SECURITY_MODE", "native"},
                              {"PMIX_MUSTER_MAX_PAYLOAD", "5000"},
                              {"PMIX_BFROP_BUFFER_TYPE", "PMIX_BFROP_BUFFER_FULLY_DESC"}};
    const auto contact = ServerContact::from_environment();
    ASSERT_TRUE(contact);
    ASSERT_TRUE(contact->has_value());
    EXPECT_EQ((*contact)->nspace, "job");
    EXPECT_EQ((*contact)->rank, 3U);
    EXPECT_EQ((*contact)->uris,
              std::vector<std::string>({"server.0;tcp4://127.0.0.1:9", "server.0;tcp4://127.0.0.1:8"}));
    EXPECT_EQ((*contact)->security, "native");
    EXPECT_EQ((*contact)->version, "4.1.0");
    EXPECT_EQ((*contact)->max_payload, 5000U);
    EXPECT_EQ((*contact)->buffer_type, BufferType::FullyDescribed);
}

TEST(ServerContactTest, RefusesServersOfOtherProtocols) {
    const Variables variables{{"PMIX_NAMESPACE", "job"},
                              {"PMIX_RANK", "3"},
                              {"PMIX_VERSION", "3.2.5"},
                              {"PMIX_SERVER_URI3", "server.0;tcp4://127.0.0.1:9"},
                              {"PMIX_SERVER_URI2", "server.0;tcp4://127.0.0.1:9"}};
    const auto contact = ServerContact::from_environment();
    ASSERT_EQ(contact.status(), PMIX_ERR_NOT_SUPPORTED);
    EXPECT_NE(contact.error().text.find("OpenPMIx 3.2.5"), std::string::npos);
}

TEST(ServerContactTest, RefusesWhatIsBroken) {
    const Variables rank{{"PMIX_NAMESPACE", "job"}, {"PMIX_RANK", "three"}, {"PMIX_SERVER_URI41", "s.0;u"}};
    EXPECT_EQ(ServerContact::from_environment().status(), PMIX_ERR_DATA_VALUE_NOT_FOUND);
    const Variables name{{"PMIX_NAMESPACE", std::string(PMIX_MAX_NSLEN + 1, 'x')}};
    EXPECT_EQ(ServerContact::from_environment().status(), PMIX_ERR_BAD_PARAM);
}

class ConnectorTest : public JobInMemory {
  protected:
    /// How an attempt ends, while the server is driven.
    pmix_status_t attempt(const ServerContact& contact,
                          std::chrono::milliseconds limit = std::chrono::seconds(20)) {
        Runtime& runtime = node.client(0).runtime();
        std::atomic<bool> over{false};
        pmix_status_t status = PMIX_SUCCESS;
        std::thread connecting([&] {
            status = connect_to_server(runtime, contact, runtime.own_format(), limit).status();
            over = true;
        });
        EXPECT_TRUE(until([&] {
            ::sched_yield();
            return over.load();
        }));
        connecting.join();
        return status;
    }
    /// Starts rank 0, and returns the environment of rank 1.
    ServerContact begin() {
        node.add_job("job", 2);
        node.add_client("job", 0);
        ForkEnvironment::Variables variables;
        node.on_loop([&] { variables = node.server().fork_environment().of(make_proc("job", 1), nullptr); });
        for (const auto& [name, value] : variables)
            ::setenv(name.c_str(), value.c_str(), 1);
        auto contact = ServerContact::from_environment();
        for (const auto& [name, value] : variables)
            ::unsetenv(name.c_str());
        EXPECT_TRUE(contact && contact->has_value());
        return std::move(**contact);
    }
};

TEST_F(ConnectorTest, TriesOneAddressAfterTheOther) {
    ServerContact contact = begin();
    std::vector<std::string> uris = {"no address", "server.0;pigeon://roof",
                                     "server.0;usock:///nonexistent/socket"};
    std::swap(uris, contact.uris);
    EXPECT_EQ(attempt(contact), PMIX_ERR_UNREACH);
    contact.uris.insert(contact.uris.end(), uris.begin(), uris.end());
    EXPECT_EQ(attempt(contact), PMIX_SUCCESS);
}

TEST_F(ConnectorTest, IsRefusedUnderAnUnknownName) {
    ServerContact contact = begin();
    contact.nspace = "unknown";
    EXPECT_NE(attempt(contact), PMIX_SUCCESS);
    contact.nspace = "job";
    contact.rank = 99;
    EXPECT_NE(attempt(contact), PMIX_SUCCESS);
    contact.rank = 1;
    contact.security = "carrier";
    EXPECT_EQ(attempt(contact), PMIX_ERR_NOT_AVAILABLE);
}

TEST_F(ConnectorTest, GivesUpOnAServerThatDoesNotAnswer) {
    ServerContact contact = begin();
    const TemporaryFolder folder;
    const std::string path = std::string(folder.path()) + "/silent";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    const UniqueFd listening(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(::bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(listening.get(), 4), 0);
    contact.uris = {"server.0;usock://" + path};
    EXPECT_EQ(attempt(contact, std::chrono::milliseconds(50)), PMIX_ERR_TIMEOUT);
}

}  // namespace
}  // namespace muster::testing_in_memory
