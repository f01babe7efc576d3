// SPDX-License-Identifier: BSD-3-Clause
// Allocations of pnet/tcp on another node. A readable one reads as the same when it is written again; others
// leave nothing.
#include <algorithm>

#include "components/pnet/tcp/allocation.hpp"
#include "tests/fuzz/require.hpp"

using namespace muster;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    pnet_tcp::Carried carried;
    if (!pnet_tcp::read({data, size}, carried)) {
        require(carried.empty());
        return 0;
    }
    for (const pnet_tcp::Allocation& one : carried.allocations) {
        (void)pnet_tcp::to_text(one.ports);
        const size_t count = pnet_tcp::count_of(one.ports);
        require(count == 0 || pnet_tcp::port_at(one.ports, count) == 0);
    }
    const Bytes again = pnet_tcp::write(carried);
    require(again.size() == size && std::equal(again.data(), again.data() + size, data));
    return 0;
}
