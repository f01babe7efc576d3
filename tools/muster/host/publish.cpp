// SPDX-License-Identifier: BSD-3-Clause
// The upcalls publish, lookup and unpublish.
#include <pmix.h>

#include <cstring>
#include <utility>

#include "tools/muster/host/honoured.hpp"
#include "tools/muster/host/upcalls.hpp"
#include "tools/muster/services/directory.hpp"

namespace muster::launcher {
namespace {

/// Whether this directs the operation rather than being data.
bool is_directive(const pmix_info_t& info) {
    return is_any_of(
        info, {PMIX_USERID, PMIX_GRPID, PMIX_RANGE, PMIX_PERSISTENCE, PMIX_ACCESS_PERMISSIONS, PMIX_TIMEOUT,
               PMIX_WAIT, PMIX_EVENT_CUSTOM_RANGE, PMIX_REQUESTOR_IS_TOOL, PMIX_REQUESTOR_IS_CLIENT});
}

/// The range that is asked for; false when it makes no sense.
bool range_of(const Infos& info, std::optional<PublishRange>& range) {
    if (info.find(PMIX_RANGE) == nullptr) return true;
    const std::optional<int64_t> value = info.integer(PMIX_RANGE);
    if (!value || *value <= PMIX_RANGE_UNDEF || *value > PMIX_RANGE_PROC_LOCAL) return false;
    range = PublishRange{static_cast<uint32_t>(*value), {}};
    if (*value != PMIX_RANGE_CUSTOM) return true;
    range->procs = info.procs(PMIX_EVENT_CUSTOM_RANGE);
    return !range->procs.empty();
}

Party party_of(const pmix_proc_t& proc, const Infos& info) {
    auto id = [&](const char* key) { return static_cast<uint32_t>(info.integer(key).value_or(-1)); };
    const ProcName name = name_of(proc);
    return {name, 0, id(PMIX_USERID), id(PMIX_GRPID), this_node().is_server(name)};
}

/// The user or group numbers of a permission; false when it is malformed.
bool read_ids(Directory::Ids& ids, const Infos& permissions, const char* key) {
    const pmix_info_t* found = permissions.find(key);
    if (found == nullptr) return true;
    const pmix_data_array_t* array =
        found->value.type == PMIX_DATA_ARRAY ? found->value.data.darray : nullptr;
    if (array == nullptr || (array->type != PMIX_UINT32 && array->size > 0)) return false;
    const auto* numbers = static_cast<const uint32_t*>(array->array);
    ids.emplace(numbers, numbers + array->size);
    return true;
}

pmix_status_t publish(const pmix_proc_t* proc, const pmix_info_t info[], size_t count,
                      pmix_op_cbfunc_t callback, void* data) {
    const Infos given(info, count);
    std::optional<PublishRange> range;
    if (!range_of(given, range) || !given.timeout()) return PMIX_ERR_BAD_PARAM;
    const pmix_status_t status = check_required("publish", given);
    if (status != PMIX_SUCCESS) return status;
    Directory::Publication publication;
    if (range) publication.range = *range;
    if (given.find(PMIX_PERSISTENCE) != nullptr) {
        const std::optional<int64_t> value = given.integer(PMIX_PERSISTENCE);
        if (!value || *value < PMIX_PERSIST_INDEF || *value > PMIX_PERSIST_NSPACE) return PMIX_ERR_BAD_PARAM;
        publication.persistence = static_cast<uint32_t>(*value);
    }
    if (const pmix_info_t* access = given.find(PMIX_ACCESS_PERMISSIONS)) {
        const std::optional<Infos> permissions = Infos::of(access->value);
        if (!permissions || !read_ids(publication.uids, *permissions, PMIX_ACCESS_USERIDS) ||
            !read_ids(publication.gids, *permissions, PMIX_ACCESS_GRPIDS))
            return PMIX_ERR_BAD_PARAM;
    }
    for (const pmix_info_t& one : given) {
        if (is_directive(one)) continue;
        publication.values.emplace_back(std::string(one.key, strnlen(one.key, PMIX_MAX_KEYLEN)),
                                        packed(&one, 1, PMIX_INFO));
    }
    if (publication.values.empty()) return PMIX_ERR_BAD_PARAM;
    ask_launcher(Topic::Publish, pack(Directory::Request::Publish, party_of(*proc, given), publication),
                 done_op(callback, data));
    return PMIX_SUCCESS;
}

std::vector<std::string> keys_of(char** keys) {
    std::vector<std::string> list;
    for (; keys != nullptr && *keys != nullptr; ++keys)
        list.emplace_back(*keys);
    return list;
}

/// Takes a key out of a list; whether it was there.
bool take(std::vector<std::string>& keys, const char* key) {
    return std::erase(keys, key) > 0;
}

/// Adds the owner of data: the number of the user or of the group.
void add_id(std::vector<pmix_pdata_t>& found, const char* key, const pmix_proc_t& owner, uint32_t id) {
    pmix_pdata_t& entry = found.emplace_back();
    PMIX_PDATA_CONSTRUCT(&entry);
    entry.proc = owner;
    PMIX_LOAD_KEY(entry.key, key);
    entry.value.type = PMIX_UINT32;
    entry.value.data.uint32 = id;
}

/// The IDs of the publisher that a lookup asks for besides the values.
struct Wanted {
    bool user = false, group = false;
};

/// Returns the values of a lookup.
void give(pmix_lookup_cbfunc_t callback, void* data, Wanted wanted, pmix_status_t status, Buffer& in) {
    std::vector<Directory::Found> answer;
    std::vector<pmix_pdata_t> found;
    const bool some = status == PMIX_SUCCESS || status == PMIX_ERR_PARTIAL_SUCCESS;
    if (some && !in.unpack(answer)) status = PMIX_ERR_UNPACK_FAILURE;
    for (const Directory::Found& one : answer) {
        UnpackedInfo value(one.value);
        if (!in.ok() || value.size() != 1) break;
        const pmix_proc_t owner = to_pmix(one.owner);
        if (std::exchange(wanted.user, false)) add_id(found, PMIX_USERID, owner, one.uid);
        if (std::exchange(wanted.group, false)) add_id(found, PMIX_GRPID, owner, one.gid);
        pmix_pdata_t& entry = found.emplace_back();
        PMIX_PDATA_CONSTRUCT(&entry);
        entry.proc = owner;
        PMIX_LOAD_KEY(entry.key, one.key.c_str());
        entry.value = value.data()[0].value;  // moved
        PMIX_VALUE_CONSTRUCT(&value.data()[0].value);
    }
    if (callback != nullptr) callback(status, found.empty() ? nullptr : found.data(), found.size(), data);
    for (pmix_pdata_t& entry : found)
        PMIX_PDATA_DESTRUCT(&entry);
}

pmix_status_t lookup(const pmix_proc_t* proc, char** keys, const pmix_info_t info[], size_t count,
                     pmix_lookup_cbfunc_t callback, void* data) {
    const Infos given(info, count);
    std::optional<PublishRange> range;
    const std::optional<uint32_t> seconds = given.timeout();
    if (!seconds) return PMIX_ERR_BAD_PARAM;
    if (const pmix_status_t bad = check_required("lookup", given); bad != PMIX_SUCCESS) return bad;
    // A range without a rule about publishers selects all of them, as in PRRTE.
    if (!range_of(given, range)) range.reset();
    const pmix_info_t* wait = given.find(PMIX_WAIT);
    // The number of values to wait for; 0, and a flag, mean all.
    const int64_t wanted =
        wait != nullptr && wait->value.type != PMIX_BOOL ? integer_of(wait->value).value_or(0) : 0;
    if (wanted < 0 || wanted > UINT32_MAX) return PMIX_ERR_BAD_PARAM;
    const bool waits = wait != nullptr && (wait->value.type != PMIX_BOOL || wait->value.data.flag);
    Directory::Wish wish{range, keys_of(keys), waits, static_cast<uint32_t>(wanted), *seconds};
    const Wanted ids{take(wish.keys, PMIX_USERID), take(wish.keys, PMIX_GRPID)};
    ask_launcher(Topic::Publish, pack(Directory::Request::Lookup, party_of(*proc, given), wish),
                 [ids, callback, data](pmix_status_t status, Buffer& found) {
                     give(callback, data, ids, status, found);
                 });
    return PMIX_SUCCESS;
}

pmix_status_t unpublish(const pmix_proc_t* proc, char** keys, const pmix_info_t info[], size_t count,
                        pmix_op_cbfunc_t callback, void* data) {
    const Infos given(info, count);
    std::optional<PublishRange> range;
    if (!range_of(given, range)) return PMIX_ERR_BAD_PARAM;
    const pmix_status_t status = check_required("unpublish", given);
    if (status != PMIX_SUCCESS) return status;
    ask_launcher(Topic::Publish,
                 pack(Directory::Request::Unpublish, party_of(*proc, given), range, keys_of(keys)),
                 done_op(callback, data));
    return PMIX_SUCCESS;
}

}  // namespace

void add_publish_upcalls(pmix_server_module_t& module) {
    module.publish = upcall<publish>;
    module.lookup = upcall<lookup>;
    module.unpublish = upcall<unpublish>;
}

}  // namespace muster::launcher
