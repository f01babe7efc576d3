// SPDX-License-Identifier: BSD-3-Clause
// Rendezvous files: whatever stands in one, what is taken from it are a few URIs of a server in printable
// characters, and what we write of these says the same again.
#include <algorithm>

#include "core/client/connector.hpp"
#include "core/discovery/rendezvous_file.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using muster::require;

bool is_printable(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= ' ' && c != 0x7f; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const auto found = muster::parse_rendezvous(text, "f");
    if (!found) {
        require(!found.error().text.empty() && is_printable(found.error().text));
        return 0;
    }
    require(!found->uris.empty() && found->uris.size() <= 9);
    for (const std::string& uri : found->uris) {
        pmix_proc_t server{};
        std::string transport;
        require(is_printable(uri) && muster::split_server_uri(uri, server, transport));
        require(server.nspace[0] != '\0' && !transport.empty());
    }
    require(!found->version.empty() && found->version.size() <= 64 && is_printable(found->version));
    require(found->started.size() <= 64 && is_printable(found->started));
    // The first URI of what is written is the one that all understand, which is the last of what was read.
    std::vector<std::string> uris = {found->uris.back()};
    uris.insert(uris.end(), found->uris.begin(), found->uris.end() - 1);
    const auto again =
        muster::parse_rendezvous(muster::rendezvous_text(uris, found->version, found->security), "again");
    require(bool(again));
    require(again->version == found->version && again->pid == getpid() && again->user == geteuid());
    require(again->security == found->security);
    require(again->uris.back() == found->uris.back());
    return 0;
}
