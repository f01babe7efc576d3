// SPDX-License-Identifier: BSD-3-Clause
// Each process of a job in the tests of groups: the first word selects the test. Exits with 0 on success;
// prints the failures.
#include <pmix.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr auto kLimit = std::chrono::seconds(30);

pmix_proc_t self;
uint32_t size;
bool failed = false;

void complain(const std::string& what) {
    printf("BAD rank %u: %s\n", self.rank, what.c_str());
    fflush(stdout);
    failed = true;
}
void need(bool good, const std::string& what) {
    if (!good) complain(what);
}
void is(pmix_status_t status, pmix_status_t wanted, const std::string& what) {
    if (status != wanted)
        complain(what + ": " + PMIx_Error_string(status) + ", not " + PMIx_Error_string(wanted));
}

pmix_proc_t proc(const char* nspace, pmix_rank_t rank) {
    pmix_proc_t result;
    PMIX_LOAD_PROCID(&result, nspace, rank);
    return result;
}
pmix_proc_t rank(pmix_rank_t number) {
    return proc(self.nspace, number);
}
std::vector<pmix_proc_t> everybody() {
    std::vector<pmix_proc_t> all;
    for (uint32_t r = 0; r < size; ++r)
        all.push_back(rank(r));
    return all;
}
void fence(bool collect = false) {
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    is(PMIx_Fence(nullptr, 0, &info, 1), PMIX_SUCCESS, "fence");
}

class Directives {
  public:
    Directives() = default;
    Directives(const Directives&) = delete;
    Directives(Directives&& other) noexcept : infos_(std::move(other.infos_)) { other.infos_.clear(); }
    ~Directives() {
        for (pmix_info_t& info : infos_)
            PMIX_INFO_DESTRUCT(&info);
    }
    Directives& flag(const char* key) {
        const bool yes = true;
        return load(key, &yes, PMIX_BOOL);
    }
    Directives& load(const char* key, const void* value, pmix_data_type_t type) {
        infos_.emplace_back();
        PMIX_INFO_LOAD(&infos_.back(), key, value, type);
        return *this;
    }
    Directives& seconds(int limit) { return load(PMIX_TIMEOUT, &limit, PMIX_INT); }
    const pmix_info_t* data() const { return infos_.data(); }
    size_t count() const { return infos_.size(); }

  private:
    std::vector<pmix_info_t> infos_;
};

struct Results {
    std::string id;
    std::vector<pmix_proc_t> members;
    bool has_context_id = false;
    size_t context_id = 0;
    size_t count = 0;
    bool untouched = false;

    void read(const pmix_info_t* infos, size_t n) {
        count = n;
        for (size_t i = 0; i < n; ++i) {
            const pmix_value_t& value = infos[i].value;
            if (PMIX_CHECK_KEY(&infos[i], PMIX_GROUP_ID)) id = value.data.string;
            if (PMIX_CHECK_KEY(&infos[i], PMIX_GROUP_CONTEXT_ID)) {
                has_context_id = value.type == PMIX_SIZE;
                context_id = value.data.size;
            }
            if (PMIX_CHECK_KEY(&infos[i], PMIX_GROUP_MEMBERSHIP)) {
                const auto* first = static_cast<const pmix_proc_t*>(value.data.darray->array);
                members.assign(first, first + value.data.darray->size);
            }
        }
    }
};

pmix_status_t construct(const char* id, const std::vector<pmix_proc_t>& procs, Results& results,
                        const Directives& directives = {}) {
    auto* infos = reinterpret_cast<pmix_info_t*>(&results);  // not to be left as it is
    size_t count = 77;
    const pmix_status_t status =
        PMIx_Group_construct(id, procs.empty() ? nullptr : procs.data(), procs.size(), directives.data(),
                             directives.count(), &infos, &count);
    results = Results();
    if (status == PMIX_SUCCESS || status == PMIX_ERR_PARTIAL_SUCCESS) {
        results.read(infos, count);
        PMIX_INFO_FREE(infos, count);
    } else {
        need(infos == nullptr && count == 0, std::string("results of a failed construct of ") + id);
    }
    return status;
}
void made(const char* id, const std::vector<pmix_proc_t>& procs, const Directives& directives = {}) {
    Results results;
    is(construct(id, procs, results, directives), PMIX_SUCCESS, std::string("construct ") + id);
}
void gone(const char* id, pmix_status_t wanted = PMIX_SUCCESS, const Directives& directives = {}) {
    is(PMIx_Group_destruct(id, directives.data(), directives.count()), wanted, std::string("destruct ") + id);
}

// --- later events ---

std::mutex lock;  // guards what follows
std::condition_variable changed;
struct Came {
    pmix_status_t status;
    std::string group;
    pmix_proc_t affected;
    bool nobody;         ///< PMIX_JOB_TERM_STATUS says that no leader was found
    int exit_code = -1;  ///< the host's report of the end
    bool internal = false;
};
std::vector<Came> events;
std::atomic<bool> abort_all{false};  // the handler's decision
std::atomic<bool> lead{false};
std::atomic<bool> abort_leaderless{false};

void on_event(size_t, pmix_status_t status, const pmix_proc_t*, pmix_info_t info[], size_t ninfo,
              pmix_info_t*, size_t, pmix_event_notification_cbfunc_fn_t complete, void* cbdata) {
    Came came{status, "", {}, false};
    for (size_t i = 0; i < ninfo; ++i) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_GROUP_ID)) came.group = info[i].value.data.string;
        if (PMIX_CHECK_KEY(&info[i], PMIX_JOB_TERM_STATUS)) came.nobody = true;
        if (PMIX_CHECK_KEY(&info[i], PMIX_GROUP_LEADER)) came.affected = *info[i].value.data.proc;
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC)) came.affected = *info[i].value.data.proc;
        if (PMIX_CHECK_KEY(&info[i], PMIX_EXIT_CODE)) came.exit_code = info[i].value.data.integer;
        if (strncmp(info[i].key, "muster.", strlen("muster.")) == 0) came.internal = true;
    }
    {
        std::lock_guard guard(lock);
        events.push_back(came);
        changed.notify_all();
    }
    pmix_info_t result;
    const bool yes = true;
    PMIX_INFO_LOAD(&result, PMIX_GROUP_LEADER, &yes, PMIX_BOOL);
    const bool claim = lead && status == PMIX_GROUP_LEADER_FAILED;
    const bool give_up = (abort_all && status == PMIX_GROUP_MEMBER_FAILED) ||
                         (abort_leaderless && status == PMIX_GROUP_LEADER_FAILED);
    complete(give_up ? PMIX_GROUP_CONSTRUCT_ABORT : PMIX_EVENT_ACTION_COMPLETE, claim ? &result : nullptr,
             claim ? 1 : 0, nullptr, nullptr, cbdata);
}
void listen(pmix_status_t code) {
    const pmix_status_t id = PMIx_Register_event_handler(&code, 1, nullptr, 0, on_event, nullptr, nullptr);
    need(id >= 0, "registration");
}
bool wait_until(const std::function<bool()>& condition) {
    std::unique_lock guard(lock);
    return changed.wait_for(guard, kLimit, condition);
}

