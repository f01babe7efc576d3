// SPDX-License-Identifier: BSD-3-Clause
// The attributes that each upcall honours: other required ones are refused, and the library reports the
// list in queries (PMIX_HOST_ATTRIBUTES).
#pragma once

#include <string_view>
#include <vector>

#include "tools/muster/exchange/attributes.hpp"

namespace muster::launcher {

/// PMIX_ERR_NOT_SUPPORTED if an attribute is required that neither this upcall ("fence_nb") nor the
/// library (PMIX_INFO_REQD_PROCESSED) honours.
pmix_status_t check_required(std::string_view upcall, const Infos& infos);
/// Whether the attribute is required of the host.
bool is_required(const pmix_info_t& info);

/// The attributes that an upcall honours; empty for an unknown one.
const std::vector<const char*>& honoured_by(std::string_view upcall);

/// The keys that queries answer.
const std::vector<const char*>& query_keys();

/// Registers the attributes that the upcalls honour. After PMIx_server_init.
void register_attributes();

}  // namespace muster::launcher
