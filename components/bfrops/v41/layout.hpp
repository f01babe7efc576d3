// SPDX-License-Identifier: BSD-3-Clause
// The layout of every data type on the wire, told once for both directions: each function here is
// instantiated for the Encoder and for the Decoder, which have the same members. An element of a type is its
// members in the order given; a run is the elements of an item or an array, one after the other.
//
// OpenPMIx's library is the authority for the order. Where it writes one thing and reads another
// (PROC_STATS), the layout is what it reads.
#pragma once

#include <pmix_common.h>
#include <pmix_deprecated.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace muster::v41 {

/// An element as the coder sees it: the Encoder reads memory, the Decoder writes it.
template <class Coder, class T>
using As = std::conditional_t<Coder::kReadsMemory, const T, T>;

template <class C>
bool element(C& c, As<C, pmix_proc_t>& v) {
    return c.name(v.nspace) && c.number(v.rank);
}
template <class C>
bool element(C& c, As<C, pmix_value_t>& v) {
    return c.value(v);
}
template <class C>
bool element(C& c, As<C, pmix_info_t>& v) {
    return c.name(v.key) && c.info_flags(v.flags) && c.value(v.value);
}
template <class C>
bool element(C& c, As<C, pmix_pdata_t>& v) {
    return element(c, v.proc) && c.name(v.key) && c.value(v.value);
}
template <class C>
bool element(C& c, As<C, pmix_app_t>& v) {
    return c.text(v.cmd) && c.texts(v.argv) && c.texts(v.env) && c.text(v.cwd) && c.number(v.maxprocs) &&
           c.template array<PMIX_INFO>(v.info, v.ninfo);
}
template <class C>
bool element(C& c, As<C, pmix_query_t>& v) {
    return c.texts(v.keys) && c.template array<PMIX_INFO>(v.qualifiers, v.nqual);
}
template <class C>
bool element(C& c, As<C, pmix_byte_object_t>& v) {
    return c.bytes(v.bytes, v.size);
}
template <class C>
bool element(C& c, As<C, pmix_data_buffer_t>& v) {
    return c.data_buffer(v);
}
template <class C>
bool element(C& c, As<C, pmix_data_array_t>& v) {
    return c.data_array(v);
}
template <class C>
bool element(C& c, As<C, pmix_envar_t>& v) {
    return c.text(v.envar) && c.text(v.value) && c.number(v.separator);
}
template <class C>
bool element(C& c, As<C, pmix_proc_info_t>& v) {
    return element(c, v.proc) && c.text(v.hostname) && c.text(v.executable_name) && c.pid(v.pid) &&
           c.number(v.state);
}
template <class C>
bool element(C& c, As<C, pmix_regattr_t>& v) {
    return c.text(v.name) && c.name(v.string) && c.number(v.type) && c.texts(v.description);
}
template <class C>
bool element(C& c, As<C, pmix_coord_t>& v) {
    return c.number(v.view) && c.template array<PMIX_UINT32>(v.coord, v.dims);
}
template <class C>
bool element(C& c, As<C, pmix_geometry_t>& v) {
    return c.number(v.fabric) && c.text(v.uuid) && c.text(v.osname) &&
           c.template array<PMIX_COORD>(v.coordinates, v.ncoords);
}
template <class C>
bool element(C& c, As<C, pmix_device_t>& v) {
    return c.text(v.uuid) && c.text(v.osname) && c.number(v.type);
}
template <class C>
bool element(C& c, As<C, pmix_device_distance_t>& v) {
    return c.text(v.uuid) && c.text(v.osname) && c.number(v.type) && c.number(v.mindist) &&
           c.number(v.maxdist);
}
template <class C>
bool element(C& c, As<C, pmix_endpoint_t>& v) {
    return c.text(v.uuid) && c.text(v.osname) && element(c, v.endpt);
}
template <class C>
bool element(C& c, As<C, pmix_resource_unit_t>& v) {
    return c.number(v.type) && c.number(v.count);
}
template <class C>
bool element(C& c, As<C, pmix_node_pid_t>& v) {
    return c.text(v.hostname) && c.number(v.nodeid) && c.pid(v.pid);
}
template <class C>
bool element(C& c, As<C, pmix_regex2_t>& v) {
    return c.text(v.type) && c.octets(v.bytes, v.len);
}
template <class C>
bool element(C& c, As<C, timeval>& v) {
    return c.number(v.tv_sec) && c.number(v.tv_usec);
}
// Without the share of the processor: no version carries it.
template <class C>
bool element(C& c, As<C, pmix_proc_stats_t>& v) {
    return c.text(v.node) && element(c, v.proc) && c.pid(v.pid) && c.text(v.cmd) && c.number(v.state) &&
           element(c, v.time) && c.number(v.priority) && c.signed_number(v.num_threads) && c.real(v.pss) &&
           c.real(v.vsize) && c.real(v.rss) && c.real(v.peak_vsize) && c.signed_number(v.processor) &&
           element(c, v.sample_time);
}
template <class C>
bool element(C& c, As<C, pmix_disk_stats_t>& v) {
    return c.text(v.disk) && c.number(v.num_reads_completed) && c.number(v.num_reads_merged) &&
           c.number(v.num_sectors_read) && c.number(v.milliseconds_reading) &&
           c.number(v.num_writes_completed) && c.number(v.num_writes_merged) &&
           c.number(v.num_sectors_written) && c.number(v.milliseconds_writing) &&
           c.number(v.num_ios_in_progress) && c.number(v.milliseconds_io) &&
           c.number(v.weighted_milliseconds_io);
}
template <class C>
bool element(C& c, As<C, pmix_net_stats_t>& v) {
    return c.text(v.net_interface) && c.number(v.num_bytes_recvd) && c.number(v.num_packets_recvd) &&
           c.number(v.num_recv_errs) && c.number(v.num_bytes_sent) && c.number(v.num_packets_sent) &&
           c.number(v.num_send_errs);
}
template <class C>
bool element(C& c, As<C, pmix_node_stats_t>& v) {
    return c.text(v.node) && c.real(v.la) && c.real(v.la5) && c.real(v.la15) && c.real(v.total_mem) &&
           c.real(v.free_mem) && c.real(v.buffers) && c.real(v.cached) && c.real(v.swap_cached) &&
           c.real(v.swap_total) && c.real(v.swap_free) && c.real(v.mapped) && element(c, v.sample_time) &&
           c.template array<PMIX_DISK_STATS>(v.diskstats, v.ndiskstats) &&
           c.template array<PMIX_NET_STATS>(v.netstats, v.nnetstats);
}
template <class C>
bool element(C& c, As<C, pmix_cpuset_t>& v) {
    return c.cpuset(v);
}
template <class C>
bool element(C& c, As<C, pmix_topology_t>& v) {
    return c.topology(v);
}
template <class C>
bool element(C& c, As<C, pmix_nspace_t>& v) {
    return c.name(v);
}
template <class C>
bool element(C& c, As<C, uint32_t>& v) {
    return c.number(v);
}
template <class C>
bool element(C& c, As<C, float>& v) {
    return c.real(v);
}
template <class C>
bool element(C& c, As<C, double>& v) {
    return c.real(v);
}

