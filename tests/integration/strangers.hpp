// SPDX-License-Identifier: BSD-3-Clause
// Other users at a root server: their processes, as raw peers.
#pragma once

#include <gtest/gtest.h>
#include <pmix.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "core/exchange/command.hpp"
#include "framework/packer.hpp"
#include "tests/integration/host.hpp"
#include "tests/integration/raw_peer.hpp"
#include "tests/integration/waits.hpp"
#include "tests/unit/components/bfrops/codec.hpp"

namespace strangers {

using integration::Host;
using integration::RawPeer;
using muster::Command;
using muster::ConnectRequest;
using muster::Info;
using muster::Packer;
using muster::Unpacker;

constexpr uid_t kStranger = 12345;
constexpr uid_t kOther = 12346;

/// Runs `what` as another user, in a separate process.
class OtherUser {
  public:
    OtherUser(uid_t user, const std::function<int()>& what) : pid_(fork()) {
        if (pid_ != 0) return;
        alarm(60);
        if (setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0) _exit(99);
        _exit(what());
    }
    OtherUser(const OtherUser&) = delete;
    ~OtherUser() { status(); }
    /// Its exit status, -1 where it did not end by itself.
    int status() {
        if (pid_ > 0) {
            int raw = -1;
            waitpid(std::exchange(pid_, -1), &raw, 0);
            status_ = WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
        }
        return status_;
    }

  private:
    pid_t pid_;
    int status_ = -1;
};

inline int as(uid_t user, const std::function<int()>& what) {
    return OtherUser(user, what).status();
}

inline muster::WireFormat format() {
    return {&muster::test::codec(), muster::BufferType::NonDescribed};
}

inline Packer command(Command code) {
    Packer packer(format());
    packer.command(static_cast<uint8_t>(code));
    return packer;
}

/// The connect request of that rank, as this user.
inline ConnectRequest claim(const Host::Job& job, pmix_rank_t rank, uint32_t uid, uint32_t gid) {
    return integration::claim(job.nspace, rank, uid, gid);
}

/// A process of a job that has completed its handshake and sends one request after the other.
class Client {
  public:
    Client(const std::vector<std::string>& environment, const Host::Job& job, pmix_rank_t rank,
           RawPeer::Way way = RawPeer::Way::Tcp)
        : raw_(environment, way) {
        raw_.say(build_connect_request(claim(job, rank, geteuid(), getegid())).view());
        const auto reply = raw_.hear(8);
        accepted_ = reply.size() == 8 && muster::load_be32(reply.data()) == 0;
    }
    bool accepted() const { return accepted_; }
    void say(Packer&& message) { raw_.say_frame(++tag_, message.view()); }
    /// The status that the next frame begins with.
    pmix_status_t heard() {
        frame_ = raw_.hear_frame();
        Unpacker in(format(), frame_);
        pmix_status_t status = PMIX_ERR_LOST_CONNECTION;
        return in.status(status) ? status : PMIX_ERR_UNPACK_FAILURE;
    }
    pmix_status_t ask(Packer&& message) {
        say(std::move(message));
        return heard();
    }
    /// The source of the next event.
    std::string heard_event() {
        frame_ = raw_.hear_frame();
        Unpacker in(format(), frame_);
        uint8_t code = 0;
        pmix_status_t status = PMIX_SUCCESS;
        pmix_proc_t source{};
        return in.command(code) && in.status(status) && in.proc(source) ? source.nspace : "";
    }

    /// The process set of the next event.
    std::string heard_set() {
        heard_event();
        Unpacker in(format(), frame_);
        uint8_t code = 0;
        pmix_status_t status = PMIX_SUCCESS;
        pmix_proc_t source{};
        Info info;
        if (!in.command(code) || !in.status(status) || !in.proc(source) || !in.infos(info)) return "?";
        const char* name = info.view().string(PMIX_PSET_NAME);
        return name == nullptr ? "" : name;
    }
    /// The names of the visible process sets and groups, each followed by a comma.
    std::pair<std::string, std::string> names() {
        pmix_query_t queries[2];
        const char* const keys[2] = {PMIX_QUERY_PSET_NAMES, PMIX_QUERY_GROUP_NAMES};
        std::string lists[2];
        for (int i = 0; i < 2; ++i) {
            char* argv[] = {const_cast<char*>(keys[i]), nullptr};
            queries[i] = {argv, nullptr, 0};
            Packer message = command(Command::Query);
            message.counted(&queries[i], 1, PMIX_QUERY);
            say(std::move(message));
            frame_ = raw_.hear_frame();
            Unpacker in(format(), frame_);
            pmix_status_t status = PMIX_ERR_LOST_CONNECTION;
            Info found;
            if (!in.status(status) || in.at_end() || !in.infos(found)) continue;
            lists[i] = list_of(found.view());
        }
        return {lists[0], lists[1]};
    }

    /// Number of processes in the answer to PMIX_MONITOR_PROC_RESOURCE_USAGE.
    size_t measured_processes() {
        Packer message = command(Command::Monitor);
        Info what;
        what.add(PMIX_MONITOR_PROC_RESOURCE_USAGE, muster::Value());
        message.info(what[0]).status(PMIX_SUCCESS).infos({});
        if (ask(std::move(message)) != PMIX_SUCCESS) return SIZE_MAX;
        Unpacker in(format(), frame_);
        pmix_status_t status = PMIX_ERR_LOST_CONNECTION;
        Info found;
        return in.status(status) && in.infos(found) ? found.size() : SIZE_MAX;
    }

    /// The names of the visible jobs, separated by commas.
    std::string job_names() {
        char* argv[] = {const_cast<char*>(PMIX_QUERY_NAMESPACES), nullptr};
        const pmix_query_t query = {argv, nullptr, 0};
        Packer message = command(Command::Query);
        message.counted(&query, 1, PMIX_QUERY);
        say(std::move(message));
        frame_ = raw_.hear_frame();
        Unpacker in(format(), frame_);
        pmix_status_t status = PMIX_ERR_LOST_CONNECTION;
        Info found;
        if (!in.status(status) || in.at_end() || !in.infos(found)) return "?";
        const char* names = found.view().string(PMIX_QUERY_NAMESPACES);
        return names == nullptr ? "" : names;
    }

  private:
    static std::string list_of(muster::InfoView found) {
        std::string list;
        for (const pmix_info_t& one : found) {
            if (one.value.type != PMIX_DATA_ARRAY) continue;
            const pmix_data_array_t& array = *one.value.data.darray;
            if (array.type == PMIX_INFO)
                list += list_of({static_cast<pmix_info_t*>(array.array), array.size});
            if (array.type != PMIX_STRING) continue;
            for (size_t i = 0; i < array.size; ++i)
                list += std::string(static_cast<char**>(array.array)[i]) + ",";
        }
        return list;
    }
    RawPeer raw_;
    bool accepted_ = false;
    uint32_t tag_ = 100;
    std::vector<uint8_t> frame_;
};

class Strangers : public testing::Test {
  protected:
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    }
    /// A job of one process of this user.
    static Host::Job job_of(Host& host, uid_t user) {
        auto job = host.start_job(1);
        EXPECT_EQ(host.register_client(job, 0, user, user), PMIX_SUCCESS);
        return job;
    }
};

}  // namespace strangers
