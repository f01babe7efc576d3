// SPDX-License-Identifier: BSD-3-Clause
// The roles of a process, from the first to the end: see process.hpp.
#include "core/process/process.hpp"

#include "core/attribute/directives.hpp"
#include "core/client/client.hpp"
#include "core/modex/get.hpp"
#include "core/runtime/completion.hpp"
#include "core/server/server.hpp"
#include "core/tool/tool.hpp"

namespace muster {
namespace {

/// How long the servers may take to answer that this process leaves.
constexpr std::chrono::seconds kGoodbye{2};

}  // namespace

Process::Process(std::unique_ptr<Runtime> runtime) : runtime_(std::move(runtime)) {}

Process::~Process() {
    stop();
    tool_.reset();
    client_.reset();
    server_.reset();
}

Result<std::unique_ptr<Process>> Process::create(const Runtime::Options& options) {
    auto runtime = Runtime::create(options);
    if (!runtime) return runtime.error();
    std::unique_ptr<Process> process(new Process(std::move(*runtime)));
    if (auto checked = check_directives(options.role == Runtime::Role::Server ? Function::ServerInit
                                        : options.role == Runtime::Role::Tool ? Function::ToolInit
                                                                              : Function::Init,
                                        options.info, false, process->log());
        !checked)
        return checked.error();
    if (options.role != Runtime::Role::Server) process->forwarding_.puller().set_style(options.info);
    return process;
}

Result<std::unique_ptr<Process>> Process::create_client(InfoView info) {
    auto contact = ServerContact::from_environment();
    if (!contact) return contact.error();
    Runtime::Options options;
    options.role = Runtime::Role::Client;
    options.info = info;
    auto process = create(options);
    if (!process) return process;
    Client& client = (*process)->make_client();
    if (*contact) {
        if (auto connected = client.connect(**contact); !connected) {
            MUSTER_LOG((*process)->log(), Error, "%s", connected.error().text.c_str());
            (*process)->stop();
            return connected.error();
        }
    } else {
        client.become_singleton();
    }
    // Until here the calling thread has driven the loop.
    (*process)->runtime_->start();
    if (client.connected()) {
        // This process's own address is followed by the one from the environment of other libraries.
        (*process)->runtime_->note_own_facts(&client.server(), (*contact)->uris.back().c_str());
    } else {
        (*process)->runtime_->note_own_facts(nullptr, nullptr);
    }
    return process;
}

Result<std::unique_ptr<Process>> Process::create_server(const pmix_server_module_t* module, size_t size,
                                                        InfoView info) {
    Runtime::Options options;
    options.role = Runtime::Role::Server;
    options.info = info;
    auto process = create(options);
    if (!process) return process;
    if (auto made = (*process)->make_server(module, size, info); !made) {
        MUSTER_LOG((*process)->log(), Error, "%s", made.error().text.c_str());
        return made.error();
    }
    (*process)->runtime_->note_own_facts(nullptr, nullptr);
    return process;
}

Result<std::unique_ptr<Process>> Process::create_tool(InfoView info) {
    auto identity = ToolIdentity::read(info);
    if (!identity) return identity.error();
    const bool launcher = identity->launcher || identity->scheduler;
    Runtime::Options options;
    options.role = Runtime::Role::Tool;
    options.info = info;
    options.shares_loop = !launcher;
    auto made = create(options);
    if (!made) return made;
    Process& process = **made;
    auto wanted = ToolDirectives::read(process.runtime(), info);
    if (!wanted) return wanted.error();
    process.make_client();
    Tool& tool = process.make_tool(std::move(*identity));
    process.runtime_->start();
    // A tool that has started this launcher by name gets the URI of its server with the connection.
    const bool named = launcher && tool.started_by_server();
    const auto begin = [&]() -> Result<void> {
        if (named) {
            if (auto served = process.become_server(info); !served) return served;
        }
        if (auto begun = tool.begin(*wanted); !begun) return begun;
        if (launcher && !named) {
            if (auto served = process.become_server(info); !served) return served;
        }
        return tool.obey_parent();
    };
    if (auto begun = begin(); !begun) {
        MUSTER_LOG(process.log(), Error, "%s", begun.error().text.c_str());
        process.say_goodbye();
        process.stop();
        return begun.error();
    }
    process.runtime_->note_own_facts(nullptr, nullptr);
    return made;
}

Client& Process::make_client() {
    auto client = std::make_unique<Client>(exchange_, group_client_);
    Client& made = *client;
    events_.attach(made);
    forwarding_.attach(made);
    group_client_.watch_constructions();
    exchange_.attach(made);
    follow_deletions(exchange_, made);
    client_.set(std::move(client));
    return made;
}

Tool& Process::make_tool(ToolIdentity identity) {
    auto tool = std::make_unique<Tool>(exchange_, events_, *client(), std::move(identity));
    Tool& made = *tool;
    if (Server* own = server()) made.serve(own->peers(), own->tool_uri());
    tool_.set(std::move(tool));
    return made;
}

Result<void> Process::make_server(const pmix_server_module_t* module, size_t size, InfoView info) {
    auto server = Server::create({exchange_, events_, forwarding_}, module, size, info);
    if (!server) return server.error();
    (*server)->join();
    server_.set(std::move(*server));
    return {};
}

Result<void> Process::become_server(InfoView info) {
    if (self().nspace[0] == '\0') runtime_->set_self(tool()->name());
    std::string complaint;
    const pmix_status_t status =
        call_and_wait<pmix_status_t>(runtime(), PMIX_ERR_WOULD_BLOCK, [this, info, &complaint](auto deliver) {
            if (auto made = make_server(nullptr, 0, info); !made) {
                complaint = made.error().text;
                return deliver(made.status());
            }
            tool()->serve(server()->peers(), server()->tool_uri());
            deliver(PMIX_SUCCESS);
        });
    if (status == PMIX_SUCCESS) return {};
    return Error{status, complaint};
}

Result<Tool*> Process::tool_to_attach() {
    if (tool() != nullptr) return tool();
    if (server() == nullptr)
        return Error{PMIX_ERR_NOT_SUPPORTED,
                     "a client cannot attach to another server; a tool or a server can"};
    const pmix_status_t status =
        call_and_wait<pmix_status_t>(runtime(), PMIX_ERR_WOULD_BLOCK, [this](auto deliver) {
            if (client() == nullptr) make_client().set_format(runtime_->own_format());
            if (tool() == nullptr) {
                ToolIdentity identity;
                identity.launcher = true;
                identity.nspace = self().nspace;
                identity.rank = self().rank;
                // A launcher may be known under its name to those that started it.
                const auto started = ServerContact::from_environment();
                identity.from_environment = started && *started && (*started)->nspace == identity.nspace &&
                                            (*started)->rank == identity.rank;
                make_tool(std::move(identity));
            }
            deliver(PMIX_SUCCESS);
        });
    if (status != PMIX_SUCCESS)
        return Error{status, "an upcall or handler cannot connect; connect from another thread"};
    return tool();
}

pmix_status_t Process::attach(InfoView info, bool primary, pmix_proc_t* server) {
    // A wait on the loop itself would never end.
    if (loop().on_loop()) return PMIX_ERR_WOULD_BLOCK;
    runtime_->catch_up();  // the connection to a server may be lost
    auto tool = tool_to_attach();
    if (!tool) return tool.status();
    auto wanted = ToolDirectives::read(*runtime_, info);
    if (!wanted) {
        MUSTER_LOG(log(), Error, "%s", wanted.error().text.c_str());
        return wanted.status();
    }
    wanted->primary |= primary;
    auto attached = (*tool)->attach(*wanted);
    if (!attached) {
        MUSTER_LOG(log(), Error, "%s", attached.error().text.c_str());
        if (!wanted->optional) return attached.status();
        if (server != nullptr) *server = make_proc("", PMIX_RANK_UNDEF);  // none
        return PMIX_SUCCESS;
    }
    if (server != nullptr) *server = *attached;
    return PMIX_SUCCESS;
}

pmix_status_t Process::say_goodbye(bool fence) {
    pmix_status_t outcome = PMIX_SUCCESS;
    if (Client* const leaving = client()) {
        if (fence && leaving->connected()) {
            call_and_wait<pmix_status_t>(runtime(), PMIX_ERR_WOULD_BLOCK, [&](auto deliver) {
                leaving->fence({make_proc(self().nspace, PMIX_RANK_WILDCARD)}, {}, deliver);
            });
        }
        // The host waits for a process that it has started.
        const bool in_a_hurry =
            runtime_->role() == Runtime::Role::Tool && tool() != nullptr && !tool()->started_by_server();
        outcome = call_and_wait<pmix_status_t>(runtime(), PMIX_ERR_WOULD_BLOCK, [&](auto deliver) {
            leaving->finalize(kGoodbye, in_a_hurry, deliver);
        });
    }
    call_and_wait<pmix_status_t>(runtime(), PMIX_ERR_WOULD_BLOCK, [&](auto deliver) {
        if (tool() != nullptr) tool()->close();
        if (client() != nullptr) client()->close();
        if (server() != nullptr) server()->close();
        deliver(PMIX_SUCCESS);
    });
    return outcome;
}

void Process::stop() {
    // Readers get pending output before the loop stops.
    runtime_->stop([this] { forwarding_.finish(); });
}

}  // namespace muster
