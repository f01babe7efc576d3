// SPDX-License-Identifier: BSD-3-Clause
// pcompress: see pcompress.hpp.
#include "framework/pcompress.hpp"

namespace muster {

/// Calls one operation of the table, whose last arguments are the result and the reason.
template <class Call>
static Result<Bytes> take_block(const std::string& component, Call&& call) {
    void* out = nullptr;
    size_t length = 0;
    Reason reason;
    const pmix_status_t status = call(&out, &length, reason.text);
    Bytes made = Bytes::adopt(out, out == nullptr ? 0 : length);
    if (status != PMIX_SUCCESS) return failed("pcompress", component, status, reason);
    return made;
}

Result<Bytes> Pcompress::compress(ByteView in) const {
    if (!MUSTER_HAS(operations_, compress)) return unsupported(name_, "compress");
    return take_block(name_, [&](auto... to) {
        return operations_->compress(operations_->context, in.data(), in.size(), to...);
    });
}

Result<Bytes> Pcompress::decompress(ByteView in, size_t limit) const {
    if (!MUSTER_HAS(operations_, decompress)) return unsupported(name_, "decompress");
    return take_block(name_, [&](auto... to) {
        return operations_->decompress(operations_->context, in.data(), in.size(), limit, to...);
    });
}

}  // namespace muster
