// SPDX-License-Identifier: BSD-3-Clause
// The scheduler: a PMIx server that decides about resources. The first node is a tool of it, and sends
// requests on behalf of the launcher, before a job with an allocation is started.
#include <fmt/format.h>
#include <pmix.h>
#include <pmix_tool.h>

#include <memory>

#include "tools/muster/host/upcalls.hpp"
#include "tools/muster/services/spawner.hpp"

namespace muster::launcher {
namespace {

constexpr int kPatience = 30;  // seconds, to connect

/// A request, alive until it is answered.
struct Request {
    uint64_t question = 0;  ///< the launcher's
    InfoList info;
};

void answer_with(uint64_t question, pmix_status_t status, const std::string& id, const std::string& nodes) {
    if (status == PMIX_OPERATION_SUCCEEDED) status = PMIX_SUCCESS;
    this_node().link().answer(question, status, pack(id, nodes));
}

void answered(pmix_status_t status, pmix_info_t* info, size_t count, void* data,
              pmix_release_cbfunc_t release, void* release_data) {
    const std::unique_ptr<Request> request(static_cast<Request*>(data));
    guarded([&]() -> pmix_status_t {
        const Infos given(info, count);
        std::string nodes = given.text(PMIX_ALLOC_NODE_LIST);
        if (nodes.empty()) nodes = given.text(PMIX_NODE_LIST);
        on_loop([question = request->question, status, id = given.text(PMIX_ALLOC_ID), nodes] {
            answer_with(question, status, id, nodes);
        });
        return PMIX_SUCCESS;
    });
    if (release != nullptr) release(release_data);
}

void ask_scheduler(uint64_t question, Buffer& in) {
    Spawner::Request what{};
    std::string bytes;
    if (!in.unpack(what, bytes)) return answer_with(question, PMIX_ERR_BAD_PARAM, {}, {});
    auto request = std::make_unique<Request>();
    request->question = question;
    const bool release = what == Spawner::Request::Release;
    if (release) {
        request->info.text(PMIX_ALLOC_ID, bytes);
    } else {
        request->info.copy(UnpackedInfo(bytes));
    }
    const pmix_status_t status =
        PMIx_Allocation_request_nb(release ? PMIX_ALLOC_RELEASE : PMIX_ALLOC_NEW, request->info.data(),
                                   request->info.size(), answered, request.get());
    if (status == PMIX_SUCCESS) {
        (void)request.release();  // the callback has it
    } else {
        answer_with(question, status, {}, {});
    }
}

}  // namespace

std::string join_scheduler(const std::string& uri) {
    const bool yes = true;
    pmix_proc_t server;
    InfoList info;
    info.text(PMIX_SERVER_URI, uri);
    info.add(PMIX_TIMEOUT, &kPatience, PMIX_INT).add(PMIX_PRIMARY_SERVER, &yes, PMIX_BOOL);
    const pmix_status_t status = PMIx_tool_attach_to_server(nullptr, &server, info.data(), info.size());
    if (status != PMIX_SUCCESS)
        return fmt::format("the scheduler at '{}' cannot be reached: {}", uri, PMIx_Error_string(status));
    this_node().on(Topic::Spawn, ask_scheduler);
    return {};
}

}  // namespace muster::launcher
