// SPDX-License-Identifier: BSD-3-Clause
// pcompress: compression of blocks of bytes. Facade over the SDK's C interface (pmix/sdk/pcompress.h).
#pragma once

#include <pmix/sdk/pcompress.h>

#include "framework/base/bytes.hpp"
#include "framework/base/result.hpp"
#include "framework/component_table.hpp"

namespace muster {

/// One component. Any thread.
class Pcompress : public TableFacade<muster_pcompress_t> {
  public:
    using TableFacade::TableFacade;

    /// PMIX_ERR_NOT_AVAILABLE when the result would not be smaller.
    Result<Bytes> compress(ByteView in) const;
    /// Hostile input. PMIX_ERR_UNPACK_FAILURE for bytes that are no compressed block,
    /// PMIX_ERR_OUT_OF_RESOURCE when the result would be longer than `limit`.
    Result<Bytes> decompress(ByteView in, size_t limit) const;
};

}  // namespace muster
