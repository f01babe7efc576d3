// SPDX-License-Identifier: BSD-3-Clause
// Publish and lookup (Standard: Publish/Lookup Operations).
#include <pmix.h>

#include <cstring>

#include "core/api/call.hpp"
#include "core/publish/directory.hpp"

using namespace muster;
using namespace muster::api;

namespace {

auto publishing(const pmix_info_t info[], size_t ninfo) {
    return with_infos(Function::Publish, info != nullptr && ninfo > 0, info, ninfo,
                      [](Process& process, Info kept, HostDone done) {
                          publish(process.exchange(), std::move(kept), std::move(done));
                      });
}

auto looking_up(std::vector<std::string> keys, const pmix_info_t info[], size_t ninfo) {
    return with_infos(Function::Lookup, !keys.empty(), info, ninfo,
                      [keys](Process& process, Info kept, HostDone done) {
                          lookup(process.exchange(), keys, std::move(kept), std::move(done));
                      });
}

auto unpublishing(char** keys, const pmix_info_t info[], size_t ninfo) {
    return with_infos(Function::Unpublish, true, info, ninfo,
                      [names = keep_keys(keys)](Process& process, Info kept, HostDone done) {
                          unpublish(process.exchange(), names, std::move(kept), std::move(done));
                      });
}

/// Fills the caller's entry from the answer, with UNDEF if the key was not found. The previous value is
/// ignored: callers such as the Python module leave it uninitialized.
pmix_status_t fill(pmix_pdata_t& entry, const HostAnswer& answer) {
    memset(&entry.value, 0, sizeof entry.value);
    entry.value.type = PMIX_UNDEF;
    for (size_t i = 0; i < answer.owners.size(); ++i) {
        if (!key_is(answer.info[i].key, entry.key)) continue;
        entry.proc = answer.owners[i];
        return value_copy(&entry.value, &answer.info[i].value);
    }
    return PMIX_SUCCESS;
}

}  // namespace

pmix_status_t PMIx_Publish(const pmix_info_t info[], size_t ninfo) {
    HostAnswer answer;
    return call(answer, publishing(info, ninfo));
}

pmix_status_t PMIx_Publish_nb(const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc, void* cbdata) {
    return launch(to_callback(cbfunc, cbdata), publishing(info, ninfo));
}

pmix_status_t PMIx_Lookup(pmix_pdata_t data[], size_t ndata, const pmix_info_t info[], size_t ninfo) {
    return guard([&]() -> pmix_status_t {
        if (data == nullptr || ndata == 0)
            return instance::initialized() ? PMIX_ERR_BAD_PARAM : PMIX_ERR_INIT;
        std::vector<std::string> keys;
        for (size_t i = 0; i < ndata; ++i)
            keys.emplace_back(key_view(data[i].key));
        HostAnswer answer;
        const pmix_status_t status = call(answer, looking_up(std::move(keys), info, ninfo));
        for (size_t i = 0; i < ndata; ++i) {
            if (const pmix_status_t filled = fill(data[i], answer); filled != PMIX_SUCCESS) return filled;
        }
        return status;
    });
}

pmix_status_t PMIx_Lookup_nb(char** keys, const pmix_info_t info[], size_t ninfo, pmix_lookup_cbfunc_t cbfunc,
                             void* cbdata) {
    if (cbfunc == nullptr) return PMIX_ERR_BAD_PARAM;
    const auto give = [cbfunc, cbdata](HostAnswer answer) {
        std::vector<pmix_pdata_t> found(answer.owners.size());
        for (size_t i = 0; i < found.size(); ++i) {
            found[i].proc = answer.owners[i];
            key_load(found[i].key, key_view(answer.info[i].key));
            found[i].value = answer.info[i].value;  // stays ours; the callback copies what it keeps
        }
        cbfunc(answer.status, found.empty() ? nullptr : found.data(), found.size(), cbdata);
    };
    return guard([&] { return launch(give, looking_up(keep_keys(keys), info, ninfo)); });
}

pmix_status_t PMIx_Unpublish(char** keys, const pmix_info_t info[], size_t ninfo) {
    return guard([&] {
        HostAnswer answer;
        return call(answer, unpublishing(keys, info, ninfo));
    });
}

pmix_status_t PMIx_Unpublish_nb(char** keys, const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                void* cbdata) {
    return guard([&] { return launch(to_callback(cbfunc, cbdata), unpublishing(keys, info, ninfo)); });
}
