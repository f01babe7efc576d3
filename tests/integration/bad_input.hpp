// SPDX-License-Identifier: BSD-3-Clause
// A server with small limits, with a job whose ranks 0 and 1 are arbitrary peers and whose rank 2 is a client
// that must be served in any case.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/exchange/command.hpp"
#include "framework/packer.hpp"
#include "tests/integration/host.hpp"
#include "tests/integration/raw_peer.hpp"
#include "tests/unit/components/bfrops/codec.hpp"

namespace integration {

using muster::Bytes;
using muster::ByteView;
using muster::Command;
using muster::ConnectRequest;
using muster::Packer;

inline muster::WireFormat format() {
    return {&muster::test::codec(), muster::BufferType::NonDescribed};
}

inline Packer command(uint8_t code) {
    Packer packer(format());
    packer.command(code);
    return packer;
}

inline size_t lines_with(const std::string& text, const std::string& word) {
    size_t count = 0;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        if (text.substr(at, end - at).find(word) != std::string::npos) ++count;
        at = end + 1;
    }
    return count;
}

class BadInput : public testing::Test {
  protected:
    using Settings = std::vector<std::pair<const char*, const char*>>;
    /// `more`: further parameters of the server; `change` changes the module of upcalls.
    explicit BadInput(const Settings& more = {},
                      const std::function<void(pmix_server_module_t&)>& change = {}) {
        set({{"PMIX_MCA_server_base_handshake_timeout", "1"},
             {"PMIX_MCA_server_base_max_payload", "1m"},
             {"PMIX_MCA_server_base_max_wait", "1"},
             {"PMIX_MCA_ptl_base_verbose", "1"},
             {"PMIX_MCA_server_base_verbose", "1"}});
        set(more);
        testing::internal::CaptureStderr();
        host_ = std::make_unique<Host>(change);
        job_ = host_->start_job(3);
    }
    ~BadInput() override {
        expect_health();
        host_.reset();
        // Restores the parameters: other tests of this process have servers, too.
        for (auto one = before_.rbegin(); one != before_.rend(); ++one) {
            if (one->second) {
                setenv(one->first, one->second->c_str(), 1);
            } else {
                unsetenv(one->first);
            }
        }
        if (!log_read_) testing::internal::GetCapturedStderr();
    }

    RawPeer peer(pmix_rank_t rank = 0) { return RawPeer(host_->environment(job_, rank)); }

    /// The request of an honest client.
    ConnectRequest honest(pmix_rank_t rank = 0) {
        return integration::claim(job_.nspace, rank, geteuid(), getegid());
    }
    /// A peer that has completed its handshake.
    RawPeer accepted(pmix_rank_t rank = 0) {
        RawPeer raw = peer(rank);
        EXPECT_TRUE(raw.connected());
        EXPECT_TRUE(raw.say(build_connect_request(honest(rank)).view()));
        const auto reply = raw.hear(8);
        EXPECT_EQ(reply.size(), 8U);
        EXPECT_EQ(std::vector<uint8_t>(reply.begin(), reply.begin() + 4), std::vector<uint8_t>(4, 0));
        return raw;
    }
    void expect_refused(const ConnectRequest& request, const char* what) {
        RawPeer raw = peer();
        ASSERT_TRUE(raw.connected());
        raw.say(build_connect_request(request).view());
        const auto reply = raw.hear(8);
        EXPECT_TRUE(reply.size() < 8 || reply[0] != 0) << what << ": accepted";
        EXPECT_TRUE(raw.dropped()) << what;
    }
    /// A well-behaved client connects and finalizes.
    void expect_health() {
        auto good = host_->start(job_, 2, {"init"});
        EXPECT_EQ(good.line(), "INIT") << "the server does not serve others any more";
        good.go_on();
        EXPECT_EQ(good.wait(), 0);
    }
    std::string log() {
        log_read_ = true;
        return testing::internal::GetCapturedStderr();
    }

    std::unique_ptr<Host> host_;
    Host::Job job_;
    bool log_read_ = false;

  private:
    void set(const Settings& settings) {
        for (const auto& [name, value] : settings) {
            const char* before = getenv(name);
            before_.emplace_back(name, before != nullptr ? std::optional<std::string>(before) : std::nullopt);
            setenv(name, value, 1);
        }
    }

    std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

}  // namespace integration
