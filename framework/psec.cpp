// SPDX-License-Identifier: BSD-3-Clause
// psec: see psec.hpp.
#include "framework/psec.hpp"

namespace muster {

Result<Bytes> Psec::create_credential(InfoView directives) const {
    if (!MUSTER_HAS(operations_, create_credential)) return unsupported(name_, "create_credential");
    pmix_byte_object_t credential{};
    Reason reason;
    const pmix_status_t status = operations_->create_credential(operations_->context, directives.data,
                                                                directives.size, &credential, reason.text);
    Bytes made = Bytes::adopt(credential.bytes, credential.bytes == nullptr ? 0 : credential.size);
    if (status != PMIX_SUCCESS) return failed("psec", name_, status, reason);
    return made;
}

Result<void> Psec::validate_credential(ByteView credential, const PsecClaim& claim) const {
    if (!MUSTER_HAS(operations_, validate_credential)) return unsupported(name_, "validate_credential");
    muster_psec_claim_t wanted{};
    wanted.struct_size = sizeof wanted;
    wanted.uid = claim.uid;
    wanted.gid = claim.gid;
    if (claim.kernel) {
        wanted.kernel_known = true;
        wanted.kernel_uid = claim.kernel->uid;
        wanted.kernel_gid = claim.kernel->gid;
        wanted.kernel_pid = claim.kernel->pid;
    }
    Reason reason;
    const pmix_status_t status = operations_->validate_credential(operations_->context, credential.data(),
                                                                  credential.size(), &wanted, reason.text);
    if (status != PMIX_SUCCESS) return failed("psec", name_, status, reason);
    return {};
}

Result<PsecOwner> Psec::identify_credential(ByteView credential) const {
    if (!MUSTER_HAS(operations_, identify_credential)) return unsupported(name_, "identify_credential");
    muster_psec_owner_t owner{};
    owner.struct_size = sizeof owner;
    Reason reason;
    const pmix_status_t status = operations_->identify_credential(operations_->context, credential.data(),
                                                                  credential.size(), &owner, reason.text);
    if (status != PMIX_SUCCESS) return failed("psec", name_, status, reason);
    return PsecOwner{owner.uid, owner.gid};
}

}  // namespace muster
