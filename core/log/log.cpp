// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Log, on both sides of the wire: see log.hpp.
#include "core/log/log.hpp"

#include <ctime>

#include "core/attribute/directives.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/runtime/runtime.hpp"
#include "framework/plog.hpp"

namespace muster {
namespace {

pmix_status_t write_here(Runtime& runtime, const pmix_proc_t& source, InfoView data, InfoView directives) {
    const std::vector<Plog*> channels = runtime.registry().plogs();
    const Result<void> written = log_entries(channels, &source, data, directives);
    if (!written) MUSTER_LOG(runtime.registry().log("plog"), Error, "%s", written.error().text.c_str());
    return written.status();
}

struct Arguments {
    pmix_proc_t proc{};
    Info data;
    Info directives;
};

/// The host's answer, or the result of the library's own channels for entries that the host does not accept.
HostDone else_here(Runtime& runtime, const std::shared_ptr<Arguments>& kept, HostDone done) {
    return [&runtime, kept, done = std::move(done)](HostAnswer answer) {
        if (answer.status == PMIX_ERR_NOT_SUPPORTED && !needs_host(Function::Log, kept->directives))
            answer.status = write_here(runtime, kept->proc, kept->data, kept->directives);
        done(std::move(answer));
    };
}

void log_by_host(Runtime& runtime, Host& host, const Caller& caller, Info data, Info directives,
                 HostDone done) {
    if (data.empty()) return done(answer_of(PMIX_ERR_BAD_PARAM));
    caller.add_identity(directives);
    if (!directives.view().has(PMIX_LOG_SOURCE)) directives.add(PMIX_LOG_SOURCE, caller.proc);
    const auto kept = std::make_shared<Arguments>();
    kept->proc = caller.proc;
    kept->data = std::move(data);
    kept->directives = std::move(directives);
    const pmix_server_module_t& module = host.module();
    done = host.bounded("log", caller.proc, kept->directives, else_here(runtime, kept, std::move(done)));
    if (module.log2 != nullptr) {
        host.upcall("log2", kept, std::move(done), [&](void* cbdata) {
            return module.log2(&kept->proc, kept->data.data(), kept->data.size(), kept->directives.data(),
                               kept->directives.size(), Host::on_op, cbdata);
        });
    } else if (module.log != nullptr) {
        host.upcall("log", kept, std::move(done), [&](void* cbdata) {
            module.log(&kept->proc, kept->data.data(), kept->data.size(), kept->directives.data(),
                       kept->directives.size(), Host::on_op, cbdata);
            return PMIX_SUCCESS;
        });
    } else {
        done(answer_of(PMIX_ERR_NOT_SUPPORTED));
    }
}

}  // namespace

void log_data(Exchange& exchange, Info data, Info directives, HostDone done) {
    Upstream* upstream = exchange.upstream();
    if (upstream == nullptr)
        return done(answer_of(write_here(exchange.runtime(), exchange.self(), data, directives)));
    const time_t timestamp =
        directives.view().is_true(PMIX_LOG_GENERATE_TIMESTAMP) ? std::time(nullptr) : time_t{0};
    Packer message = upstream->packer(Command::Log);
    message.items(&timestamp, 1, PMIX_TIME).infos(data).infos(directives);
    const auto kept = std::make_shared<Arguments>();
    kept->proc = exchange.self();
    kept->data = std::move(data);
    kept->directives = std::move(directives);
    // Servers on OpenPMIx that delegate it to the client report this.
    ask(*upstream, std::move(message), {},
        [&runtime = exchange.runtime(), kept, done = std::move(done)](HostAnswer answer) {
            if (answer.status == PMIX_ERR_NOT_AVAILABLE)
                answer.status = write_here(runtime, kept->proc, kept->data, kept->directives);
            done(std::move(answer));
        });
}

namespace {

void handle_log(Runtime& runtime, Host& host, Namespaces& namespaces, const Request& request) {
    time_t timestamp = 0;
    Info data, directives;
    if (!request.in.item(&timestamp, PMIX_TIME) || !request.in.infos(data) || !request.in.infos(directives))
        return request.malformed();
    if (timestamp > 0 && !directives.view().has(PMIX_LOG_TIMESTAMP))
        directives.add(PMIX_LOG_TIMESTAMP, &timestamp, PMIX_TIME);
    // Only root and the server's user may log in the name of other users.
    const pmix_proc_t* source = directives.view().proc(PMIX_LOG_SOURCE);
    if (source != nullptr && !is_master(request.peer->uid) &&
        namespaces.owner_of(*source) != request.peer->uid)
        return request.peer->reply_status(request.tag, PMIX_ERR_NO_PERMISSIONS);
    log_by_host(runtime, host, Caller::of(*request.peer), std::move(data), std::move(directives),
                reply_to(request));
}

}  // namespace

void serve_log(CommandTable& commands, Runtime& runtime, Host& host, Namespaces& namespaces) {
    commands.add(Command::Log, [&runtime, &host, &namespaces](const Request& request) {
        handle_log(runtime, host, namespaces, request);
    });
}

}  // namespace muster
