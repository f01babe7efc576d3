// SPDX-License-Identifier: BSD-3-Clause
// One process while the library is initialised: its runtime, the basis of its services, and the roles that it
// plays (client, server, tool; a launcher plays all three).
#pragma once

#include <atomic>
#include <memory>

#include "core/events/events.hpp"
#include "core/exchange/exchange.hpp"
#include "core/groups/group_client.hpp"
#include "core/groups/invitation.hpp"
#include "core/iof/forwarding.hpp"
#include "core/runtime/runtime.hpp"

namespace muster {

class Client;
class Server;
class Tool;
struct ToolIdentity;

/// A role of the process: owned here, and visible to other threads once it exists.
template <class Role>
class RoleSlot {
  public:
    Role* get() const { return seen_.load(std::memory_order_acquire); }
    void set(std::unique_ptr<Role> role) {
        owned_ = std::move(role);
        seen_.store(owned_.get(), std::memory_order_release);
    }
    void reset() {
        seen_.store(nullptr);
        owned_.reset();
    }

  private:
    std::unique_ptr<Role> owned_;
    std::atomic<Role*> seen_{nullptr};
};

class Process {
  public:
    /// A client: connected to the server that the environment names, or a singleton where it names none. The
    /// loop is started. Blocks.
    static Result<std::unique_ptr<Process>> create_client(InfoView info);
    /// A server with the upcalls of its host; `module` may be null, `size` is its readable size. Its
    /// loop is not started.
    static Result<std::unique_ptr<Process>> create_server(const pmix_server_module_t* module, size_t size,
                                                          InfoView info);
    /// A tool: connected to a server where the directives ask for that, and itself a server where it is a
    /// launcher. The loop is started. Blocks.
    static Result<std::unique_ptr<Process>> create_tool(InfoView info);
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    Runtime& runtime() { return *runtime_; }
    EventLoop& loop() { return runtime_->loop(); }
    Gds& store() { return runtime_->store(); }
    Log& log() { return runtime_->log(); }
    const pmix_proc_t& self() const { return runtime_->self(); }

    Exchange& exchange() { return exchange_; }
    GroupTable& groups() { return exchange_.groups(); }
    Events& events() { return events_; }
    Forwarding& forwarding() { return forwarding_; }
    Invitations& invitations() { return invitations_; }
    GroupClient& group_client() { return group_client_; }

    /// The roles, or null. Any thread.
    Client* client() const { return client_.get(); }
    Server* server() const { return server_.get(); }
    Tool* tool() const { return tool_.get(); }

    /// Makes a launcher a server, with upcalls yet to come. Blocks.
    Result<void> become_server(InfoView info);
    /// Connects to a further server (PMIx_tool_attach_to_server); a server becomes a tool first. `primary`:
    /// the new server becomes the primary one. `server`, if given, gets its name, or none (an empty
    /// namespace) where the directives make the connection optional. The reason of a failure is logged.
    /// PMIX_ERR_WOULD_BLOCK on the loop. Blocks.
    pmix_status_t attach(InfoView info, bool primary, pmix_proc_t* server);

    /// Leaves the servers and ends all waits, of this process and of the clients of its server. Blocks.
    /// @param fence whether a client fences with its job first (PMIX_EMBED_BARRIER)
    /// @return the status of the servers' answers
    pmix_status_t say_goodbye(bool fence = false);
    /// Stops the loop after the tasks already posted: nothing runs any more.
    void stop();

  private:
    explicit Process(std::unique_ptr<Runtime> runtime);
    static Result<std::unique_ptr<Process>> create(const Runtime::Options& options);

    Client& make_client();
    Tool& make_tool(ToolIdentity identity);
    Result<void> make_server(const pmix_server_module_t* module, size_t size, InfoView info);
    /// The tool role of a process that may attach to servers. Blocks.
    Result<Tool*> tool_to_attach();

    std::unique_ptr<Runtime> runtime_;
    Exchange exchange_{*runtime_};
    Events events_{*runtime_};
    Forwarding forwarding_{exchange_, events_};
    Invitations invitations_{exchange_, events_};
    GroupClient group_client_{exchange_, events_};
    RoleSlot<Server> server_;
    RoleSlot<Client> client_;
    RoleSlot<Tool> tool_;
};

}  // namespace muster
