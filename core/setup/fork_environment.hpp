// SPDX-License-Identifier: BSD-3-Clause
// The environment of a new process (PMIx_server_setup_fork). Most variables are the same for all processes of
// a server and are computed once. The others are readable on any thread, so that a host that starts many
// processes does not wait for the progress thread at each.
#pragma once

#include <pmix_common.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/mutex.hpp"

namespace muster {

class Pmdl;
class Pnet;
class JobEnvironments;
class Runtime;

class ForkEnvironment {
  public:
    /// Name and value of each variable; of two with one name the later one counts.
    using Variables = std::vector<std::pair<std::string, std::string>>;

    /// `uris`: how clients reach the server, asked for once.
    ForkEnvironment(Runtime& runtime, JobEnvironments& job_environments,
                    std::function<std::vector<std::string>()> uris)
        : runtime_(runtime), job_environments_(job_environments), uris_(std::move(uris)) {}
    ~ForkEnvironment();
    ForkEnvironment(const ForkEnvironment&) = delete;
    ForkEnvironment& operator=(const ForkEnvironment&) = delete;

    /// Returns the variables that make `proc` a client of this server, and those of programming models.
    /// `env`: its environment so far ("NAME=VALUE", ended by NULL); may be null. On the loop.
    Variables of(const pmix_proc_t& proc, const char* const* env);
    /// The same on any thread; nothing if the loop is needed for it: before the first call of of(), and
    /// where a network (pnet), which is the progress thread's, has variables for each process.
    std::optional<Variables> of_beside_loop(const pmix_proc_t& proc, const char* const* env);
    /// The same in a child of fork(), where no lock that a thread of the parent may have held is taken.
    Variables of_in_child(const pmix_proc_t& proc, const char* const* env);

  private:
    /// The variables that all processes share. Immutable.
    struct Common {
        Variables variables;
        std::vector<Pmdl*> models;
        std::vector<Pnet*> networks;  ///< those that have variables for each process
    };
    enum class Threads { Many, One };

    const Common& common();
    Variables build(const Common& common, const pmix_proc_t& proc, const char* const* env, Threads threads);

    Runtime& runtime_;
    JobEnvironments& job_environments_;
    std::function<std::vector<std::string>()> uris_;
    std::atomic<const Common*> common_{nullptr};  // ours; made on the loop, once
    Mutex models_lock_;                           // held in calls of programming models (pmdl)
};

}  // namespace muster
