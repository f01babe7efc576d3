// SPDX-License-Identifier: BSD-3-Clause
// The upcall group, and the groups that this node's server knows.
#include <pmix.h>
#include <pmix/muster.h>

#include <memory>

#include "tools/muster/host/honoured.hpp"
#include "tools/muster/host/upcalls.hpp"
#include "tools/muster/services/groups.hpp"

namespace muster::launcher {
namespace {

/// The results for the library: the members, the context id, and the data that the servers exchange.
InfoList results_of(const GroupAnswer& answer) {
    InfoList results;
    results.procs(PMIX_GROUP_MEMBERSHIP, answer.members);
    const size_t id = answer.context_id;
    if (id != 0) results.add(PMIX_GROUP_CONTEXT_ID, &id, PMIX_SIZE);
    const pmix_byte_object_t object{const_cast<char*>(answer.data.data()), answer.data.size()};  // copied
    if (object.size != 0) results.add(PMIX_GROUP_ENDPT_DATA, &object, PMIX_BYTE_OBJECT);
    return results;
}

Link::Done answer_with(pmix_info_cbfunc_t callback, void* data) {
    return [callback, data](pmix_status_t status, Buffer& in) {
        if (callback == nullptr) return;
        GroupAnswer answer;
        const bool some = status == PMIX_SUCCESS && !in.rest().empty() && in.unpack(answer);
        give_infos(callback, data, status, some ? results_of(answer) : InfoList());
    };
}

pmix_status_t group(pmix_group_operation_t operation, char id[], const pmix_proc_t procs[], size_t count,
                    const pmix_info_t info[], size_t info_count, pmix_info_cbfunc_t callback, void* data) {
    const Infos directives(info, info_count);
    const std::optional<uint32_t> seconds = directives.timeout();
    if (id == nullptr || !seconds) return PMIX_ERR_BAD_PARAM;
    if (operation != PMIX_GROUP_CONSTRUCT && operation != PMIX_GROUP_DESTRUCT) return PMIX_ERR_NOT_SUPPORTED;
    const pmix_status_t status = check_required("group", directives);
    if (status != PMIX_SUCCESS) return status;
    const pmix_info_t* endpoints = directives.find(PMIX_GROUP_ENDPT_DATA);
    // The launcher gets departures and counts without these processes. It gets no failure of a process
    // that has finalized and keeps running.
    if (directives.find(MUSTER_GROUP_STANDIN) != nullptr && endpoints == nullptr)
        return PMIX_OPERATION_SUCCEEDED;
    const auto wanted = [&](const char* key) { return directives.is_true(key); };
    GroupRequest request;
    request.operation = operation == PMIX_GROUP_CONSTRUCT ? GroupRequest::Operation::Construct
                                                          : GroupRequest::Operation::Destruct;
    request.id = id;
    request.procs = names_of(procs, count);
    request.seconds = *seconds;
    if (wanted(PMIX_GROUP_ASSIGN_CONTEXT_ID)) request.flags |= GroupRequest::AssignId;
    if (wanted(PMIX_GROUP_OPTIONAL)) request.flags |= GroupRequest::Optional | GroupRequest::Tolerant;
    if (wanted(PMIX_GROUP_FT_COLLECTIVE) || wanted(PMIX_GROUP_NOTIFY_TERMINATION))
        request.flags |= GroupRequest::Tolerant;
    if (directives.find(PMIX_GROUP_BOOTSTRAP) != nullptr) {
        const std::optional<int64_t> number = directives.integer(PMIX_GROUP_BOOTSTRAP);
        if (!number || *number <= 0 || *number > UINT32_MAX) return PMIX_ERR_BAD_PARAM;
        request.flags |= GroupRequest::Bootstrap;
        request.leaders = static_cast<uint32_t>(*number);
        request.added = directives.procs(PMIX_GROUP_ADD_MEMBERS);
    } else if (count == 0) {
        request.flags |= GroupRequest::Added;
        request.procs = directives.procs(PMIX_PROCID);
    }
    request.local_status =
        static_cast<int32_t>(directives.integer(PMIX_LOCAL_COLLECTIVE_STATUS).value_or(PMIX_SUCCESS));
    if (endpoints != nullptr && endpoints->value.type == PMIX_BYTE_OBJECT)
        request.data.assign(endpoints->value.data.bo.bytes, endpoints->value.data.bo.size);
    ask_launcher(Topic::Group, pack(request), answer_with(callback, data));
    return PMIX_SUCCESS;
}

/// The groups that the library of this node knows.
std::vector<KnownGroup> groups_in(const Infos& infos) {
    std::vector<KnownGroup> groups;
    const pmix_info_t* all = infos.find(MUSTER_GROUPS);
    if (all == nullptr) return groups;
    const Infos entries = Infos::of(all->value).value_or(Infos());
    for (const pmix_info_t& entry : entries) {
        const Infos facts = Infos::of(entry.value).value_or(Infos());
        const pmix_info_t* id = facts.find(PMIX_GROUP_ID);
        const pmix_info_t* members = facts.find(PMIX_GROUP_MEMBERSHIP);
        if (id != nullptr && members != nullptr)
            groups.push_back({text_of(id->value), procs_of(members->value)});
    }
    return groups;
}

/// The question to the library, alive until it has answered.
struct Asked {
    uint64_t question = 0;  ///< the launcher's
    char key[PMIX_MAX_KEYLEN + 1] = {};
    char* keys[2] = {key, nullptr};
    pmix_query_t query{};
};

void answer_groups(uint64_t question, const std::vector<KnownGroup>& groups) {
    on_loop([question, body = pack(groups)] { this_node().link().answer(question, PMIX_SUCCESS, body); });
}

void answered(pmix_status_t, pmix_info_t* infos, size_t count, void* data, pmix_release_cbfunc_t release,
              void* owned) {
    const std::unique_ptr<Asked> asked(static_cast<Asked*>(data));
    answer_groups(asked->question, groups_in({infos, count}));
    if (release != nullptr) release(owned);
}

void ask_library(uint64_t question, Buffer&) {
    auto asked = std::make_unique<Asked>();
    asked->question = question;
    PMIX_LOAD_KEY(asked->key, MUSTER_GROUPS);
    asked->query.keys = asked->keys;
    if (PMIx_Query_info_nb(&asked->query, 1, answered, asked.get()) == PMIX_SUCCESS) {
        (void)asked.release();  // the callback has it
    } else {
        answer_groups(question, {});
    }
}

}  // namespace

void list_groups(std::function<void(std::vector<KnownGroup> groups)> done) {
    this_node().link().ask(Topic::KnownGroups, {},
                           [done = std::move(done)](pmix_status_t status, Buffer& in) {
                               std::vector<KnownGroup> groups;
                               if (status != PMIX_SUCCESS || !in.unpack(groups)) groups.clear();
                               done(std::move(groups));
                           });
}

void add_group_upcalls(pmix_server_module_t& module) {
    module.group = upcall<group>;
    this_node().on(Topic::KnownGroups, ask_library);
}

}  // namespace muster::launcher
