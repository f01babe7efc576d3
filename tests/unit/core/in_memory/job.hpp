// SPDX-License-Identifier: BSD-3-Clause
// A server, its host and its clients in one process: each has its own Process object and its own loop, which
// the test drives. The order in which messages arrive is the order in which the test drives the loops.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/client/client.hpp"
#include "core/process/process.hpp"
#include "core/server/server.hpp"
#include "framework/base/unique_fd.hpp"
#include "tests/unit/core/in_memory/fake_host.hpp"

namespace muster::testing_in_memory {

/// A folder for the sockets of one test.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "muster-unit-XXXXXX").string();
        path_ = ::mkdtemp(pattern.data());
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const char* path() const { return path_.c_str(); }

  private:
    std::string path_;
};

/// The later answer of a call.
template <class T>
class Later {
  public:
    bool there() const { return value_ != nullptr && value_->has_value(); }
    const T& operator*() const { return **value_; }
    const T* operator->() const { return &**value_; }
    /// Returns the callback that delivers the value.
    auto deliver() {
        value_ = std::make_shared<std::optional<T>>();
        return [value = value_](T one) { *value = std::move(one); };
    }

  private:
    std::shared_ptr<std::optional<T>> value_;
};

/// A server on node `Node` with a host in memory. Fixtures have one, or two for a job on two nodes.
template <int Node>
class FakeNode {
  public:
    /// The shared store of Muster's clients enables barriers in memory; without it all operations use
    /// messages.
    explicit FakeNode(bool shares_memory = false, Info directives = {}) {
        FakeHost::of<Node>() = &host;
        module_ = FakeHost::module<Node>();
        if (!shares_memory) ::setenv("PMIX_MCA_gds", "hash", 1);
        // No host waits for a process here, unless the test requests it.
        ::setenv("PMIX_MCA_pmix_group_report_time", "0", 0);
        directives.add(PMIX_EXTERNAL_PROGRESS, true);
        directives.add(PMIX_SERVER_TMPDIR, folder_.path());
        directives.add(PMIX_SYSTEM_TMPDIR, folder_.path());
        directives.add(PMIX_HOSTNAME, name().c_str());
        directives.add(PMIX_SERVER_NSPACE, ("server" + std::to_string(Node)).c_str());
        auto made = Process::create_server(&module_, sizeof module_, directives);
        if (!made) ADD_FAILURE() << made.error().text;
        process_ = std::move(*made);
        process_->runtime().start();
    }
    ~FakeNode() {
        clients_.clear();
        process_->say_goodbye();
        process_.reset();
        FakeHost::of<Node>() = nullptr;
        ::unsetenv("PMIX_MCA_gds");
    }
    FakeNode(const FakeNode&) = delete;
    FakeNode& operator=(const FakeNode&) = delete;

    static std::string name() { return "node" + std::to_string(Node); }
    Process& process() { return *process_; }
    Server& server() { return *process_->server(); }

    /// Registers a job; ranks are those of this node, by the map ("0,1;2,3").
    void add_job(const char* nspace, uint32_t size, const char* nodes, const char* ranks, int local) {
        Info info;
        info.add(PMIX_JOB_SIZE, size);
        info.add(PMIX_UNIV_SIZE, size);
        info.add(PMIX_NODE_MAP, nodes);
        info.add(PMIX_PROC_MAP, ranks);
        on_loop([&] { EXPECT_EQ(server().register_nspace(nspace, local, info), PMIX_SUCCESS); });
    }
    void add_job(const char* nspace, uint32_t size) {
        std::string ranks;
        for (uint32_t rank = 0; rank < size; ++rank)
            ranks += (rank == 0 ? "" : ",") + std::to_string(rank);
        add_job(nspace, size, name().c_str(), ranks.c_str(), static_cast<int>(size));
        for (uint32_t rank = 0; rank < size; ++rank)
            register_client(nspace, rank);
    }
    void register_client(const char* nspace, uint32_t rank) {
        on_loop([&] { server().register_client(make_proc(nspace, rank), ::getuid(), ::getgid(), nullptr); });
    }

