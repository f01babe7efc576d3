// SPDX-License-Identifier: BSD-3-Clause
// Owner of a socket by sock_diag: see owner.hpp.
#include "components/ptl/tcp/owner.hpp"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cstring>

namespace muster::tcp {
namespace {

struct Request {
    nlmsghdr header;
    inet_diag_req_v2 body;
};

inet_diag_sockid socket_id(const InternetAddress& own, const InternetAddress& peer) {
    inet_diag_sockid id{};
    id.idiag_sport = htons(peer.port());
    id.idiag_dport = htons(own.port());
    std::memcpy(id.idiag_src, peer.bytes(), peer.size());
    std::memcpy(id.idiag_dst, own.bytes(), own.size());
    id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    return id;
}

bool same_pair(const inet_diag_sockid& a, const inet_diag_sockid& b) {
    return a.idiag_sport == b.idiag_sport && a.idiag_dport == b.idiag_dport &&
           std::memcmp(a.idiag_src, b.idiag_src, sizeof a.idiag_src) == 0 &&
           std::memcmp(a.idiag_dst, b.idiag_dst, sizeof a.idiag_dst) == 0;
}

/// The kernel falls back to a listening socket of that port, and shows a socket that is open in no process
/// as user 0: neither proves anything.
bool is_owned_end(const inet_diag_msg& found, const inet_diag_sockid& wanted) {
    const auto states = {TCP_ESTABLISHED, TCP_CLOSE_WAIT, TCP_FIN_WAIT1, TCP_FIN_WAIT2};
    return std::ranges::find(states, found.idiag_state) != states.end() && found.idiag_inode != 0 &&
           same_pair(found.id, wanted);
}

}  // namespace

std::optional<uid_t> OwnerQuery::owner(const InternetAddress& own, const InternetAddress& peer) {
    if (own.family() != peer.family()) return std::nullopt;
    if (!netlink_) {
        netlink_.reset(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
        if (!netlink_) return std::nullopt;
        // The kernel answers within the send; the time limit is only a safeguard.
        const timeval limit{1, 0};
        setsockopt(netlink_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    }
    Request request{};
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    request.header.nlmsg_flags = NLM_F_REQUEST;
    request.header.nlmsg_seq = ++sequence_;
    request.body.sdiag_family = static_cast<uint8_t>(own.family());
    request.body.sdiag_protocol = IPPROTO_TCP;
    request.body.idiag_states = ~0U;
    request.body.id = socket_id(own, peer);
    sockaddr_nl kernel{};
    kernel.nl_family = AF_NETLINK;
    if (::sendto(netlink_.get(), &request, sizeof request, MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&kernel),
                 sizeof kernel) != sizeof request) {
        netlink_.reset();
        return std::nullopt;
    }
    for (;;) {
        alignas(nlmsghdr) char answer[1024];
        sockaddr_nl from{};
        socklen_t length = sizeof from;
        const ssize_t got =
            ::recvfrom(netlink_.get(), answer, sizeof answer, 0, reinterpret_cast<sockaddr*>(&from), &length);
        if (got < 0 && errno == EINTR) continue;
        if (got < static_cast<ssize_t>(sizeof(nlmsghdr))) {
            netlink_.reset();
            return std::nullopt;
        }
        // Other processes can send to this socket too.
        if (length < sizeof from || from.nl_pid != 0) continue;
        nlmsghdr header;
        std::memcpy(&header, answer, sizeof header);
        if (header.nlmsg_seq != sequence_) continue;
        inet_diag_msg found{};
        if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY || header.nlmsg_len < NLMSG_LENGTH(sizeof found) ||
            static_cast<size_t>(got) < NLMSG_LENGTH(sizeof found)) {
            return std::nullopt;
        }
        std::memcpy(&found, answer + NLMSG_HDRLEN, sizeof found);
        if (!is_owned_end(found, request.body.id)) return std::nullopt;
        return found.idiag_uid;
    }
}

}  // namespace muster::tcp
