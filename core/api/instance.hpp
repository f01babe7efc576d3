// SPDX-License-Identifier: BSD-3-Clause
// The one Process object of this process, which the C API forces to be global: counted inits, and a gate that
// keeps it alive while calls are inside.
#pragma once

#include <pmix.h>

#include <cstring>

#include "core/api/guard.hpp"
#include "core/process/process.hpp"
#include "framework/base/uncancelled.hpp"

namespace muster {

/// While one of these lives, the process that it shows does not go away. Cheap: two atomic additions. For
/// calls that only read. A call that waits, locks for long or writes needs a Use.
class Hold {
  public:
    Hold();
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

    /// False when the library is not initialised: the call returns PMIX_ERR_INIT.
    explicit operator bool() const { return process_ != nullptr; }
    Process* operator->() const { return process_; }
    Process& operator*() const { return *process_; }

  private:
    Process* process_;
};

/// The same for all other calls: the thread cannot be cancelled meanwhile.
class Use : Uncancelled, public Hold {};

/// Runs the body of an API call, with the process while it lasts; PMIX_ERR_INIT if there is none.
template <class Body>
pmix_status_t with_process(const Body& body) {
    return guard([&]() -> pmix_status_t {
        const Use use;
        return use ? body(use) : PMIX_ERR_INIT;
    });
}

/// The same for the calls of a server.
template <class Body>
pmix_status_t with_server(const Body& body) {
    return with_process([&](const Use& use) { return use->server() != nullptr ? body(use) : PMIX_ERR_INIT; });
}

/// Whether a text can name a namespace.
inline bool valid_nspace(const char* nspace) {
    return nspace != nullptr && *nspace != '\0' && strnlen(nspace, PMIX_MAX_NSLEN + 1) <= PMIX_MAX_NSLEN;
}

namespace instance {

/// One more init of an existing process; false when there is none.
bool add_reference();
/// Makes the process known. `make` is called under the lock of inits; its process is published when it
/// succeeds. `info` are the directives of the init: where MUSTER_ERROR_TEXT is among them, the sentence of a
/// failure goes there.
using Make = std::function<Result<std::unique_ptr<Process>>()>;
pmix_status_t initialize(const Make& make, InfoView info);
/// One init less; the last one ends the process, which leaves its servers first (Process::say_goodbye).
/// @param fence whether a client fences with its job before it finalizes
/// @param goodbye  if given, gets the servers' answer
pmix_status_t finalize(bool fence = false, pmix_status_t* goodbye = nullptr);
bool initialized();
/// In a child of fork(): the server that the parent was, as it stood at the fork, only to be read. Else null.
Server* inherited_server();

}  // namespace instance

}  // namespace muster
