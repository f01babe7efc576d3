// SPDX-License-Identifier: BSD-3-Clause
// The host's side of a node's server: the library's upcalls, brought from its thread to the node's loop, and
// the answers that they wait for.
#pragma once

#include <pmix_server.h>

#include <string>
#include <string_view>
#include <vector>

#include "tools/muster/loop.hpp"
#include "tools/muster/message.hpp"

namespace muster {

/// The callback of a fence or of a direct modex; to be called once, on any thread.
struct DataAnswer {
    pmix_modex_cbfunc_t callback = nullptr;
    void* data = nullptr;
    /// Answers with a copy of `bytes`.
    void operator()(pmix_status_t status, std::string_view bytes) const;
};

/// The callback of an operation that only has a status.
struct StatusAnswer {
    pmix_op_cbfunc_t callback = nullptr;
    void* data = nullptr;
    void operator()(pmix_status_t status) const {
        if (callback != nullptr) callback(status, data);
    }
};

/// What a host does for its clients. All functions run on the node's loop; the answers may be kept and given
/// later. A duty that is not listed here is refused by the library (its entry in the table is null).
class HostDuties {
  public:
    virtual ~HostDuties() = default;
    virtual void client_connected(const ProcName& proc) = 0;
    virtual void client_finalized(const ProcName& proc) = 0;
    virtual void abort(const ProcName& proc, int status, const std::string& text,
                       const std::vector<ProcName>& targets, StatusAnswer answer) = 0;
    virtual void fence(std::vector<ProcName> procs, uint32_t seconds, std::string bytes,
                       DataAnswer answer) = 0;
    virtual void direct_modex(const ProcName& proc, uint32_t seconds, DataAnswer answer) = 0;
};

/// The table for PMIx_server_init. Upcalls go to `duties` by way of `loop`; both outlive the server. One
/// server a process, as the C interface has no place for an owner.
pmix_server_module_t* host_module(Loop& loop, HostDuties& duties);

}  // namespace muster
