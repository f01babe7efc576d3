// SPDX-License-Identifier: BSD-3-Clause
// The common form of the calls that a service answers: see call.hpp.
#include "core/api/call.hpp"

#include "framework/base/complete.hpp"

namespace muster::api {

std::shared_ptr<Info> keep_infos(const pmix_info_t info[], size_t ninfo) {
    if (ninfo > 0 && info == nullptr) return nullptr;
    if (elements_complete(info, ninfo, PMIX_INFO) != PMIX_SUCCESS) return nullptr;
    auto copy = Info::copy_of(info, ninfo);
    return copy ? std::make_shared<Info>(std::move(*copy)) : nullptr;
}

pmix_status_t check(Process& process, Function function, InfoView directives, bool alone) {
    if (directives.empty()) return PMIX_SUCCESS;
    if (directives.data == nullptr) return PMIX_ERR_BAD_PARAM;
    const bool others = !alone && process.exchange().can_ask();
    const auto checked = check_directives(function, directives, others, process.log());
    if (!checked) MUSTER_LOG(process.log(), Error, "%s", checked.error().text.c_str());
    return checked.status();
}

pmix_status_t keep_directives(Process& process, Function function, const pmix_info_t info[], size_t ninfo,
                              std::shared_ptr<Info>& kept) {
    kept = keep_infos(info, ninfo);
    return kept ? check(process, function, *kept) : PMIX_ERR_BAD_PARAM;
}

std::vector<std::string> keep_keys(char* const* keys) {
    std::vector<std::string> kept;
    for (; keys != nullptr && *keys != nullptr; ++keys)
        kept.emplace_back(*keys);
    return kept;
}

void run(Process& process, const Start& start, HostDone done) {
    const pmix_status_t status = guard([&]() -> pmix_status_t {
        start.run(process, done);
        return PMIX_SUCCESS;
    });
    if (status != PMIX_SUCCESS) done(answer_of(status));
}

HostDone to_callback(pmix_op_cbfunc_t cbfunc, void* cbdata) {
    return [cbfunc, cbdata](const HostAnswer& answer) {
        if (cbfunc != nullptr) cbfunc(answer.status, cbdata);
    };
}

HostDone to_callback(pmix_info_cbfunc_t cbfunc, void* cbdata) {
    return [cbfunc, cbdata](HostAnswer answer) {
        if (cbfunc == nullptr) return;
        if (answer.info.empty()) return cbfunc(answer.status, nullptr, 0, cbdata, nullptr, nullptr);
        auto* kept = new Info(std::move(answer.info));
        cbfunc(
            answer.status, kept->data(), kept->size(), cbdata,
            [](void* infos) { delete static_cast<Info*>(infos); }, kept);
    };
}

void give_results(HostAnswer& answer, pmix_info_t** results, size_t* nresults) {
    const auto [data, size] = answer.info.release();
    const bool wanted = results != nullptr && nresults != nullptr;
    if (!wanted) Info::adopt(data, size);
    if (results != nullptr) *results = wanted ? data : nullptr;
    if (nresults != nullptr) *nresults = wanted ? size : 0;
}

}  // namespace muster::api
