// SPDX-License-Identifier: BSD-3-Clause
// The one runtime of the process, which the C API forces to be global: counted inits, and a gate that keeps
// it alive while calls are inside.
#pragma once

#include <pmix.h>

#include "core/api/guard.hpp"
#include "core/runtime/runtime.hpp"
#include "framework/base/uncancelled.hpp"

namespace muster {

/// While one of these lives, the runtime that it shows does not go away. Cheap: two atomic additions. For
/// calls that only look, and for what they look at; who waits, locks for long or writes needs a Use.
class Hold {
  public:
    Hold();
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

    /// False when the library is not initialised: the call returns PMIX_ERR_INIT.
    explicit operator bool() const { return runtime_ != nullptr; }
    Runtime* operator->() const { return runtime_; }
    Runtime& operator*() const { return *runtime_; }

  private:
    Runtime* runtime_;
};

/// The same for all other calls: the thread cannot be cancelled meanwhile.
class Use : Uncancelled, public Hold {};

namespace instance {

/// One more init of an existing runtime; false when there is none.
bool add_reference();
/// Makes the runtime known. `make` is called under the lock of inits; its runtime is published when it
/// succeeds. `info` are the directives of the init: where MUSTER_ERROR_TEXT is among them, the sentence of a
/// failure goes there.
using Make = Result<std::unique_ptr<Runtime>> (*)(void* context);
pmix_status_t initialize(Make make, void* context, InfoView info);
/// One init less; the last one ends the runtime. `goodbye` is run before, while the loop still runs.
pmix_status_t finalize(void (*goodbye)(Runtime& runtime, void* context), void* context);
bool initialized();
/// In a child of fork(): the server that the parent was, as it stood at the fork, only to be read. Else null.
Server* inherited_server();

}  // namespace instance

}  // namespace muster
