// SPDX-License-Identifier: BSD-3-Clause
// The upcall group, and the groups that this node's server knows.
#include <pmix.h>

#include <memory>

#include "tools/muster/host/upcalls.hpp"
#include "tools/muster/services/groups.hpp"

namespace muster::launcher {
namespace {

std::vector<ProcName> names_in(const pmix_info_t* info) {
    if (info == nullptr) return {};
    if (info->value.type == PMIX_PROC && info->value.data.proc != nullptr)
        return {name_of(*info->value.data.proc)};
    if (info->value.type != PMIX_DATA_ARRAY || info->value.data.darray == nullptr ||
        info->value.data.darray->type != PMIX_PROC) {
        return {};
    }
    const pmix_data_array_t& array = *info->value.data.darray;
    return names_of(static_cast<const pmix_proc_t*>(array.array), array.size);
}

/// The results for the library: who is in, the context id, and what the servers told each other.
class Results {
  public:
    explicit Results(const GroupAnswer& answer) {
        std::vector<pmix_proc_t> members;
        for (const ProcName& name : answer.members)
            members.push_back(to_pmix(name));
        pmix_data_array_t array{PMIX_PROC, members.size(), members.data()};
        load(PMIX_GROUP_MEMBERSHIP, &array, PMIX_DATA_ARRAY);
        if (answer.context_id != 0) {
            size_t id = answer.context_id;
            load(PMIX_GROUP_CONTEXT_ID, &id, PMIX_SIZE);
        }
        if (!answer.data.empty()) {
            pmix_byte_object_t object{const_cast<char*>(answer.data.data()), answer.data.size()};
            load(PMIX_GROUP_ENDPT_DATA, &object, PMIX_BYTE_OBJECT);
        }
    }
    ~Results() {
        for (size_t i = 0; i < count_; ++i)
            PMIX_INFO_DESTRUCT(&infos_[i]);
    }
    Results(const Results&) = delete;
    Results& operator=(const Results&) = delete;
    pmix_info_t* data() { return infos_; }
    size_t size() const { return count_; }

  private:
    void load(const char* key, const void* value, pmix_data_type_t type) {
        PMIX_INFO_LOAD(&infos_[count_], key, value, type);
        ++count_;
    }
    pmix_info_t infos_[3];
    size_t count_ = 0;
};

Link::Done answer_with(pmix_info_cbfunc_t callback, void* data) {
    return [callback, data](pmix_status_t status, Buffer& in) {
        if (callback == nullptr) return;
        GroupAnswer answer;
        if (status != PMIX_SUCCESS || in.rest().empty() || !in.unpack(answer))
            return callback(status, nullptr, 0, data, nullptr, nullptr);
        auto* results = new Results(answer);
        callback(
            status, results->data(), results->size(), data,
            [](void* owned) { delete static_cast<Results*>(owned); }, results);
    };
}

pmix_status_t group(pmix_group_operation_t operation, char id[], const pmix_proc_t procs[], size_t count,
                    const pmix_info_t info[], size_t info_count, pmix_info_cbfunc_t callback, void* data) {
    return guarded([&]() -> pmix_status_t {
        const std::optional<uint32_t> seconds = timeout_of(info, info_count);
        if (id == nullptr || !seconds) return PMIX_ERR_BAD_PARAM;
        const auto find = [&](const char* key) { return find_info(info, info_count, key); };
        // The launcher hears who leaves, and counts without them; not what fails for somebody who is done
        // with PMIx and runs on.
        if (find("muster.grp.standin") != nullptr && find(PMIX_GROUP_ENDPT_DATA) == nullptr)
            return PMIX_OPERATION_SUCCEEDED;
        const auto wanted = [&](const char* key) { return find(key) != nullptr && is_true(*find(key)); };
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
        if (const pmix_info_t* leaders = find(PMIX_GROUP_BOOTSTRAP)) {
            const std::optional<int64_t> number = integer_of(leaders->value);
            if (!number || *number <= 0 || *number > UINT32_MAX) return PMIX_ERR_BAD_PARAM;
            request.flags |= GroupRequest::Bootstrap;
            request.leaders = static_cast<uint32_t>(*number);
            request.added = names_in(find(PMIX_GROUP_ADD_MEMBERS));
        } else if (count == 0) {
            request.flags |= GroupRequest::Added;
            request.procs = names_in(find(PMIX_PROCID));
        }
        if (const pmix_info_t* local = find(PMIX_LOCAL_COLLECTIVE_STATUS))
            request.local_status = static_cast<int32_t>(integer_of(local->value).value_or(PMIX_SUCCESS));
        if (const pmix_info_t* endpoints = find(PMIX_GROUP_ENDPT_DATA);
            endpoints != nullptr && endpoints->value.type == PMIX_BYTE_OBJECT) {
            request.data.assign(endpoints->value.data.bo.bytes, endpoints->value.data.bo.size);
        }
        ask_launcher(Topic::Group, pack(request), answer_with(callback, data));
        return PMIX_SUCCESS;
    });
}

/// The groups that the library of this node knows (core/groups/group_query.hpp).
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

void answer_groups(uint64_t question, const std::vector<KnownGroup>& groups) {
    on_loop([question, body = pack(groups)] { this_node().link().answer(question, PMIX_SUCCESS, body); });
}

void answered(pmix_status_t, pmix_info_t* infos, size_t count, void* data, pmix_release_cbfunc_t release,
              void* owned) {
    const std::unique_ptr<Asked> asked(static_cast<Asked*>(data));
    answer_groups(asked->question, groups_in(infos, count));
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
    module.group = group;
    this_node().on(Topic::KnownGroups, ask_library);
}

}  // namespace muster::launcher
