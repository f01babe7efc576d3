// SPDX-License-Identifier: BSD-3-Clause
// Words for the API's small numbers: states, scopes, ranges, flags. All texts of `const char*` are
// constants, so that they may be kept and asked for on any thread.
#pragma once

#include <pmix_common.h>

#include <string>

namespace muster {

const char* proc_state_name(pmix_proc_state_t state);
const char* job_state_name(pmix_job_state_t state);
const char* scope_name(pmix_scope_t scope);
const char* persistence_name(pmix_persistence_t persistence);
const char* data_range_name(pmix_data_range_t range);
const char* alloc_directive_name(pmix_alloc_directive_t directive);
const char* alloc_inheritance_name(pmix_alloc_inheritance_t inheritance);
const char* resource_block_directive_name(pmix_resource_block_directive_t directive);
const char* link_state_name(pmix_link_state_t state);
const char* value_comparison_name(pmix_value_cmp_t comparison);
const char* group_operation_name(pmix_group_operation_t operation);
/// "MIXED" where the mask has several types: device_types_text() names them all.
const char* device_type_name(pmix_device_type_t type);
/// "STDOUT STDERR", "NONE".
const char* iof_channel_name(pmix_iof_channel_t channel);

std::string info_directives_text(pmix_info_directives_t directives);
std::string rank_text(pmix_rank_t rank);
std::string locality_text(pmix_locality_t locality);
std::string device_types_text(pmix_device_type_t types);
std::string storage_medium_text(pmix_storage_medium_t medium);
std::string storage_accessibility_text(pmix_storage_accessibility_t accessibility);
std::string storage_persistence_text(pmix_storage_persistence_t persistence);
std::string storage_access_type_text(pmix_storage_access_type_t type);

}  // namespace muster
