// SPDX-License-Identifier: BSD-3-Clause
// The table of keys and realms.
#include "framework/gds/realm.hpp"

#include <algorithm>
#include <array>

namespace muster {
namespace {

using enum Lookup::Realm;

constexpr auto kRows = [] {
    std::array rows = {
        KeyInfo{PMIX_SESSION_ID, Session, Fact::SessionId},
        KeyInfo{PMIX_CLUSTER_ID, Session},
        KeyInfo{PMIX_UNIV_SIZE, Session, Fact::UniverseSize},
        KeyInfo{PMIX_TMPDIR, Session},
        KeyInfo{PMIX_TDIR_RMCLEAN, Session},
        KeyInfo{PMIX_HOSTNAME_KEEP_FQDN, Session},
        KeyInfo{PMIX_RM_NAME, Session},
        KeyInfo{PMIX_RM_VERSION, Session},
        KeyInfo{PMIX_SESSION_INFO_ARRAY, Session, Fact::SessionArray},

        KeyInfo{PMIX_ALLOCATED_NODELIST, Job},
        KeyInfo{PMIX_NUM_ALLOCATED_NODES, Job},
        KeyInfo{PMIX_MAX_PROCS, Job, Fact::MaxProcs},
        KeyInfo{PMIX_NUM_SLOTS, Job, Fact::NumSlots},
        KeyInfo{PMIX_NUM_NODES, Job, Fact::NumNodes},
        KeyInfo{PMIX_NODE_LIST, Job, Fact::NodeList},
        KeyInfo{PMIX_NODE_MAP, Job, Fact::NodeMap},
        KeyInfo{PMIX_NODE_MAP_RAW, Job, Fact::NodeMapRaw},
        KeyInfo{PMIX_PROC_MAP, Job, Fact::ProcMap},
        KeyInfo{PMIX_PROC_MAP_RAW, Job, Fact::ProcMapRaw},
        KeyInfo{PMIX_ANL_MAP, Job, Fact::AnlMap},
        KeyInfo{PMIX_JOBID, Job},
        KeyInfo{PMIX_NPROC_OFFSET, Job, Fact::Offset},
        KeyInfo{PMIX_NSDIR, Job},
        KeyInfo{PMIX_JOB_SIZE, Job, Fact::JobSize},
        KeyInfo{PMIX_JOB_NUM_APPS, Job, Fact::JobApps},
        KeyInfo{PMIX_MAPBY, Job},
        KeyInfo{PMIX_RANKBY, Job},
        KeyInfo{PMIX_BINDTO, Job},
        KeyInfo{PMIX_SERVER_NSPACE, Job},
        KeyInfo{PMIX_SERVER_RANK, Job},
        KeyInfo{PMIX_JOB_INFO_ARRAY, Job, Fact::JobArray},
        KeyInfo{PMIX_REGISTER_NODATA, Job, Fact::RegisterNoData},

        KeyInfo{PMIX_APPLDR, App, Fact::AppLeader},
        KeyInfo{PMIX_APP_SIZE, App, Fact::AppSize},
        KeyInfo{PMIX_APP_ARGV, App},
        KeyInfo{PMIX_APP_MAP_TYPE, App},
        KeyInfo{PMIX_APP_MAP_REGEX, App},
        KeyInfo{PMIX_WDIR, App},
        KeyInfo{PMIX_PSET_NAMES, App},
        KeyInfo{PMIX_APP_INFO_ARRAY, App, Fact::AppArray},

        KeyInfo{PMIX_LOCAL_PEERS, Node, Fact::LocalPeers},
        KeyInfo{PMIX_LOCALLDR, Node, Fact::LocalLeader},
        KeyInfo{PMIX_LOCAL_CPUSETS, Node},
        KeyInfo{PMIX_LOCAL_SIZE, Node, Fact::LocalSize},
        KeyInfo{PMIX_HOSTNAME, Node, Fact::Hostname},
        KeyInfo{PMIX_HOSTNAME_ALIASES, Node, Fact::Aliases},
        KeyInfo{PMIX_NODEID, Node, Fact::NodeId},
        KeyInfo{PMIX_NODE_SIZE, Node, Fact::NodeSize},
        KeyInfo{PMIX_AVAIL_PHYS_MEMORY, Node},
        KeyInfo{PMIX_LOCAL_PROCS, Node, Fact::LocalProcs},
        KeyInfo{PMIX_NODE_OVERSUBSCRIBED, Node},
        KeyInfo{PMIX_FABRIC_DEVICES, Node},
        KeyInfo{PMIX_FABRIC_COORDINATES, Node},
        KeyInfo{PMIX_FABRIC_DEVICE, Node},
        KeyInfo{PMIX_FABRIC_DEVICE_INDEX, Node},
        KeyInfo{PMIX_FABRIC_DEVICE_NAME, Node},
        KeyInfo{PMIX_FABRIC_DEVICE_VENDOR, Node},
        KeyInfo{PMIX_FABRIC_DEVICE_BUS_TYPE, Node},
        KeyInfo{PMIX_FABRIC_DEVICE_VENDORID, Node},
        KeyInfo{PMIX_FABRIC_DEVICE_DRIVER, Node},
        KeyInfo{PMIX_FABRIC_DEVICE_FIRMWARE, Node},
        KeyInfo{PMIX_FABRIC_DEVICE_ADDRESS, Node},
        KeyInfo{PMIX_FABRIC_DEVICE_MTU, Node},
        KeyInfo{PMIX_FABRIC_DEVICE_SPEED, Node},
        KeyInfo{PMIX_FABRIC_DEVICE_STATE, Node},
        KeyInfo{PMIX_FABRIC_DEVICE_TYPE, Node},
        KeyInfo{PMIX_FABRIC_DEVICE_PCI_DEVID, Node},
        KeyInfo{PMIX_NODE_INFO_ARRAY, Node, Fact::NodeArray},

        KeyInfo{PMIX_APPNUM, Proc, Fact::AppNumber},
        KeyInfo{PMIX_RANK, Proc, Fact::Rank},
        KeyInfo{PMIX_NSPACE, Proc, Fact::Nspace},
        KeyInfo{PMIX_GLOBAL_RANK, Proc, Fact::GlobalRank},
        KeyInfo{PMIX_APP_RANK, Proc, Fact::AppRank},
        KeyInfo{PMIX_PARENT_ID, Proc},
        KeyInfo{PMIX_EXIT_CODE, Proc},
        KeyInfo{PMIX_PROCID, Proc, Fact::ProcId},
        KeyInfo{PMIX_LOCAL_RANK, Proc, Fact::LocalRank},
        KeyInfo{PMIX_NODE_RANK, Proc, Fact::NodeRank},
        KeyInfo{PMIX_PACKAGE_RANK, Proc},
        KeyInfo{PMIX_PROC_PID, Proc},
        KeyInfo{PMIX_PROCDIR, Proc},
        KeyInfo{PMIX_CPUSET, Proc},
        KeyInfo{PMIX_CPUSET_BITMAP, Proc},
        KeyInfo{PMIX_CREDENTIAL, Proc},
        KeyInfo{PMIX_SPAWNED, Proc},
        KeyInfo{PMIX_REINCARNATION, Proc},
        KeyInfo{PMIX_LOCALITY_STRING, Proc},
        KeyInfo{PMIX_DEVICE_DISTANCES, Proc},
        KeyInfo{PMIX_PROC_DATA, Proc, Fact::ProcArray},
        KeyInfo{PMIX_QUALIFIED_VALUE, Auto, Fact::QualifiedValue},
    };
    std::sort(rows.begin(), rows.end(), [](const KeyInfo& a, const KeyInfo& b) { return a.key < b.key; });
    return rows;
}();

constexpr KeyInfo kOther = {};

/// The row that may have the key: a table that is searched from hash_of on, up to an empty row.
constexpr size_t kSlots = 512;
constexpr uint8_t kNoRow = UINT8_MAX;
static_assert(kRows.size() < kNoRow && kRows.size() * 4 < kSlots);

/// The keys begin alike and differ at their ends.
constexpr size_t hash_of(std::string_view key) {
    uint32_t end = 0;
    for (size_t i = key.size() - 4; i < key.size(); ++i)
        end = end << 8 | static_cast<uint8_t>(key[i]);
    const auto before = static_cast<uint8_t>(key[key.size() - 5]);
    const auto size = static_cast<uint32_t>(key.size());
    return ((end ^ size << 12 ^ uint32_t{before} << 3) * 0x9E3779B1u) >> 23;
}
constexpr size_t kShortest = 6;  // "pmix." and more

constexpr auto kTable = [] {
    std::array<uint8_t, kSlots> table = {};
    table.fill(kNoRow);
    for (size_t row = 0; row < kRows.size(); ++row) {
        size_t slot = hash_of(kRows[row].key);
        while (table[slot] != kNoRow)
            slot = (slot + 1) % kSlots;
        table[slot] = static_cast<uint8_t>(row);
    }
    return table;
}();
static_assert(std::all_of(kRows.begin(), kRows.end(),
                          [](const KeyInfo& row) { return row.key.size() >= kShortest; }));

}  // namespace

const KeyInfo& key_info(std::string_view key) {
    if (key.size() < kShortest) return kOther;
    for (size_t slot = hash_of(key); kTable[slot] != kNoRow; slot = (slot + 1) % kSlots) {
        if (kRows[kTable[slot]].key == key) return kRows[kTable[slot]];
    }
    return kOther;
}

std::span<const KeyInfo> known_keys() {
    return kRows;
}

}  // namespace muster
