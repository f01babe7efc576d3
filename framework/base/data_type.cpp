// SPDX-License-Identifier: BSD-3-Clause
// The rows of the table of data types (Standard: "Generalized data types", and the structs of that chapter).
// The members of a struct are in the order in which bfrops sends them.

#include "framework/base/data_type.hpp"

#include <sys/time.h>

#include <array>
#include <ctime>

namespace muster {
namespace {

#define MUSTER_MEMBER(STRUCT, MEMBER, TYPE)                            \
    Field {                                                            \
        FieldForm::kMember, offsetof(STRUCT, MEMBER), 0, TYPE, #MEMBER \
    }
#define MUSTER_KEY(STRUCT, MEMBER)                                        \
    Field {                                                               \
        FieldForm::kKey, offsetof(STRUCT, MEMBER), 0, PMIX_UNDEF, #MEMBER \
    }
#define MUSTER_ARGV(STRUCT, MEMBER)                                        \
    Field {                                                                \
        FieldForm::kArgv, offsetof(STRUCT, MEMBER), 0, PMIX_UNDEF, #MEMBER \
    }
#define MUSTER_ARRAY(STRUCT, MEMBER, COUNT, TYPE)                                           \
    Field {                                                                                 \
        FieldForm::kArray, offsetof(STRUCT, MEMBER), offsetof(STRUCT, COUNT), TYPE, #MEMBER \
    }

constexpr Field kProcFields[] = {
    MUSTER_MEMBER(pmix_proc_t, nspace, PMIX_PROC_NSPACE),
    MUSTER_MEMBER(pmix_proc_t, rank, PMIX_PROC_RANK),
};
constexpr Field kAppFields[] = {
    MUSTER_MEMBER(pmix_app_t, cmd, PMIX_STRING),
    MUSTER_ARGV(pmix_app_t, argv),
    MUSTER_ARGV(pmix_app_t, env),
    MUSTER_MEMBER(pmix_app_t, cwd, PMIX_STRING),
    MUSTER_MEMBER(pmix_app_t, maxprocs, PMIX_INT),
    MUSTER_ARRAY(pmix_app_t, info, ninfo, PMIX_INFO),
};
constexpr Field kInfoFields[] = {
    MUSTER_KEY(pmix_info_t, key),
    MUSTER_MEMBER(pmix_info_t, flags, PMIX_INFO_DIRECTIVES),
    MUSTER_MEMBER(pmix_info_t, value, PMIX_VALUE),
};
constexpr Field kPdataFields[] = {
    MUSTER_MEMBER(pmix_pdata_t, proc, PMIX_PROC),
    MUSTER_KEY(pmix_pdata_t, key),
    MUSTER_MEMBER(pmix_pdata_t, value, PMIX_VALUE),
};
constexpr Field kByteObjectFields[] = {
    MUSTER_ARRAY(pmix_byte_object_t, bytes, size, PMIX_BYTE),
};
constexpr Field kProcInfoFields[] = {
    MUSTER_MEMBER(pmix_proc_info_t, proc, PMIX_PROC),
    MUSTER_MEMBER(pmix_proc_info_t, hostname, PMIX_STRING),
    MUSTER_MEMBER(pmix_proc_info_t, executable_name, PMIX_STRING),
    MUSTER_MEMBER(pmix_proc_info_t, pid, PMIX_PID),
    MUSTER_MEMBER(pmix_proc_info_t, exit_code, PMIX_INT),
    MUSTER_MEMBER(pmix_proc_info_t, state, PMIX_PROC_STATE),
};
constexpr Field kQueryFields[] = {
    MUSTER_ARGV(pmix_query_t, keys),
    MUSTER_ARRAY(pmix_query_t, qualifiers, nqual, PMIX_INFO),
};
constexpr Field kEnvarFields[] = {
    MUSTER_MEMBER(pmix_envar_t, envar, PMIX_STRING),
    MUSTER_MEMBER(pmix_envar_t, value, PMIX_STRING),
    MUSTER_MEMBER(pmix_envar_t, separator, PMIX_INT8),
};
constexpr Field kCoordFields[] = {
    MUSTER_MEMBER(pmix_coord_t, view, PMIX_UINT8),
    MUSTER_ARRAY(pmix_coord_t, coord, dims, PMIX_UINT32),
};
constexpr Field kRegattrFields[] = {
    MUSTER_MEMBER(pmix_regattr_t, name, PMIX_STRING),
    MUSTER_KEY(pmix_regattr_t, string),
    MUSTER_MEMBER(pmix_regattr_t, type, PMIX_DATA_TYPE),
    MUSTER_ARGV(pmix_regattr_t, description),
};
constexpr Field kGeometryFields[] = {
    MUSTER_MEMBER(pmix_geometry_t, fabric, PMIX_SIZE),
    MUSTER_MEMBER(pmix_geometry_t, uuid, PMIX_STRING),
    MUSTER_MEMBER(pmix_geometry_t, osname, PMIX_STRING),
    MUSTER_ARRAY(pmix_geometry_t, coordinates, ncoords, PMIX_COORD),
};
constexpr Field kDeviceDistanceFields[] = {
    MUSTER_MEMBER(pmix_device_distance_t, uuid, PMIX_STRING),
    MUSTER_MEMBER(pmix_device_distance_t, osname, PMIX_STRING),
    MUSTER_MEMBER(pmix_device_distance_t, type, PMIX_DEVTYPE),
    MUSTER_MEMBER(pmix_device_distance_t, mindist, PMIX_UINT16),
    MUSTER_MEMBER(pmix_device_distance_t, maxdist, PMIX_UINT16),
};
constexpr Field kEndpointFields[] = {
    MUSTER_MEMBER(pmix_endpoint_t, uuid, PMIX_STRING),
    MUSTER_MEMBER(pmix_endpoint_t, osname, PMIX_STRING),
    MUSTER_MEMBER(pmix_endpoint_t, endpt, PMIX_BYTE_OBJECT),
};
constexpr Field kDeviceFields[] = {
    MUSTER_MEMBER(pmix_device_t, uuid, PMIX_STRING),
    MUSTER_MEMBER(pmix_device_t, osname, PMIX_STRING),
    MUSTER_MEMBER(pmix_device_t, type, PMIX_DEVTYPE),
};
constexpr Field kResourceUnitFields[] = {
    MUSTER_MEMBER(pmix_resource_unit_t, type, PMIX_DEVTYPE),
    MUSTER_MEMBER(pmix_resource_unit_t, count, PMIX_SIZE),
};
constexpr Field kNodePidFields[] = {
    MUSTER_MEMBER(pmix_node_pid_t, hostname, PMIX_STRING),
    MUSTER_MEMBER(pmix_node_pid_t, nodeid, PMIX_UINT32),
    MUSTER_MEMBER(pmix_node_pid_t, pid, PMIX_PID),
};
constexpr Field kRegex2Fields[] = {
    MUSTER_MEMBER(pmix_regex2_t, type, PMIX_STRING),
    MUSTER_ARRAY(pmix_regex2_t, bytes, len, PMIX_BYTE),
};
constexpr Field kProcStatsFields[] = {
    MUSTER_MEMBER(pmix_proc_stats_t, node, PMIX_STRING),
    MUSTER_MEMBER(pmix_proc_stats_t, proc, PMIX_PROC),
    MUSTER_MEMBER(pmix_proc_stats_t, pid, PMIX_PID),
    MUSTER_MEMBER(pmix_proc_stats_t, cmd, PMIX_STRING),
    MUSTER_MEMBER(pmix_proc_stats_t, state, PMIX_INT8),
    MUSTER_MEMBER(pmix_proc_stats_t, time, PMIX_TIMEVAL),
    MUSTER_MEMBER(pmix_proc_stats_t, percent_cpu, PMIX_FLOAT),
    MUSTER_MEMBER(pmix_proc_stats_t, priority, PMIX_INT32),
    MUSTER_MEMBER(pmix_proc_stats_t, num_threads, PMIX_UINT16),
    MUSTER_MEMBER(pmix_proc_stats_t, pss, PMIX_FLOAT),
    MUSTER_MEMBER(pmix_proc_stats_t, vsize, PMIX_FLOAT),
    MUSTER_MEMBER(pmix_proc_stats_t, rss, PMIX_FLOAT),
    MUSTER_MEMBER(pmix_proc_stats_t, peak_vsize, PMIX_FLOAT),
    MUSTER_MEMBER(pmix_proc_stats_t, processor, PMIX_UINT16),
    MUSTER_MEMBER(pmix_proc_stats_t, sample_time, PMIX_TIMEVAL),
};
constexpr Field kDiskStatsFields[] = {
    MUSTER_MEMBER(pmix_disk_stats_t, disk, PMIX_STRING),
    MUSTER_MEMBER(pmix_disk_stats_t, num_reads_completed, PMIX_UINT64),
    MUSTER_MEMBER(pmix_disk_stats_t, num_reads_merged, PMIX_UINT64),
    MUSTER_MEMBER(pmix_disk_stats_t, num_sectors_read, PMIX_UINT64),
    MUSTER_MEMBER(pmix_disk_stats_t, milliseconds_reading, PMIX_UINT64),
    MUSTER_MEMBER(pmix_disk_stats_t, num_writes_completed, PMIX_UINT64),
    MUSTER_MEMBER(pmix_disk_stats_t, num_writes_merged, PMIX_UINT64),
    MUSTER_MEMBER(pmix_disk_stats_t, num_sectors_written, PMIX_UINT64),
    MUSTER_MEMBER(pmix_disk_stats_t, milliseconds_writing, PMIX_UINT64),
    MUSTER_MEMBER(pmix_disk_stats_t, num_ios_in_progress, PMIX_UINT64),
    MUSTER_MEMBER(pmix_disk_stats_t, milliseconds_io, PMIX_UINT64),
    MUSTER_MEMBER(pmix_disk_stats_t, weighted_milliseconds_io, PMIX_UINT64),
};
constexpr Field kNetStatsFields[] = {
    MUSTER_MEMBER(pmix_net_stats_t, net_interface, PMIX_STRING),
    MUSTER_MEMBER(pmix_net_stats_t, num_bytes_recvd, PMIX_UINT64),
    MUSTER_MEMBER(pmix_net_stats_t, num_packets_recvd, PMIX_UINT64),
    MUSTER_MEMBER(pmix_net_stats_t, num_recv_errs, PMIX_UINT64),
    MUSTER_MEMBER(pmix_net_stats_t, num_bytes_sent, PMIX_UINT64),
    MUSTER_MEMBER(pmix_net_stats_t, num_packets_sent, PMIX_UINT64),
    MUSTER_MEMBER(pmix_net_stats_t, num_send_errs, PMIX_UINT64),
};
constexpr Field kNodeStatsFields[] = {
    MUSTER_MEMBER(pmix_node_stats_t, node, PMIX_STRING),
    MUSTER_MEMBER(pmix_node_stats_t, la, PMIX_FLOAT),
    MUSTER_MEMBER(pmix_node_stats_t, la5, PMIX_FLOAT),
    MUSTER_MEMBER(pmix_node_stats_t, la15, PMIX_FLOAT),
    MUSTER_MEMBER(pmix_node_stats_t, total_mem, PMIX_FLOAT),
    MUSTER_MEMBER(pmix_node_stats_t, free_mem, PMIX_FLOAT),
    MUSTER_MEMBER(pmix_node_stats_t, buffers, PMIX_FLOAT),
    MUSTER_MEMBER(pmix_node_stats_t, cached, PMIX_FLOAT),
    MUSTER_MEMBER(pmix_node_stats_t, swap_cached, PMIX_FLOAT),
    MUSTER_MEMBER(pmix_node_stats_t, swap_total, PMIX_FLOAT),
    MUSTER_MEMBER(pmix_node_stats_t, swap_free, PMIX_FLOAT),
    MUSTER_MEMBER(pmix_node_stats_t, mapped, PMIX_FLOAT),
    MUSTER_MEMBER(pmix_node_stats_t, sample_time, PMIX_TIMEVAL),
    MUSTER_ARRAY(pmix_node_stats_t, diskstats, ndiskstats, PMIX_DISK_STATS),
    MUSTER_ARRAY(pmix_node_stats_t, netstats, nnetstats, PMIX_NET_STATS),
};

#undef MUSTER_MEMBER
#undef MUSTER_KEY
#undef MUSTER_ARGV
#undef MUSTER_ARRAY

constexpr std::size_t kTypeCount = PMIX_ALLOC_INHERIT + 1;
using Table = std::array<DataType, kTypeCount>;

constexpr Table make_table() {
    Table table{};
    const auto none = [&](pmix_data_type_t type, const char* name) {
        table[type] = {name, 0, TypeForm::kNone, ValueStorage::kNone, false, {}};
    };
    const auto plain = [&](pmix_data_type_t type, const char* name, std::size_t size, TypeForm form,
                           ValueStorage storage = ValueStorage::kInline) {
        table[type] = {name, static_cast<std::uint16_t>(size), form, storage, false, {}};
    };
    const auto owner = [&](pmix_data_type_t type, const char* name, std::size_t size, TypeForm form,
                           ValueStorage storage) {
        table[type] = {name, static_cast<std::uint16_t>(size), form, storage, true, {}};
    };
    const auto fields = [&](pmix_data_type_t type, const char* name, std::size_t size, ValueStorage storage,
                            std::span<const Field> members, bool owning = true) {
        table[type] = {name, static_cast<std::uint16_t>(size), TypeForm::kStruct, storage, owning, members};
    };
    constexpr auto kUnsigned = TypeForm::kUnsigned;
    constexpr auto kSigned = TypeForm::kSigned;
    constexpr auto kNowhere = ValueStorage::kNone;
    constexpr auto kInline = ValueStorage::kInline;
    constexpr auto kBoxed = ValueStorage::kBoxed;

    none(PMIX_UNDEF, "PMIX_UNDEF");
    plain(PMIX_BOOL, "PMIX_BOOL", sizeof(bool), TypeForm::kBool);
    plain(PMIX_BYTE, "PMIX_BYTE", 1, kUnsigned);
    owner(PMIX_STRING, "PMIX_STRING", sizeof(char*), TypeForm::kString, kInline);
    plain(PMIX_SIZE, "PMIX_SIZE", sizeof(size_t), kUnsigned);
    plain(PMIX_PID, "PMIX_PID", sizeof(pid_t), kSigned);
    plain(PMIX_INT, "PMIX_INT", sizeof(int), kSigned);
    plain(PMIX_INT8, "PMIX_INT8", 1, kSigned);
    plain(PMIX_INT16, "PMIX_INT16", 2, kSigned);
    plain(PMIX_INT32, "PMIX_INT32", 4, kSigned);
    plain(PMIX_INT64, "PMIX_INT64", 8, kSigned);
    plain(PMIX_UINT, "PMIX_UINT", sizeof(unsigned int), kUnsigned);
    plain(PMIX_UINT8, "PMIX_UINT8", 1, kUnsigned);
    plain(PMIX_UINT16, "PMIX_UINT16", 2, kUnsigned);
    plain(PMIX_UINT32, "PMIX_UINT32", 4, kUnsigned);
    plain(PMIX_UINT64, "PMIX_UINT64", 8, kUnsigned);
    plain(PMIX_FLOAT, "PMIX_FLOAT", sizeof(float), TypeForm::kFloat);
    plain(PMIX_DOUBLE, "PMIX_DOUBLE", sizeof(double), TypeForm::kFloat);
    plain(PMIX_TIMEVAL, "PMIX_TIMEVAL", sizeof(timeval), TypeForm::kTimeval);
    plain(PMIX_TIME, "PMIX_TIME", sizeof(time_t), kSigned);
    plain(PMIX_STATUS, "PMIX_STATUS", sizeof(pmix_status_t), kSigned);
    owner(PMIX_VALUE, "PMIX_VALUE", sizeof(pmix_value_t), TypeForm::kValue, kNowhere);
    fields(PMIX_PROC, "PMIX_PROC", sizeof(pmix_proc_t), kBoxed, kProcFields, false);
    fields(PMIX_APP, "PMIX_APP", sizeof(pmix_app_t), kNowhere, kAppFields);
    table[PMIX_INFO] = {"PMIX_INFO", sizeof(pmix_info_t), TypeForm::kInfo, kNowhere, true, kInfoFields};
    fields(PMIX_PDATA, "PMIX_PDATA", sizeof(pmix_pdata_t), kNowhere, kPdataFields);
    none(PMIX_BUFFER, "PMIX_BUFFER");
    fields(PMIX_BYTE_OBJECT, "PMIX_BYTE_OBJECT", sizeof(pmix_byte_object_t), kInline, kByteObjectFields);
    none(PMIX_KVAL, "PMIX_KVAL");
    plain(PMIX_PERSIST, "PMIX_PERSIST", sizeof(pmix_persistence_t), kUnsigned);
    plain(PMIX_POINTER, "PMIX_POINTER", sizeof(void*), TypeForm::kPointer);
    plain(PMIX_SCOPE, "PMIX_SCOPE", sizeof(pmix_scope_t), kUnsigned);
    plain(PMIX_DATA_RANGE, "PMIX_DATA_RANGE", sizeof(pmix_data_range_t), kUnsigned);
    plain(PMIX_COMMAND, "PMIX_COMMAND", 1, kUnsigned);
    plain(PMIX_INFO_DIRECTIVES, "PMIX_INFO_DIRECTIVES", sizeof(pmix_info_directives_t), kUnsigned);
    plain(PMIX_DATA_TYPE, "PMIX_DATA_TYPE", sizeof(pmix_data_type_t), kUnsigned);
    plain(PMIX_PROC_STATE, "PMIX_PROC_STATE", sizeof(pmix_proc_state_t), kUnsigned);
    fields(PMIX_PROC_INFO, "PMIX_PROC_INFO", sizeof(pmix_proc_info_t), kBoxed, kProcInfoFields);
    owner(PMIX_DATA_ARRAY, "PMIX_DATA_ARRAY", sizeof(pmix_data_array_t), TypeForm::kDataArray, kBoxed);
    plain(PMIX_PROC_RANK, "PMIX_PROC_RANK", sizeof(pmix_rank_t), kUnsigned);
    fields(PMIX_QUERY, "PMIX_QUERY", sizeof(pmix_query_t), kBoxed, kQueryFields);
    fields(PMIX_COMPRESSED_STRING, "PMIX_COMPRESSED_STRING", sizeof(pmix_byte_object_t), kInline,
           kByteObjectFields);
    plain(PMIX_ALLOC_DIRECTIVE, "PMIX_ALLOC_DIRECTIVE", sizeof(pmix_alloc_directive_t), kUnsigned);
    plain(PMIX_IOF_CHANNEL, "PMIX_IOF_CHANNEL", sizeof(pmix_iof_channel_t), kUnsigned);
    fields(PMIX_ENVAR, "PMIX_ENVAR", sizeof(pmix_envar_t), kInline, kEnvarFields);
    fields(PMIX_COORD, "PMIX_COORD", sizeof(pmix_coord_t), kBoxed, kCoordFields);
    fields(PMIX_REGATTR, "PMIX_REGATTR", sizeof(pmix_regattr_t), kBoxed, kRegattrFields);
    fields(PMIX_REGEX, "PMIX_REGEX", sizeof(pmix_byte_object_t), kInline, kByteObjectFields);
    plain(PMIX_JOB_STATE, "PMIX_JOB_STATE", sizeof(pmix_job_state_t), kUnsigned);
    plain(PMIX_LINK_STATE, "PMIX_LINK_STATE", sizeof(pmix_link_state_t), kUnsigned);
    owner(PMIX_PROC_CPUSET, "PMIX_PROC_CPUSET", sizeof(pmix_cpuset_t), TypeForm::kCpuset, kBoxed);
    fields(PMIX_GEOMETRY, "PMIX_GEOMETRY", sizeof(pmix_geometry_t), kBoxed, kGeometryFields);
    fields(PMIX_DEVICE_DIST, "PMIX_DEVICE_DIST", sizeof(pmix_device_distance_t), kBoxed,
           kDeviceDistanceFields);
    fields(PMIX_ENDPOINT, "PMIX_ENDPOINT", sizeof(pmix_endpoint_t), kBoxed, kEndpointFields);
    owner(PMIX_TOPO, "PMIX_TOPO", sizeof(pmix_topology_t), TypeForm::kTopology, kBoxed);
    plain(PMIX_DEVTYPE, "PMIX_DEVTYPE", sizeof(pmix_device_type_t), kUnsigned);
    plain(PMIX_LOCTYPE, "PMIX_LOCTYPE", sizeof(pmix_locality_t), kUnsigned);
    fields(PMIX_COMPRESSED_BYTE_OBJECT, "PMIX_COMPRESSED_BYTE_OBJECT", sizeof(pmix_byte_object_t), kInline,
           kByteObjectFields);
    plain(PMIX_PROC_NSPACE, "PMIX_PROC_NSPACE", sizeof(pmix_nspace_t), TypeForm::kNspace, kBoxed);
    fields(PMIX_PROC_STATS, "PMIX_PROC_STATS", sizeof(pmix_proc_stats_t), kBoxed, kProcStatsFields);
    fields(PMIX_DISK_STATS, "PMIX_DISK_STATS", sizeof(pmix_disk_stats_t), kBoxed, kDiskStatsFields);
    fields(PMIX_NET_STATS, "PMIX_NET_STATS", sizeof(pmix_net_stats_t), kBoxed, kNetStatsFields);
    fields(PMIX_NODE_STATS, "PMIX_NODE_STATS", sizeof(pmix_node_stats_t), kBoxed, kNodeStatsFields);
    owner(PMIX_DATA_BUFFER, "PMIX_DATA_BUFFER", sizeof(pmix_data_buffer_t), TypeForm::kDataBuffer, kBoxed);
    plain(PMIX_STOR_MEDIUM, "PMIX_STOR_MEDIUM", sizeof(pmix_storage_medium_t), kUnsigned);
    plain(PMIX_STOR_ACCESS, "PMIX_STOR_ACCESS", sizeof(pmix_storage_accessibility_t), kUnsigned);
    plain(PMIX_STOR_PERSIST, "PMIX_STOR_PERSIST", sizeof(pmix_storage_persistence_t), kUnsigned);
    plain(PMIX_STOR_ACCESS_TYPE, "PMIX_STOR_ACCESS_TYPE", sizeof(pmix_storage_access_type_t), kUnsigned);
    fields(PMIX_DEVICE, "PMIX_DEVICE", sizeof(pmix_device_t), kBoxed, kDeviceFields);
    plain(PMIX_RESBLOCK_DIRECTIVE, "PMIX_RESBLOCK_DIRECTIVE", sizeof(pmix_resource_block_directive_t),
          kUnsigned);
    fields(PMIX_RESOURCE_UNIT, "PMIX_RESOURCE_UNIT", sizeof(pmix_resource_unit_t), kBoxed,
           kResourceUnitFields, false);
    fields(PMIX_NODE_PID, "PMIX_NODE_PID", sizeof(pmix_node_pid_t), kBoxed, kNodePidFields);
    fields(PMIX_REGEX2, "PMIX_REGEX2", sizeof(pmix_regex2_t), kBoxed, kRegex2Fields);
    plain(PMIX_ALLOC_INHERIT, "PMIX_ALLOC_INHERIT", sizeof(pmix_alloc_inheritance_t), kUnsigned);
    return table;
}

constexpr Table kTable = make_table();

}  // namespace

const DataType* find_data_type(pmix_data_type_t type) {
    return type < kTypeCount && kTable[type].name != nullptr ? &kTable[type] : nullptr;
}

std::size_t data_type_size(pmix_data_type_t type) {
    const DataType* row = find_data_type(type);
    return row == nullptr ? 0 : row->size;
}

const char* data_type_name(pmix_data_type_t type) {
    const DataType* row = find_data_type(type);
    return row == nullptr ? "NOT INITIALIZED" : row->name;
}

}  // namespace muster
