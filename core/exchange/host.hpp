// SPDX-License-Identifier: BSD-3-Clause
// The host's side of a server: the module of upcalls. Wraps each upcall so that the core sees one rule:
// `done` runs on the loop, exactly once, with the host's answer, with PMIX_ERR_NOT_SUPPORTED if the host has
// no such upcall, or with the error that the upcall returned. A host may answer at once, later, from any
// thread, or twice (the second is ignored). If memory is too short for the upcall, `done` gets
// PMIX_ERR_NOMEM, or the function throws; a `done` that throws std::bad_alloc is called again with that
// status.
#pragma once

#include <pmix_server.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/bytes.hpp"
#include "framework/base/info.hpp"
#include "framework/base/log.hpp"
#include "framework/base/loop.hpp"

namespace muster {

/// Everything that an answer of a host can carry; each upcall fills its own part.
struct HostAnswer {
    pmix_status_t status = PMIX_SUCCESS;
    Bytes data;                       ///< fence, direct modex, credentials
    Info info;                        ///< query, groups, job control ...
    std::string nspace;               ///< spawn
    pmix_proc_t proc{};               ///< tool connection
    std::vector<pmix_proc_t> owners;  ///< lookup: the publisher of info[i]
};
using HostDone = std::function<void(HostAnswer)>;

/// An answer that is a status alone.
HostAnswer answer_of(pmix_status_t status);

/// Whether an answer with this status has something to give.
constexpr bool is_good(pmix_status_t status) {
    return status == PMIX_SUCCESS || status == PMIX_ERR_PARTIAL_SUCCESS;
}

class Host {
  public:
    /// Copies `size` bytes of the host's module and not one more; members beyond count as absent.
    Host(EventLoop& loop, Log& log, const pmix_server_module_t* module, size_t size);
    /// Replaces the table; pending upcalls are answered as before. On the loop.
    void set_module(const pmix_server_module_t* module, size_t size);
    /// Later answers are ignored.
    ~Host();
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    /// The table, for "does the host have this upcall".
    const pmix_server_module_t& module() const { return module_; }

    /// PMIX_SUCCESS at once where the host has neither form, or has only the form without info: that one is
    /// not waited for, since hosts exist that never answer it.
    void client_connected(const pmix_proc_t& proc, void* server_object, Info info, HostDone done);
    void client_finalized(const pmix_proc_t& proc, void* server_object, HostDone done);
    void abort(const pmix_proc_t& proc, void* server_object, pmix_status_t status, std::string message,
               std::vector<pmix_proc_t> procs, HostDone done);
    void fence(std::vector<pmix_proc_t> procs, Info info, Bytes data, HostDone done);
    void direct_modex(const pmix_proc_t& proc, Info info, HostDone done);

    /// The server ends: pending upcalls and all later ones are answered with PMIX_ERR_LOST_CONNECTION. On the
    /// loop.
    void close();

    /// The log of the server.
    Log& log() const { return log_; }
    /// Returns a callback that passes the host's answer to `done`. If `directives` hold PMIX_TIMEOUT, `done`
    /// gets PMIX_ERR_TIMEOUT at most one second after that time (the host also gets the attribute), and the
    /// log names the request (`what`) and its process.
    HostDone bounded(const char* what, const pmix_proc_t& caller, InfoView directives, HostDone done);

    /// The general form. `call` gets the callback's data and makes the upcall; `keep` owns the arguments of
    /// the upcall until the answer. Used by the members above and by services with upcalls of their own.
    void upcall(const char* name, std::shared_ptr<void> keep, HostDone done,
                const std::function<pmix_status_t(void* cbdata)>& call);

    /// The C callbacks to pass with `cbdata`.
    static void on_op(pmix_status_t status, void* cbdata);
    static void on_modex(pmix_status_t status, const char* data, size_t ndata, void* cbdata,
                         pmix_release_cbfunc_t release, void* release_data);
    static void on_info(pmix_status_t status, pmix_info_t* info, size_t ninfo, void* cbdata,
                        pmix_release_cbfunc_t release, void* release_data);

    /// The host's data of an answer, released by the destructor. Never released inside the host's call while
    /// an upcall is open, since hosts answer under locks that their release functions take as well (Slurm).
    class Held {
      public:
        explicit Held(pmix_release_cbfunc_t release = nullptr, void* data = nullptr)
            : release_(release), data_(data) {}
        Held(Held&& other) noexcept : release_(std::exchange(other.release_, nullptr)), data_(other.data_) {}
        Held& operator=(Held&& other) noexcept {
            std::swap(release_, other.release_);
            std::swap(data_, other.data_);
            return *this;
        }
        ~Held() {
            if (release_ != nullptr) release_(data_);
        }

      private:
        pmix_release_cbfunc_t release_;
        void* data_;
    };
    /// Delivers an answer for a callback's data; for C callbacks that services define themselves. `held` is
    /// released on the loop before the answer is used, or immediately if no call waits for it. Any thread,
    /// and without memory, too.
    static void answer(void* cbdata, HostAnswer answer, Held held = Held()) noexcept;

  private:
    void answer_soon(pmix_status_t status, HostDone done);

    EventLoop& loop_;
    Log& log_;
    pmix_server_module_t module_{};
    bool closed_ = false;
    uint64_t owner_ = 0;  // distinguishes our open upcalls from those of an earlier Host of this process
};

}  // namespace muster
