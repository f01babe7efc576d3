// SPDX-License-Identifier: BSD-3-Clause
// The groups that a process knows: see group_table.hpp.
#include "core/exchange/group_table.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "core/exchange/proc_list.hpp"
#include "framework/base/keyed_hash.hpp"
#include "framework/base/mutex.hpp"
#include "framework/gds.hpp"

namespace muster {

Value texts_value(const std::vector<std::string>& names) {
    std::vector<const char*> texts;
    for (const std::string& name : names)
        texts.push_back(name.c_str());
    return Value::array(texts.data(), texts.size(), PMIX_STRING);
}

bool valid_group_id(const char* id) {
    return id != nullptr && *id != '\0' && strnlen(id, PMIX_MAX_NSLEN + 1) <= PMIX_MAX_NSLEN;
}

void Group::set_members(const std::vector<pmix_proc_t>& procs) {
    nspaces.clear();
    members.clear();
    members.reserve(procs.size());
    uint32_t nspace = 0;
    std::unordered_map<std::string_view, uint32_t, TextHash> known;
    for (const pmix_proc_t& proc : procs) {
        const std::string_view name = nspace_view(proc.nspace);
        // Mostly the same as that of the one before.
        if (nspace >= nspaces.size() || nspaces[nspace] != name) {
            nspace = known.try_emplace(name, static_cast<uint32_t>(nspaces.size())).first->second;
            if (nspace == nspaces.size()) nspaces.emplace_back(name);
        }
        members.push_back({nspace, proc.rank, static_cast<pmix_rank_t>(members.size())});
    }
}

void Group::set_members(const ProcList& list) {
    if (list.nspace().empty()) return set_members(list.procs());
    nspaces.assign(1, list.nspace());
    members.clear();
    members.reserve(list.size());
    for (const RankRun& run : list.runs()) {
        for (uint32_t i = 0; i < run.count; ++i)
            members.push_back({0, run.first + i, static_cast<pmix_rank_t>(members.size())});
    }
}

const GroupMember* Group::member(pmix_rank_t rank) const {
    const auto found = std::lower_bound(members.begin(), members.end(), rank,
                                        [](const GroupMember& one, pmix_rank_t r) { return one.rank < r; });
    return found != members.end() && found->rank == rank ? &*found : nullptr;
}

std::vector<pmix_proc_t> Group::procs() const {
    std::vector<pmix_proc_t> result;
    result.reserve(members.size());
    for (const GroupMember& member : members)
        result.push_back(proc(member));
    return result;
}

bool Group::has(const pmix_proc_t& proc) const {
    return std::ranges::any_of(members, [&](const GroupMember& one) {
        return one.proc_rank == proc.rank && nspaces[one.nspace] == nspace_view(proc.nspace);
    });
}

bool Group::remove(const pmix_proc_t& proc) {
    return std::erase_if(members, [&](const GroupMember& one) {
               return one.proc_rank == proc.rank && nspaces[one.nspace] == nspace_view(proc.nspace);
           }) != 0;
}

Value Group::membership() const {
    const std::vector<pmix_proc_t> all = procs();
    return Value::array(all.data(), all.size(), PMIX_PROC);
}

const Group* GroupTable::find(const std::string& id) const {
    const auto found = groups_.find(id);
    return found == groups_.end() ? nullptr : &found->second;
}

const Group& GroupTable::add(Group group) {
    const WriteLock guard(lock_);
    if (const auto old = groups_.find(group.id); old != groups_.end()) uncount(old->second);
    if (!group.payer.empty()) {
        group.counted = memory_of(group.id, group.members.size());
        for (const std::string& nspace : group.nspaces)
            group.counted += sizeof(std::string) + nspace.size();
        memory_[group.payer] += group.counted;
    }
    std::string id = group.id;
    any_.store(true, std::memory_order_release);
    return groups_.insert_or_assign(std::move(id), std::move(group)).first->second;
}

bool GroupTable::remove(const std::string& id) {
    const WriteLock guard(lock_);
    const auto found = groups_.find(id);
    if (found == groups_.end()) return false;
    uncount(found->second);
    groups_.erase(found);
    any_.store(!groups_.empty(), std::memory_order_release);
    return true;
}

void GroupTable::uncount(const Group& group) {
    const auto found = memory_.find(group.payer);
    if (found == memory_.end()) return;
    found->second -= group.counted;
    if (found->second == 0) memory_.erase(found);
}

size_t GroupTable::memory(const std::string& payer) const {
    const auto found = memory_.find(payer);
    return found == memory_.end() ? 0 : found->second;
}

size_t GroupTable::memory_of(const std::string& id, size_t members) {
    // The group itself, its place in the table, and the names that stand in both.
    constexpr size_t kOverhead = sizeof(Group) + 128;
    return kOverhead + 2 * id.size() + members * (sizeof(GroupMember) + sizeof(pmix_rank_t));
}

bool GroupTable::remove_member(const std::string& id, const pmix_proc_t& proc) {
    const WriteLock guard(lock_);
    const auto found = groups_.find(id);
    if (found == groups_.end()) return false;
    if (!found->second.remove(proc)) return false;
    if (found->second.members.empty()) {
        uncount(found->second);
        groups_.erase(found);
        any_.store(!groups_.empty(), std::memory_order_release);
    }
    return true;
}

std::vector<std::string> GroupTable::names() const {
    const ReadLock guard(lock_);
    std::vector<std::string> names;
    for (const auto& [id, group] : groups_) {
        if (group.usable()) names.push_back(id);
    }
    return names;
}

std::vector<std::string> GroupTable::names_of(const pmix_proc_t& proc) const {
    const ReadLock guard(lock_);
    std::vector<std::string> names;
    for (const auto& [id, group] : groups_) {
        if (group.usable() && group.has(proc)) names.push_back(id);
    }
    return names;
}

bool GroupTable::answer(const char* key, InfoView qualifiers, Info& found) const {
    const bool number = key_is(key, PMIX_QUERY_NUM_GROUPS);
    if (number || key_is(key, PMIX_QUERY_GROUP_NAMES)) {
        const std::vector<std::string> names = this->names();
        if (number) {
            found.add(key, names.size());
        } else {
            found.add(key, texts_value(names));
        }
        return true;
    }
    if (!key_is(key, PMIX_QUERY_GROUP_MEMBERSHIP)) return false;
    const char* id = qualifiers.string(PMIX_GROUP_ID);
    const Group* group = id == nullptr ? nullptr : find(id);
    if (group == nullptr || !group->usable()) return false;
    found.add(key, group->membership());
    return true;
}

const Group* GroupTable::ready(const char* nspace) const {
    if (groups_.empty()) return nullptr;
    const auto found = groups_.find(std::string(nspace_view(nspace)));
    if (found == groups_.end()) return nullptr;
    return found->second.usable() ? &found->second : nullptr;
}

bool GroupTable::is_group(const char* nspace) const {
    const ReadLock guard(lock_);
    return ready(nspace) != nullptr;
}

bool GroupTable::is_job(const std::string& id, std::string_view nspace, uint32_t size) const {
    const ReadLock guard(lock_);
    const auto found = groups_.find(id);
    if (found == groups_.end() || !found->second.usable()) return false;
    const Group& group = found->second;
    // Each member is in once.
    return group.members.size() == size && group.nspaces.size() == 1 && group.nspaces.front() == nspace;
}

bool GroupTable::translate_by_groups(pmix_proc_t& proc) const {
    const ReadLock guard(lock_);
    const Group* group = ready(proc.nspace);
    if (group == nullptr || proc.rank == PMIX_RANK_WILDCARD) return true;
    const GroupMember* member = group->member(proc.rank);
    if (member != nullptr) proc = group->proc(*member);
    return member != nullptr;
}

bool GroupTable::expand(std::vector<pmix_proc_t>& procs) const {
    const ReadLock guard(lock_);
    if (groups_.empty()) return true;
    std::vector<pmix_proc_t> result;
    result.reserve(procs.size());
    const Group* group = nullptr;
    const pmix_proc_t* last = nullptr;
    std::unordered_set<const Group*> whole;  // those that are in with all their members
    for (const pmix_proc_t& proc : procs) {
        if (last == nullptr || !nspace_is(last->nspace, proc.nspace)) group = ready(proc.nspace);
        last = &proc;
        if (group == nullptr) {
            result.push_back(proc);
            continue;
        }
        if (proc.rank != PMIX_RANK_WILDCARD) {
            const GroupMember* member = group->member(proc.rank);
            if (member == nullptr) return false;
            result.push_back(group->proc(*member));
            continue;
        }
        // Once is enough: a short list shall not become one of any length.
        if (!whole.insert(group).second) continue;
        for (const GroupMember& member : group->members)
            result.push_back(group->proc(member));
    }
    procs = std::move(result);
    return true;
}

size_t GroupTable::expanded_size(const std::vector<pmix_proc_t>& procs) const {
    const ReadLock guard(lock_);
    size_t size = procs.size();
    std::unordered_set<const Group*> whole;
    for (const pmix_proc_t& proc : procs) {
        const Group* group = proc.rank == PMIX_RANK_WILDCARD ? ready(proc.nspace) : nullptr;
        if (group != nullptr && whole.insert(group).second) size += group->members.size();
    }
    return size;
}

pmix_status_t GroupTable::expand(Info& directives, size_t& room) const {
    for (size_t i = 0; i < directives.size(); ++i) {
        pmix_info_t& one = directives[i];
        const bool list = key_is(one.key, PMIX_EVENT_CUSTOM_RANGE) ||
                          key_is(one.key, PMIX_EVENT_AFFECTED_PROC) ||
                          key_is(one.key, PMIX_EVENT_AFFECTED_PROCS);
        std::vector<pmix_proc_t> procs;
        if ((!list && !key_is(one.key, PMIX_PROCID)) || !append_procs(one.value, procs)) continue;
        if (std::ranges::none_of(procs, [&](const pmix_proc_t& proc) { return is_group(proc.nspace); })) {
            continue;
        }
        if (!list && procs.front().rank == PMIX_RANK_WILDCARD) continue;  // the group itself is meant
        const size_t taken = expanded_size(procs) * sizeof(pmix_proc_t);
        if (taken > room) return PMIX_ERR_OUT_OF_RESOURCE;
        room -= taken;
        if (!expand(procs)) return PMIX_ERR_BAD_PARAM;
        const bool several = procs.size() != 1 || one.value.type == PMIX_DATA_ARRAY;
        value_destruct(&one.value);
        if (!several) {
            one.value = Value::from(procs.front()).release();
            continue;
        }
        one.value = Value::array(procs.data(), procs.size(), PMIX_PROC).release();
        if (key_is(one.key, PMIX_EVENT_AFFECTED_PROC)) key_load(one.key, PMIX_EVENT_AFFECTED_PROCS);
    }
    return PMIX_SUCCESS;
}

Value GroupTable::names_value(const pmix_proc_t& proc) const {
    const std::vector<std::string> names = names_of(proc);
    return names.empty() ? Value() : texts_value(names);
}

bool expand_wildcards(const Gds& store, std::vector<pmix_proc_t>& procs) {
    // Most lists need nothing: sorted, each once, ranks that are ranks.
    const auto precedes = [](const pmix_proc_t& a, const pmix_proc_t& b) {
        return a.rank < b.rank && nspace_is(a.nspace, b.nspace);
    };
    const bool plain =
        std::adjacent_find(procs.begin(), procs.end(), [&](const pmix_proc_t& a, const pmix_proc_t& b) {
            return !precedes(a, b);
        }) == procs.end();
    if (plain && !procs.empty() && procs.back().rank <= PMIX_RANK_VALID) return true;
    std::vector<pmix_proc_t> result;
    std::unordered_set<Proc> seen;
    ViewSet whole;  // namespaces that are in with all their ranks
    const auto add = [&](const pmix_proc_t& proc) {
        if (seen.emplace(proc).second) result.push_back(proc);
    };
    for (const pmix_proc_t& proc : procs) {
        if (proc.rank != PMIX_RANK_WILDCARD) {
            add(proc);
            continue;
        }
        // Once is enough: a short list may name a long group repeatedly.
        if (!whole.insert(nspace_view(proc.nspace)).second) continue;
        const auto size = store.job_size(proc.nspace);
        if (!size) return false;
        for (uint32_t rank = 0; rank < *size; ++rank)
            add(make_proc(nspace_view(proc.nspace), rank));
    }
    procs = std::move(result);
    return true;
}

}  // namespace muster
