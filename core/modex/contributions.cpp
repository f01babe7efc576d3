// SPDX-License-Identifier: BSD-3-Clause
// What a server contributes to a fence over several nodes, and what it takes in of the others. See modex.hpp.
#include "core/exchange/exchange.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/modex/modex.hpp"
#include "framework/base/compress.hpp"

namespace muster {

Bytes Modex::contribution(const std::vector<pmix_proc_t>& local, bool collected) {
    const Gds& store = exchange_.store();
    const WireFormat format = exchange_.runtime().own_format();
    Packer body(format);
    body.byte(collected ? 1 : 0);
    for (const pmix_proc_t& proc : local) {
        Packer values(format);
        store.find_posted(proc, View::Remote,
                          [&](const Found& found) { values.kval(found.key, found.value); });
        if (values.length() == 0 || values.error() != PMIX_SUCCESS) continue;
        pack_object(body, proc, values);
    }
    Packer envelope(format);
    envelope.boolean(false);  // not compressed
    envelope.bytes(body.view());
    Packer out(format);
    out.bytes(envelope.view());
    return out.take();
}

pmix_status_t Modex::accept_contributions(ByteView data) {
    const WireFormat format = exchange_.runtime().own_format();
    Gds& store = exchange_.store();
    Unpacker servers(format, data);
    while (!servers.at_end()) {
        ByteView envelope_bytes, body_bytes;
        bool compressed = false;
        if (!servers.bytes(envelope_bytes)) return servers.error();
        Unpacker envelope(format, envelope_bytes);
        if (!envelope.boolean(compressed) || !envelope.bytes(body_bytes)) return envelope.error();
        std::optional<Bytes> expanded;
        if (compressed) {
            expanded = zlib_decompress(body_bytes, size_t{1} << 30);
            if (!expanded) return PMIX_ERR_UNPACK_FAILURE;
            body_bytes = expanded->view();
        }
        Unpacker body(format, body_bytes);
        uint8_t collected = 0;
        if (!body.byte(collected)) return body.error();
        while (!body.at_end()) {
            ByteView object_bytes;
            pmix_proc_t proc{};
            if (!body.bytes(object_bytes)) return body.error();
            Unpacker object(format, object_bytes);
            if (!object.proc(proc)) return object.error();
            // Ours have it in full already, with the scopes that this form does not tell.
            const bool local = namespaces_.is_local(proc);
            while (!object.at_end()) {
                std::string key;
                Value value;
                if (!object.kval(key, value)) return object.error();
                if (local) continue;
                const pmix_status_t status = store.post_remote(proc, key.c_str(), *value);
                if (status != PMIX_SUCCESS) return status;
            }
        }
    }
    return PMIX_SUCCESS;
}

}  // namespace muster
