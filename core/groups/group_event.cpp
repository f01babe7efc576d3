// SPDX-License-Identifier: BSD-3-Clause
// Events of the group protocol: see group_event.hpp.
#include "core/groups/group_event.hpp"

#include <pmix/muster.h>
#include <unistd.h>

#include <chrono>

#include "core/exchange/group_table.hpp"
#include "core/runtime/keys.hpp"
#include "framework/base/proc.hpp"
#include "framework/gds.hpp"

namespace muster {

namespace {

bool is_answer(const Event& event) {
    return event.status == PMIX_GROUP_INVITE_ACCEPTED || event.status == PMIX_GROUP_INVITE_DECLINED;
}

/// Members as leaders on OpenPMIx give them: as the program listed them. Versions before 6.0 give them as the
/// range alone.
void read_plain_members(const Event& event, const Gds& store, std::vector<pmix_proc_t>& members) {
    if (members.empty()) members = event.targets;
    if (members.empty()) return;
    if (!expand_wildcards(store, members)) return members.clear();
    if (!among(members, event.source)) members.insert(members.begin(), event.source);
}

}  // namespace

std::optional<GroupEvent> GroupEvent::read(const Event& event, const Gds& store) {
    const InfoView info = event.info;
    const char* id = info.string(PMIX_GROUP_ID);
    if (!valid_group_id(id) && (id != nullptr || !is_answer(event))) return std::nullopt;
    GroupEvent read;
    if (id != nullptr) read.id = id;
    read.round = info.number<uint64_t>(MUSTER_GROUP_ROUND);
    read.context_id = info.number<size_t>(PMIX_GROUP_CONTEXT_ID);
    if (!event.affected.empty()) read.affected = event.affected.front();
    if (const auto vote = info.number<uint8_t>(MUSTER_GROUP_VOTE); vote && *vote <= 2)
        read.vote = static_cast<LeaderVote>(*vote);
    if (const pmix_value_t* members = info.value(PMIX_GROUP_MEMBERSHIP)) append_procs(*members, read.members);
    const bool lists = event.status == PMIX_GROUP_INVITED || event.status == PMIX_GROUP_CONSTRUCT_COMPLETE;
    if (lists && !read.round) read_plain_members(event, store, read.members);
    return read;
}

uint64_t first_invitation_round() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    return static_cast<uint64_t>(now) ^ (static_cast<uint64_t>(getpid()) << 40);
}

Info round_info(uint64_t round) {
    Info info;
    info.add(MUSTER_GROUP_ROUND, Value::uint64(round));
    return info;
}

void add_report(InfoView event, Info& info) {
    for (const pmix_info_t& item : event) {
        const bool directive =
            key_is_any(item.key,
                       {PMIX_EVENT_AFFECTED_PROC, PMIX_EVENT_AFFECTED_PROCS, PMIX_EVENT_CUSTOM_RANGE,
                        PMIX_EVENT_NON_DEFAULT, PMIX_EVENT_DO_NOT_CACHE, PMIX_EVENT_STAYS_LOCAL,
                        PMIX_EVENT_SILENT_TERMINATION, PMIX_EVENT_TERMINATE_SESSION, PMIX_EVENT_TERMINATE_JOB,
                        PMIX_EVENT_TERMINATE_NODE, PMIX_EVENT_TERMINATE_PROC, PMIX_EVENT_ACTION_TIMEOUT,
                        PMIX_GROUP_ID}) ||
            is_internal_key(item.key);
        if (directive || info.find(item.key) != nullptr) continue;
        if (info.add_copy(item) == PMIX_SUCCESS) info[info.size() - 1].flags = 0;
    }
}

Value procs_value(const std::vector<pmix_proc_t>& procs) {
    return Value::array(procs.data(), procs.size(), PMIX_PROC);
}

std::shared_ptr<Event> make_group_event(pmix_status_t code, const pmix_proc_t& source,
                                        const std::vector<pmix_proc_t>& targets, const std::string& id,
                                        Info info) {
    auto event = make_event(code, source, PMIX_RANGE_CUSTOM);
    event->info = std::move(info);
    event->info.add(PMIX_GROUP_ID, id.c_str());
    event->info.add(PMIX_EVENT_CUSTOM_RANGE, procs_value(targets));
    event->info.add(PMIX_EVENT_NON_DEFAULT, true);
    [[maybe_unused]] const pmix_status_t read = event->read_directives();
    return event;
}

GroupDecision GroupDecision::of(InfoView results) {
    GroupDecision decision;
    for (const pmix_info_t& one : results) {
        if (one.value.type == PMIX_STATUS) {
            // A handler's status, under its name.
            const pmix_status_t status = one.value.data.status;
            decision.abort |= status == PMIX_GROUP_CONSTRUCT_ABORT;
            decision.handled |= status == PMIX_SUCCESS || status == PMIX_EVENT_ACTION_COMPLETE ||
                                status == PMIX_EVENT_ACTION_DEFERRED ||
                                status == PMIX_EVENT_PARTIAL_ACTION_TAKEN;
        } else if (key_is(one.key, PMIX_GROUP_LEADER)) {
            decision.lead |= value_as_bool(&one.value).value_or(false);
        } else if (key_is(one.key, PMIX_GROUP_ADD_MEMBERS) || key_is(one.key, PMIX_GROUP_MEMBERSHIP)) {
            append_procs(one.value, decision.replacements);
        }
    }
    return decision;
}

}  // namespace muster
