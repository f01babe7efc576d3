// SPDX-License-Identifier: BSD-3-Clause
// pcompress: see pcompress.hpp.
#include "framework/pcompress.hpp"

namespace muster {

Result<Bytes> Pcompress::compress(ByteView in) const {
    if (!MUSTER_HAS(operations_, compress)) return unsupported(name_, "compress");
    void* out = nullptr;
    size_t length = 0;
    Reason reason;
    const pmix_status_t status =
        operations_->compress(operations_->context, in.data(), in.size(), &out, &length, reason.text);
    Bytes made = Bytes::adopt(out, out == nullptr ? 0 : length);
    if (status != PMIX_SUCCESS) return failed("pcompress", name_, status, reason);
    return made;
}

Result<Bytes> Pcompress::decompress(ByteView in, size_t limit) const {
    if (!MUSTER_HAS(operations_, decompress)) return unsupported(name_, "decompress");
    void* out = nullptr;
    size_t length = 0;
    Reason reason;
    const pmix_status_t status = operations_->decompress(operations_->context, in.data(), in.size(), limit,
                                                         &out, &length, reason.text);
    Bytes made = Bytes::adopt(out, out == nullptr ? 0 : length);
    if (status != PMIX_SUCCESS) return failed("pcompress", name_, status, reason);
    return made;
}

}  // namespace muster
