// SPDX-License-Identifier: BSD-3-Clause
// The tool role: a process that no server started finds servers, connects to them, and selects the primary
// server (Standard: Tools and Debuggers, Connection Mechanisms). Its requests are those of a client
// (core/client). Members block and run on the caller's thread, one at a time, except where noted.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/client/client.hpp"
#include "core/discovery/rendezvous_file.hpp"
#include "core/events/events.hpp"
#include "core/exchange/peers.hpp"
#include "core/tool/directives.hpp"
#include "framework/base/mutex.hpp"

namespace muster {

class Tool {
  public:
    /// On the loop, or before it runs. The arguments outlive the tool.
    Tool(Exchange& exchange, Events& events, Client& client, ToolIdentity identity);

    /// The process is a server as well: its peers, and how tools reach it. On the loop, or before it runs.
    void serve(Peers& peers, const std::string& uri);

    /// The tool ends: ends the waits for a server. On the loop.
    void close();

    /// The name of the tool as far as it has one yet.
    pmix_proc_t name() const { return make_proc(identity_.nspace, identity_.rank); }
    /// Whether a server has started this process, as one of its clients: it has its name then.
    bool started_by_server() const { return identity_.from_environment; }
    /// Obeys the variables of a tool that started this process: connects to it, and watches its pipe. Removes
    /// the variables. Blocks; before init returns.
    Result<void> obey_parent();

    /// The first connection, along the chain of PMIx_tool_init; or, where it is not wanted or is optional and
    /// cannot be had, life without a server. Afterwards the process has its identity. PMIX_ERR_UNREACH where
    /// no server was found.
    Result<void> begin(const ToolDirectives& wanted);
    /// A further connection. The server is given back; one that was named and that we are connected to
    /// already is a success. PMIX_ERR_UNREACH if there is no new one.
    Result<pmix_proc_t> attach(const ToolDirectives& wanted);
    /// Makes a connected server the primary one, at once or, with `wait`, when it has connected:
    /// PMIX_ERR_NOT_FOUND, PMIX_ERR_TIMEOUT after the limit. For a launcher that has connected to this
    /// process, it connects to the launcher's own URI. Blocks.
    pmix_status_t set_server(const pmix_proc_t& server, bool wait,
                             std::optional<std::chrono::milliseconds> limit);

  private:
    /// The result of a selection of the primary server: a status, or the URI to connect to.
    struct Choice {
        pmix_status_t status = PMIX_SUCCESS;
        std::string uri;
    };
    using OnChoice = std::function<void(Choice)>;
    void choose_server(const pmix_proc_t& server, bool wait, std::optional<std::chrono::milliseconds> limit,
                       OnChoice done);
    void look_for_servers();
    struct Candidate;
    /// A connection; or, without one, the named server that we have already.
    struct Outcome {
        std::optional<Greeted> greeted;
        pmix_proc_t server{};
        std::string uri;  ///< the one that tools of any library understand
    };
    Result<Outcome> rendezvous(const ToolDirectives& wanted) MUSTER_REQUIRES(attaching_);
    Result<Outcome> retrying(const ToolDirectives& wanted, const std::function<Result<Candidate>()>& find)
        MUSTER_REQUIRES(attaching_);
    Result<Outcome> search(const ToolDirectives& wanted) MUSTER_REQUIRES(attaching_);
    Result<Outcome> reach(const Candidate& candidate, std::chrono::milliseconds limit, bool& answered)
        MUSTER_REQUIRES(attaching_);
    Result<Candidate> read(const std::string& path) const;
    Result<Candidate> named(const ToolDirectives& wanted, const std::string& what) const;
    Result<Candidate> of_system(const ToolDirectives& wanted) const;
    Result<Candidate> of_uri(const ToolDirectives& wanted) const;
    std::vector<std::string> hosts(const ToolDirectives& wanted) const;
    Bytes about_us() const;
    void go_alone();
    void watch_parent(int fd);
    void note_uri(const pmix_proc_t& server, const std::string& text);
    Log& log() const { return runtime_.registry().log("tool"); }

    Runtime& runtime_;
    Events& events_;
    Client& client_;
    const std::string* own_uri_ = nullptr;    ///< of the server role; set before own_peers_
    std::atomic<Peers*> own_peers_{nullptr};  ///< of the server role; null if there is none
    ToolIdentity identity_;
    const std::string command_line_;
    Mutex attaching_;  // one attempt at a time
    bool has_had_servers_ MUSTER_GUARDED_BY(attaching_) = false;

    /// A set_server() that waits for its server. Loop.
    struct Waiting {
        pmix_proc_t server;
        OnChoice done;
        std::unique_ptr<Watch> limit;
    };
    std::list<Waiting> waiting_;
    bool has_job_data_ = false;   ///< of our own namespace, from a server
    bool asks_job_data_ = false;  ///< a concurrent connect also requests it; guarded by attaching_
    pmix_proc_t parent_{};
    UniqueFd parent_pipe_;
    std::unique_ptr<Watch> parent_watch_;
};

}  // namespace muster
