// SPDX-License-Identifier: BSD-3-Clause
// The groups of all nodes: each node's server is asked what it knows itself.
#include "tools/muster/host/group_list.hpp"

#include <pmix.h>

#include <memory>

#include "tools/muster/host/upcalls.hpp"

namespace muster::launcher {
namespace {

/// What the library of this node knows; keys of its own (core/groups/group_query.hpp).
constexpr const char* kGroupsKey = "muster.groups";

std::vector<KnownGroup> groups_in(const pmix_info_t* infos, size_t count) {
    std::vector<KnownGroup> groups;
    const pmix_info_t* all = find_info(infos, count, kGroupsKey);
    if (all == nullptr || all->value.type != PMIX_DATA_ARRAY || all->value.data.darray == nullptr ||
        all->value.data.darray->type != PMIX_INFO) {
        return groups;
    }
    const auto* entries = static_cast<const pmix_info_t*>(all->value.data.darray->array);
    for (size_t i = 0; i < all->value.data.darray->size; ++i) {
        const pmix_data_array_t* entry = entries[i].value.data.darray;
        if (entries[i].value.type != PMIX_DATA_ARRAY || entry == nullptr || entry->type != PMIX_INFO)
            continue;
        const auto* facts = static_cast<const pmix_info_t*>(entry->array);
        const pmix_info_t* id = find_info(facts, entry->size, PMIX_GROUP_ID);
        const pmix_info_t* members = find_info(facts, entry->size, PMIX_GROUP_MEMBERSHIP);
        if (id == nullptr || members == nullptr || members->value.type != PMIX_DATA_ARRAY ||
            members->value.data.darray == nullptr || members->value.data.darray->type != PMIX_PROC) {
            continue;
        }
        const pmix_data_array_t& procs = *members->value.data.darray;
        groups.push_back(
            {text_of(id->value), names_of(static_cast<const pmix_proc_t*>(procs.array), procs.size)});
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

void answer_with(uint64_t question, const std::vector<KnownGroup>& groups) {
    on_loop([question, body = pack(groups)] { this_node().link().answer(question, PMIX_SUCCESS, body); });
}

void answered(pmix_status_t, pmix_info_t* infos, size_t count, void* data, pmix_release_cbfunc_t release,
              void* owned) {
    const std::unique_ptr<Asked> asked(static_cast<Asked*>(data));
    answer_with(asked->question, groups_in(infos, count));
    if (release != nullptr) release(owned);
}

void ask_library(uint64_t question, Buffer&) {
    auto asked = std::make_unique<Asked>();
    asked->question = question;
    PMIX_LOAD_KEY(asked->key, kGroupsKey);
    asked->query.keys = asked->keys;
    if (PMIx_Query_info_nb(&asked->query, 1, answered, asked.get()) == PMIX_SUCCESS) {
        (void)asked.release();  // the callback has it
    } else {
        answer_with(question, {});
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

void add_group_list() {
    this_node().on(Topic::KnownGroups, ask_library);
}

}  // namespace muster::launcher
