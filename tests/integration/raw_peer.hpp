// SPDX-License-Identifier: BSD-3-Clause
// A peer that sends raw bytes to a server, including messages that Muster's client never sends.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/endian.hpp"
#include "framework/ptl/channel.hpp"
#include "framework/ptl/handshake.hpp"

namespace integration {

/// The connect request of that rank, as this user.
inline muster::ConnectRequest claim(const std::string& nspace, pmix_rank_t rank, uint32_t uid, uint32_t gid) {
    muster::ConnectRequest request;
    const uint32_t ids[2] = {uid, gid};
    request.psec = "native";
    request.credential.append(ids, sizeof ids);
    request.nspace = nspace;
    request.rank = rank;
    request.version = muster::own_wire_version();
    request.bfrops = "v41";
    request.gds = "hash";
    return request;
}

class RawPeer {
  public:
    enum class Way { Local, Tcp };
    /// Connects to the server whose PMIx_server_setup_fork made this environment.
    explicit RawPeer(const std::vector<std::string>& environment, Way way = Way::Local) {
        if (way == Way::Tcp) {
            connect_tcp(environment);
            return;
        }
        const std::string mark = "usock://";
        for (const std::string& variable : environment) {
            const size_t at = variable.find(mark);
            if (at != std::string::npos && variable.rfind("PMIX_MUSTER_URI=", 0) == 0)
                connect(variable.substr(at + mark.size()));
        }
    }
    RawPeer(RawPeer&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    RawPeer(const RawPeer&) = delete;
    ~RawPeer() { hang_up(); }

    bool connected() const { return fd_ >= 0; }
    void hang_up() {
        if (fd_ >= 0) close(std::exchange(fd_, -1));
    }
    /// False when the server has closed the connection.
    bool say(muster::ByteView bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes = bytes.subspan(static_cast<size_t>(sent));
        }
        return true;
    }
    bool say(const std::string& text) {
        return say(muster::ByteView(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
    }
    bool say_frame(uint32_t tag, muster::ByteView payload) {
        std::vector<uint8_t> bytes(muster::Channel::kHeaderSize);
        muster::store_be32(&bytes[4], tag);
        muster::store_be32(&bytes[8], static_cast<uint32_t>(payload.size()));
        bytes.insert(bytes.end(), payload.begin(), payload.end());
        return say(bytes);
    }
    /// Whether the connection takes more bytes within that time.
    bool takes_more(double seconds) const {
        pollfd ready{fd_, POLLOUT, 0};
        return poll(&ready, 1, static_cast<int>(seconds * 1000)) == 1 && (ready.revents & POLLOUT) != 0;
    }
    /// Up to `size` bytes, fewer at the end of the connection or after `seconds`.
    std::vector<uint8_t> hear(size_t size, double seconds = 60) {
        std::vector<uint8_t> bytes;
        const auto until = std::chrono::steady_clock::now() +
                           std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
        while (bytes.size() < size) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                                  until - std::chrono::steady_clock::now())
                                  .count();
            pollfd ready{fd_, POLLIN, 0};
            if (left < 0 || poll(&ready, 1, static_cast<int>(left)) <= 0) break;
            uint8_t block[4096];
            const ssize_t got = recv(fd_, block, std::min(sizeof block, size - bytes.size()), 0);
            if (got <= 0) {
                ended_ = true;
                break;
            }
            bytes.insert(bytes.end(), block, block + got);
        }
        return bytes;
    }
    /// Number of descriptors that arrive with the next bytes; both are discarded.
    size_t hear_descriptors(double seconds = 60) {
        pollfd ready{fd_, POLLIN, 0};
        if (poll(&ready, 1, static_cast<int>(seconds * 1000)) <= 0) return 0;
        uint8_t block[4096];
        iovec part = {block, sizeof block};
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 16)] = {};
        msghdr message = {};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        size_t count = 0;
        if (recvmsg(fd_, &message, MSG_CMSG_CLOEXEC) <= 0) return 0;
        for (cmsghdr* part_of = CMSG_FIRSTHDR(&message); part_of != nullptr;
             part_of = CMSG_NXTHDR(&message, part_of)) {
            if (part_of->cmsg_type != SCM_RIGHTS) continue;
            for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= part_of->cmsg_len; at += sizeof(int)) {
                int passed = -1;
                std::memcpy(&passed, CMSG_DATA(part_of) + at, sizeof passed);
                close(passed);
                ++count;
            }
        }
        return count;
    }
    /// The payload of the next frame; empty if none arrived.
    std::vector<uint8_t> hear_frame(double seconds = 60) {
        const auto header = hear(muster::Channel::kHeaderSize, seconds);
        if (header.size() < muster::Channel::kHeaderSize) return {};
        return hear(muster::load_be32(&header[8]), seconds);
    }
    /// Waits until the server has closed the connection.
    bool dropped(double seconds = 60) {
        while (!ended_ && !hear(1, seconds).empty()) {
        }
        return ended_;
    }

  private:
    void connect_tcp(const std::vector<std::string>& environment) {
        const std::string mark = ";tcp4://";
        for (const std::string& variable : environment) {
            const size_t at = variable.find(mark);
            if (at == std::string::npos || variable.rfind("PMIX_SERVER_URI41=", 0) != 0) continue;
            const size_t colon = variable.find(':', at + mark.size());
            sockaddr_in address{};
            address.sin_family = AF_INET;
            address.sin_port = htons(static_cast<uint16_t>(std::stoi(variable.substr(colon + 1))));
            inet_pton(AF_INET, variable.substr(at + mark.size(), colon - at - mark.size()).c_str(),
                      &address.sin_addr);
            fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) hang_up();
            return;
        }
    }
    void connect(const std::string& path) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        if (path.size() >= sizeof address.sun_path) return;
        std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
        fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) hang_up();
    }

    int fd_ = -1;
    bool ended_ = false;
};

}  // namespace integration