struct Answer {
    bool came = false;
    pmix_status_t status = PMIX_ERROR;
    Results results;
};
void on_results(pmix_status_t status, pmix_info_t* info, size_t ninfo, void* cbdata,
                pmix_release_cbfunc_t release, void* release_data) {
    auto* answer = static_cast<Answer*>(cbdata);
    {
        std::lock_guard guard(lock);
        answer->came = true;
        answer->status = status;
        answer->results.read(info, ninfo);
        changed.notify_all();
    }
    if (release != nullptr) release(release_data);
}
void on_status(pmix_status_t status, void* cbdata) {
    auto* answer = static_cast<Answer*>(cbdata);
    std::lock_guard guard(lock);
    answer->came = true;
    answer->status = status;
    changed.notify_all();
}

// --- queries ---

pmix_status_t ask(const char* key, const char* group, const std::function<void(const pmix_value_t&)>& read) {
    pmix_query_t query;
    PMIX_QUERY_CONSTRUCT(&query);
    PMIx_Argv_append_nosize(&query.keys, key);
    if (group != nullptr) {
        PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
        PMIX_INFO_LOAD(&query.qualifiers[0], PMIX_GROUP_ID, group, PMIX_STRING);
    }
    pmix_info_t* results = nullptr;
    size_t count = 0;
    const pmix_status_t status = PMIx_Query_info(&query, 1, &results, &count);
    for (size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_KEY(&results[i], key)) read(results[i].value);
    }
    PMIX_INFO_FREE(results, count);
    PMIX_QUERY_DESTRUCT(&query);
    return status;
}
size_t number_of_groups() {
    size_t number = 77;
    is(ask(PMIX_QUERY_NUM_GROUPS, nullptr, [&](const pmix_value_t& value) { number = value.data.size; }),
       PMIX_SUCCESS, "query of the number");
    return number;
}
std::set<std::string> strings(const pmix_value_t& value) {
    std::set<std::string> texts;
    if (value.type != PMIX_DATA_ARRAY || value.data.darray->type != PMIX_STRING) return texts;
    auto** first = static_cast<char**>(value.data.darray->array);
    for (size_t i = 0; i < value.data.darray->size; ++i)
        texts.insert(first[i]);
    return texts;
}
std::set<std::string> groups_of(const pmix_proc_t& who) {
    pmix_value_t* value = nullptr;
    std::set<std::string> names;
    if (PMIx_Get(&who, PMIX_GROUP_NAMES, nullptr, 0, &value) != PMIX_SUCCESS) return names;
    names = strings(*value);
    PMIX_VALUE_RELEASE(value);
    return names;
}

void put(const char* key, const std::string& text) {
    pmix_value_t value;
    PMIX_VALUE_LOAD(&value, text.c_str(), PMIX_STRING);
    is(PMIx_Put(PMIX_GLOBAL, key, &value), PMIX_SUCCESS, "put");
    is(PMIx_Commit(), PMIX_SUCCESS, "commit");
    PMIX_VALUE_DESTRUCT(&value);
}
void want(const pmix_proc_t& who, const char* key, const std::string& text,
          const Directives& directives = {}) {
    pmix_value_t* value = nullptr;
    const std::string what = std::string(key) + " of " + who.nspace + ":" + std::to_string(who.rank);
    const pmix_status_t status = PMIx_Get(&who, key, directives.data(), directives.count(), &value);
    if (status != PMIX_SUCCESS) return is(status, PMIX_SUCCESS, what);
    need(value->type == PMIX_STRING && text == value->data.string, what + " is another");
    PMIX_VALUE_RELEASE(value);
}

// --- the tests ---

