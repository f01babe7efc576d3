// SPDX-License-Identifier: BSD-3-Clause
// Each process of a job in the tests of process sets, of connect beside groups, and of the return codes of
// group calls: the first word selects the test. Exits with 0 on success; prints the failures.
#include <pmix_server.h>

#include <random>
#include <set>
#include <sstream>

#include "tests/integration/invitations/kit.hpp"

using namespace kit;

namespace {

void fence() {
    is(PMIx_Fence(nullptr, 0, nullptr, 0), PMIX_SUCCESS, "fence");
}

pmix_proc_t named(const std::string& nspace, pmix_rank_t number) {
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, nspace.c_str(), number);
    return proc;
}

using Read = std::function<void(const pmix_value_t&)>;

pmix_status_t query(const char* key, const char* qualifier, const std::string& of, const Read& read) {
    pmix_query_t query;
    PMIX_QUERY_CONSTRUCT(&query);
    PMIx_Argv_append_nosize(&query.keys, key);
    if (qualifier != nullptr) {
        PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
        PMIX_INFO_LOAD(&query.qualifiers[0], qualifier, of.c_str(), PMIX_STRING);
    }
    pmix_info_t* results = nullptr;
    size_t n = 0;
    const pmix_status_t status = PMIx_Query_info(&query, 1, &results, &n);
    for (size_t i = 0; i < n; ++i) {
        if (PMIX_CHECK_KEY(&results[i], key)) read(results[i].value);
    }
    PMIX_INFO_FREE(results, n);
    PMIX_QUERY_DESTRUCT(&query);
    return status;
}

std::set<std::string> strings(const pmix_value_t& value) {
    std::set<std::string> texts;
    if (value.type != PMIX_DATA_ARRAY || value.data.darray->type != PMIX_STRING) return {"no strings"};
    auto** first = static_cast<char**>(value.data.darray->array);
    for (size_t i = 0; i < value.data.darray->size; ++i)
        texts.insert(first[i]);
    return texts;
}
std::set<std::string> names(const pmix_proc_t& who, const char* key) {
    pmix_value_t* value = nullptr;
    if (PMIx_Get(&who, key, nullptr, 0, &value) != PMIX_SUCCESS) return {};
    std::set<std::string> found = strings(*value);
    PMIX_VALUE_RELEASE(value);
    return found;
}
/// As muster lists the names of process sets: one text, by commas.
std::set<std::string> listed(const pmix_value_t& value) {
    if (value.type != PMIX_STRING) return {"no text"};
    std::set<std::string> texts;
    std::istringstream all(value.data.string);
    for (std::string one; std::getline(all, one, ',');)
        texts.insert(one);
    return texts;
}
std::set<std::string> set_names() {
    std::set<std::string> found;
    is(query(PMIX_QUERY_PSET_NAMES, nullptr, "", [&](const pmix_value_t& value) { found = listed(value); }),
       PMIX_SUCCESS, "names of the sets");
    return found;
}
std::string members_of(const std::string& set) {
    std::set<pmix_rank_t> found;
    const pmix_status_t status =
        query(PMIX_QUERY_PSET_MEMBERSHIP, PMIX_PSET_NAME, set, [&](const pmix_value_t& value) {
            need(value.type == PMIX_DATA_ARRAY && value.data.darray->type == PMIX_PROC,
                 "type of the members");
            for (const pmix_rank_t number : ranks_of(value))
                need(found.insert(number).second, "a member of " + set + " named twice");
        });
    if (status != PMIX_SUCCESS) return "none";
    std::string text;
    for (const pmix_rank_t number : found)
        text += std::to_string(number) + " ";
    return text;
}
size_t number_of(const char* key) {
    size_t number = 77;
    is(query(key, nullptr, "",
             [&](const pmix_value_t& value) {
                 need(value.type == PMIX_SIZE, std::string("type of ") + key);
                 number = value.data.size;
             }),
       PMIX_SUCCESS, key);
    return number;
}

