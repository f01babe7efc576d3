// SPDX-License-Identifier: BSD-3-Clause
// Transports by URI: see transports.hpp.
#include "framework/ptl/transports.hpp"

#include <algorithm>

#include "framework/registry.hpp"

namespace muster {

std::vector<Ptl*> transports_for(Registry& registry, std::string_view uri) {
    const auto end = std::find_if(uri.begin(), uri.end(), [](char c) { return c < 'a' || c > 'z'; });
    const std::string_view name = uri.substr(0, static_cast<size_t>(end - uri.begin()));
    const auto among = [uri](std::vector<Ptl*> transports) {
        std::erase_if(transports, [uri](const Ptl* transport) { return !transport->accepts(uri); });
        return transports;
    };
    std::vector<Ptl*> found;
    if (!name.empty()) found = among(registry.ptls(name));
    if (found.empty()) found = among(registry.ptls());
    return found;
}

bool transport_is(Registry& registry, bool (Ptl::*property)() const, std::string_view uri) {
    const std::vector<Ptl*> found = transports_for(registry, uri);
    return !found.empty() && (found.front()->*property)();
}

}  // namespace muster
