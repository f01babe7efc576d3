// SPDX-License-Identifier: BSD-3-Clause
// plog: the channels of PMIx_Log. Facade over the SDK's C interface (pmix/sdk/plog.h).
#pragma once

#include <pmix/sdk/plog.h>

#include <span>
#include <string_view>

#include "framework/base/info.hpp"
#include "framework/base/result.hpp"
#include "framework/component_table.hpp"

namespace muster {

/// One component. Loop thread.
class Plog : public TableFacade<muster_plog_t> {
  public:
    using TableFacade::TableFacade;

    /// Whether the component takes entries of this key.
    bool takes(std::string_view channel) const;
    /// PMIX_ERR_NOT_AVAILABLE when this entry is not for it after all.
    Result<void> write(const muster_plog_record_t& record) const;
};

/// Components, preferred first, as Registry::plogs() gives them.
using PlogSet = std::span<Plog* const>;

/// Passes each entry of `data` to the first component that accepts it (PMIx_Log; with PMIX_LOG_ONCE only the
/// first accepted entry is written). `source`: the logging process, unless PMIX_LOG_SOURCE names it; null:
/// this process. PMIX_ERR_NOT_AVAILABLE if none was accepted, PMIX_ERR_PARTIAL_SUCCESS if some were not
/// accepted; a component's error if there was no other result.
Result<void> log_entries(PlogSet plogs, const pmix_proc_t* source, InfoView data, InfoView directives);

}  // namespace muster