/// Members in a given order: ranks, names, queries, data, fences, and their end.
void basic() {
    put("t.key", "value " + std::to_string(self.rank));
    std::vector<pmix_proc_t> members;
    for (uint32_t r = 0; r < size; ++r)
        members.push_back(rank(size - 1 - r));
    Results results;
    is(construct("t-basic", members, results), PMIX_SUCCESS, "construct");
    need(results.id == "t-basic", "the id in the results");
    need(results.members.size() == size && !results.has_context_id, "the membership in the results");
    for (uint32_t r = 0; r < results.members.size(); ++r)
        need(PMIX_CHECK_PROCID(&results.members[r], &members[r]), "the order of the members");
    for (uint32_t r = 0; r < size; ++r)
        want(proc("t-basic", r), "t.key", "value " + std::to_string(size - 1 - r));
    pmix_value_t* value = nullptr;
    const pmix_proc_t beyond = proc("t-basic", size);
    need(PMIx_Get(&beyond, "t.key", nullptr, 0, &value) != PMIX_SUCCESS, "get of a rank beyond the group");

    const pmix_proc_t all = proc("t-basic", PMIX_RANK_WILDCARD);
    is(PMIx_Fence(&all, 1, nullptr, 0), PMIX_SUCCESS, "fence over the group");
    const pmix_proc_t two[2] = {proc("t-basic", 0), proc("t-basic", 1)};
    if (self.rank + 2 >= size) is(PMIx_Fence(two, 2, nullptr, 0), PMIX_SUCCESS, "fence over two group ranks");
    is(PMIx_Fence(&beyond, 1, nullptr, 0), PMIX_ERR_BAD_PARAM, "fence over a rank beyond the group");

    need(number_of_groups() == 1, "number of groups");
    std::set<std::string> names;
    is(ask(PMIX_QUERY_GROUP_NAMES, nullptr, [&](const pmix_value_t& found) { names = strings(found); }),
       PMIX_SUCCESS, "query of the names");
    need(names == std::set<std::string>{"t-basic"}, "names of groups");
    size_t asked = 0;
    is(ask(PMIX_QUERY_GROUP_MEMBERSHIP, "t-basic",
           [&](const pmix_value_t& found) { asked = found.data.darray->size; }),
       PMIX_SUCCESS, "query of the members");
    need(asked == size, "members by query");
    need(groups_of(self) == names, "groups of this process");
    need(groups_of(rank((self.rank + 1) % size)) == names, "groups of another process");
    fence();
    gone("t-basic");
    need(groups_of(self).empty(), "groups of this process after destruct");
    fence();
    need(number_of_groups() == 0, "number of groups after destruct");
    is(PMIx_Fence(two, 2, nullptr, 0), PMIX_ERR_BAD_PARAM, "fence over a group that is no more");
    gone("t-basic", PMIX_ERR_NOT_FOUND);
    // Its id is free again, and a whole namespace can be named at once.
    made("t-basic", {rank(PMIX_RANK_WILDCARD)});
    want(proc("t-basic", 1), "t.key", "value 1");
    gone("t-basic");
    fence();
}

/// Several at a time, among them two whose calls come in different order.
void several() {
    constexpr size_t kGroups = 8;
    Answer constructed[kGroups], destructed[kGroups];
    std::vector<std::string> ids;
    for (size_t g = 0; g < kGroups; ++g)
        ids.push_back("t-several-" + std::to_string(g));
    const auto everyone = everybody();
    for (size_t i = 0; i < kGroups; ++i) {
        const size_t g = self.rank % 2 == 0 ? i : kGroups - 1 - i;
        is(PMIx_Group_construct_nb(ids[g].c_str(), everyone.data(), everyone.size(), nullptr, 0, on_results,
                                   &constructed[g]),
           PMIX_SUCCESS, "construct_nb");
    }
    fence();  // over the same processes, while these continue
    const auto all_came = [](const Answer(&answers)[kGroups]) {
        return wait_until([&] {
            for (const Answer& answer : answers)
                if (!answer.came) return false;
            return true;
        });
    };
    need(all_came(constructed), "the constructs did not end");
    for (size_t g = 0; g < kGroups; ++g) {
        is(constructed[g].status, PMIX_SUCCESS, "callback of construct_nb");
        need(constructed[g].results.id == ids[g] && constructed[g].results.members.size() == size,
             "results of construct_nb");
    }
    for (size_t i = 0; i < kGroups; ++i) {
        const size_t g = self.rank % 2 == 0 ? i : kGroups - 1 - i;
        is(PMIx_Group_destruct_nb(ids[g].c_str(), nullptr, 0, on_status, &destructed[g]), PMIX_SUCCESS,
           "destruct_nb");
    }
    fence();
    need(all_came(destructed), "the destructs did not end");
    for (const Answer& answer : destructed)
        is(answer.status, PMIX_SUCCESS, "callback of destruct_nb");
}

/// The last rank calls late: neither construct nor destruct completes before, and a fence over the same
/// processes does.
void waits() {
    const auto everyone = everybody();
    const bool late = self.rank == size - 1;
    for (const bool constructs : {true, false}) {
        const std::string what = constructs ? "construct" : "destruct";
        const auto start = [&](Answer& answer) {
            is(constructs ? PMIx_Group_construct_nb("t-waits", everyone.data(), everyone.size(), nullptr, 0,
                                                    on_results, &answer)
                          : PMIx_Group_destruct_nb("t-waits", nullptr, 0, on_status, &answer),
               PMIX_SUCCESS, what + "_nb");
        };
        Answer answer;
        if (!late) start(answer);
        is(PMIx_Fence(everyone.data(), everyone.size(), nullptr, 0), PMIX_SUCCESS, "fence during " + what);
        number_of_groups();  // answered after anything that the server may have sent
        {
            const std::lock_guard guard(lock);
            need(!answer.came, what + " completed before the last one called");
        }
        fence();
        if (late) start(answer);
        need(wait_until([&] { return answer.came; }), what + " did not complete");
        is(answer.status, PMIX_SUCCESS, what);
        if (constructs) need(answer.results.members.size() == size, "members");
        fence();
    }
}

/// Directives that all libraries and hosts must support may be required; others are refused if required.
void required() {
    const auto with = [](const char* key) {
        Directives directives;
        directives.flag(key);
        PMIX_INFO_REQUIRED(const_cast<pmix_info_t*>(directives.data()));
        return directives;
    };
    const std::string own = "t-required-" + std::to_string(self.rank);
    made(own.c_str(), {self}, with(PMIX_GROUP_LOCAL_ONLY));
    gone(own.c_str());
    for (const char* key : {PMIX_GROUP_LEADER, PMIX_GROUP_OPTIONAL, PMIX_GROUP_FT_COLLECTIVE,
                            PMIX_GROUP_ASSIGN_CONTEXT_ID, PMIX_GROUP_NOTIFY_TERMINATION}) {
        const std::string id = std::string("t-required-") + key;
        made(id.c_str(), everybody(),
             key == std::string(PMIX_GROUP_LEADER) && self.rank != 0 ? Directives() : with(key));
        fence();
        gone(id.c_str());
    }
    Results results;
    is(construct("t-required", everybody(), results, with("test.unknown")), PMIX_ERR_NOT_SUPPORTED,
       "an unknown directive");
    fence();
}

