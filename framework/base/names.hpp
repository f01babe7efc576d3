// SPDX-License-Identifier: BSD-3-Clause
// Words for the API's small numbers: states, scopes, ranges, flags. All texts of `const char*` are
// constants, so that they may be kept and asked for on any thread.
#pragma once

#include <pmix_common.h>

#include <cstdint>
#include <string>

namespace muster {

/// The name of a number of such a type (PMIX_SCOPE, PMIX_PROC_STATE, PMIX_IOF_CHANNEL, ...); "UNKNOWN" or
/// "UNSPECIFIED" for a number that has none. Null for types that have no names.
const char* number_name(pmix_data_type_t type, std::uint64_t number);
/// The same as text; of a mask (PMIX_DEVTYPE, PMIX_LOCTYPE, PMIX_STOR_...) all names, and in digits where the
/// type has none.
std::string number_text(pmix_data_type_t type, std::uint64_t number);
const char* value_comparison_name(pmix_value_cmp_t comparison);
const char* group_operation_name(pmix_group_operation_t operation);
/// "MIXED" if the mask has several types: number_text() names them all.
const char* device_type_name(pmix_device_type_t type);

std::string info_directives_text(pmix_info_directives_t directives);
std::string rank_text(pmix_rank_t rank);

}  // namespace muster
