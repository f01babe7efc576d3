// SPDX-License-Identifier: BSD-3-Clause
// A host in memory: it records the upcalls of its server, and the test answers them, in any order, late or
// never.
#pragma once

#include <pmix_server.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/exchange/host.hpp"

namespace muster::testing_in_memory {

/// One recorded upcall.
struct Upcall {
    std::string name;
    std::vector<pmix_proc_t> procs;  ///< the caller, the target or the participants
    Info info;
    Info data;  ///< log: the logged data; queries: one info per key, in the order of the request
    Bytes bytes;
    std::vector<std::string> keys;
    std::string text;
    int number = 0;                              ///< status, event, directive or channels
    std::vector<pmix_status_t> codes;            ///< of environment events
    pmix_data_range_t range = PMIX_RANGE_UNDEF;  ///< of an event
    std::function<void(const HostAnswer& answer)> answer;
};

/// The host of one node. `Node` distinguishes the hosts of several servers in one test, because upcalls carry
/// no context.
class FakeHost {
  public:
    /// Answers with success automatically: most tests do not use these upcalls.
    std::set<std::string> agreeable{"client_connected", "client_finalized", "register_events",
                                    "deregister_events"};
    /// Upcalls that return this status and are not recorded as open.
    std::map<std::string, pmix_status_t> returns;

    FakeHost() = default;
    FakeHost(const FakeHost&) = delete;
    FakeHost& operator=(const FakeHost&) = delete;

    /// Removes the oldest open upcall of that name; null if there is none.
    std::shared_ptr<Upcall> take(const std::string& name) {
        const auto found =
            std::find_if(open_.begin(), open_.end(), [&](const auto& one) { return one->name == name; });
        if (found == open_.end()) return nullptr;
        auto taken = *found;
        open_.erase(found);
        return taken;
    }
    /// Number of upcalls of that name so far.
    size_t count(const std::string& name) const {
        const auto found = counts_.find(name);
        return found == counts_.end() ? 0 : found->second;
    }

    pmix_status_t call(Upcall&& upcall) {
        ++counts_[upcall.name];
        if (const auto fixed = returns.find(upcall.name); fixed != returns.end()) return fixed->second;
        if (agreeable.count(upcall.name) != 0) return PMIX_OPERATION_SUCCEEDED;
        open_.push_back(std::make_shared<Upcall>(std::move(upcall)));
        return PMIX_SUCCESS;
    }

    /// The upcalls of the host of a node (0 or 1).
    template <int Node>
    static FakeHost*& of() {
        static FakeHost* host = nullptr;
        return host;
    }
    /// The table with all upcalls. A test may set some to NULL.
    template <int Node>
    static pmix_server_module_t module();

