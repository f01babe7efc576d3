// SPDX-License-Identifier: BSD-3-Clause
// The data of groups between servers: see group_part.hpp.
#include "core/groups/group_part.hpp"

namespace muster {
namespace {

/// Distinguishes Muster's parts from those that servers of other libraries write into the same attribute.
constexpr const char* kMark = "muster.group.2";

bool read_part(Unpacker& in, GroupPart& part) {
    std::string mark;
    ByteView posted;
    size_t jobs = 0;
    if (!in.string(mark) || mark != kMark) return false;
    if (!in.status(part.status) || !in.boolean(part.notify_termination) || !in.procs(part.present) ||
        !in.procs(part.order) || !in.procs(part.leaders) || !in.infos(part.infos) || !in.bytes(posted) ||
        !in.size(jobs)) {
        return false;
    }
    part.posted = Bytes(posted);
    for (size_t i = 0; i < jobs; ++i) {
        ByteView job;
        if (!in.bytes(job)) return false;
        part.jobs.emplace_back(job);
    }
    return true;
}

}  // namespace

pmix_status_t pack_group_part(WireFormat format, const GroupPart& part, Bytes& out) {
    Packer body(format);
    body.string(kMark).status(part.status).boolean(part.notify_termination);
    body.procs(part.present.data(), part.present.size());
    body.procs(part.order.data(), part.order.size());
    body.procs(part.leaders.data(), part.leaders.size());
    body.infos(part.infos).bytes(part.posted.view()).size(part.jobs.size());
    for (const Bytes& job : part.jobs)
        body.bytes(job.view());
    Packer whole(format);
    whole.bytes(body.view());
    if (body.error() != PMIX_SUCCESS) return body.error();
    if (whole.error() != PMIX_SUCCESS) return whole.error();
    out = whole.take();
    return PMIX_SUCCESS;
}

pmix_status_t unpack_group_parts(WireFormat format, ByteView bytes, std::vector<GroupPart>& parts) {
    Unpacker in(format, bytes);
    while (!in.at_end()) {
        ByteView body;
        if (!in.bytes(body)) return in.error();
        Unpacker one(format, body);
        GroupPart part;
        if (!read_part(one, part)) return one.failed() ? one.error() : PMIX_ERR_UNPACK_FAILURE;
        parts.push_back(std::move(part));
    }
    return PMIX_SUCCESS;
}

}  // namespace muster