/// The names that a query with this range finds; a query for their number must give the same.
std::set<std::string> names_in_range(const char* names_key, const char* number_key, pmix_data_range_t range) {
    std::set<std::string> found;
    size_t number = 77;
    pmix_query_t query;
    PMIX_QUERY_CONSTRUCT(&query);
    PMIx_Argv_append_nosize(&query.keys, names_key);
    PMIx_Argv_append_nosize(&query.keys, number_key);
    PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
    PMIX_INFO_LOAD(&query.qualifiers[0], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    pmix_info_t* results = nullptr;
    size_t n = 0;
    is(PMIx_Query_info(&query, 1, &results, &n), PMIX_SUCCESS, "query with a range");
    for (size_t i = 0; i < n; ++i) {
        if (PMIX_CHECK_KEY(&results[i], names_key))
            found =
                results[i].value.type == PMIX_STRING ? listed(results[i].value) : strings(results[i].value);
        if (PMIX_CHECK_KEY(&results[i], number_key)) number = results[i].value.data.size;
    }
    PMIX_INFO_FREE(results, n);
    PMIX_QUERY_DESTRUCT(&query);
    need(number == found.size(), std::string(number_key) + " with a range: " + std::to_string(number));
    return found;
}

pmix_status_t construct(const std::string& id, std::vector<pmix_proc_t> procs, Infos directives = {}) {
    pmix_info_t* results = nullptr;
    size_t n = 0;
    const pmix_status_t status = PMIx_Group_construct(id.c_str(), procs.data(), procs.size(),
                                                      directives.data(), directives.count(), &results, &n);
    if (results != nullptr) PMIx_Info_free(results, n);
    return status;
}
pmix_status_t destruct(const std::string& id) {
    return PMIx_Group_destruct(id.c_str(), nullptr, 0);
}

pmix_status_t define(const std::string& name, std::vector<pmix_proc_t> members) {
    Infos directive;
    directive.text(PMIX_JOB_CTRL_DEFINE_PSET, name.c_str());
    return PMIx_Job_control(members.data(), members.size(), directive.data(), directive.count(), nullptr,
                            nullptr);
}

/// All processes, each through its own server, must get the same result.
void compare(const std::string& what, const std::string& text) {
    pmix_value_t value;
    PMIX_VALUE_LOAD(&value, text.c_str(), PMIX_STRING);
    is(PMIx_Put(PMIX_GLOBAL, what.c_str(), &value), PMIX_SUCCESS, "put");
    is(PMIx_Commit(), PMIX_SUCCESS, "commit");
    PMIX_VALUE_DESTRUCT(&value);
    Infos collect;
    collect.yes(PMIX_COLLECT_DATA);
    is(PMIx_Fence(nullptr, 0, collect.data(), collect.count()), PMIX_SUCCESS, "fence");
    for (const pmix_rank_t other : all()) {
        const pmix_proc_t proc = rank(other);
        pmix_value_t* found = nullptr;
        is(PMIx_Get(&proc, what.c_str(), nullptr, 0, &found), PMIX_SUCCESS, what);
        if (found == nullptr) continue;
        need(text == found->data.string,
             what + ": rank " + std::to_string(other) + " sees " + found->data.string + ", we see " + text);
        PMIX_VALUE_RELEASE(found);
    }
}

uint32_t node_of(pmix_rank_t number) {
    const pmix_proc_t proc = rank(number);
    pmix_value_t* value = nullptr;
    is(PMIx_Get(&proc, PMIX_NODEID, nullptr, 0, &value), PMIX_SUCCESS, "node");
    if (value == nullptr) return UINT32_MAX;
    const uint32_t node = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    return node;
}

/// The job: muster -n 4 --pset ocean ... : -n 3 --pset ice ...
void sets() {
    const std::set<std::string> both{"ocean", "ice"};
    need(size == 7, "a job of 7 is wanted");
    need(number_of(PMIX_QUERY_NUM_PSETS) == 2, "number of sets");
    need(set_names() == both, "names of the sets");
    need(members_of("ocean") == "0 1 2 3 " && members_of("ice") == "4 5 6 ", "members of the sets");
    need(members_of("no such set") == "none", "members of a set that is none");
    for (const pmix_rank_t one : all())
        need(names(rank(one), PMIX_PSET_NAMES) == std::set<std::string>{one < 4 ? "ocean" : "ice"},
             "the sets of rank " + std::to_string(one));

    const auto in_range = [](pmix_data_range_t range) {
        return names_in_range(PMIX_QUERY_PSET_NAMES, PMIX_QUERY_NUM_PSETS, range);
    };
    std::set<std::string> here;
    for (const pmix_rank_t one : all()) {
        if (node_of(one) == node_of(self.rank)) here.insert(one < 4 ? "ocean" : "ice");
    }
    need(in_range(PMIX_RANGE_LOCAL) == here, "sets in the range of this node");
    need(in_range(PMIX_RANGE_SESSION) == both, "sets in the range of the session");
    // Sets have no ranks, and do not stand for processes.
    for (const pmix_rank_t number : {0u, 3u, static_cast<unsigned>(PMIX_RANK_WILDCARD)}) {
        const pmix_proc_t member = named("ocean", number);
        pmix_value_t* value = nullptr;
        need(PMIx_Get(&member, PMIX_LOCAL_RANK, nullptr, 0, &value) != PMIX_SUCCESS, "get by a set's name");
        need(PMIx_Fence(&member, 1, nullptr, 0) != PMIX_SUCCESS, "fence over a set's name");
    }
    // Only the host defines sets, and an existing set stays unchanged.
    char ocean[] = "ocean";
    need(PMIx_server_define_process_set(&self, 1, "mine") != PMIX_SUCCESS &&
             PMIx_server_delete_process_set(ocean) != PMIX_SUCCESS,
         "a client that defines sets");
    fence();
    if (self.rank == 0) {
        is(define("ocean", {rank(5)}), PMIX_ERR_EXISTS, "a set with the name of another");
        is(define(self.nspace, {rank(5)}), PMIX_ERR_BAD_PARAM, "a set with the name of a namespace");
        const std::string job = self.nspace;
        is(define(job.substr(0, job.rfind('@')) + "@2", {rank(5)}), PMIX_ERR_BAD_PARAM,
           "a set with the name of the next namespace");
        is(define("mixed", {rank(6), rank(0), rank(2)}), PMIX_SUCCESS, "a set of both");
    }
    fence();
    // The other nodes are notified independently.
    for (int i = 0; i < 1000 && !set_names().contains("mixed"); ++i)
        usleep(20000);
    std::string seen;
    for (const std::string& set : set_names())
        seen += set + ": " + members_of(set) + "; ";
    need(seen == "ice: 4 5 6 ; mixed: 0 2 6 ; ocean: 0 1 2 3 ; ", "all sets: " + seen);
    compare("sets.seen", seen);
    const std::set<std::string> two{self.rank < 4 ? "ocean" : "ice", "mixed"};
    const bool in_two = self.rank == 0 || self.rank == 2 || self.rank == 6;
    need((names(self, PMIX_PSET_NAMES) == two) == in_two, "a process in two sets");
}

/// A group with the name of a set is independent of it.
void same_name() {
    std::vector<pmix_proc_t> odd;
    for (pmix_rank_t one = 1; one < size; one += 2)
        odd.push_back(rank(one));
    const std::set<std::string> ocean{"ocean"};
    fence();
    if (self.rank % 2 == 1) {
        is(construct("ocean", odd), PMIX_SUCCESS, "a group with the name of a set");
        const pmix_proc_t group = named("ocean", PMIX_RANK_WILDCARD);
        is(PMIx_Fence(&group, 1, nullptr, 0), PMIX_SUCCESS, "fence over the group");
        need(names(self, PMIX_GROUP_NAMES) == ocean, "the groups of a member");
        if (self.rank != 5) listen({PMIX_GROUP_LEFT});
        is(PMIx_Fence(&group, 1, nullptr, 0), PMIX_SUCCESS, "fence over the group");
        if (self.rank == 5) {
            is(PMIx_Group_leave("ocean", nullptr, 0), PMIX_SUCCESS, "leave");
        } else {
            wait_for(PMIX_GROUP_LEFT, "ocean");
        }
    }
    fence();
    need(members_of("ocean") == "0 1 2 3 ", "the set beside the group");
    need(names(self, PMIX_PSET_NAMES) == std::set<std::string>{self.rank < 4 ? "ocean" : "ice"},
         "the sets of this process");
    fence();
    if (self.rank % 2 == 1 && self.rank != 5) is(destruct("ocean"), PMIX_SUCCESS, "destruct");
    fence();
    need(names(self, PMIX_GROUP_NAMES).empty() && set_names().contains("ocean"),
         "the set outlives the group");
    need(members_of("ocean") == "0 1 2 3 ", "the set after the group");
    fence();
}

/// A call that returns PMIX_SUCCESS is followed by one callback, one that returns PMIX_OPERATION_SUCCEEDED by
/// none.
struct Counted {
    Answer answer;
    int callbacks = 0;
};
void on_counted(pmix_status_t status, pmix_info_t* info, size_t n, void* cbdata,
                pmix_release_cbfunc_t release, void* release_data) {
    auto* counted = static_cast<Counted*>(cbdata);
    {
        const std::lock_guard guard(lock);
        ++counted->callbacks;
    }
    on_info(status, info, n, &counted->answer, release, release_data);
}
void on_counted_status(pmix_status_t status, void* cbdata) {
    on_counted(status, nullptr, 0, cbdata, nullptr, nullptr);
}
void settle(pmix_status_t returned, Counted& counted, const std::string& what) {
    if (returned == PMIX_SUCCESS)
        is(counted.answer.wait(), PMIX_SUCCESS, what);
    else
        is(returned, PMIX_OPERATION_SUCCEEDED, what);
    // All earlier messages arrive before the answer to this query.
    number_of(PMIX_QUERY_NUM_GROUPS);
    const std::lock_guard guard(lock);
    need(counted.callbacks == (returned == PMIX_SUCCESS ? 1 : 0), what + ": number of callbacks");
}

void callbacks() {
    std::vector<pmix_proc_t> procs = ranks(all());
    for (const std::string id : {"t-own", "t-all"}) {
        const bool own = id == "t-own";
        const std::string name = own ? id + std::to_string(self.rank) : id;
        Counted made, ended;
        settle(PMIx_Group_construct_nb(name.c_str(), own ? &self : procs.data(), own ? 1 : procs.size(),
                                       nullptr, 0, on_counted, &made),
               made, "construct " + name);
        fence();
        settle(PMIx_Group_destruct_nb(name.c_str(), nullptr, 0, on_counted_status, &ended), ended,
               "destruct " + name);
        fence();
    }
    is(construct("t-left", procs), PMIX_SUCCESS, "construct");
    Counted left;
    settle(PMIx_Group_leave_nb("t-left", nullptr, 0, on_counted_status, &left), left, "leave");
    fence();
}

/// Leaving ends when the notification is sent, not when it is received: here the others cannot receive it.
void leave_unheard() {
    const std::vector<pmix_proc_t> procs = ranks(all());
    for (const char* id : {"t-one", "t-two"})
        is(construct(id, procs), PMIX_SUCCESS, id);
    listen({PMIX_GROUP_LEFT});
    const std::string pid = std::to_string(getpid());
    pmix_value_t value;
    PMIX_VALUE_LOAD(&value, pid.c_str(), PMIX_STRING);
    is(PMIx_Put(PMIX_GLOBAL, "pid", &value), PMIX_SUCCESS, "put");
    is(PMIx_Commit(), PMIX_SUCCESS, "commit");
    PMIX_VALUE_DESTRUCT(&value);
    Infos collect;
    collect.yes(PMIX_COLLECT_DATA);
    is(PMIx_Fence(nullptr, 0, collect.data(), collect.count()), PMIX_SUCCESS, "fence");
    if (self.rank == 0) {
        std::vector<pid_t> others;
        for (const pmix_rank_t other : without({0})) {
            const pmix_proc_t proc = rank(other);
            pmix_value_t* found = nullptr;
            is(PMIx_Get(&proc, "pid", nullptr, 0, &found), PMIX_SUCCESS, "pid");
            if (found == nullptr) continue;
            others.push_back(static_cast<pid_t>(atoi(found->data.string)));
            PMIX_VALUE_RELEASE(found);
        }
        for (const pid_t other : others)
            kill(other, SIGSTOP);
        is(PMIx_Group_leave("t-one", nullptr, 0), PMIX_SUCCESS, "leave that nobody hears");
        Answer answer;
        is(PMIx_Group_leave_nb("t-two", nullptr, 0, on_done, &answer), PMIX_SUCCESS, "leave_nb");
        is(answer.wait(), PMIX_SUCCESS, "leave_nb that nobody hears");
        for (const pid_t other : others)
            kill(other, SIGCONT);
    } else {
        wait_for(PMIX_GROUP_LEFT, "t-one");
        wait_for(PMIX_GROUP_LEFT, "t-two");
    }
    fence();
}

/// A member leaves while the others destruct the group, before, between or after their calls: no process
/// waits for it.
void leave_in_destruct() {
    const std::vector<pmix_proc_t> procs = ranks(all());
    std::minstd_rand chance(self.rank + 1);
    for (pmix_rank_t round = 0; round < 3 * size; ++round) {
        is(construct("t-end", procs), PMIX_SUCCESS, "construct");
        if (chance() % 3 != 0) usleep(chance() % 5000);
        if (self.rank == round % size) {
            is(PMIx_Group_leave("t-end", nullptr, 0), PMIX_SUCCESS, "leave");
        } else {
            is(destruct("t-end"), PMIX_SUCCESS, "destruct without the one that leaves");
        }
        fence();
        need(number_of(PMIX_QUERY_NUM_GROUPS) == 0, "a group that is left over");
        fence();
    }
}

/// Returns the waits of this server's processes.
std::map<pmix_rank_t, std::string> waits() {
    std::map<pmix_rank_t, std::string> found;
    is(query("muster.waits", nullptr, "",
             [&](const pmix_value_t& value) {
                 const auto* entries = static_cast<const pmix_info_t*>(value.data.darray->array);
                 for (size_t i = 0; i < value.data.darray->size; ++i) {
                     const pmix_data_array_t& entry = *entries[i].value.data.darray;
                     const auto* infos = static_cast<const pmix_info_t*>(entry.array);
                     need(entry.size == 2, "what is said of one that waits");
                     found[infos[0].value.data.proc->rank] = infos[1].value.data.string;
                 }
             }),
       PMIX_SUCCESS, "query of who waits");
    return found;
}
/// Waits until a local process waits as in `text`; a loaded machine may be slow.
void wait_until_said(const std::string& text) {
    std::string said;
    for (int i = 0; i < 3000; ++i) {
        said.clear();
        for (const auto& [one, what] : waits()) {
            if (what == text) return;
            said += std::to_string(one) + " " + what + "; ";
        }
        usleep(10000);
    }
    complain("not '" + text + "' but '" + said + "'");
}

/// No time limit, and one process that does not call: its server names the missing process.
constexpr pmix_status_t kGoOn = PMIX_EXTERNAL_ERR_BASE - 90;
void awaited() {
    const std::vector<pmix_proc_t> procs = ranks(all());
    const pmix_rank_t last = size - 1;
    const std::string me = std::string(self.nspace) + ":" + std::to_string(last);
    pmix_value_t* value = nullptr;
    is(PMIx_Get(&self, PMIX_LOCAL_SIZE, nullptr, 0, &value), PMIX_SUCCESS, "local size");
    const uint32_t here = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    const std::string missing =
        std::to_string(here - 1) + " of " + std::to_string(here) + " are in, not " + me;
    if (self.rank == last) wait_until_said("group construct t-wait: " + missing);
    is(construct("t-wait", procs), PMIX_SUCCESS, "construct");
    const pmix_proc_t members = named("t-wait", PMIX_RANK_WILDCARD);
    if (self.rank == last) wait_until_said("fence: " + missing);
    is(PMIx_Fence(&members, 1, nullptr, 0), PMIX_SUCCESS, "fence over the group");
    if (self.rank == last) wait_until_said("group destruct t-wait: " + missing);
    is(destruct("t-wait"), PMIX_SUCCESS, "destruct");
    listen({PMIX_GROUP_INVITED, kGoOn});
    fence();
    if (self.rank == 0) {
        Answer answer;
        is(PMIx_Group_invite_nb("t-ask", procs.data(), procs.size(), nullptr, 0, on_info, &answer),
           PMIX_SUCCESS, "invite");
        wait_until_said("group invitation t-ask: " + std::to_string(size - 2) + " of " +
                        std::to_string(size - 1) + " have answered, not " + me);
        Infos infos;
        infos.text(PMIX_GROUP_ID, "t-ask").procs(PMIX_EVENT_CUSTOM_RANGE, {rank(last)});
        is(PMIx_Notify_event(kGoOn, &self, PMIX_RANGE_CUSTOM, infos.data(), infos.count(), nullptr, nullptr),
           PMIX_SUCCESS, "notify");
        is(answer.wait(), PMIX_SUCCESS, "invite");
    } else {
        wait_for(PMIX_GROUP_INVITED, "t-ask");
        if (self.rank == last) wait_for(kGoOn, "t-ask");
        is(join("t-ask", 0, PMIX_GROUP_ACCEPT).status, PMIX_SUCCESS, "join");
    }
    fence();
}

/// A host without groups: operations that need it are refused, in each form, also the destruct of a group
/// formed without it.
void unsupported(bool one_node) {
    const pmix_status_t wanted = one_node ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;
    std::vector<pmix_proc_t> procs = ranks(all());
    is(construct("t-all", procs), wanted, "construct");
    fence();
    Answer made, ended;
    is(PMIx_Group_construct_nb("t-nb", procs.data(), procs.size(), nullptr, 0, on_info, &made), PMIX_SUCCESS,
       "construct_nb");
    is(made.wait(), wanted, "construct_nb");
    fence();
    if (one_node) {
        is(destruct("t-all"), PMIX_SUCCESS, "destruct");
        is(destruct("t-nb"), PMIX_SUCCESS, "destruct");
        fence();
    }
    listen({PMIX_GROUP_INVITED});
    fence();
    if (self.rank == 0) {
        is(invite("t-invited", procs).status, PMIX_SUCCESS, "invite");
    } else {
        wait_for(PMIX_GROUP_INVITED, "t-invited");
        is(join("t-invited", 0, PMIX_GROUP_ACCEPT).status, PMIX_SUCCESS, "join");
    }
    fence();
    is(destruct("t-invited"), wanted, "destruct");
    fence();
    if (one_node) return;
    is(PMIx_Group_destruct_nb("t-invited", nullptr, 0, on_done, &ended), PMIX_SUCCESS, "destruct_nb");
    is(ended.wait(), wanted, "destruct_nb");
    fence();
    // Leaving needs no host.
    if (self.rank == 0) is(PMIx_Group_leave("t-invited", nullptr, 0), PMIX_SUCCESS, "leave");
    fence();
}

/// Groups without a local member are known, too: their processes, number and members.
void elsewhere() {
    using Names = std::set<std::string>;
    const pmix_rank_t last = size - 1;
    const std::map<std::string, std::vector<pmix_rank_t>> groups{
        {"t-first", {0, 1}}, {"t-last", {last - 1, last}}, {"t-spread", {0, last}}};
    Names every;
    for (const auto& [id, members] : groups) {
        every.insert(id);
        if (std::find(members.begin(), members.end(), self.rank) != members.end())
            is(construct(id.c_str(), ranks(members)), PMIX_SUCCESS, "construct " + id);
    }
    fence();
    need(number_of(PMIX_QUERY_NUM_GROUPS) == every.size(), "number of groups");
    const auto all_names = [](const char* qualifier) {
        Names found;
        is(query(PMIX_QUERY_GROUP_NAMES, qualifier, "true",
                 [&](const pmix_value_t& value) { found = strings(value); }),
           PMIX_SUCCESS, "names of groups");
        return found;
    };
    need(all_names(nullptr) == every, "names of all groups");
    Names here;
    for (const auto& [id, members] : groups) {
        if (std::any_of(members.begin(), members.end(),
                        [](pmix_rank_t one) { return node_of(one) == node_of(self.rank); })) {
            here.insert(id);
        }
        std::vector<pmix_rank_t> found;
        is(query(PMIX_QUERY_GROUP_MEMBERSHIP, PMIX_GROUP_ID, id,
                 [&](const pmix_value_t& value) { found = ranks_of(value); }),
           PMIX_SUCCESS, "members of " + id);
        need(found == members, "members of " + id);
    }
    need(all_names(PMIX_QUERY_LOCAL_ONLY) == here, "names of the groups of this node");
    const auto in_range = [](pmix_data_range_t range) {
        return names_in_range(PMIX_QUERY_GROUP_NAMES, PMIX_QUERY_NUM_GROUPS, range);
    };
    need(in_range(PMIX_RANGE_LOCAL) == here, "groups in the range of this node");
    need(in_range(PMIX_RANGE_SESSION) == every, "groups in the range of the session");
    for (pmix_rank_t one = 0; one < size; ++one) {
        Names of_one;
        for (const auto& [id, members] : groups) {
            if (std::find(members.begin(), members.end(), one) != members.end()) of_one.insert(id);
        }
        need(names(rank(one), PMIX_GROUP_NAMES) == of_one, "groups of rank " + std::to_string(one));
    }
    fence();
    for (const auto& [id, members] : groups) {
        if (std::find(members.begin(), members.end(), self.rank) != members.end())
            is(destruct(id.c_str()), PMIX_SUCCESS, "destruct " + id);
    }
    fence();
    need(number_of(PMIX_QUERY_NUM_GROUPS) == 0, "number of groups in the end");
    need(names(rank(0), PMIX_GROUP_NAMES).empty() && names(rank(last), PMIX_GROUP_NAMES).empty(),
         "groups of processes in the end");
    fence();
}

/// Connect: all call, and all call again to disconnect; no name, no rank, no query.
void connect_all() {
    std::vector<pmix_proc_t> procs = ranks(all());
    const pmix_rank_t last = size - 1;
    const bool waits = self.rank != last;
    for (const bool connecting : {true, false}) {
        const std::string what = connecting ? "connect" : "disconnect";
        const auto start = connecting ? PMIx_Connect_nb : PMIx_Disconnect_nb;
        const auto whole = connecting ? PMIx_Connect : PMIx_Disconnect;
        Answer answer;
        if (waits)
            is(start(procs.data(), procs.size(), nullptr, 0, on_done, &answer), PMIX_SUCCESS, what + "_nb");
        // All but one have called; the fence and the query complete, and the operation is still pending.
        fence();
        number_of(PMIX_QUERY_NUM_GROUPS);
        if (waits) {
            const std::lock_guard guard(lock);
            need(!answer.done, what + " was over before the last one called");
        }
        fence();
        if (!waits)
            is(whole(procs.data(), procs.size(), nullptr, 0), PMIX_SUCCESS, what);
        else
            is(answer.wait(), PMIX_SUCCESS, what);
        need(number_of(PMIX_QUERY_NUM_GROUPS) == 0 && names(self, PMIX_GROUP_NAMES).empty(),
             "a group after " + what);
        pmix_proc_t still = self;
        pmix_value_t* value = nullptr;
        is(PMIx_Get(&still, PMIX_RANK, nullptr, 0, &value), PMIX_SUCCESS, "rank after " + what);
        if (value != nullptr) {
            need(value->data.rank == self.rank, "another rank after " + what);
            PMIX_VALUE_RELEASE(value);
        }
        fence();
    }
}

/// Without the host connect fails, even on one node.
void connect_refused() {
    std::vector<pmix_proc_t> procs = ranks(all());
    is(PMIx_Connect(procs.data(), procs.size(), nullptr, 0), PMIX_ERR_NOT_SUPPORTED, "connect");
    fence();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    alarm(100);
    if (PMIx_Init(&self, nullptr, 0) != PMIX_SUCCESS) return 2;
    const pmix_proc_t job = rank(PMIX_RANK_WILDCARD);
    pmix_value_t* value = nullptr;
    is(PMIx_Get(&job, PMIX_JOB_SIZE, nullptr, 0, &value), PMIX_SUCCESS, "job size");
    if (value == nullptr) return 2;
    size = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    const std::map<std::string, std::function<void()>> tests{
        {"sets", sets},
        {"same_name", same_name},
        {"callbacks", callbacks},
        {"leave_unheard", leave_unheard},
        {"awaited", awaited},
        {"elsewhere", elsewhere},
        {"leave_in_destruct", leave_in_destruct},
        {"unsupported", [&] { unsupported(argc > 2 && strcmp(argv[2], "1") == 0); }},
        {"connect", connect_all},
        {"connect_refused", connect_refused},
    };
    const auto test = tests.find(argv[1]);
    if (test == tests.end()) return 2;
    test->second();
    is(PMIx_Finalize(nullptr, 0), PMIX_SUCCESS, "finalize");
    return failed ? 1 : 0;
}
