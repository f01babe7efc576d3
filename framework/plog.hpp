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

/// Gives each entry of `data` to the first component that takes it (PMIx_Log; with PMIX_LOG_ONCE only the
/// first entry that is taken is written). `source`: the logging process, unless PMIX_LOG_SOURCE says so;
/// null: this process. PMIX_ERR_NOT_AVAILABLE if none was taken, PMIX_ERR_PARTIAL_SUCCESS when some were not
/// taken; a component's error when it is all that happened.
Result<void> log_entries(PlogSet plogs, const pmix_proc_t* source, InfoView data, InfoView directives);

}  // namespace muster
