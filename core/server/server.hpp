// SPDX-License-Identifier: BSD-3-Clause
// The server role: it executes the host's calls and the clients' requests. The members are called on the
// loop, except create() and the destructor (no loop is running then).
#pragma once

#include <pmix_server.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/collective/collectives.hpp"
#include "core/control/cleanup.hpp"
#include "core/control/file_worker.hpp"
#include "core/control/job_control.hpp"
#include "core/discovery/rendezvous_file.hpp"
#include "core/events/event_router.hpp"
#include "core/exchange/exchange.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/exchange/peers.hpp"
#include "core/fabric/fabric.hpp"
#include "core/groups/group_server.hpp"
#include "core/iof/forwarder.hpp"
#include "core/modex/modex.hpp"
#include "core/monitor/monitor.hpp"
#include "core/query/query_server.hpp"
#include "core/query/support.hpp"
#include "core/rendezvous/barriers.hpp"
#include "core/server/acceptor.hpp"
#include "core/server/admissions.hpp"
#include "core/setup/application.hpp"
#include "core/setup/fork_environment.hpp"
#include "core/setup/job_network.hpp"
#include "core/setup/node_description.hpp"
#include "core/spawn/local_jobs.hpp"

namespace muster {

class Events;
class Forwarding;

class Server {
  public:
    using OnStatus = std::function<void(pmix_status_t)>;

    /// The parts of the process that the server joins. All of them outlive the server.
    struct Parts {
        Exchange& exchange;
        Events& events;
        Forwarding& forwarding;
    };

    /// Opens the listeners. `module` may be null (a host without upcalls); `size` is its readable size.
    static Result<std::unique_ptr<Server>> create(const Parts& parts, const pmix_server_module_t* module,
                                                  size_t size, InfoView info);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Joins the parts of the process: from now on they pass their work through this server. On the loop, or
    /// before the loop runs.
    void join();

    // --- services that the host calls ---

    Host& host() { return host_; }
    Modex& modex() { return modex_; }
    JobControl& job_control() { return job_control_; }
    Monitors& monitors() { return monitors_; }
    Fabrics& fabrics() { return fabrics_; }
    QueryServer& queries() { return queries_; }
    Forwarder& forwarder() { return forwarder_; }
    ProcessSets& process_sets() { return groups_.process_sets(); }
    NodeDescription& node_description() { return node_description_; }
    JobEnvironments& job_environments() { return job_environments_; }
    ForkEnvironment& fork_environment() { return fork_environment_; }
    JobNetworks& job_networks() { return job_networks_; }
    HostAttributes& host_attributes() { return host_attributes_; }
    LocalJobs& local_jobs() { return local_jobs_; }
    Peers& peers() { return peers_; }
    Gds& store() const { return runtime_.store(); }
    Log& log() const { return runtime_.log(); }

    // --- calls of the host ---

    /// With `nlocalprocs` -1 it is an update of a known namespace.
    pmix_status_t register_nspace(const char* nspace, int32_t nlocalprocs, InfoView info);
    /// Why the registration of a namespace was refused; PMIX_SUCCESS if it was not.
    pmix_status_t refusal(const char* nspace);
    /// Whether that of any was. On any thread.
    bool has_refused() const { return has_refused_; }
    /// `done`: runs after the removal of the job's files.
    void deregister_nspace(const char* nspace, std::function<void()> done);
    pmix_status_t register_session(uint32_t id, InfoView info);
    void deregister_session(uint32_t id);
    pmix_status_t register_resources(InfoView info);
    void deregister_resources(InfoView info);
    pmix_status_t register_client(const pmix_proc_t& proc, uint32_t uid, uint32_t gid, void* server_object);
    void deregister_client(const pmix_proc_t& proc, std::function<void()> done);
    /// The server ends: every wait, of a client or of a call of the host, ends with
    /// PMIX_ERR_LOST_CONNECTION, and the clients lose their connections.
    void close();
    /// Held by operations for which the host does not wait, until they are complete.
    std::shared_ptr<void> request() const {
        ++*requests_;
        return {requests_.get(), [kept = requests_](void*) { --*kept; }};
    }
    /// Whether such an operation is pending, so that the host's next request is queued after it. Any thread.
    bool has_requests() const { return *requests_ > 0; }
    /// How clients reach this server. Fixed before the loop starts.
    std::vector<std::string> uris() const;

    /// How tools reach this server: NSPACE.RANK;TRANSPORT.
    const std::string& tool_uri() const { return tool_uri_; }

  private:
    Server(const Parts& parts, const pmix_server_module_t* module, size_t size);
    void refuse_namespace(const char* name, pmix_status_t status);
    static void run_waiting(Namespace& nspace);
    void forget_packed_jobs();

    // handlers.cpp
    void register_commands();
    void job_info(const Request& request);
    void abort(const Request& request);
    void finalize(const Request& request);
    void resolve_peers(const Request& request);
    void resolve_nodes(const Request& request);

    // frames.cpp
    void on_frame(const PeerPtr& peer, Frame frame);
    void serve(const PeerPtr& peer, Frame frame);

    Modex::Sources modex_sources();
    LocalJobs::Registrar registrar();
    void end_namespace(const char* nspace);
    void end_client(const pmix_proc_t& proc);
    /// The connection of `peer` has ended without finalize.
    void lost(const PeerPtr& peer, const std::string& reason);
    /// Notifies the services that a process of this node has finalized or was lost.
    void departed(const pmix_proc_t& proc, bool lost);
    /// Ends the connection of a peer that has finalized.
    void drop(const PeerPtr& peer);
    void end_connections(LocalClient& client);

    // tool_rendezvous.cpp
    Result<void> open_to_tools(InfoView info);
    /// Removes a tool that has ended, unless the host has registered it.
    void forget_tool(const pmix_proc_t& proc);

    Exchange& exchange_;
    Runtime& runtime_;
    Events& events_;
    Forwarding& forwarding_;
    CommandTable commands_;
    Host host_;
    Namespaces namespaces_;
    Peers peers_;
    NodeDescription node_description_{files_};  ///< outlives the worker, which reports to it
    FileWorker files_;
    Cleanups cleanups_{files_};
    Modex modex_;
    Collectives collectives_;
    Barriers barriers_{runtime_, namespaces_, collectives_};
    EventRouter event_router_;
    GroupServer groups_;
    JobControl job_control_{host_, namespaces_, cleanups_};
    Monitors monitors_;
    JobEnvironments job_environments_;
    ForkEnvironment fork_environment_{runtime_, job_environments_, [this] { return uris(); }};
    JobNetworks job_networks_{runtime_, namespaces_};
    Fabrics fabrics_{host_, job_networks_};
    HostAttributes host_attributes_;
    Forwarder forwarder_;
    QueryServer queries_;
    Admissions admissions_;
    std::unique_ptr<Acceptor> acceptor_;
    std::unique_ptr<RendezvousFiles> rendezvous_files_;
    std::string tool_uri_;
    LocalJobs local_jobs_{runtime_, fork_environment_, registrar()};
    std::atomic<bool> has_refused_{false};
    std::shared_ptr<std::atomic<size_t>> requests_ = std::make_shared<std::atomic<size_t>>(0);  ///< open ones
};

}  // namespace muster