    /// Starts a process of a registered job: it connects while the server is driven.
    Process& add_client(const char* nspace, uint32_t rank) {
        return *(clients_[{nspace, rank}] = make_client(nspace, rank, true));
    }
    /// The same for a process that the test keeps. `external`: the test drives its loop; else the process has
    /// a progress thread, and may use the memory that the server shares.
    std::unique_ptr<Process> make_client(const char* nspace, uint32_t rank, bool external) {
        ForkEnvironment::Variables variables;
        on_loop([&] { variables = server().fork_environment().of(make_proc(nspace, rank), nullptr); });
        for (const auto& [name, value] : variables)
            ::setenv(name.c_str(), value.c_str(), 1);
        std::unique_ptr<Process> made;
        std::atomic<bool> over{false};
        std::thread connecting([&] {
            Info directives;
            if (external) directives.add(PMIX_EXTERNAL_PROGRESS, true);
            directives.add(PMIX_HOSTNAME, name().c_str());
            auto client = Process::create_client(directives);
            if (client)
                made = std::move(*client);
            else
                ADD_FAILURE() << client.error().text;
            over = true;
        });
        while (!over) {
            process_->runtime().progress();
            ::sched_yield();
        }
        connecting.join();
        for (const auto& [name, value] : variables)
            ::unsetenv(name.c_str());
        return made;
    }
    Process& client(const char* nspace, uint32_t rank) { return *clients_.at({nspace, rank}); }
    Process& client(uint32_t rank) { return client("job", rank); }
    /// The process ends without PMIx_Finalize.
    void kill(const char* nspace, uint32_t rank) { clients_.erase({nspace, rank}); }
    /// Adopts a process that the test has created: it is driven with the clients, under its own name.
    Process& adopt(std::unique_ptr<Process> process) {
        const pmix_proc_t name = process->self();
        return *(clients_[{name.nspace, name.rank}] = std::move(process));
    }
    const char* folder() const { return folder_.path(); }

    /// Processes ready events on the server and on all clients.
    void turn() {
        process_->runtime().progress();
        for (auto& [name, client] : clients_)
            client->runtime().progress();
    }
    /// Advances the clocks of the server and of all clients.
    void pass(std::chrono::milliseconds time) {
        process_->loop().skip(time);
        for (auto& [name, client] : clients_)
            client->loop().skip(time);
    }
    /// Runs `task` as a task of the server's loop.
    void on_loop(const std::function<void()>& task) {
        bool done = false;
        process_->loop().post([&] {
            task();
            done = true;
        });
        while (!done)
            process_->runtime().progress();
    }

    FakeHost host;

  private:
    TemporaryFolder folder_;
    pmix_server_module_t module_{};
    std::unique_ptr<Process> process_;
    std::map<std::pair<std::string, uint32_t>, std::unique_ptr<Process>> clients_;
};

/// A job `job` of some processes on one node.
class JobInMemory : public testing::Test {
  protected:
    JobInMemory() = default;
    /// With these directives for the server.
    explicit JobInMemory(Info directives) : node(false, std::move(directives)) {}

    /// Starts the job with all its processes.
    void start(uint32_t size) {
        node.add_job("job", size);
        for (uint32_t rank = 0; rank < size; ++rank)
            node.add_client("job", rank);
    }
    /// Drives all loops until `done` holds; false on a timeout.
    [[nodiscard]] bool until(const std::function<bool()>& done) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!done()) {
            if (std::chrono::steady_clock::now() > limit) return false;
            node.turn();
        }
        return true;
    }
    /// Runs `call`, which blocks, on a thread, and drives all loops until it returns. `each_turn`: null, or
    /// the host's actions meanwhile.
    void beside(const std::function<void()>& call, const std::function<void()>& each_turn = nullptr) {
        std::atomic<bool> over{false};
        std::thread calling([&] {
            call();
            over = true;
        });
        EXPECT_TRUE(until([&] {
            if (each_turn) each_turn();
            ::sched_yield();
            return over.load();
        })) << "a call does not return";
        calling.join();
    }
    /// Drives all loops until nothing is ready any more.
    void settle() {
        for (int turn = 0; turn < 100; ++turn)
            node.turn();
    }
    /// Advances the time of the server and all clients.
    void pass(std::chrono::milliseconds time) {
        node.pass(time);
        settle();
    }
    /// Runs `task` on the loop of a process.
    void on(Process& process, const std::function<void()>& task) {
        bool done = false;
        process.loop().post([&] {
            task();
            done = true;
        });
        ASSERT_TRUE(until([&] { return done; }));
    }

    FakeNode<0> node;
};

}  // namespace muster::testing_in_memory
