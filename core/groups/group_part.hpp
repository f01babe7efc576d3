// SPDX-License-Identifier: BSD-3-Clause
// The data that the servers of a group exchange when it is constructed: callers and their order, leaders,
// and the members' data. It travels through the hosts as PMIX_GROUP_ENDPT_DATA, one byte object a server,
// concatenated (docs/reference/wire.md, group data between servers).
#pragma once

#include <pmix_common.h>

#include <vector>

#include "framework/base/bytes.hpp"
#include "framework/base/info.hpp"
#include "framework/packer.hpp"

namespace muster {

/// The part of one server.
struct GroupPart {
    pmix_status_t status = PMIX_SUCCESS;  ///< else it has failed at this server, and so for all
    bool notify_termination = false;
    std::vector<pmix_proc_t> present;  ///< local members that called
    std::vector<pmix_proc_t> order;    ///< all members by rank; empty: sorted by name
    std::vector<pmix_proc_t> leaders;  ///< local members that lead
    Info infos;                        ///< PMIX_GROUP_INFO of the local members, the giver first
    Bytes posted;                      ///< their posted data, as Modex::contribution() writes it
    std::vector<Bytes> jobs;           ///< job data: the namespace, then the body of Gds::pack_job
};

/// Packs a part. Its `posted` and `jobs` are in the same format.
pmix_status_t pack_group_part(WireFormat format, const GroupPart& part, Bytes& out);

/// Reads the parts of several servers. PMIX_ERR_UNPACK_FAILURE and the like for malformed bytes.
pmix_status_t unpack_group_parts(WireFormat format, ByteView bytes, std::vector<GroupPart>& parts);

}  // namespace muster