  private:
    std::deque<std::shared_ptr<Upcall>> open_;
    std::map<std::string, size_t> counts_;
};

namespace upcalls {

inline Upcall make(const char* name, const pmix_proc_t* procs, size_t nprocs, const pmix_info_t* info,
                   size_t ninfo) {
    Upcall upcall;
    upcall.name = name;
    if (procs != nullptr) upcall.procs.assign(procs, procs + nprocs);
    if (auto copy = Info::copy_of(info, ninfo)) upcall.info = std::move(*copy);
    return upcall;
}
inline auto op(pmix_op_cbfunc_t done, void* cbdata) {
    return [=](const HostAnswer& answer) { done(answer.status, cbdata); };
}
inline auto infos(pmix_info_cbfunc_t done, void* cbdata) {
    return [=](const HostAnswer& answer) {
        done(answer.status, const_cast<pmix_info_t*>(answer.info.data()), answer.info.size(), cbdata, nullptr,
             nullptr);
    };
}
inline auto modex(pmix_modex_cbfunc_t done, void* cbdata) {
    return [=](const HostAnswer& answer) {
        done(answer.status, reinterpret_cast<const char*>(answer.data.data()), answer.data.size(), cbdata,
             nullptr, nullptr);
    };
}

}  // namespace upcalls

template <int Node>
pmix_server_module_t FakeHost::module() {
    using namespace upcalls;
    pmix_server_module_t table;
    std::memset(static_cast<void*>(&table), 0, sizeof table);
    table.client_connected2 = [](const pmix_proc_t* proc, void*, pmix_info_t info[], size_t ninfo,
                                 pmix_op_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("client_connected", proc, 1, info, ninfo);
        upcall.answer = op(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.client_finalized = [](const pmix_proc_t* proc, void*, pmix_op_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("client_finalized", proc, 1, nullptr, 0);
        upcall.answer = op(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.abort = [](const pmix_proc_t* proc, void*, int status, const char text[], pmix_proc_t procs[],
                     size_t nprocs, pmix_op_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("abort", proc, 1, nullptr, 0);
        upcall.procs.insert(upcall.procs.end(), procs, procs + nprocs);
        upcall.number = status;
        upcall.text = text == nullptr ? "" : text;
        upcall.answer = op(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.fence_nb = [](const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo,
                        char* data, size_t ndata, pmix_modex_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("fence", procs, nprocs, info, ninfo);
        upcall.bytes.append(data, ndata);
        std::free(data);
        upcall.answer = modex(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.direct_modex = [](const pmix_proc_t* proc, const pmix_info_t info[], size_t ninfo,
                            pmix_modex_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("direct_modex", proc, 1, info, ninfo);
        upcall.answer = modex(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.publish = [](const pmix_proc_t* proc, const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t done,
                       void* cbdata) {
        Upcall upcall = make("publish", proc, 1, info, ninfo);
        upcall.answer = op(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.lookup = [](const pmix_proc_t* proc, char** keys, const pmix_info_t info[], size_t ninfo,
                      pmix_lookup_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("lookup", proc, 1, info, ninfo);
        for (; keys != nullptr && *keys != nullptr; ++keys)
            upcall.keys.emplace_back(*keys);
        upcall.answer = [=](const HostAnswer& answer) {
            std::vector<pmix_pdata_t> found(answer.info.size());
            for (size_t i = 0; i < found.size(); ++i) {
                found[i].proc = answer.owners.at(i);
                std::memcpy(found[i].key, answer.info[i].key, sizeof found[i].key);
                found[i].value = answer.info[i].value;
            }
            done(answer.status, found.data(), found.size(), cbdata);
        };
        return of<Node>()->call(std::move(upcall));
    };
    table.unpublish = [](const pmix_proc_t* proc, char** keys, const pmix_info_t info[], size_t ninfo,
                         pmix_op_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("unpublish", proc, 1, info, ninfo);
        for (; keys != nullptr && *keys != nullptr; ++keys)
            upcall.keys.emplace_back(*keys);
        upcall.answer = op(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.spawn = [](const pmix_proc_t* proc, const pmix_info_t info[], size_t ninfo, const pmix_app_t apps[],
                     size_t napps, pmix_spawn_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("spawn", proc, 1, info, ninfo);
        for (size_t i = 0; i < napps; ++i)
            upcall.keys.emplace_back(apps[i].cmd);
        upcall.answer = [=](const HostAnswer& answer) {
            pmix_nspace_t nspace = {};
            std::strncpy(nspace, answer.nspace.c_str(), PMIX_MAX_NSLEN);
            done(answer.status, nspace, cbdata);
        };
        return of<Node>()->call(std::move(upcall));
    };
    table.connect = [](const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo,
                       pmix_op_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("connect", procs, nprocs, info, ninfo);
        upcall.answer = op(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.disconnect = [](const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo,
                          pmix_op_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("disconnect", procs, nprocs, info, ninfo);
        upcall.answer = op(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.register_events = [](pmix_status_t* codes, size_t ncodes, const pmix_info_t info[], size_t ninfo,
                               pmix_op_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("register_events", nullptr, 0, info, ninfo);
        upcall.number = ncodes == 0 ? 0 : codes[0];
        upcall.codes.assign(codes, codes + ncodes);
        upcall.answer = op(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.deregister_events = [](pmix_status_t* codes, size_t ncodes, pmix_op_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("deregister_events", nullptr, 0, nullptr, 0);
        upcall.number = ncodes == 0 ? 0 : codes[0];
        upcall.codes.assign(codes, codes + ncodes);
        upcall.answer = op(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.notify_event = [](pmix_status_t code, const pmix_proc_t* source, pmix_data_range_t range,
                            pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("notify_event", source, 1, info, ninfo);
        upcall.number = code;
        upcall.range = range;
        upcall.answer = op(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.query = [](pmix_proc_t* proc, pmix_query_t* queries, size_t nqueries, pmix_info_cbfunc_t done,
                     void* cbdata) {
        Upcall upcall = make("query", proc, 1, queries[0].qualifiers, queries[0].nqual);
        for (size_t i = 0; i < nqueries; ++i) {
            for (char** key = queries[i].keys; key != nullptr && *key != nullptr; ++key)
                upcall.keys.emplace_back(*key);
        }
        upcall.answer = infos(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.tool_connected2 = [](pmix_info_t info[], size_t ninfo, pmix_tool_connection_cbfunc_t done,
                               void* cbdata) {
        Upcall upcall = make("tool_connected", nullptr, 0, info, ninfo);
        upcall.answer = [=](const HostAnswer& answer) {
            pmix_proc_t name = answer.proc;
            done(answer.status, &name, cbdata);
        };
        return of<Node>()->call(std::move(upcall));
    };
    table.log2 = [](const pmix_proc_t* proc, const pmix_info_t data[], size_t ndata, const pmix_info_t info[],
                    size_t ninfo, pmix_op_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("log", proc, 1, info, ninfo);
        if (auto copy = Info::copy_of(data, ndata)) upcall.data = std::move(*copy);
        upcall.answer = op(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.allocate = [](const pmix_proc_t* proc, pmix_alloc_directive_t directive, const pmix_info_t info[],
                        size_t ninfo, pmix_info_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("allocate", proc, 1, info, ninfo);
        upcall.number = directive;
        upcall.answer = infos(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.job_control = [](const pmix_proc_t* proc, const pmix_proc_t targets[], size_t ntargets,
                           const pmix_info_t info[], size_t ninfo, pmix_info_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("job_control", proc, 1, info, ninfo);
        upcall.procs.insert(upcall.procs.end(), targets, targets + ntargets);
        upcall.answer = infos(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.monitor = [](const pmix_proc_t* proc, const pmix_info_t* monitor, pmix_status_t error,
                       const pmix_info_t info[], size_t ninfo, pmix_info_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("monitor", proc, 1, info, ninfo);
        upcall.keys.emplace_back(monitor->key);
        upcall.number = error;
        upcall.answer = infos(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.get_credential = [](const pmix_proc_t* proc, const pmix_info_t info[], size_t ninfo,
                              pmix_credential_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("get_credential", proc, 1, info, ninfo);
        upcall.answer = [=](const HostAnswer& answer) {
            pmix_byte_object_t bytes{reinterpret_cast<char*>(const_cast<uint8_t*>(answer.data.data())),
                                     answer.data.size()};
            done(answer.status, &bytes, const_cast<pmix_info_t*>(answer.info.data()), answer.info.size(),
                 cbdata);
        };
        return of<Node>()->call(std::move(upcall));
    };
    table.validate_credential = [](const pmix_proc_t* proc, const pmix_byte_object_t* credential,
                                   const pmix_info_t info[], size_t ninfo, pmix_validation_cbfunc_t done,
                                   void* cbdata) {
        Upcall upcall = make("validate_credential", proc, 1, info, ninfo);
        upcall.bytes.append(credential->bytes, credential->size);
        upcall.answer = [=](const HostAnswer& answer) {
            done(answer.status, const_cast<pmix_info_t*>(answer.info.data()), answer.info.size(), cbdata);
        };
        return of<Node>()->call(std::move(upcall));
    };
    table.iof_pull = [](const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo,
                        pmix_iof_channel_t channels, pmix_op_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("iof_pull", procs, nprocs, info, ninfo);
        upcall.number = channels;
        upcall.answer = op(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.push_stdin = [](const pmix_proc_t* source, const pmix_proc_t targets[], size_t ntargets,
                          const pmix_info_t info[], size_t ninfo, const pmix_byte_object_t* bytes,
                          pmix_op_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("push_stdin", source, 1, info, ninfo);
        upcall.procs.insert(upcall.procs.end(), targets, targets + ntargets);
        if (bytes != nullptr) upcall.bytes.append(bytes->bytes, bytes->size);
        upcall.answer = op(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.group = [](pmix_group_operation_t operation, char* id, const pmix_proc_t procs[], size_t nprocs,
                     const pmix_info_t info[], size_t ninfo, pmix_info_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("group", procs, nprocs, info, ninfo);
        upcall.text = id;
        upcall.number = operation;
        upcall.answer = infos(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.fabric = [](const pmix_proc_t* proc, pmix_fabric_operation_t operation, const pmix_info_t info[],
                      size_t ninfo, pmix_info_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("fabric", proc, 1, info, ninfo);
        upcall.number = operation;
        upcall.answer = infos(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.session_control = [](const pmix_proc_t* proc, uint32_t session, const pmix_info_t info[],
                               size_t ninfo, pmix_info_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("session_control", proc, 1, info, ninfo);
        upcall.number = static_cast<int>(session);
        upcall.answer = infos(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    table.resource_block = [](const pmix_proc_t* proc, pmix_resource_block_directive_t directive,
                              const char block[], const pmix_resource_unit_t units[], size_t nunits,
                              const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t done, void* cbdata) {
        Upcall upcall = make("resource_block", proc, 1, info, ninfo);
        upcall.number = directive;
        upcall.text = block;
        for (size_t i = 0; i < nunits; ++i)
            upcall.keys.push_back(std::to_string(units[i].count));
        upcall.answer = op(done, cbdata);
        return of<Node>()->call(std::move(upcall));
    };
    return table;
}

}  // namespace muster::testing_in_memory
