// SPDX-License-Identifier: BSD-3-Clause
// pcompress: compression of blocks of bytes. Facade over the SDK's C interface (pmix/sdk/pcompress.h).
#pragma once

#include <pmix/sdk/pcompress.h>

#include <optional>

#include "framework/base/bytes.hpp"
#include "framework/base/compress.hpp"
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

/// The contents of a hostile block: expanded by zlib, which all have, otherwise by the first component that
/// knows the block. Nothing if none does, or beyond `limit` bytes. `components` is called only for the second
/// case.
template <class Components>
std::optional<Bytes> decompress_block(const Components& components, ByteView block, size_t limit) {
    if (std::optional<Bytes> plain = zlib_decompress(block, limit)) return plain;
    for (const Pcompress* component : components()) {
        if (Result<Bytes> plain = component->decompress(block, limit); plain.ok()) return std::move(*plain);
    }
    return std::nullopt;
}

}  // namespace muster
