// SPDX-License-Identifier: BSD-3-Clause
// psec: proof of identity at the handshake. Facade over the SDK's C interface (pmix/sdk/psec.h).
#pragma once

#include <pmix/sdk/psec.h>

#include <memory>
#include <optional>
#include <string>

#include "framework/base/bytes.hpp"
#include "framework/base/info.hpp"
#include "framework/base/result.hpp"
#include "framework/ptl.hpp"

namespace muster {

/// What is to be proved, and what the kernel says of the peer.
struct PsecClaim {
    uint32_t uid = 0;  ///< the peer must turn out to be this user ...
    uint32_t gid = 0;  ///< ... and group
    std::optional<PeerCredentials> kernel;
};

/// Whom a credential names.
struct PsecOwner {
    uint32_t uid = 0;
    uint32_t gid = 0;
};

class Psec {
  public:
    virtual ~Psec() = default;
    virtual const char* name() const = 0;
    /// Our own credential, to be sent. `directives` come from PMIx_Get_credential (empty at a handshake).
    virtual Result<Bytes> create_credential(InfoView directives) = 0;
    /// Whether the bytes prove the claim; the error's sentence says what did not fit.
    virtual Result<void> validate_credential(ByteView credential, const PsecClaim& claim) = 0;
    /// Whose the credential is, where it proves that by itself; PMIX_ERR_NOT_SUPPORTED where it does not.
    virtual Result<PsecOwner> identify_credential(ByteView credential) = 0;
    /// Advice to the user whose credential was refused on a connection that is no local socket, or "".
    virtual const char* remedy() const { return ""; }
};

/// The facade over a component's table, which lives as long as the result. Any thread.
std::unique_ptr<Psec> adapt_psec(const muster_psec_t* operations, std::string name);

}  // namespace muster
