// SPDX-License-Identifier: BSD-3-Clause
// Credentials, on both sides of the wire: see credential.hpp.
#include "core/credential/credential.hpp"

#include "core/attribute/directives.hpp"
#include "core/runtime/runtime.hpp"
#include "framework/psec.hpp"

namespace muster {
namespace {

struct ValidationRequest : HostRequest {
    Bytes credential;
    pmix_byte_object_t object{};  ///< views credential
};

void on_credential(pmix_status_t status, pmix_byte_object_t* credential, pmix_info_t info[], size_t ninfo,
                   void* cbdata) {
    HostAnswer answer = answer_of(status);
    try {
        if (credential != nullptr && credential->bytes != nullptr)
            answer.data.append(credential->bytes, credential->size);
        if (info != nullptr && answer.info.add_copies({info, ninfo}) != PMIX_SUCCESS)
            answer.status = PMIX_ERR_BAD_PARAM;
    } catch (const std::bad_alloc&) {
        answer = answer_of(PMIX_ERR_NOMEM);
    }
    Host::answer(cbdata, std::move(answer));
}

void on_validation(pmix_status_t status, pmix_info_t info[], size_t ninfo, void* cbdata) {
    Host::on_info(status, info, ninfo, cbdata, nullptr, nullptr);
}

void get_by_host(Host& host, const Caller& caller, Info directives, HostDone done) {
    const auto upcall = host.module().get_credential;
    ask_host(host, caller, "get_credential", "credential", upcall, HostRequest{std::move(directives)},
             std::move(done), [&](HostRequest& asked, void* cbdata) {
                 return upcall(&asked.proc, asked.info.data(), asked.info.size(), on_credential, cbdata);
             });
}

void validate_by_host(Host& host, const Caller& caller, Bytes credential, Info directives, HostDone done) {
    const auto upcall = host.module().validate_credential;
    ask_host(host, caller, "validate_credential", "validation", upcall,
             ValidationRequest{{std::move(directives)}, std::move(credential)}, std::move(done),
             [&](ValidationRequest& asked, void* cbdata) {
                 asked.object = {reinterpret_cast<char*>(asked.credential.data()), asked.credential.size()};
                 return upcall(&asked.proc, &asked.object, asked.info.data(), asked.info.size(),
                               on_validation, cbdata);
             });
}

/// A credential of this process's own user, of the first available kind in PMIX_CRED_TYPE (default: all
/// kinds): some kinds have no credential and rely only on the connection.
HostAnswer own_credential(Runtime& runtime, InfoView directives) {
    const char* types = directives.string(PMIX_CRED_TYPE);
    for (Psec* module : runtime.registry().psecs(types == nullptr ? "" : types)) {
        auto made = module->create_credential(directives);
        if (!made || made->empty()) continue;
        HostAnswer answer;
        answer.data = std::move(*made);
        answer.info.add(PMIX_CRED_TYPE, module->name());
        return answer;
    }
    return answer_of(PMIX_ERR_NOT_SUPPORTED);
}

/// Returns the owner of a credential, from the first component that finds it in the bytes alone.
/// PMIX_CRED_TYPE restricts the kinds.
HostAnswer identify_here(Runtime& runtime, ByteView credential, InfoView directives) {
    const char* types = directives.string(PMIX_CRED_TYPE);
    HostAnswer answer = answer_of(PMIX_ERR_NOT_SUPPORTED);
    for (Psec* module : runtime.registry().psecs(types == nullptr ? "" : types)) {
        const auto owner = module->identify_credential(credential);
        if (owner) {
            answer = answer_of(PMIX_SUCCESS);
            answer.info.add(PMIX_CRED_TYPE, module->name());
            answer.info.add(PMIX_USERID, owner->uid);
            answer.info.add(PMIX_GRPID, owner->gid);
            break;
        }
        if (owner.status() == PMIX_ERR_NOT_SUPPORTED) continue;
        MUSTER_LOG(runtime.registry().log("psec"), Warning, "%s", owner.error().text.c_str());
        if (answer.status == PMIX_ERR_NOT_SUPPORTED) answer.status = owner.status();
    }
    return answer;
}

/// Calls `done` after this process has tried a credential that the host could not validate.
HostDone else_here(Runtime& runtime, const Bytes& credential, InfoView directives, HostDone done) {
    struct Question {
        Bytes credential;
        Info types;
    };
    if (needs_host(Function::ValidateCredential, directives)) return done;
    const auto kept = std::make_shared<Question>();
    kept->credential.append(credential.view());
    if (const char* types = directives.string(PMIX_CRED_TYPE)) kept->types.add(PMIX_CRED_TYPE, types);
    return [&runtime, kept, done = std::move(done)](HostAnswer answer) {
        if (answer.status == PMIX_ERR_NOT_SUPPORTED)
            answer = identify_here(runtime, kept->credential.view(), kept->types);
        done(std::move(answer));
    };
}

}  // namespace

void get_credential(Exchange& exchange, Info directives, HostDone done) {
    auto kept = std::make_shared<Info>(std::move(directives));
    const HostDone else_own = [&exchange, kept, done = std::move(done)](HostAnswer answer) {
        if (answer.status == PMIX_ERR_NOT_SUPPORTED && !needs_host(Function::GetCredential, *kept))
            answer = own_credential(exchange.runtime(), *kept);
        done(std::move(answer));
    };
    if (Upstream* upstream = exchange.upstream()) {
        Packer message = upstream->packer(Command::GetCredential);
        message.infos(*kept);
        ask(
            *upstream, std::move(message),
            [](Unpacker& in, HostAnswer& answer) {
                ByteView bytes;
                if (!in.bytes(bytes)) return;
                answer.data.append(bytes);
                if (!in.at_end()) in.infos(answer.info);
            },
            else_own);
    } else if (Host* host = exchange.host()) {
        auto copy = Info::copy_of(*kept);
        get_by_host(*host, Caller::host(exchange.runtime()), copy ? std::move(*copy) : Info{}, else_own);
    } else {
        else_own(answer_of(PMIX_ERR_NOT_SUPPORTED));
    }
}

void validate_credential(Exchange& exchange, Bytes credential, Info directives, HostDone done) {
    done = else_here(exchange.runtime(), credential, directives, std::move(done));
    if (Upstream* upstream = exchange.upstream()) {
        Packer message = upstream->packer(Command::ValidateCredential);
        message.bytes(credential.view()).infos(directives);
        ask(*upstream, std::move(message), read_infos, std::move(done));
    } else if (Host* host = exchange.host()) {
        validate_by_host(*host, Caller::host(exchange.runtime()), std::move(credential),
                         std::move(directives), std::move(done));
    } else {
        done(answer_of(PMIX_ERR_NOT_SUPPORTED));
    }
}

namespace {

void handle_get_credential(Host& host, const Request& request) {
    Info directives;
    if (!request.in.infos(directives)) return request.malformed();
    get_by_host(host, Caller::of(*request.peer), std::move(directives),
                reply_to(request, [](Packer& out, const HostAnswer& answer) {
                    out.bytes(answer.data.view()).infos(answer.info);
                }));
}

void handle_validate_credential(Runtime& runtime, Host& host, const Request& request) {
    ByteView credential;
    Info directives;
    if (!request.in.bytes(credential) || !request.in.infos(directives)) return request.malformed();
    Bytes bytes(credential);
    HostDone done = else_here(runtime, bytes, directives, reply_to(request, write_infos));
    validate_by_host(host, Caller::of(*request.peer), std::move(bytes), std::move(directives),
                     std::move(done));
}

}  // namespace

void serve_credentials(CommandTable& commands, Runtime& runtime, Host& host) {
    commands.add(Command::GetCredential,
                 [&host](const Request& request) { handle_get_credential(host, request); });
    commands.add(Command::ValidateCredential, [&runtime, &host](const Request& request) {
        handle_validate_credential(runtime, host, request);
    });
}

}  // namespace muster