/// Context ids: the same for all members, a different one for each group, none unless requested.
void context() {
    Directives wish;
    wish.flag(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    const pmix_data_range_t range = PMIX_RANGE_SESSION;
    wish.load(PMIX_RANGE, &range, PMIX_DATA_RANGE);
    std::vector<pmix_proc_t> half;
    for (uint32_t r = self.rank % 2; r < size; r += 2)
        half.push_back(rank(r));
    Results mine, all;
    // One request is enough, even the last.
    const char* const id = self.rank % 2 == 0 ? "t-even" : "t-odd";
    Answer early;
    if (self.rank >= 2)
        is(PMIx_Group_construct_nb(id, half.data(), half.size(), nullptr, 0, on_results, &early),
           PMIX_SUCCESS, "construct_nb of half");
    fence();
    if (self.rank >= 2) {
        need(wait_until([&] { return early.came; }), "the construct of half did not end");
        is(early.status, PMIX_SUCCESS, "construct_nb of half");
        mine = early.results;
    } else {
        is(construct(id, half, mine, wish), PMIX_SUCCESS, "construct of half");
    }
    is(construct("t-all", everybody(), all, wish), PMIX_SUCCESS, "construct of all");
    need(mine.has_context_id && all.has_context_id && mine.context_id != all.context_id, "context ids");
    put("t.ctx", std::to_string(mine.context_id) + " " + std::to_string(all.context_id));
    fence(true);
    for (uint32_t r = 0; r < size; ++r) {
        if (r % 2 == self.rank % 2) {
            want(rank(r), "t.ctx", std::to_string(mine.context_id) + " " + std::to_string(all.context_id));
            continue;
        }
        pmix_value_t* value = nullptr;
        const pmix_proc_t other = rank(r);
        is(PMIx_Get(&other, "t.ctx", nullptr, 0, &value), PMIX_SUCCESS, "get");
        if (value == nullptr) continue;
        size_t half_id = 0, all_id = 0;
        sscanf(value->data.string, "%zu %zu", &half_id, &all_id);
        need(all_id == all.context_id && half_id != mine.context_id, "ids of the other half");
        PMIX_VALUE_RELEASE(value);
    }
    gone("t-all");
    gone(id);
    fence();
    // The id of an ended group is not reused for the next one.
    Results next;
    is(construct("t-all", everybody(), next, wish), PMIX_SUCCESS, "construct again");
    need(next.has_context_id && next.context_id != all.context_id && next.context_id != mine.context_id,
         "the context id of the next group");
    gone("t-all");
    fence();
}

/// Members exchange data at construction, and find earlier posted values without a fence.
void data() {
    const std::string own = "info of " + std::to_string(self.rank);
    put("t.posted", own);
    pmix_info_t told;
    PMIX_INFO_LOAD(&told, "t.told", own.c_str(), PMIX_STRING);
    pmix_data_array_t array{PMIX_INFO, 1, &told};
    const size_t local_id = 100 + self.rank;
    Directives directives;
    directives.load(PMIX_GROUP_INFO, &array, PMIX_DATA_ARRAY)
        .load(PMIX_GROUP_LOCAL_CID, &local_id, PMIX_SIZE)
        .flag(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    PMIX_INFO_DESTRUCT(&told);
    Results results;
    is(construct("t-data", everybody(), results, directives), PMIX_SUCCESS, "construct");
    Directives here;
    here.flag(PMIX_OPTIONAL);
    Directives in_group;
    in_group.flag(PMIX_OPTIONAL).load(PMIX_GROUP_CONTEXT_ID, &results.context_id, PMIX_SIZE);
    const_cast<pmix_info_t*>(in_group.data())[1].flags |= PMIX_INFO_QUALIFIER;
    for (uint32_t r = 0; r < size; ++r) {
        const std::string text = "info of " + std::to_string(r);
        want(proc("t-data", r), "t.told", text, here);
        want(rank(r), "t.told", text, in_group);
        want(rank(r), "t.posted", text);
        pmix_value_t* value = nullptr;
        const pmix_proc_t other = rank(r);
        is(PMIx_Get(&other, PMIX_GROUP_LOCAL_CID, here.data(), here.count(), &value), PMIX_SUCCESS,
           "get of the local context id");
        if (value == nullptr) continue;
        need(value->type == PMIX_SIZE && value->data.size == 100 + r, "local context id");
        PMIX_VALUE_RELEASE(value);
    }
    gone("t-data");
    fence();
}

/// Groups of groups, events to a group, and a set of the same name.
void nested() {
    std::vector<pmix_proc_t> half;
    for (uint32_t r = self.rank % 2; r < size; r += 2)
        half.push_back(rank(r));
    const char* own = self.rank % 2 == 0 ? "t-even" : "t-odd";
    made(own, half);
    fence();
    if (self.rank % 2 == 0) {
        Results results;
        is(construct("t-of-group", {proc("t-even", PMIX_RANK_WILDCARD)}, results), PMIX_SUCCESS, "construct");
        need(results.members.size() == half.size(), "members of a group of a group");
        const pmix_proc_t first = proc("t-of-group", 0);
        pmix_value_t* value = nullptr;
        is(PMIx_Get(&first, PMIX_LOCAL_RANK, nullptr, 0, &value), PMIX_SUCCESS, "get by nested group rank");
        if (value != nullptr) PMIX_VALUE_RELEASE(value);
        gone("t-of-group");
    }
    constexpr pmix_status_t kCode = PMIX_EXTERNAL_ERR_BASE - 60;
    listen(kCode);
    fence();
    if (self.rank < 2) {
        const pmix_proc_t all = proc(own, PMIX_RANK_WILDCARD);
        pmix_data_array_t array{PMIX_PROC, 1, const_cast<pmix_proc_t*>(&all)};
        Directives range;
        range.load(PMIX_EVENT_CUSTOM_RANGE, &array, PMIX_DATA_ARRAY).load(PMIX_GROUP_ID, own, PMIX_STRING);
        is(PMIx_Notify_event(kCode, &self, PMIX_RANGE_CUSTOM, range.data(), range.count(), nullptr, nullptr),
           PMIX_SUCCESS, "event to the group");
    }
    need(wait_until([] { return !events.empty(); }), "no event");
    fence();
    need(events.size() == 1 && events[0].group == own, "an event of another group");
    gone(own);
    fence();
}

/// Invalid calls are refused at once, and leave nothing behind.
void bad() {
    const auto all = everybody();
    Results results;
    Answer answer;
    const std::string longest(PMIX_MAX_NSLEN, 'x');
    for (const std::string& id : {std::string(), longest + "x"}) {
        is(construct(id.c_str(), all, results), PMIX_ERR_BAD_PARAM, "construct with a bad id");
        is(PMIx_Group_construct_nb(id.c_str(), all.data(), all.size(), nullptr, 0, on_results, &answer),
           PMIX_ERR_BAD_PARAM, "construct_nb with a bad id");
        is(PMIx_Group_destruct_nb(id.c_str(), nullptr, 0, on_status, &answer), PMIX_ERR_BAD_PARAM,
           "destruct_nb with a bad id");
    }
    is(PMIx_Group_construct(nullptr, all.data(), all.size(), nullptr, 0, nullptr, nullptr),
       PMIX_ERR_BAD_PARAM, "construct without an id");
    is(construct(self.nspace, all, results), PMIX_ERR_BAD_PARAM, "construct with the id of a namespace");
    is(PMIx_Group_construct("t-bad", all.data(), 0, nullptr, 0, nullptr, nullptr), PMIX_ERR_BAD_PARAM,
       "construct with an array of no members");
    is(PMIx_Group_construct("t-bad", nullptr, 3, nullptr, 0, nullptr, nullptr), PMIX_ERR_BAD_PARAM,
       "construct with members that are not there");
    is(PMIx_Group_construct("t-bad", all.data(), all.size(), nullptr, 2, nullptr, nullptr),
       PMIX_ERR_BAD_PARAM, "construct with directives that are not there");
    is(construct("t-bad", {rank((self.rank + 1) % size)}, results), PMIX_ERR_BAD_PARAM,
       "construct of others");
    is(construct("t-bad", {self, proc("t-no-such-namespace", PMIX_RANK_WILDCARD)}, results),
       PMIX_ERR_INVALID_NAMESPACE, "construct with a namespace that is unknown");
    gone("t-bad", PMIX_ERR_NOT_FOUND);
    need(!answer.came, "a callback of a call that failed");
    fence();
    // The longest id; members named twice; and the id is not free while the group exists.
    std::vector<pmix_proc_t> twice = all;
    twice.insert(twice.end(), all.begin(), all.end());
    is(construct(longest.c_str(), twice, results), PMIX_SUCCESS, "construct with the longest id");
    need(results.members.size() == size, "members named twice");
    is(construct(longest.c_str(), all, results), PMIX_ERR_EXISTS, "construct of what is there");
    fence();
    gone(longest.c_str());
    fence();
    need(number_of_groups() == 0, "something is left");
}

/// A member that never calls.
void timeout() {
    Directives limit;
    limit.seconds(1);
    Results results;
    const pmix_proc_t last = rank(size - 1);
    if (self.rank != last.rank) {
        is(construct("t-late", everybody(), results, limit), PMIX_ERR_TIMEOUT, "construct without one");
        need(groups_of(self).empty(), "a group that was not made");
    }
    fence();
    // With PMIX_GROUP_OPTIONAL the callers form the group, and a later caller gets an error. The limit is
    // long enough for those that call.
    Directives optional, long_limit;
    optional.seconds(3);
    optional.flag(PMIX_GROUP_OPTIONAL);
    long_limit.seconds(60);
    long_limit.flag(PMIX_GROUP_OPTIONAL);
    if (self.rank != last.rank) {
        is(construct("t-part", everybody(), results, optional), PMIX_ERR_PARTIAL_SUCCESS,
           "construct of a part");
        need(results.members.size() == size - 1, "members of a part");
        const pmix_proc_t all = proc("t-part", PMIX_RANK_WILDCARD);
        is(PMIx_Fence(&all, 1, nullptr, 0), PMIX_SUCCESS, "fence over the part");
    }
    fence();
    if (self.rank == last.rank)
        is(construct("t-part", everybody(), results, optional), PMIX_ERR_EXISTS, "construct too late");
    fence();
    if (self.rank != last.rank) gone("t-part");
    fence();
    made("t-whole", everybody(), long_limit);
    fence();
    if (self.rank != last.rank) gone("t-whole", PMIX_ERR_TIMEOUT, limit);
    fence();
    gone("t-whole");  // it still exists
    fence();
}

/// A member has ended before it called. `how`: the directive, and the expected result; `end`: it is killed,
/// or killed late, long after the others have called, or it finalizes, which leaves an existing group.
void departed(const std::string& how, const std::string& end) {
    std::vector<pmix_proc_t> all = everybody();
    const bool destruct = how == "destruct" || how == "destruct_notify";
    const bool leaves = destruct && end.empty();
    listen(leaves ? PMIX_GROUP_LEFT : PMIX_GROUP_MEMBER_FAILED);
    Directives directives;
    if (how == "notify" || how == "leader" || how == "destruct_notify")
        directives.flag(PMIX_GROUP_NOTIFY_TERMINATION);
    if (how == "leader" && self.rank == 0) directives.flag(PMIX_GROUP_LEADER);
    if (how == "optional" || how == "optional_notify") directives.flag(PMIX_GROUP_OPTIONAL);
    if (how == "optional_notify") directives.flag(PMIX_GROUP_NOTIFY_TERMINATION);
    if (how == "ft") directives.flag(PMIX_GROUP_FT_COLLECTIVE);
    if (destruct) made("t-gone", all, directives);
    fence();
    if (self.rank == size - 1) {
        if (end == "late") usleep(800000);
        if (!end.empty()) kill(getpid(), SIGKILL);
        return;  // it ends now
    }
    Results results;
    pmix_status_t status = PMIX_ERROR;
    if (how == "leader" && self.rank == 0) {
        Answer answer;
        is(PMIx_Group_construct_nb("t-gone", all.data(), all.size(), directives.data(), directives.count(),
                                   on_results, &answer),
           PMIX_SUCCESS, "construct_nb");
        number_of_groups();  // answered after it
        put("t.leader", "calls");
        need(wait_until([&] { return answer.came; }), "no answer");
        status = answer.status;
        results = answer.results;
    } else {
        // The server of the ended member knows the leader once the leader has called, on any node.
        if (how == "leader") want(rank(0), "t.leader", "calls");
        status = destruct ? PMIx_Group_destruct("t-gone", nullptr, 0)
                          : construct("t-gone", all, results, directives);
    }
    if (how == "none" || (how == "destruct" && !leaves)) {
        is(status, PMIX_GROUP_MEMBER_FAILED, how);
        need(groups_of(self).empty(), "a group that is none");
        return;
    }
    if (destruct) {
        is(status, PMIX_SUCCESS, how);
        need(wait_until([] { return !events.empty(); }), "no event of the member that failed or left");
        need(events[0].group == "t-gone" && events[0].affected.rank == size - 1, "what the event says");
        return;
    }
    is(status, PMIX_ERR_PARTIAL_SUCCESS, how);
    need(results.members.size() == size - 1, "the final membership");
    if (how == "notify") {
        need(wait_until([] { return !events.empty(); }), "no event of the member that failed");
        need(events[0].group == "t-gone" && events[0].affected.rank == size - 1, "what the event says");
    }
    const pmix_proc_t group = proc("t-gone", PMIX_RANK_WILDCARD);
    is(PMIx_Fence(&group, 1, nullptr, 0), PMIX_SUCCESS, "fence over the rest");
    if (how == "leader" && self.rank == 0)
        need(wait_until([] { return !events.empty(); }), "no event for the leader");
    is(PMIx_Fence(&group, 1, nullptr, 0), PMIX_SUCCESS, "fence over the rest");
    if (how == "optional" || how == "optional_notify" || how == "ft" || (how == "leader" && self.rank != 0)) {
        std::lock_guard guard(lock);
        need(events.empty(), "an event that is not due");
    }
    gone("t-gone");
}

/// A member is killed before it calls (`before`), or in the group: the event carries the host's report of its
/// end.
void how_it_ended(const std::string& when) {
    const std::vector<pmix_proc_t> all = everybody();
    const bool dies = self.rank == size - 1;
    if (!dies) listen(PMIX_GROUP_MEMBER_FAILED);
    Directives directives;
    directives.flag(PMIX_GROUP_NOTIFY_TERMINATION);
    if (when != "before") made("t-end", all, directives);
    fence();
    if (dies) raise(SIGKILL);
    if (when == "before") {
        Results results;
        is(construct("t-end", all, results, directives), PMIX_ERR_PARTIAL_SUCCESS, "construct");
    }
    need(wait_until([] { return !events.empty(); }), "no event of the member that failed");
    const std::lock_guard guard(lock);
    need(events.size() == 1 && events[0].group == "t-end" && events[0].affected.rank == size - 1,
         "what the event says");
    need(events[0].exit_code == 128 + SIGKILL,
         "the exit code in the event: " + std::to_string(events[0].exit_code));
    need(!events[0].internal, "an internal key in the event");
}

/// A handler aborts the group.
void give_up() {
    listen(PMIX_GROUP_MEMBER_FAILED);
    abort_all = self.rank == 1;
    Directives directives;
    directives.flag(PMIX_GROUP_NOTIFY_TERMINATION);
    fence();
    if (self.rank == size - 1) return;
    Results results;
    is(construct("t-abort", everybody(), results, directives), PMIX_GROUP_CONSTRUCT_ABORT, "construct");
    need(groups_of(self).empty(), "a group that was given up");
}

/// The leader dies while the others are in the call. `how`: the new leader is rank 1, which is on its node,
/// or rank 3, or one of them if both offer, or there is none, or rank 2 aborts.
void leader_died(const std::string& how) {
    listen(PMIX_GROUP_MEMBER_FAILED);
    listen(PMIX_GROUP_LEADER_FAILED);
    listen(PMIX_GROUP_LEADER_SELECTED);
    listen(PMIX_GROUP_CONSTRUCT_ABORT);
    const pmix_rank_t next = how == "claim" ? 1 : 3;
    lead = (how == "claim" || how == "claim_far") && self.rank == next;
    if (how == "claims") lead = self.rank == 1 || self.rank == 3;
    abort_leaderless = how == "abort" && self.rank == 2;
    Directives directives;
    directives.flag(PMIX_GROUP_NOTIFY_TERMINATION);
    const auto all = everybody();
    fence();
    if (self.rank == 0) {
        directives.flag(PMIX_GROUP_LEADER);
        auto* answer = new Answer;
        is(PMIx_Group_construct_nb("t-leader", all.data(), all.size(), directives.data(), directives.count(),
                                   on_results, answer),
           PMIX_SUCCESS, "construct_nb");
        number_of_groups();  // answered after it
        raise(SIGKILL);
    }
    const auto has = [](pmix_status_t code) {
        return std::any_of(events.begin(), events.end(), [&](const Came& one) { return one.status == code; });
    };
    // While one has not called, the construction continues.
    if (self.rank == 1)
        need(wait_until([&] { return has(PMIX_GROUP_LEADER_FAILED); }), "no event of the leader");
    if (how == "abort") {
        Results results;
        if (self.rank != 1)
            is(construct("t-leader", all, results, directives), PMIX_GROUP_CONSTRUCT_ABORT, "construct");
        need(wait_until([&] { return has(PMIX_GROUP_CONSTRUCT_ABORT); }), "no event of the end");
        need(groups_of(self).empty(), "a group that was given up");
        return;
    }
    Results results;
    is(construct("t-leader", all, results, directives), PMIX_ERR_PARTIAL_SUCCESS, "construct");
    need(results.members.size() == size - 1, "the final membership");
    need(wait_until([&] { return has(PMIX_GROUP_LEADER_FAILED) && has(PMIX_GROUP_LEADER_SELECTED); }),
         "the events of the leader");
    std::string agree;
    std::unique_lock guard(lock);
    need(events.size() == 2 && events[0].status == PMIX_GROUP_LEADER_FAILED && events[0].affected.rank == 0,
         "the leader failed");
    if (how == "none") {
        need(events[1].nobody, "that nobody leads");
    } else if (how == "claims") {
        const pmix_rank_t leader = events[1].affected.rank;
        need(!events[1].nobody && (leader == 1 || leader == 3), "one of those who offered to lead");
        agree = std::to_string(leader);
    } else {
        need(!events[1].nobody && events[1].affected.rank == next, "the leader that was selected");
    }
    guard.unlock();
    if (agree.empty()) return;
    // All were notified of the same one.
    put("t.leader", agree);
    for (uint32_t r = 1; r < size; ++r)
        want(rank(r), "t.leader", agree);
    const pmix_proc_t group = proc("t-leader", PMIX_RANK_WILDCARD);
    is(PMIx_Fence(&group, 1, nullptr, 0), PMIX_SUCCESS, "fence over the rest");
}

/// The server of the last node is killed while its processes, and others, wait in a construct or a destruct:
/// the job ends, and no process hangs.
void server_dies(const std::string& during) {
    put("t.server", std::to_string(getppid()));
    fence(true);
    if (during == "destruct") made("t-server", everybody());
    if (self.rank != 0) {
        Results results;
        if (during == "construct") construct("t-server", everybody(), results);
        if (during == "destruct") PMIx_Group_destruct("t-server", nullptr, 0);
        return;
    }
    const pmix_proc_t last = rank(size - 1);
    pmix_value_t* value = nullptr;
    is(PMIx_Get(&last, "t.server", nullptr, 0, &value), PMIX_SUCCESS, "pid of the server");
    if (value == nullptr) return;
    number_of_groups();
    kill(atoi(value->data.string), SIGKILL);
    PMIX_VALUE_RELEASE(value);
    Results results;
    need(construct("t-next", everybody(), results) != PMIX_SUCCESS, "a group with those of a dead server");
}

/// All members must get the same results in one round, and in its destruct.
void compare(const std::string& key, const std::string& text, bool member,
             const std::vector<pmix_proc_t>& alive, const std::vector<pmix_proc_t>& members) {
    put(key.c_str(), member ? text : "none");
    pmix_info_t collect;
    const bool yes = true;
    PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    is(PMIx_Fence(alive.data(), alive.size(), &collect, 1), PMIX_SUCCESS, "fence over who is left");
    for (const pmix_proc_t& other : members) {
        if (!member) break;
        want(other, key.c_str(), text);
    }
}

/// The end of one member in a random round. An ending member finalizes or, with `kill`, is killed.
enum class End { BeforeConstruct, InConstruct, BeforeDestruct, InDestruct, Leaves, LeavesAndEnds, None };

/// Kills this process after the given number of microseconds, whatever it does then.
void die_soon(unsigned microseconds) {
    fflush(stdout);
    std::thread([microseconds] {
        usleep(microseconds);
        raise(SIGKILL);
    }).detach();
}

/// Rounds of construct and destruct with random members, directives, delays and ends; `seed` makes them the
/// same in all processes. `kill`: ends are deaths, also of leaders, and one may leave while others destruct.
void random_rounds(unsigned seed, int rounds, bool kill) {
    std::mt19937 shared(seed), own(seed * 1000 + self.rank);
    std::vector<pmix_proc_t> alive = everybody();
    const auto remove = [](std::vector<pmix_proc_t>& procs, const pmix_proc_t& proc) {
        std::erase_if(procs, [&](const pmix_proc_t& one) { return one.rank == proc.rank; });
    };
    const auto pause = [&] {
        if (own() % 3 == 0) usleep(own() % 3000);
    };
    const auto finish = [kill] {
        fflush(stdout);
        if (kill) raise(SIGKILL);
        PMIx_Finalize(nullptr, 0);
        _exit(failed ? 1 : 0);
    };
    for (int round = 0; round < rounds && !failed; ++round) {
        const std::string id = "t-random-" + std::to_string(seed) + "-" + std::to_string(round);
        std::vector<pmix_proc_t> members = alive;
        std::shuffle(members.begin(), members.end(), shared);
        members.resize(2 + shared() % (members.size() - 1));
        // All processes of a job on one node, in order, with only a context id: in memory.
        const bool whole = kill && shared() % 2 == 0;
        if (whole) members = alive;
        Directives directives;
        const unsigned directive = whole ? 0 : shared() % 4;
        if (directive == 1) directives.flag(PMIX_GROUP_NOTIFY_TERMINATION);
        if (directive == 2) directives.flag(PMIX_GROUP_OPTIONAL);
        if (directive == 3) directives.flag(PMIX_GROUP_FT_COLLECTIVE);
        if (shared() % 2 == 0) directives.flag(PMIX_GROUP_ASSIGN_CONTEXT_ID);
        const bool leader_ends = shared() % 2 == 0;
        if (directive == 1 && self.rank == (leader_ends ? members.back() : members.front()).rank)
            directives.flag(PMIX_GROUP_LEADER);
        End end =
            static_cast<End>(std::min<unsigned long>(shared() % 10, static_cast<unsigned long>(End::None)));
        const bool new_ones = end == End::InDestruct || end == End::Leaves || end == End::LeavesAndEnds;
        if ((new_ones && !kill) || alive.size() <= 4 || members.size() <= 2) end = End::None;
        const pmix_proc_t victim = whole ? members[shared() % members.size()] : members.back();
        const bool member = std::any_of(members.begin(), members.end(),
                                        [](const pmix_proc_t& one) { return one.rank == self.rank; });
        const bool me = end != End::None && victim.rank == self.rank;
        std::vector<pmix_proc_t> survivors = members;
        if (end == End::BeforeConstruct || end == End::InConstruct) {
            remove(survivors, victim);
            remove(alive, victim);
        }
        pause();
        if (me && end == End::BeforeConstruct) return finish();
        Results results;
        std::string text;
        pmix_status_t status = PMIX_ERROR;
        if (me && end == End::InConstruct && whole) {
            die_soon(own() % 400);
            construct(id.c_str(), members, results, directives);
            for (;;)
                ::pause();
        }
        if (me && end == End::InConstruct) {
            auto* answer = new Answer;  // finalize may precede it
            PMIx_Group_construct_nb(id.c_str(), members.data(), members.size(), directives.data(),
                                    directives.count(), on_results, answer);
            pause();
            return finish();
        }
        if (member) {
            status = construct(id.c_str(), members, results, directives);
            text = std::to_string(status) + " " + std::to_string(results.context_id);
            for (const pmix_proc_t& one : results.members)
                text += " " + std::to_string(one.rank);
            if (end != End::BeforeConstruct && end != End::InConstruct) is(status, PMIX_SUCCESS, id);
        }
        compare("made." + id, text, member, alive, survivors);
        const bool made = status == PMIX_SUCCESS || status == PMIX_ERR_PARTIAL_SUCCESS;
        const bool leaves = end == End::Leaves || end == End::LeavesAndEnds;
        if (leaves || end == End::BeforeDestruct || end == End::InDestruct) remove(survivors, victim);
        if (end == End::BeforeDestruct || end == End::InDestruct || end == End::LeavesAndEnds)
            remove(alive, victim);
        if (me && end == End::BeforeDestruct) return finish();
        pause();
        status = PMIX_ERROR;
        static std::list<Answer> answers;  // one may arrive after its round
        Answer* const answer = &answers.emplace_back();
        if (me && end == End::InDestruct && whole) {
            die_soon(own() % 400);
            PMIx_Group_destruct(id.c_str(), nullptr, 0);
            for (;;)
                ::pause();
        }
        if (me && end == End::InDestruct) {
            PMIx_Group_destruct_nb(id.c_str(), nullptr, 0, on_status, answer);
            pause();
            return finish();
        }
        if (me && leaves) {
            is(PMIx_Group_leave_nb(id.c_str(), nullptr, 0, on_status, answer), PMIX_SUCCESS, "leave " + id);
            if (end == End::LeavesAndEnds) {
                pause();
                return finish();
            }
            need(wait_until([&] { return answer->came; }), "no answer to leave");
        } else if (member && made) {
            status = PMIx_Group_destruct(id.c_str(), nullptr, 0);
            if (end == End::None || end == End::Leaves) is(status, PMIX_SUCCESS, "destruct " + id);
        }
        compare("gone." + id, std::to_string(status), member && !(me && leaves), alive, survivors);
        if (member) need(groups_of(self).empty(), "a group that is left over from " + id);
    }
    if (kill && !failed) printf("ALIVE %zu\n", alive.size());
}

/// Leaders that know only themselves, and added members.
void bootstrap() {
    const size_t leaders = 2;
    Directives directives;
    std::vector<pmix_proc_t> own, added;
    if (self.rank < leaders) {
        own.push_back(self);
        for (uint32_t r = self.rank; r < size; r += leaders)
            added.push_back(rank(r));
        pmix_data_array_t array{PMIX_PROC, added.size(), added.data()};
        directives.load(PMIX_GROUP_BOOTSTRAP, &leaders, PMIX_SIZE)
            .load(PMIX_GROUP_ADD_MEMBERS, &array, PMIX_DATA_ARRAY);
    }
    directives.flag(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    put("t.boot", "rank " + std::to_string(self.rank));
    Results results;
    is(construct("t-boot", own, results, directives), PMIX_SUCCESS, "construct");
    need(results.members.size() == size && results.has_context_id, "members");
    for (uint32_t r = 0; r < results.members.size(); ++r)
        want(proc("t-boot", r), "t.boot", "rank " + std::to_string(results.members[r].rank));
    const pmix_proc_t all = proc("t-boot", PMIX_RANK_WILDCARD);
    is(PMIx_Fence(&all, 1, nullptr, 0), PMIX_SUCCESS, "fence over the group");
    gone("t-boot");
    fence();
}

/// Members of one node need no host; those of several do.
void no_host(bool one_node) {
    Results results;
    Directives local;
    local.flag(PMIX_GROUP_LOCAL_ONLY);
    const std::string own = "t-local-" + std::to_string(self.rank);
    is(construct(own.c_str(), {self}, results, local), PMIX_SUCCESS, "construct of oneself");
    gone(own.c_str());
    fence();
    Directives id;
    id.flag(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    is(construct(own.c_str(), {self}, results, id), PMIX_ERR_NOT_SUPPORTED, "a context id without a host");
    fence();
    const pmix_status_t wanted = one_node ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;
    is(construct("t-no-host", everybody(), results), wanted, "construct of all");
    fence();
    if (one_node) {
        gone("t-no-host");
        made("t-local", everybody(), local);
        gone("t-local");
        fence();
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2 || PMIx_Init(&self, nullptr, 0) != PMIX_SUCCESS) return 2;
    const pmix_proc_t job = rank(PMIX_RANK_WILDCARD);
    pmix_value_t* value = nullptr;
    if (PMIx_Get(&job, PMIX_JOB_SIZE, nullptr, 0, &value) != PMIX_SUCCESS) return 2;
    size = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    const std::map<std::string, std::function<void()>> tests{
        {"basic", basic},
        {"several", several},
        {"waits", waits},
        {"required", required},
        {"context", context},
        {"data", data},
        {"nested", nested},
        {"bad", bad},
        {"timeout", timeout},
        {"bootstrap", bootstrap},
        {"how_it_ended", [&] { how_it_ended(argc > 2 ? argv[2] : "before"); }},
        {"give_up", give_up},
        {"server_dies", [&] { server_dies(argc > 2 ? argv[2] : "construct"); }},
        {"leader_died", [&] { leader_died(argc > 2 ? argv[2] : "claim"); }},
        {"random",
         [&] {
             random_rounds(static_cast<unsigned>(argc > 2 ? atoi(argv[2]) : 1), argc > 3 ? atoi(argv[3]) : 40,
                           argc > 4 && strcmp(argv[4], "kill") == 0);
         }},
        {"departed", [&] { departed(argc > 2 ? argv[2] : "none", argc > 3 ? argv[3] : ""); }},
        {"no_host", [&] { no_host(argc > 2 && strcmp(argv[2], "1") == 0); }},
    };
    const auto test = tests.find(argv[1]);
    if (test == tests.end()) return 2;
    test->second();
    is(PMIx_Finalize(nullptr, 0), PMIX_SUCCESS, "finalize");
    if (!failed) printf("GOOD rank %u\n", self.rank);
    return failed ? 1 : 0;
}
