// SPDX-License-Identifier: BSD-3-Clause
// Publish, lookup and unpublish, on both sides of the wire: see directory.hpp.
#include "core/publish/directory.hpp"

#include <unistd.h>

#include "core/runtime/runtime.hpp"

namespace muster {
namespace {

struct KeysRequest : HostRequest {
    std::vector<std::string> keys;
    std::vector<char*> argv{};  ///< the keys in C form

    char** c_keys() {
        if (keys.empty()) return nullptr;
        argv.clear();
        for (std::string& key : keys)
            argv.push_back(key.data());
        argv.push_back(nullptr);
        return argv.data();
    }
};

void add_found(const pmix_pdata_t* found, size_t count, HostAnswer& answer) {
    for (size_t i = 0; i < count; ++i) {
        if (found[i].value.type == PMIX_UNDEF) continue;  // asked for and not found
        if (answer.info.add_copy(found[i].key, found[i].value) == PMIX_SUCCESS)
            answer.owners.push_back(found[i].proc);
    }
}

void on_lookup(pmix_status_t status, pmix_pdata_t data[], size_t ndata, void* cbdata) {
    HostAnswer answer = answer_of(status);
    try {
        add_found(data, data != nullptr ? ndata : 0, answer);
    } catch (const std::bad_alloc&) {
        answer = answer_of(PMIX_ERR_NOMEM);
    }
    Host::answer(cbdata, std::move(answer));
}

/// Passes on the answer of a lookup with the status that the Standard gives it.
HostDone with_lookup_status(size_t wanted, HostDone done) {
    return [wanted, done = std::move(done)](HostAnswer answer) {
        answer.status = lookup_status(answer.status, wanted, answer.owners.size());
        done(std::move(answer));
    };
}

void publish_by_host(Host& host, const Caller& caller, Info info, HostDone done) {
    const auto upcall = host.module().publish;
    ask_host(host, caller, "publish", "publish", upcall, HostRequest{std::move(info)}, std::move(done),
             [&](HostRequest& asked, void* cbdata) {
                 return upcall(&asked.proc, asked.info.data(), asked.info.size(), Host::on_op, cbdata);
             });
}

void lookup_by_host(Host& host, const Caller& caller, std::vector<std::string> keys, Info info,
                    HostDone done) {
    const auto upcall = host.module().lookup;
    if (upcall != nullptr && keys.empty()) return done(answer_of(PMIX_ERR_BAD_PARAM));
    done = with_lookup_status(keys.size(), std::move(done));
    ask_host(host, caller, "lookup", "lookup", upcall, KeysRequest{{std::move(info)}, std::move(keys)},
             std::move(done), [&](KeysRequest& asked, void* cbdata) {
                 return upcall(&asked.proc, asked.c_keys(), asked.info.data(), asked.info.size(), on_lookup,
                               cbdata);
             });
}

void unpublish_by_host(Host& host, const Caller& caller, std::vector<std::string> keys, Info info,
                       HostDone done) {
    const auto upcall = host.module().unpublish;
    ask_host(host, caller, "unpublish", "unpublish", upcall, KeysRequest{{std::move(info)}, std::move(keys)},
             std::move(done), [&](KeysRequest& asked, void* cbdata) {
                 return upcall(&asked.proc, asked.c_keys(), asked.info.data(), asked.info.size(), Host::on_op,
                               cbdata);
             });
}

// --- the wire ---

void write_keys(Packer& out, const std::vector<std::string>& keys) {
    out.uint32(geteuid()).size(keys.size());
    for (const std::string& key : keys)
        out.string(key);
}

bool read_keys(Unpacker& in, std::vector<std::string>& keys) {
    uint32_t claimed_user = 0;  // the connection determines the identity
    size_t count = 0;
    if (!in.uint32(claimed_user) || !in.size(count)) return false;
    for (size_t i = 0; i < count; ++i) {
        std::string key;
        if (!in.string(key)) return false;
        keys.push_back(std::move(key));
    }
    return true;
}

void write_found(Packer& out, const HostAnswer& answer) {
    std::vector<pmix_pdata_t> found(answer.owners.size());
    for (size_t i = 0; i < found.size(); ++i) {
        found[i].proc = answer.owners[i];
        key_load(found[i].key, key_view(answer.info[i].key));
        found[i].value = answer.info[i].value;  // borrowed
    }
    out.counted(found.data(), found.size(), PMIX_PDATA);
}

void read_found(Unpacker& in, HostAnswer& answer) {
    void* values = nullptr;
    size_t count = 0;
    if (!in.counted(&values, count, PMIX_PDATA)) return;
    add_found(static_cast<const pmix_pdata_t*>(values), count, answer);
    data_free_elements(values, count, PMIX_PDATA);
}

}  // namespace

pmix_status_t lookup_status(pmix_status_t host, size_t wanted, size_t found) {
    if (!is_good(host)) return host;
    if (found == 0) return PMIX_ERR_NOT_FOUND;
    return found < wanted ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS;
}

void publish(Exchange& exchange, Info info, HostDone done) {
    if (Upstream* upstream = exchange.upstream()) {
        Packer message = upstream->packer(Command::Publish);
        message.uint32(geteuid()).infos(info);
        ask(*upstream, std::move(message), {}, std::move(done));
    } else if (Host* host = exchange.host()) {
        publish_by_host(*host, Caller::host(exchange.runtime()), std::move(info), std::move(done));
    } else {
        done(answer_of(PMIX_ERR_UNREACH));
    }
}

void lookup(Exchange& exchange, std::vector<std::string> keys, Info info, HostDone done) {
    if (Upstream* upstream = exchange.upstream()) {
        Packer message = upstream->packer(Command::Lookup);
        write_keys(message, keys);
        message.infos(info);
        ask(*upstream, std::move(message), read_found, with_lookup_status(keys.size(), std::move(done)));
    } else if (Host* host = exchange.host()) {
        lookup_by_host(*host, Caller::host(exchange.runtime()), std::move(keys), std::move(info),
                       std::move(done));
    } else {
        done(answer_of(PMIX_ERR_UNREACH));
    }
}

void unpublish(Exchange& exchange, std::vector<std::string> keys, Info info, HostDone done) {
    if (Upstream* upstream = exchange.upstream()) {
        Packer message = upstream->packer(Command::Unpublish);
        write_keys(message, keys);
        message.infos(info);
        ask(*upstream, std::move(message), {}, std::move(done));
    } else if (Host* host = exchange.host()) {
        unpublish_by_host(*host, Caller::host(exchange.runtime()), std::move(keys), std::move(info),
                          std::move(done));
    } else {
        done(answer_of(PMIX_ERR_UNREACH));
    }
}

namespace {

void handle_publish(Host& host, const Request& request) {
    uint32_t claimed_user = 0;  // the connection determines the identity
    Info info;
    if (!request.in.uint32(claimed_user) || !request.in.infos(info)) return request.malformed();
    publish_by_host(host, Caller::of(*request.peer), std::move(info), reply_to(request));
}

void handle_lookup(Host& host, const Request& request) {
    std::vector<std::string> keys;
    Info info;
    if (!read_keys(request.in, keys) || !request.in.infos(info)) return request.malformed();
    lookup_by_host(host, Caller::of(*request.peer), std::move(keys), std::move(info),
                   reply_to(request, write_found));
}

void handle_unpublish(Host& host, const Request& request) {
    std::vector<std::string> keys;
    Info info;
    if (!read_keys(request.in, keys) || !request.in.infos(info)) return request.malformed();
    unpublish_by_host(host, Caller::of(*request.peer), std::move(keys), std::move(info), reply_to(request));
}

}  // namespace

void serve_publications(CommandTable& commands, Host& host) {
    commands.add(Command::Publish, [&host](const Request& request) { handle_publish(host, request); });
    commands.add(Command::Lookup, [&host](const Request& request) { handle_lookup(host, request); });
    commands.add(Command::Unpublish, [&host](const Request& request) { handle_unpublish(host, request); });
}

}  // namespace muster
