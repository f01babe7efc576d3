// SPDX-License-Identifier: BSD-3-Clause
// Process sets: see process_sets.hpp.
#include "core/groups/process_sets.hpp"

#include <algorithm>

#include "core/events/event_router.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/groups/group_server.hpp"

namespace muster {

pmix_status_t ProcessSets::define(const std::string& name, std::vector<pmix_proc_t> members) {
    if (name.empty() || name.size() > PMIX_MAX_KEYLEN || members.empty()) return PMIX_ERR_BAD_PARAM;
    if (find(name) != nullptr) return PMIX_ERR_EXISTS;
    sets_.push_back({name, std::move(members)});
    try {
        tell(PMIX_PROCESS_SET_DEFINE, sets_.back());
    } catch (...) {
        // A set that was not announced must not exist: the host may define it again.
        sets_.pop_back();
        throw;
    }
    return PMIX_SUCCESS;
}

pmix_status_t ProcessSets::remove(const std::string& name) {
    const auto found = std::ranges::find_if(sets_, [&](const ProcessSet& set) { return set.name == name; });
    if (found == sets_.end()) return PMIX_ERR_NOT_FOUND;
    // First: a set whose end was not announced must stay, so that the host can remove it again.
    tell(PMIX_PROCESS_SET_DELETE, *found);
    sets_.erase(found);
    return PMIX_SUCCESS;
}

void ProcessSets::tell(pmix_status_t code, const ProcessSet& set) {
    auto event = make_event(code, server_.runtime().self(), PMIX_RANGE_LOCAL);
    event->about = std::make_shared<const std::vector<pmix_proc_t>>(set.members);
    event->info.add(PMIX_PSET_NAME, set.name.c_str());
    if (code == PMIX_PROCESS_SET_DEFINE)
        event->info.add(PMIX_PSET_MEMBERS, Value::array(set.members.data(), set.members.size(), PMIX_PROC));
    // Only for handlers that ask for it: default handlers take events for failures.
    event->info.add(PMIX_EVENT_NON_DEFAULT, true);
    event->non_default = true;
    server_.router().from_host(std::move(event), [](pmix_status_t) {});
}

const ProcessSet* ProcessSets::find(const std::string& name) const {
    const auto found = std::ranges::find_if(sets_, [&](const ProcessSet& set) { return set.name == name; });
    return found == sets_.end() ? nullptr : &*found;
}

std::vector<std::string> ProcessSets::names_of(const pmix_proc_t& proc) const {
    std::vector<std::string> names;
    for (const ProcessSet& set : sets_) {
        if (among(set.members, proc)) names.push_back(set.name);
    }
    return names;
}

Value ProcessSets::names_value(const pmix_proc_t& proc) const {
    const std::vector<std::string> names = names_of(proc);
    return names.empty() ? Value() : texts_value(names);
}

bool ProcessSets::has_local_member(const ProcessSet& set) const {
    return std::ranges::any_of(set.members, [&](const pmix_proc_t& member) {
        if (member.rank != PMIX_RANK_WILDCARD) return server_.namespaces().is_local(member);
        const Namespace* nspace = server_.namespaces().find(member.nspace);
        return nspace != nullptr && nspace->local_count() > 0;
    });
}

bool ProcessSets::answer(uint32_t uid, const char* key, InfoView qualifiers, Info& found) const {
    const auto visible = [&](const ProcessSet& set) {
        return server_.namespaces().may_see(uid, set.members);
    };
    // Sets are defined in the whole session; of the smaller ranges only that of the node limits them.
    const bool of_node = qualifiers.number<pmix_data_range_t>(PMIX_RANGE) == PMIX_RANGE_LOCAL;
    const auto in_range = [&](const ProcessSet& set) {
        return visible(set) && (!of_node || has_local_member(set));
    };
    if (key_is(key, PMIX_QUERY_NUM_PSETS)) {
        found.add(key, static_cast<size_t>(std::ranges::count_if(sets_, in_range)));
        return true;
    }
    if (key_is(key, PMIX_QUERY_PSET_NAMES)) {
        std::vector<std::string> names;
        for (const ProcessSet& set : sets_) {
            if (in_range(set)) names.push_back(set.name);
        }
        found.add(key, texts_value(names));
        return true;
    }
    if (!key_is(key, PMIX_QUERY_PSET_MEMBERSHIP)) return false;
    const char* name = qualifiers.string(PMIX_PSET_NAME);
    const ProcessSet* set = name == nullptr ? nullptr : find(name);
    if (set == nullptr || !visible(*set)) return false;
    found.add(key, Value::array(set->members.data(), set->members.size(), PMIX_PROC));
    return true;
}

}  // namespace muster
