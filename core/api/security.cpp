// SPDX-License-Identifier: BSD-3-Clause
// Credentials (Standard: Security).
#include <pmix.h>

#include "core/api/call.hpp"
#include "core/credential/credential.hpp"

using namespace muster;
using namespace muster::api;

namespace {

auto getting(const pmix_info_t info[], size_t ninfo) {
    const auto work = [](Process& process, Info kept, HostDone done) {
        get_credential(process.exchange(), std::move(kept), std::move(done));
    };
    return with_infos(Function::GetCredential, true, info, ninfo, work, true);
}

auto validating(const pmix_byte_object_t* credential, const pmix_info_t info[], size_t ninfo) {
    return [=](Process& caller, Start& start) -> pmix_status_t {
        if (credential == nullptr || (credential->size > 0 && credential->bytes == nullptr))
            return PMIX_ERR_BAD_PARAM;
        const auto bytes = std::make_shared<Bytes>();
        bytes->append(credential->bytes, credential->size);
        start.alone = true;
        const auto work = [bytes](Process& process, Info kept, HostDone done) {
            validate_credential(process.exchange(), std::move(*bytes), std::move(kept), std::move(done));
        };
        return keep_and_start(caller, start, Function::ValidateCredential, info, ninfo, work);
    };
}

}  // namespace

pmix_status_t PMIx_Get_credential(const pmix_info_t info[], size_t ninfo, pmix_byte_object_t* credential) {
    if (credential == nullptr) return PMIX_ERR_BAD_PARAM;
    HostAnswer answer;
    const pmix_status_t status = call(answer, getting(info, ninfo));
    credential->size = answer.data.size();
    credential->bytes = reinterpret_cast<char*>(answer.data.release());
    return status;
}

pmix_status_t PMIx_Get_credential_nb(const pmix_info_t info[], size_t ninfo, pmix_credential_cbfunc_t cbfunc,
                                     void* cbdata) {
    if (cbfunc == nullptr) return PMIX_ERR_BAD_PARAM;
    return launch(
        [cbfunc, cbdata](HostAnswer answer) {
            pmix_byte_object_t credential{reinterpret_cast<char*>(answer.data.data()), answer.data.size()};
            cbfunc(answer.status, &credential, answer.info.data(), answer.info.size(), cbdata);
        },
        getting(info, ninfo));
}

pmix_status_t PMIx_Validate_credential(const pmix_byte_object_t* credential, const pmix_info_t info[],
                                       size_t ninfo, pmix_info_t** results, size_t* nresults) {
    return call_for_results(validating(credential, info, ninfo), results, nresults);
}

pmix_status_t PMIx_Validate_credential_nb(const pmix_byte_object_t* credential, const pmix_info_t info[],
                                          size_t ninfo, pmix_validation_cbfunc_t cbfunc, void* cbdata) {
    if (cbfunc == nullptr) return PMIX_ERR_BAD_PARAM;
    return launch(
        [cbfunc, cbdata](HostAnswer answer) {
            cbfunc(answer.status, answer.info.data(), answer.info.size(), cbdata);
        },
        validating(credential, info, ninfo));
}
