// SPDX-License-Identifier: BSD-3-Clause
// The transports that understand a URI, and their properties. Loop thread, or before the loop starts.
#pragma once

#include <string_view>
#include <vector>

#include "framework/ptl.hpp"

namespace muster {

class Registry;

/// The transports that understand the transport part of a URI. A component has the name with which its URIs
/// begin, so that mostly no other component is opened.
std::vector<Ptl*> transports_for(Registry& registry, std::string_view uri);

/// Whether a transport that understands `uri` has the property, for example &Ptl::universal.
bool transport_is(Registry& registry, bool (Ptl::*property)() const, std::string_view uri);

}  // namespace muster
