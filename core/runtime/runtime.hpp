// SPDX-License-Identifier: BSD-3-Clause
// The ground of one process while the library is initialised: parameters, components, the loop, the store,
// the log, and the identity of the process.
#pragma once

#include <pmix_server.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/info.hpp"
#include "framework/base/loop.hpp"
#include "framework/base/loop_callers.hpp"
#include "framework/base/loop_thread.hpp"
#include "framework/base/value.hpp"
#include "framework/registry.hpp"

namespace muster {

class Runtime {
  public:
    enum class Role { Client, Server, Tool };

    struct Options {
        Role role = Role::Client;
        InfoView info;  ///< directives of the init call; used during create() only
        /// A tool whose blocking calls drive its loop, like a client's (LoopCallers).
        bool shares_loop = false;
    };

    /// Reads the parameters, opens the registry and the store, makes the loop (start() starts it).
    static Result<std::unique_ptr<Runtime>> create(const Options& options);
    ~Runtime();
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;

    Role role() const { return role_; }
    Parameters& parameters() { return *parameters_; }
    Registry& registry() { return *registry_; }
    EventLoop& loop() { return *loop_; }
    /// Whether the host drives the loop (PMIX_EXTERNAL_PROGRESS): there is no thread of ours.
    bool host_drives() const { return !thread_; }
    /// Callers as the drivers of the loop; null in a server, whose thread drives alone.
    LoopCallers* callers() { return callers_ ? &*callers_ : nullptr; }
    /// Processes ready events, if the host drives; false if it does not, or another thread drives now.
    bool progress() { return host_drives() && callers_->progress(); }
    /// As LoopCallers::run_here(). False, without effect, if callers do not drive the loop.
    bool run_here(Task& task) { return thread_ && callers_ && callers_->run_here(task); }
    /// Processes ready events, if the thread is deferred: for calls whose result depends on them.
    void catch_up() {
        if (callers_ && loop_->has_standby()) callers_->progress();
    }
    Gds& store() { return *store_; }
    const Gds& store() const { return *store_; }
    Log& log() { return *log_; }

    /// Our own identity. Fixed before init returns.
    const pmix_proc_t& self() const { return self_; }
    void set_self(const pmix_proc_t& self) { self_ = self; }

    const std::string& hostname() const { return hostname_; }
    /// Session directory of a server (PMIX_SERVER_TMPDIR) and the system's (PMIX_SYSTEM_TMPDIR).
    const std::string& session_directory() const { return session_directory_; }
    const std::string& system_directory() const { return system_directory_; }

    /// The encoding in which we pack without a target (PMIx_Data_pack) and that we offer to
    /// others.
    WireFormat own_format() const { return own_format_; }
    void set_own_format(WireFormat format) { own_format_ = format; }
    /// The encoding of that name on the wire ("v41", "v51" ...), or nullptr.
    const Bfrops* find_bfrops(std::string_view wire_name);
    /// The forms of maps, preferred first; none in a process that does not use them. Fixed before start().
    const std::vector<Preg*>& pregs() const { return pregs_; }

    /// Values of every process about itself, which PMIx_Get of its own rank returns if neither host nor
    /// process set the key. A get without a key omits them: hosts pack its result, and know few types.
    InfoView own_facts() const { return own_facts_; }
    /// Once the identity is known, before init returns. `server`: the server whose process this is, or null;
    /// `uri`: its address for tools of all libraries, or null.
    void note_own_facts(const pmix_proc_t* server, const char* uri);

    /// Starts the progress thread, where it is ours: in a client or a tool without clients once it is
    /// needed (docs/decisions/0022-the-thread-of-a-client.md).
    void start();
    /// Sets the number of active processes of this node, including this one: if there are processors for all,
    /// a waiting thread may poll. Any thread.
    void set_company(size_t processes);
    /// Stops the loop after the tasks already posted, and then runs `last` (may be null): nothing runs
    /// afterwards.
    void stop(Task last = nullptr);

  private:
    Runtime() = default;

    /// Binds the progress thread according to the directives, otherwise the parameters
    /// (PMIX_BIND_PROGRESS_THREAD, PMIX_BIND_REQUIRED).
    Result<void> bind_thread(InfoView info);

    Role role_ = Role::Client;
    pmix_proc_t self_{};
    Info own_facts_;
    std::string hostname_;
    std::string session_directory_;
    std::string system_directory_;
    std::string thread_name_;
    WireFormat own_format_;
    std::unique_ptr<Parameters> parameters_;
    std::unique_ptr<EventLoop> loop_;
    std::optional<LoopThread> thread_;
    std::optional<LoopCallers> callers_;
    std::unique_ptr<Registry> registry_;
    Gds* store_ = nullptr;      // the registry's
    std::vector<Preg*> pregs_;  // the registry's
    Log* log_ = nullptr;        // the registry's
};

}  // namespace muster
