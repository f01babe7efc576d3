// SPDX-License-Identifier: BSD-3-Clause
// A peer that sends bytes to a server in memory: the test builds the handshake and the frames. It never
// waits: the test drives the server, then reads the received bytes.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/endian.hpp"
#include "framework/base/unique_fd.hpp"
#include "framework/packer.hpp"
#include "framework/ptl/channel.hpp"
#include "framework/ptl/handshake.hpp"

namespace muster::testing_in_memory {

/// The connect request of a process of this user.
inline ConnectRequest hello(PeerKind kind, const std::string& nspace = "", pmix_rank_t rank = 0) {
    ConnectRequest request;
    const uint32_t ids[2] = {::geteuid(), ::getegid()};
    request.kind = kind;
    request.euid = ids[0];
    request.egid = ids[1];
    request.psec = "native";
    request.credential.append(ids, sizeof ids);
    request.nspace = nspace;
    request.rank = rank;
    request.version = own_wire_version();
    request.bfrops = "v41";
    request.gds = "hash";
    return request;
}

class RawPeer {
  public:
    /// Connects to the first local socket among the URIs of a server.
    explicit RawPeer(const std::vector<std::string>& uris) {
        for (const std::string& uri : uris) {
            if (const size_t at = uri.find("usock://"); at != std::string::npos) connect(uri.substr(at + 8));
        }
    }
    void hang_up() { fd_.reset(); }
    /// False when the server has closed the connection.
    bool say(ByteView bytes) {
        return ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
               static_cast<ssize_t>(bytes.size());
    }
    bool say(const ConnectRequest& request) { return say(build_connect_request(request).view()); }
    bool say_frame(uint32_t tag, ByteView payload) {
        std::vector<uint8_t> bytes(Channel::kHeaderSize);
        store_be32(&bytes[4], tag);
        store_be32(&bytes[8], static_cast<uint32_t>(payload.size()));
        bytes.insert(bytes.end(), payload.begin(), payload.end());
        return say(bytes);
    }
    /// Returns the received bytes that were not consumed yet.
    ByteView heard() {
        uint8_t block[4096];
        for (;;) {
            const ssize_t got = ::recv(fd_.get(), block, sizeof block, MSG_DONTWAIT);
            if (got <= 0) {
                ended_ = ended_ || got == 0 || errno != EAGAIN;
                return heard_;
            }
            heard_.insert(heard_.end(), block, block + got);
        }
    }
    /// Whether the server has closed the connection.
    bool ended() {
        heard();
        return ended_;
    }
    /// The answer of the server to a request of this kind, once it is complete.
    std::optional<ReplyParser::Parsed> reply(PeerKind kind) {
        ReplyParser parser;
        parser.kind = kind;
        parser.tool_form = is_tool(kind);
        const ByteView bytes = heard();
        if (parser.wanted(bytes) != 0) return std::nullopt;
        auto parsed = parser.parse(bytes);
        if (!parsed) return std::nullopt;
        heard_.clear();
        return std::move(*parsed);
    }
    struct Frame {
        uint32_t tag = 0;
        std::vector<uint8_t> payload;
    };
    /// The next frame, once it is complete.
    std::optional<Frame> frame() {
        heard();
        if (heard_.size() < Channel::kHeaderSize) return std::nullopt;
        const size_t end = Channel::kHeaderSize + load_be32(&heard_[8]);
        if (heard_.size() < end) return std::nullopt;
        Frame frame;
        frame.tag = load_be32(&heard_[4]);
        frame.payload.assign(heard_.begin() + Channel::kHeaderSize,
                             heard_.begin() + static_cast<std::ptrdiff_t>(end));
        heard_.erase(heard_.begin(), heard_.begin() + static_cast<std::ptrdiff_t>(end));
        return frame;
    }

  private:
    void connect(const std::string& path) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        if (path.size() >= sizeof address.sun_path) return;
        std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
        fd_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            fd_.reset();
    }

    UniqueFd fd_;
    std::vector<uint8_t> heard_;
    bool ended_ = false;
};

}  // namespace muster::testing_in_memory
