// SPDX-License-Identifier: BSD-3-Clause
// Cpusets and topologies as the API carries them: a source name and a handle that hwloc owns. A null source
// counts as hwloc's; handles of any other source are never touched.
#pragma once

#include <pmix_common.h>

#include <cstddef>
#include <string>

namespace muster {

/// Duplicates into raw memory. dst is left zeroed on failure.
/// @return PMIX_SUCCESS, PMIX_ERR_NOT_SUPPORTED for a foreign source, PMIX_ERR_NOMEM.
pmix_status_t cpuset_copy(pmix_cpuset_t* dst, const pmix_cpuset_t* src);
/// Frees source and bitmap and zeroes the struct. A foreign bitmap is left to its maker.
void cpuset_destruct(pmix_cpuset_t* cpuset);
/// Orders by the highest bits set, as hwloc does; PMIX_VALUE_INCOMPATIBLE_OBJECTS across sources.
pmix_value_cmp_t cpuset_compare(const pmix_cpuset_t* a, const pmix_cpuset_t* b);
/// Bytes of the bitmap's list form, which is the transmitted form.
std::size_t cpuset_payload_size(const pmix_cpuset_t* cpuset);
/// The list form, "0-3,8"; empty if nothing is bound.
std::string cpuset_list(const pmix_cpuset_t* cpuset);

/// As cpuset_copy; the copy is an independent hwloc topology.
pmix_status_t topology_copy(pmix_topology_t* dst, const pmix_topology_t* src);
/// Frees source and topology and zeroes the struct. A topology that topology_keep() has registered is not
/// freed.
void topology_destruct(pmix_topology_t* topology);
/// Marks this topology as owned by the library although programs get it (PMIx_Load_topology): it lives until
/// its owner ends, even if programs destruct it. Uses hwloc's user data of the topology. Takes
/// hwloc_topology_t.
void topology_keep(void* topology);
/// Equal where both export the same XML, otherwise ordered by it.
pmix_value_cmp_t topology_compare(const pmix_topology_t* a, const pmix_topology_t* b);
/// Bytes of the XML export.
std::size_t topology_payload_size(const pmix_topology_t* topology);
/// One line: how many packages, cores and processing units, and on which host.
std::string topology_summary(const pmix_topology_t* topology);

}  // namespace muster
