// SPDX-License-Identifier: BSD-3-Clause
// psec: proof of identity at the handshake. Facade over the SDK's C interface (pmix/sdk/psec.h).
#pragma once

#include <pmix/sdk/psec.h>

#include <optional>

#include "framework/base/bytes.hpp"
#include "framework/base/info.hpp"
#include "framework/base/result.hpp"
#include "framework/component_table.hpp"
#include "framework/ptl.hpp"

namespace muster {

/// The claim to prove, and the kernel's credentials of the peer.
struct PsecClaim {
    uint32_t uid = 0;  ///< the peer must turn out to be this user ...
    uint32_t gid = 0;  ///< ... and group
    std::optional<PeerCredentials> kernel;
};

/// The user that a credential names.
struct PsecOwner {
    uint32_t uid = 0;
    uint32_t gid = 0;
};

/// One component. Any thread.
class Psec : public TableFacade<muster_psec_t> {
  public:
    using TableFacade::TableFacade;

    const char* name() const { return name_.c_str(); }
    /// This process's own credential, to be sent. `directives` come from PMIx_Get_credential (empty at a
    /// handshake).
    Result<Bytes> create_credential(InfoView directives) const;
    /// Whether the bytes prove the claim; the error's sentence names the mismatch.
    Result<void> validate_credential(ByteView credential, const PsecClaim& claim) const;
    /// Returns the owner of a self-contained credential, otherwise PMIX_ERR_NOT_SUPPORTED.
    Result<PsecOwner> identify_credential(ByteView credential) const;
    /// Advice to a user whose credential was refused on a connection other than a local socket, or "".
    const char* remedy() const { return MUSTER_HAS(operations_, remedy) ? operations_->remedy : ""; }
};

}  // namespace muster
