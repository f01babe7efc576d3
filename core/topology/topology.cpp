// SPDX-License-Identifier: BSD-3-Clause
// Loading hwloc descriptions.
#include "core/topology/topology.hpp"

#include <hwloc.h>
#include <strings.h>

#include <cerrno>
#include <cstring>

#include "framework/base/hwloc_object.hpp"
#include "framework/base/memory_room.hpp"

namespace muster {
namespace {

// Far above the needs of the largest machines; a limit on the XML of a peer or a file.
constexpr size_t kMaxXml = size_t{64} << 20;

Error hwloc_error(const std::string& what) {
    return {errno == ENOMEM ? PMIX_ERR_NOMEM : PMIX_ERR_NOT_AVAILABLE, what + ": " + std::strerror(errno)};
}

/// hwloc checks few of its allocations: a machine takes about 100 KiB.
constexpr size_t kOfHwloc = size_t{4} << 20;

Error no_memory() {
    return {PMIX_ERR_NOMEM, "there is no memory for the topology"};
}

}  // namespace

bool is_hwloc_source(const char* source) {
    if (!source) return false;
    const size_t length = std::strlen(kHwlocSource);
    return strncasecmp(source, kHwlocSource, length) == 0 &&
           (source[length] == '\0' || source[length] == ':');
}

Result<Topology> Topology::load(Handle topology, const std::string& whence) {
    // I/O devices are kept for the distances. The "gl" plugin opens X displays, which a library must not do.
    // The "pci" plugin leaks, and finds nothing on Linux that hwloc does not find without it.
    for (const char* plugin : {"gl", "pci"}) {
        hwloc_topology_set_components(topology.get(), HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, plugin);
    }
    if (hwloc_topology_set_io_types_filter(topology.get(), HWLOC_TYPE_FILTER_KEEP_IMPORTANT) != 0 ||
        hwloc_topology_set_flags(topology.get(), HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM) != 0 ||
        hwloc_topology_load(topology.get()) != 0) {
        return hwloc_error("hwloc cannot load the topology from " + whence);
    }
    topology_keep(topology.get());
    return Topology(std::move(topology));
}

namespace {

Result<std::unique_ptr<hwloc_topology, void (*)(hwloc_topology*)>> make_empty() {
    hwloc_topology_t raw = nullptr;
    if (!has_memory_for(kOfHwloc)) return no_memory();
    if (hwloc_topology_init(&raw) != 0) return hwloc_error("hwloc cannot be set up");
    return std::unique_ptr<hwloc_topology, void (*)(hwloc_topology*)>(raw, hwloc_topology_destroy);
}

}  // namespace

Result<Topology> Topology::discover() {
    auto empty = make_empty();
    if (!empty) return empty.error();
    return load(std::move(*empty), "this machine");
}

Result<Topology> Topology::from_xml(const std::string& xml) {
    if (xml.size() > kMaxXml) return Error{PMIX_ERR_BAD_PARAM, "the XML of a topology is larger than 64 MiB"};
    auto empty = make_empty();
    if (!empty) return empty.error();
    if (hwloc_topology_set_xmlbuffer(empty->get(), xml.c_str(), static_cast<int>(xml.size()) + 1) != 0) {
        return Error{PMIX_ERR_BAD_PARAM, "hwloc does not understand the XML of the topology"};
    }
    return load(std::move(*empty), "XML");
}

Result<Topology> Topology::from_xml_file(const std::string& path) {
    auto empty = make_empty();
    if (!empty) return empty.error();
    if (hwloc_topology_set_xml(empty->get(), path.c_str()) != 0) {
        return Error{PMIX_ERR_BAD_PARAM, "hwloc cannot read the topology file " + path};
    }
    return load(std::move(*empty), path);
}

Result<Topology> Topology::copy_of(hwloc_topology* topology) {
    hwloc_topology_t copy = nullptr;
    if (!has_memory_for(kOfHwloc)) return no_memory();
    if (hwloc_topology_abi_check(topology) != 0 || hwloc_topology_dup(&copy, topology) != 0) {
        return hwloc_error("hwloc cannot copy the topology that the host gave");
    }
    topology_keep(copy);
    return Topology(Handle(copy, hwloc_topology_destroy));
}

Result<std::string> Topology::xml(bool version_1) const {
    char* buffer = nullptr;
    int length = 0;
    const unsigned long flags = version_1 ? HWLOC_TOPOLOGY_EXPORT_XML_FLAG_V1 : 0;
    if (!has_memory_for(kOfHwloc)) return no_memory();
    if (hwloc_topology_export_xmlbuffer(topology_.get(), &buffer, &length, flags) != 0) {
        return hwloc_error("hwloc cannot write the topology as XML");
    }
    std::string text(buffer);
    hwloc_free_xmlbuffer(topology_.get(), buffer);
    return text;
}

void NodeTopology::set_origins(Origins origins) {
    const MutexLock guard(lock_);
    origins_ = std::move(origins);
}

Result<void> NodeTopology::provide(hwloc_topology* topology) {
    auto copy = Topology::copy_of(topology);
    if (!copy) return copy.error();
    const MutexLock guard(lock_);
    topology_.emplace(std::move(*copy));
    return {};
}

Result<hwloc_topology*> NodeTopology::get() {
    const MutexLock guard(lock_);
    return find();
}

Result<std::string> NodeTopology::xml(bool version_1) {
    const MutexLock guard(lock_);
    auto found = find();
    if (!found) return found.error();
    return topology_->xml(version_1);
}

void NodeTopology::reset() {
    const MutexLock guard(lock_);
    topology_.reset();
}

Result<hwloc_topology*> NodeTopology::find() {
    if (topology_) return topology_->get();
    if (origins_.xml) {
        // Unreadable XML is not an error: the machine itself can be discovered.
        if (auto xml = origins_.xml()) {
            if (auto loaded = Topology::from_xml(*xml)) {
                topology_.emplace(std::move(*loaded));
                return topology_->get();
            }
        }
    }
    std::optional<std::string> file;
    if (origins_.file) file = origins_.file();
    auto loaded = file ? Topology::from_xml_file(*file) : Topology::discover();
    if (!loaded) return loaded.error();
    topology_.emplace(std::move(*loaded));
    return topology_->get();
}

}  // namespace muster
