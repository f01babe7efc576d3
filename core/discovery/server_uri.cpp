// SPDX-License-Identifier: BSD-3-Clause
// The URI of a server: see server_uri.hpp.
#include "core/discovery/server_uri.hpp"

#include <charconv>

#include "framework/base/proc.hpp"

namespace muster {

bool split_server_uri(const std::string& uri, pmix_proc_t& server, std::string& transport) {
    const size_t semicolon = uri.find(';');
    if (semicolon == std::string::npos) return false;
    const size_t dot = uri.rfind('.', semicolon);
    if (dot == std::string::npos || dot == 0 || dot > PMIX_MAX_NSLEN) return false;
    uint32_t rank = 0;
    const char* end = uri.data() + semicolon;
    const auto parsed = std::from_chars(uri.data() + dot + 1, end, rank);
    if (parsed.ec != std::errc() || parsed.ptr != end) return false;
    server = make_proc(std::string_view(uri).substr(0, dot), rank);
    transport = uri.substr(semicolon + 1);
    return !transport.empty();
}

}  // namespace muster