template <class T, class C>
bool each(C& c, As<C, void>* elements, std::size_t n) {
    auto* element_at = static_cast<As<C, T>*>(elements);
    for (std::size_t i = 0; i < n; ++i) {
        if (!element(c, element_at[i])) return false;
    }
    return true;
}

/// A run of `n` elements of any type. PMIX_REGEX is char* here; values and data arrays, which hold it as a
/// byte object, see to it themselves.
template <class C>
bool run(C& c, As<C, void>* elements, std::size_t n, pmix_data_type_t type) {
    switch (type) {
        case PMIX_BOOL:
            return c.booleans(elements, n);
        case PMIX_BYTE:
        case PMIX_INT8:
        case PMIX_UINT8:
        case PMIX_PERSIST:
        case PMIX_SCOPE:
        case PMIX_DATA_RANGE:
        case PMIX_COMMAND:
        case PMIX_PROC_STATE:
        case PMIX_ALLOC_DIRECTIVE:
        case PMIX_JOB_STATE:
        case PMIX_LINK_STATE:
        case PMIX_RESBLOCK_DIRECTIVE:
        case PMIX_ALLOC_INHERIT:
            return c.raw(elements, n);
        case PMIX_UINT16:
        case PMIX_DATA_TYPE:
        case PMIX_IOF_CHANNEL:
        case PMIX_LOCTYPE:
        case PMIX_STOR_ACCESS_TYPE:
            return c.template numbers<uint16_t>(elements, n);
        case PMIX_UINT32:
        case PMIX_INFO_DIRECTIVES:
        case PMIX_PROC_RANK:
            return c.template numbers<uint32_t>(elements, n);
        case PMIX_SIZE:
        case PMIX_UINT64:
        case PMIX_TIME:
        case PMIX_DEVTYPE:
        case PMIX_STOR_MEDIUM:
        case PMIX_STOR_ACCESS:
        case PMIX_STOR_PERSIST:
            return c.template numbers<uint64_t>(elements, n);
        case PMIX_INT16:
            return c.template numbers<int16_t>(elements, n);
        case PMIX_INT:
        case PMIX_INT32:
        case PMIX_STATUS:
        // unsigned int travels as if it had a sign.
        case PMIX_UINT:
            return c.template numbers<int32_t>(elements, n);
        case PMIX_INT64:
            return c.template numbers<int64_t>(elements, n);
        case PMIX_PID:
            return c.pids(elements, n);
        case PMIX_POINTER:
            return c.pointers(elements, n);
        case PMIX_FLOAT:
            return each<float>(c, elements, n);
        case PMIX_DOUBLE:
            return each<double>(c, elements, n);
        case PMIX_STRING:
            return c.strings(elements, n);
        case PMIX_REGEX:
            return c.regexes(elements, n);
        case PMIX_TIMEVAL:
            return each<timeval>(c, elements, n);
        case PMIX_VALUE:
            return each<pmix_value_t>(c, elements, n);
        case PMIX_PROC:
            return each<pmix_proc_t>(c, elements, n);
        case PMIX_PROC_NSPACE:
            return each<pmix_nspace_t>(c, elements, n);
        case PMIX_INFO:
            return each<pmix_info_t>(c, elements, n);
        case PMIX_PDATA:
            return each<pmix_pdata_t>(c, elements, n);
        case PMIX_APP:
            return each<pmix_app_t>(c, elements, n);
        case PMIX_QUERY:
            return each<pmix_query_t>(c, elements, n);
        case PMIX_BYTE_OBJECT:
        case PMIX_COMPRESSED_STRING:
        case PMIX_COMPRESSED_BYTE_OBJECT:
            return each<pmix_byte_object_t>(c, elements, n);
        case PMIX_DATA_BUFFER:
            return each<pmix_data_buffer_t>(c, elements, n);
        case PMIX_DATA_ARRAY:
            return each<pmix_data_array_t>(c, elements, n);
        case PMIX_ENVAR:
            return each<pmix_envar_t>(c, elements, n);
        case PMIX_PROC_INFO:
            return each<pmix_proc_info_t>(c, elements, n);
        case PMIX_REGATTR:
            return each<pmix_regattr_t>(c, elements, n);
        case PMIX_COORD:
            return each<pmix_coord_t>(c, elements, n);
        case PMIX_GEOMETRY:
            return each<pmix_geometry_t>(c, elements, n);
        case PMIX_DEVICE:
            return each<pmix_device_t>(c, elements, n);
        case PMIX_DEVICE_DIST:
            return each<pmix_device_distance_t>(c, elements, n);
        case PMIX_ENDPOINT:
            return each<pmix_endpoint_t>(c, elements, n);
        case PMIX_RESOURCE_UNIT:
            return each<pmix_resource_unit_t>(c, elements, n);
        case PMIX_NODE_PID:
            return each<pmix_node_pid_t>(c, elements, n);
        case PMIX_REGEX2:
            return each<pmix_regex2_t>(c, elements, n);
        case PMIX_PROC_STATS:
            return each<pmix_proc_stats_t>(c, elements, n);
        case PMIX_DISK_STATS:
            return each<pmix_disk_stats_t>(c, elements, n);
        case PMIX_NET_STATS:
            return each<pmix_net_stats_t>(c, elements, n);
        case PMIX_NODE_STATS:
            return each<pmix_node_stats_t>(c, elements, n);
        case PMIX_PROC_CPUSET:
            return each<pmix_cpuset_t>(c, elements, n);
        case PMIX_TOPO:
            return each<pmix_topology_t>(c, elements, n);
        default:
            return c.fail(PMIX_ERR_UNKNOWN_DATA_TYPE);
    }
}

}  // namespace muster::v41
