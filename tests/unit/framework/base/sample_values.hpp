// SPDX-License-Identifier: BSD-3-Clause
// One element of every data type, filled so that every member matters, for tests that run over all types.
#pragma once

#include <hwloc.h>
#include <pmix_common.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>

#include "framework/base/argv.hpp"
#include "framework/base/element.hpp"
#include "framework/base/info.hpp"
#include "framework/base/proc.hpp"

namespace muster::test {

/// Owner of one element of any type in malloc'ed memory.
class Element {
  public:
    explicit Element(pmix_data_type_t type) : type_(type), data_(calloc(1, data_type_size(type))) {}
    Element(const Element&) = delete;
    Element& operator=(const Element&) = delete;
    Element(Element&& other) noexcept : type_(other.type_), data_(std::exchange(other.data_, nullptr)) {}
    ~Element() { data_free_elements(data_, 1, type_); }

    void* get() { return data_; }
    const void* get() const { return data_; }
    template <class T>
    T& as() {
        return *static_cast<T*>(data_);
    }
    pmix_data_type_t type() const { return type_; }

  private:
    pmix_data_type_t type_;
    void* data_;
};

inline bool has_elements(pmix_data_type_t type) {
    return data_type_size(type) > 0;
}

inline pmix_byte_object_t sample_bytes(const char* text) {
    return {strdup(text), strlen(text)};
}

inline pmix_coord_t sample_coord(uint32_t seed) {
    pmix_coord_t coord = {PMIX_COORD_LOGICAL_VIEW, static_cast<uint32_t*>(malloc(3 * sizeof(uint32_t))), 3};
    for (uint32_t i = 0; i < 3; ++i)
        coord.coord[i] = seed + i;
    return coord;
}

/// The same seed gives equal elements, a greater seed a greater element.
inline Element sample(pmix_data_type_t type, int seed = 1) {
    Element element(type);
    const std::string text = "text" + std::to_string(seed);
    const auto number = static_cast<unsigned>(seed);
    const DataType* row = find_data_type(type);
    switch (row->form) {
        case TypeForm::kBool:
            element.as<bool>() = seed > 1;
            return element;
        case TypeForm::kSigned:
        case TypeForm::kUnsigned:
            std::memcpy(element.get(), &number, row->size < sizeof number ? row->size : sizeof number);
            return element;
        case TypeForm::kFloat:
            if (type == PMIX_FLOAT) {
                element.as<float>() = 0.5F * static_cast<float>(seed);
            } else {
                element.as<double>() = 0.25 * seed;
            }
            return element;
        case TypeForm::kTimeval:
            element.as<timeval>() = {seed, 7};
            return element;
        case TypeForm::kPointer:
            element.as<uintptr_t>() = 0x1000U * number;
            return element;
        case TypeForm::kNspace:
            nspace_load(static_cast<char*>(element.get()), text);
            return element;
        case TypeForm::kString:
            element.as<char*>() = strdup(text.c_str());
            return element;
        default:
            break;
    }
    switch (type) {
        case PMIX_VALUE:
            value_load(&element.as<pmix_value_t>(), text.c_str(), PMIX_STRING);
            break;
        case PMIX_PROC:
            element.as<pmix_proc_t>() = make_proc("job", number);
            break;
        case PMIX_APP: {
            auto& app = element.as<pmix_app_t>();
            app.cmd = strdup(text.c_str());
            app.argv = argv_split("prog -x 1", ' ', false);
            app.env = argv_split("A=1,B=2", ',', false);
            app.cwd = strdup("/");
            app.maxprocs = seed;
            Info info;
            info.add(PMIX_WDIR, "/tmp");
            info.add(PMIX_TIMEOUT, seed);
            std::tie(app.info, app.ninfo) = info.release();
            break;
        }
        case PMIX_INFO: {
            auto& info = element.as<pmix_info_t>();
            key_load(info.key, "pmix.sample");
            info.flags = PMIX_INFO_REQD;
            value_load(&info.value, &seed, PMIX_INT);
            break;
        }
        case PMIX_PDATA: {
            auto& data = element.as<pmix_pdata_t>();
            data.proc = make_proc("publisher", 3);
            key_load(data.key, "key");
            value_load(&data.value, text.c_str(), PMIX_STRING);
            break;
        }
        case PMIX_BYTE_OBJECT:
        case PMIX_COMPRESSED_STRING:
        case PMIX_COMPRESSED_BYTE_OBJECT:
        case PMIX_REGEX:
            element.as<pmix_byte_object_t>() = sample_bytes(text.c_str());
            if (type == PMIX_REGEX) ++element.as<pmix_byte_object_t>().size;  // with its terminator
            break;
        case PMIX_PROC_INFO:
            element.as<pmix_proc_info_t>() = {
                make_proc("job", 1), strdup("host"), strdup(text.c_str()), 4711, -1, PMIX_PROC_STATE_RUNNING};
            break;
        case PMIX_DATA_ARRAY: {
            auto& array = element.as<pmix_data_array_t>();
            Info info;
            info.add("inner", text);
            auto [data, size] = info.release();
            array = {PMIX_INFO, size, data};
            break;
        }
        case PMIX_QUERY: {
            auto& query = element.as<pmix_query_t>();
            query.keys = argv_split((text + ",key2").c_str(), ',', false);
            Info info;
            info.add(PMIX_NSPACE, "job");
            std::tie(query.qualifiers, query.nqual) = info.release();
            break;
        }
        case PMIX_ENVAR:
            element.as<pmix_envar_t>() = {strdup("PATH"), strdup(text.c_str()), ':'};
            break;
        case PMIX_COORD:
            element.as<pmix_coord_t>() = sample_coord(number);
            break;
        case PMIX_REGATTR: {
            auto& attribute = element.as<pmix_regattr_t>();
            attribute.name = strdup(text.c_str());
            key_load(attribute.string, "pmix.text");
            attribute.type = PMIX_STRING;
            attribute.description = argv_split("one,two", ',', false);
            break;
        }
        case PMIX_PROC_CPUSET: {
            hwloc_bitmap_t bitmap = hwloc_bitmap_alloc();
            hwloc_bitmap_set_range(bitmap, 0, seed);
            element.as<pmix_cpuset_t>() = {strdup("hwloc"), bitmap};
            break;
        }
        case PMIX_GEOMETRY: {
            auto& geometry = element.as<pmix_geometry_t>();
            geometry.fabric = 2;
            geometry.uuid = strdup(text.c_str());
            geometry.osname = strdup("hsn0");
            geometry.ncoords = 2;
            geometry.coordinates = static_cast<pmix_coord_t*>(calloc(2, sizeof(pmix_coord_t)));
            geometry.coordinates[0] = sample_coord(1);
            geometry.coordinates[1] = sample_coord(number);
            break;
        }
        case PMIX_DEVICE_DIST:
            element.as<pmix_device_distance_t>() = {strdup("uuid"), strdup("mlx5_0"), PMIX_DEVTYPE_NETWORK, 1,
                                                    static_cast<uint16_t>(number)};
            break;
        case PMIX_ENDPOINT:
            element.as<pmix_endpoint_t>() = {strdup("uuid"), strdup("eth0"), sample_bytes(text.c_str())};
            break;
        case PMIX_TOPO: {
            hwloc_topology_t topology = nullptr;
            hwloc_topology_init(&topology);
            hwloc_topology_set_synthetic(topology,
                                         ("pack:1 core:" + std::to_string(seed + 1) + " pu:1").c_str());
            hwloc_topology_load(topology);
            element.as<pmix_topology_t>() = {strdup("hwloc"), topology};
            break;
        }
        case PMIX_PROC_STATS: {
            auto& stats = element.as<pmix_proc_stats_t>();
            stats.node = strdup("node");
            stats.cmd = strdup(text.c_str());
            stats.proc = make_proc("job", 0);
            stats.rss = 1.5F;
            break;
        }
        case PMIX_DISK_STATS:
            element.as<pmix_disk_stats_t>().disk = strdup(text.c_str());
            break;
        case PMIX_NET_STATS:
            element.as<pmix_net_stats_t>().net_interface = strdup(text.c_str());
            break;
        case PMIX_NODE_STATS: {
            auto& stats = element.as<pmix_node_stats_t>();
            stats.node = strdup(text.c_str());
            stats.ndiskstats = 1;
            stats.diskstats = static_cast<pmix_disk_stats_t*>(calloc(1, sizeof(pmix_disk_stats_t)));
            stats.diskstats[0].disk = strdup("sda");
            stats.nnetstats = 1;
            stats.netstats = static_cast<pmix_net_stats_t*>(calloc(1, sizeof(pmix_net_stats_t)));
            stats.netstats[0].net_interface = strdup("eth0");
            break;
        }
        case PMIX_DATA_BUFFER: {
            auto& buffer = element.as<pmix_data_buffer_t>();
            buffer.base_ptr = strdup(text.c_str());
            buffer.bytes_used = text.size();
            buffer.bytes_allocated = text.size() + 1;
            buffer.pack_ptr = buffer.base_ptr + text.size();
            buffer.unpack_ptr = buffer.base_ptr + 2;
            break;
        }
        case PMIX_DEVICE:
            element.as<pmix_device_t>() = {strdup("uuid"), strdup(text.c_str()), PMIX_DEVTYPE_GPU};
            break;
        case PMIX_RESOURCE_UNIT:
            element.as<pmix_resource_unit_t>() = {PMIX_DEVTYPE_NODE, number};
            break;
        case PMIX_NODE_PID:
            element.as<pmix_node_pid_t>() = {strdup("host"), 3, seed};
            break;
        case PMIX_REGEX2: {
            const pmix_byte_object_t bytes = sample_bytes(text.c_str());
            element.as<pmix_regex2_t>() = {strdup("raw"), reinterpret_cast<uint8_t*>(bytes.bytes),
                                           bytes.size};
            break;
        }
        default:
            break;
    }
    return element;
}

/// The argument of PMIx_Value_load for this element: strings and pointers themselves, otherwise the address.
inline const void* load_argument(Element& element) {
    switch (element.type()) {
        case PMIX_STRING:
        case PMIX_POINTER:
            return element.as<void*>();
        case PMIX_REGEX:
            return element.as<pmix_byte_object_t>().bytes;
        default:
            return element.get();
    }
}

}  // namespace muster::test
