// SPDX-License-Identifier: BSD-3-Clause
// Fabric registrations (Standard: Fabric). The struct is the caller's; the library owns its content until the
// registration is released.
#include <pmix.h>

#include <tuple>

#include "core/api/call.hpp"
#include "core/api/guard.hpp"
#include "core/fabric/fabric.hpp"

using namespace muster;
using namespace muster::api;

namespace {

auto registering(const pmix_fabric_t* fabric, const pmix_info_t directives[], size_t ndirs) {
    return with_infos(Function::FabricRegister, fabric != nullptr, directives, ndirs,
                      [](Process& process, Info kept, HostDone done) {
                          register_fabric(process.exchange(), own(process, &Server::fabrics), std::move(kept),
                                          std::move(done));
                      });
}

auto updating(const pmix_fabric_t* fabric) {
    return [=](Process&, Start& start) -> pmix_status_t {
        if (fabric == nullptr) return PMIX_ERR_BAD_PARAM;
        start.run = [index = fabric->index](Process& process, HostDone done) {
            update_fabric(process.exchange(), own(process, &Server::fabrics), index, std::move(done));
        };
        return PMIX_SUCCESS;
    };
}

/// Replaces the content of the caller's struct by the answer.
void fill(pmix_fabric_t& fabric, HostAnswer& answer) {
    if (answer.status != PMIX_SUCCESS) return;
    if (const auto index = answer.info.view().number<size_t>(PMIX_FABRIC_INDEX)) fabric.index = *index;
    Info::adopt(fabric.info, fabric.ninfo);
    std::tie(fabric.info, fabric.ninfo) = answer.info.release();
}

HostDone filling(pmix_fabric_t* fabric, pmix_op_cbfunc_t cbfunc, void* cbdata) {
    return [fabric, cbfunc, cbdata](HostAnswer answer) {
        fill(*fabric, answer);
        if (cbfunc != nullptr) cbfunc(answer.status, cbdata);
    };
}

}  // namespace

pmix_status_t PMIx_Fabric_register(pmix_fabric_t* fabric, const pmix_info_t directives[], size_t ndirs) {
    HostAnswer answer;
    const pmix_status_t status = call(answer, registering(fabric, directives, ndirs));
    if (fabric != nullptr) {
        fabric->info = nullptr;  // whatever it held before registration is not ours
        fabric->ninfo = 0;
        if (status == PMIX_SUCCESS) fill(*fabric, answer);
    }
    return status;
}

pmix_status_t PMIx_Fabric_register_nb(pmix_fabric_t* fabric, const pmix_info_t directives[], size_t ndirs,
                                      pmix_op_cbfunc_t cbfunc, void* cbdata) {
    if (fabric == nullptr) return PMIX_ERR_BAD_PARAM;
    fabric->info = nullptr;
    fabric->ninfo = 0;
    return guard(
        [&] { return launch(filling(fabric, cbfunc, cbdata), registering(fabric, directives, ndirs)); });
}

pmix_status_t PMIx_Fabric_update(pmix_fabric_t* fabric) {
    HostAnswer answer;
    const pmix_status_t status = call(answer, updating(fabric));
    if (status == PMIX_SUCCESS) fill(*fabric, answer);
    return status;
}

pmix_status_t PMIx_Fabric_update_nb(pmix_fabric_t* fabric, pmix_op_cbfunc_t cbfunc, void* cbdata) {
    return guard([&] { return launch(filling(fabric, cbfunc, cbdata), updating(fabric)); });
}

pmix_status_t PMIx_Fabric_deregister(pmix_fabric_t* fabric) {
    return with_process([&](const Use&) -> pmix_status_t {
        if (fabric == nullptr) return PMIX_ERR_BAD_PARAM;
        Info::adopt(fabric->info, fabric->ninfo);
        fabric->info = nullptr;
        fabric->ninfo = 0;
        return PMIX_SUCCESS;
    });
}

pmix_status_t PMIx_Fabric_deregister_nb(pmix_fabric_t* fabric, pmix_op_cbfunc_t, void*) {
    // No other process has to be notified, so the call is complete on return and no callback follows.
    const pmix_status_t status = PMIx_Fabric_deregister(fabric);
    return status == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : status;
}
