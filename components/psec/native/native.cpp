// SPDX-License-Identifier: BSD-3-Clause
// psec/native: the credential is the sender's effective user and group, two numbers of 4 bytes in host order.
// They are a claim, which the kernel's credentials of the connection prove. Without these nothing is proved:
// the peer may be on another machine, or may have disconnected early.
#include <unistd.h>

#include <array>
#include <cstring>
#include <pmix/sdk/component.hpp>
#include <string>

#include "framework/base/own_component.hpp"

namespace {

using muster::sdk::Failure;

constexpr uint32_t kNoGid = UINT32_MAX;

[[noreturn]] void refuse(const std::string& why) {
    throw Failure(PMIX_ERR_INVALID_CRED, why);
}

void compare(const char* what, uint32_t claimed, uint32_t wanted, const char* whose) {
    if (claimed == wanted) return;
    refuse("the peer says that its " + std::string(what) + " is " + std::to_string(claimed) + ", but " +
           whose + " is " + std::to_string(wanted));
}

class Native {
  public:
    static constexpr const char* kRemedy =
        "psec/native proves something over TCP only where the server's kernel says whose connection it is "
        "(sock_diag, on the same machine): use psec/munge, or PMIX_MCA_psec_native_trust_claims=1 at the "
        "server, if all that can connect are trusted";

    explicit Native(muster::sdk::Host host) : host_(host), trust_claims_(host.boolean("trust_claims")) {}

    muster::sdk::Buffer create_credential(std::span<const pmix_info_t>) const {
        const std::array<uint32_t, 2> ids{geteuid(), getegid()};
        muster::sdk::Buffer credential(host_, sizeof ids);
        std::memcpy(credential.data(), ids.data(), sizeof ids);
        return credential;
    }

    void validate_credential(std::span<const uint8_t> credential, const muster_psec_claim_t& claim) const {
        std::array<uint32_t, 2> ids;
        if (credential.size() != sizeof ids) {
            refuse("the credential has " + std::to_string(credential.size()) + " bytes, not 8");
        }
        std::memcpy(ids.data(), credential.data(), sizeof ids);
        const auto [uid, gid] = ids;
        if (claim.kernel_known) {
            compare("user", uid, claim.kernel_uid, "its user");
            if (claim.kernel_gid != kNoGid) compare("group", gid, claim.kernel_gid, "its group");
        } else if (!trust_claims_) {
            refuse(
                "the kernel does not say whose process is at the other end, so what that says of itself " +
                std::string("proves nothing; use psec/munge (or PMIX_MCA_psec_native_trust_claims=1, if ") +
                "all that can connect are trusted)");
        }
        compare("user", uid, claim.uid, "the registered user");
        compare("group", gid, claim.gid, "the registered group");
    }

  private:
    const muster::sdk::Host host_;
    const bool trust_claims_;
};

constexpr muster_param_t kParams[] = {
    {"trust_claims", MUSTER_PARAM_BOOL, "false", nullptr,
     "Trust the identity of a peer that the kernel cannot verify, such as a tool on another machine", nullptr,
     nullptr}};

}  // namespace

MUSTER_COMPONENT(psec, native) {
    static const muster_component_t descriptor =
        muster::sdk::psec_component<Native>(muster::own_component("native", 10, kParams));
    return &descriptor;
}
