// SPDX-License-Identifier: BSD-3-Clause
// Each process of a job in the tests of groups by invitation: the first word selects the test. Exits with 0
// on success; prints the failures.
#include "tests/integration/invitations/kit.hpp"

using namespace kit;

namespace {

const std::vector<pmix_status_t> kGroupCodes = {PMIX_GROUP_INVITED,
                                                PMIX_GROUP_INVITE_ACCEPTED,
                                                PMIX_GROUP_INVITE_DECLINED,
                                                PMIX_GROUP_INVITE_FAILED,
                                                PMIX_GROUP_MEMBER_FAILED,
                                                PMIX_GROUP_CONSTRUCT_COMPLETE,
                                                PMIX_GROUP_CONSTRUCT_ABORT,
                                                PMIX_GROUP_LEADER_FAILED,
                                                PMIX_GROUP_LEADER_SELECTED,
                                                PMIX_GROUP_CONTEXT_ID_ASSIGNED,
                                                PMIX_GROUP_LEFT,
                                                PMIX_GROUP_MEMBERSHIP_UPDATE};

// A complete group: every form of join, results, events, data that members can read afterwards.
void all_join() {
    pmix_value_t value;
    memset(&value, 0, sizeof value);
    value.type = PMIX_UINT32;
    value.data.uint32 = 100 + self.rank;
    is(PMIx_Put(PMIX_GLOBAL, "test.number", &value), PMIX_SUCCESS, "put");
    is(PMIx_Commit(), PMIX_SUCCESS, "commit");
    static Answer in_handler;
    if (self.rank % 2 == 1) {
        react(PMIX_GROUP_INVITED,
              {PMIX_EVENT_ACTION_COMPLETE, nullptr, [](const Came& came) {
                   pmix_info_t* results = nullptr;
                   size_t n = 0;
                   is(PMIx_Group_join(came.group.c_str(), &came.source, PMIX_GROUP_ACCEPT, nullptr, 0,
                                      &results, &n),
                      PMIX_ERR_WOULD_BLOCK, "blocking join inside a handler");
                   is(PMIx_Group_join_nb(came.group.c_str(), &came.source, PMIX_GROUP_ACCEPT, nullptr, 0,
                                         on_info, &in_handler),
                      PMIX_SUCCESS, "join inside a handler");
                   need(!in_handler.done, "a callback before the call returned");
               }});
    }
    // Some register after the arrival of the invitation.
    if (self.rank != 2) listen(kGroupCodes);
    meet(all());
    Answer answer;
    if (self.rank == 0) {
        Infos directives;
        directives.yes(PMIX_GROUP_ASSIGN_CONTEXT_ID);
        answer = invite("test-all", {rank(PMIX_RANK_WILDCARD)}, std::move(directives));
        need(count(PMIX_GROUP_INVITE_ACCEPTED, "test-all") == size - 1, "an event for each who accepted");
        need(count(PMIX_GROUP_CONSTRUCT_COMPLETE) == 0,
             "the leader knows by itself that the group is complete");
    } else if (self.rank % 2 == 1) {
        in_handler.wait();
        answer = in_handler;
    } else {
        if (self.rank == 2) {
            usleep(50000);
            listen(kGroupCodes);
        }
        const Came came = wait_for(PMIX_GROUP_INVITED, "test-all");
        need(came.source.rank == 0 && came.members == all(), "who invited, and whom");
        answer = join("test-all", 0, PMIX_GROUP_ACCEPT);
    }
    is(answer.status, PMIX_SUCCESS, "group");
    need(answer.members == all() && answer.group == "test-all", "membership in the results");
    need(answer.has_context_id, "context id");
    if (self.rank != 0) {
        const Came complete = wait_for(PMIX_GROUP_CONSTRUCT_COMPLETE, "test-all");
        need(complete.members == all() && complete.has_context_id, "what the last event carries");
        need(wait_for(PMIX_GROUP_CONTEXT_ID_ASSIGNED, "test-all").has_context_id,
             "the event of the context id");
    }
    for (const pmix_rank_t other : all()) {
        const pmix_proc_t proc = rank(other);
        pmix_value_t* found = nullptr;
        is(PMIx_Get(&proc, "test.number", nullptr, 0, &found), PMIX_SUCCESS, "what a member has put");
        if (found == nullptr) continue;
        need(found->data.uint32 == 100 + other, "its value");
        PMIx_Value_destruct(found);
        free(found);
    }
    meet(all());
}

// The id names the group wherever a process is named.
void use() {
    listen(kGroupCodes);
    meet(all());
    const std::vector<pmix_rank_t> order = {3, 0, 5, 1};
    const bool member = std::find(order.begin(), order.end(), self.rank) != order.end();
    if (self.rank == 0) is(invite("test-use", ranks(order)).status, PMIX_SUCCESS, "invite");
    if (member && self.rank != 0) {
        wait_for(PMIX_GROUP_INVITED, "test-use");
        is(join("test-use", 0, PMIX_GROUP_ACCEPT).status, PMIX_SUCCESS, "join");
    }
    if (member) {
        pmix_proc_t everyone;
        PMIX_LOAD_PROCID(&everyone, "test-use", PMIX_RANK_WILDCARD);
        is(PMIx_Fence(&everyone, 1, nullptr, 0), PMIX_SUCCESS, "fence over the group");
        pmix_proc_t second;
        PMIX_LOAD_PROCID(&second, "test-use", 2);
        pmix_value_t* found = nullptr;
        is(PMIx_Get(&second, PMIX_HOSTNAME, nullptr, 0, &found), PMIX_SUCCESS, "get by group rank");
        if (found != nullptr) {
            PMIx_Value_destruct(found);
            free(found);
        }
        is(PMIx_Group_destruct("test-use", nullptr, 0), PMIX_SUCCESS, "destruct");
    }
    meet(all());
}

// Fields that other libraries omit, wrong fields, and existing groups.
void forms() {
    meet(all());
    if (self.rank == 0) {
        const std::string longest(PMIX_MAX_NSLEN, 'x');
        const std::string longer(PMIX_MAX_NSLEN + 1, 'x');
        const std::vector<pmix_proc_t> one = ranks({0});
        is(invite(longer.c_str(), one).status, PMIX_ERR_BAD_PARAM, "an id that is too long");
        is(invite("", one).status, PMIX_ERR_BAD_PARAM, "an empty id");
        is(invite(self.nspace, one).status, PMIX_ERR_BAD_PARAM, "the name of a namespace");
        is(PMIx_Group_invite(nullptr, one.data(), 1, nullptr, 0, nullptr, nullptr), PMIX_ERR_BAD_PARAM,
           "no id");
        is(PMIx_Group_invite("test", nullptr, 1, nullptr, 0, nullptr, nullptr), PMIX_ERR_BAD_PARAM,
           "no list");
        is(PMIx_Group_invite("test", one.data(), 0, nullptr, 0, nullptr, nullptr), PMIX_ERR_BAD_PARAM,
           "an empty list");
        is(PMIx_Group_invite("test", one.data(), 1, nullptr, 1, nullptr, nullptr), PMIX_ERR_BAD_PARAM,
           "directives that are not there");
        is(PMIx_Group_leave(nullptr, nullptr, 0), PMIX_ERR_BAD_PARAM, "leave without an id");
        is(PMIx_Group_leave("test-none", nullptr, 0), PMIX_ERR_NOT_FOUND, "leave what is not there");
        const auto answer = static_cast<pmix_group_opt_t>(7);
        is(join("test", 1, answer).status, PMIX_ERR_BAD_PARAM, "an answer that is none");
        is(join("test", PMIX_RANK_WILDCARD, PMIX_GROUP_ACCEPT).status, PMIX_ERR_BAD_PARAM,
           "a leader that is many");
        is(join("test", 0, PMIX_GROUP_ACCEPT).status, PMIX_ERR_BAD_PARAM, "joining oneself");
        is(PMIx_Group_join("test", nullptr, PMIX_GROUP_ACCEPT, nullptr, 0, nullptr, nullptr),
           PMIX_ERR_NOT_FOUND, "whoever has invited, when nobody has");
        static Answer never;
        is(PMIx_Group_invite_nb(longer.c_str(), one.data(), 1, nullptr, 0, on_info, &never),
           PMIX_ERR_BAD_PARAM, "not blocking");
        is(PMIx_Group_join_nb("", one.data(), PMIX_GROUP_ACCEPT, nullptr, 0, on_info, &never),
           PMIX_ERR_BAD_PARAM, "not blocking");
        is(PMIx_Group_leave_nb("", nullptr, 0, on_done, &never), PMIX_ERR_BAD_PARAM, "not blocking");
        need(!never.done, "a callback of a call that was refused");

        Answer alone = invite(longest.c_str(), ranks({0, 0, 0}));
        is(alone.status, PMIX_SUCCESS, "a group of oneself");
        need(alone.members == std::vector<pmix_rank_t>{0}, "repetitions count once");
        is(invite(longest.c_str(), one).status, PMIX_ERR_EXISTS, "a group that is there");
        static Answer left;
        is(PMIx_Group_leave_nb(longest.c_str(), nullptr, 0, on_done, &left), PMIX_SUCCESS,
           "leave, not blocking");
        is(left.wait(), PMIX_SUCCESS, "left");
        is(PMIx_Group_leave(longest.c_str(), nullptr, 0), PMIX_ERR_NOT_FOUND, "leave again");
        // No process has registered for an invitation: a time limit ends it.
        Infos soon;
        soon.number(PMIX_TIMEOUT, 1);
        static Answer waiting;
        const std::vector<pmix_proc_t> both = ranks({0, 1});
        is(PMIx_Group_invite_nb("test-same", both.data(), 2, soon.data(), soon.count(), on_info, &waiting),
           PMIX_SUCCESS, "invite, not blocking");
        is(invite("test-same", one).status, PMIX_ERR_EXISTS, "an invitation that is under way");
        is(PMIx_Group_leave("test-same", nullptr, 0), PMIX_ERR_INVALID_OPERATION,
           "leave before it is complete");
        is(waiting.wait(), PMIX_ERR_TIMEOUT, "nobody answers");
        Infos short_time;
        short_time.number(PMIX_TIMEOUT, 1);
        is(join("test-never", 1, PMIX_GROUP_ACCEPT, std::move(short_time)).status, PMIX_ERR_TIMEOUT,
           "a leader that never invited");
    }
    meet(all());
}

// Rank `size - 1` declines; `what` selects the leader's reaction.
void decline(const std::string& what) {
    const pmix_rank_t decliner = size - 1;
    const pmix_rank_t substitute = size - 2;  // not invited at first
    static Infos instead;
    instead.procs(PMIX_GROUP_ADD_MEMBERS, ranks({substitute}));
    if (self.rank == 0 && what == "replace") react(PMIX_GROUP_INVITE_DECLINED, {PMIX_SUCCESS, &instead, {}});
    if (self.rank == 0 && what == "abort")
        react(PMIX_GROUP_INVITE_DECLINED, {PMIX_GROUP_CONSTRUCT_ABORT, nullptr, {}});
    listen(kGroupCodes);
    meet(all());
    std::vector<pmix_rank_t> expected = without({decliner, substitute});
    if (what == "replace") expected.push_back(substitute);
    pmix_status_t wanted = what == "replace" ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS;
    if (what == "abort") wanted = PMIX_GROUP_CONSTRUCT_ABORT;
    if (self.rank == 0) {
        const Answer answer = invite("test-decline", ranks(without({substitute})));
        is(answer.status, wanted, "invite");
        if (what != "abort") need(answer.members == expected, "membership");
        const Came came = wait_for(PMIX_GROUP_INVITE_DECLINED, "test-decline");
        need(came.source.rank == decliner, "who declined");
    } else if (self.rank != substitute || what == "replace") {
        const Came came = wait_for(PMIX_GROUP_INVITED, "test-decline");
        need(came.source.rank == 0, "who invited");
        const bool no = self.rank == decliner;
        const Answer answer = join("test-decline", 0, no ? PMIX_GROUP_DECLINE : PMIX_GROUP_ACCEPT);
        const pmix_status_t joined = what == "abort" ? PMIX_GROUP_CONSTRUCT_ABORT : PMIX_SUCCESS;
        is(answer.status, no ? PMIX_SUCCESS : joined, "join");
        if (what == "abort" && !no) {
            wait_for(PMIX_GROUP_CONSTRUCT_ABORT, "test-decline");
        } else if (!no) {
            need(answer.members == expected, "membership");
        }
    }
    meet(all());
    if (self.rank == decliner)
        need(count(PMIX_GROUP_CONSTRUCT_COMPLETE) == 0, "who declined is not told of the rest");
}

// The leader aborts it: by the result of its handler of an acceptance, or by an event.
void leader_aborts(const std::string& how) {
    if (self.rank == 0 && how == "handler")
        react(PMIX_GROUP_INVITE_ACCEPTED, {PMIX_GROUP_CONSTRUCT_ABORT, nullptr, {}});
    listen(kGroupCodes);
    meet(all());
    const bool answers = self.rank != size - 1;  // one never does
    if (self.rank == 0) {
        static Answer answer;
        const std::vector<pmix_proc_t> procs = ranks(all());
        is(PMIx_Group_invite_nb("test-abort", procs.data(), procs.size(), nullptr, 0, on_info, &answer),
           PMIX_SUCCESS, "invite");
        wait_for(PMIX_GROUP_INVITE_ACCEPTED, "test-abort");
        if (how == "event") {
            Infos infos;
            infos.text(PMIX_GROUP_ID, "test-abort").procs(PMIX_EVENT_CUSTOM_RANGE, ranks({1}));
            is(PMIx_Notify_event(PMIX_GROUP_CONSTRUCT_ABORT, &self, PMIX_RANGE_CUSTOM, infos.data(),
                                 infos.count(), nullptr, nullptr),
               PMIX_SUCCESS, "notify");
        }
        is(answer.wait(), PMIX_GROUP_CONSTRUCT_ABORT, "invite");
    } else {
        wait_for(PMIX_GROUP_INVITED, "test-abort");
        if (answers) is(join("test-abort", 0, PMIX_GROUP_ACCEPT).status, PMIX_GROUP_CONSTRUCT_ABORT, "join");
        wait_for(PMIX_GROUP_CONSTRUCT_ABORT, "test-abort");
    }
    meet(all());
    need(count(PMIX_GROUP_CONSTRUCT_ABORT, "test-abort") == (self.rank == 0 ? 0 : 1), "told once");
}

// Seconds that a leader waits for a process that does not answer: enough time for the answers of the others.
constexpr int kSilence = 3;

// The last rank never answers.
void silent(bool optional) {
    listen(kGroupCodes);
    meet(all());
    const std::vector<pmix_rank_t> rest = without({size - 1});
    if (self.rank == 0) {
        Infos directives;
        directives.number(PMIX_TIMEOUT, kSilence);
        if (optional) directives.yes(PMIX_GROUP_OPTIONAL);
        static Answer answer;
        const std::vector<pmix_proc_t> procs = ranks(all());
        is(PMIx_Group_invite_nb("test-silent", procs.data(), procs.size(), directives.data(),
                                directives.count(), on_info, &answer),
           PMIX_SUCCESS, "invite");
        for (size_t i = 0; i < 3000 && count(PMIX_GROUP_INVITE_ACCEPTED) < size - 2; ++i)
            usleep(10000);
        char key[] = "muster.groups.invited";
        char* keys[] = {key, nullptr};
        Infos qualifiers;
        qualifiers.text(PMIX_GROUP_ID, "test-silent");
        pmix_query_t query;
        memset(&query, 0, sizeof query);
        query.keys = keys;
        query.qualifiers = qualifiers.data();
        query.nqual = qualifiers.count();
        pmix_info_t* results = nullptr;
        size_t n = 0;
        const pmix_status_t asked = PMIx_Query_info(&query, 1, &results, &n);
        bool over;
        {
            const std::lock_guard guard(lock);
            over = answer.done;
        }
        if (!over) {
            is(asked, PMIX_SUCCESS, "query of who is awaited");
            need(n == 1 && ranks_of(results[0].value) == std::vector<pmix_rank_t>{size - 1},
                 "who is awaited");
        }
        if (results != nullptr) PMIx_Info_free(results, n);
        is(answer.wait(), optional ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_ERR_TIMEOUT, "invite");
        if (optional) need(answer.members == rest, "membership");
    } else if (self.rank != size - 1) {
        wait_for(PMIX_GROUP_INVITED, "test-silent");
        const Answer answer = join("test-silent", 0, PMIX_GROUP_ACCEPT);
        is(answer.status, optional ? PMIX_SUCCESS : PMIX_GROUP_CONSTRUCT_ABORT, "join");
        if (optional) need(answer.members == rest, "membership");
    }
    meet(all());
    if (self.rank == size - 1) {
        wait_for(PMIX_GROUP_INVITED, "test-silent");
        is(join("test-silent", 0, PMIX_GROUP_ACCEPT).status, PMIX_GROUP_CONSTRUCT_ABORT, "a late answer");
    }
    meet(all());
}

void put_and_commit(const char* key, const std::string& text) {
    pmix_value_t value;
    PMIX_VALUE_LOAD(&value, text.c_str(), PMIX_STRING);
    is(PMIx_Put(PMIX_GLOBAL, key, &value), PMIX_SUCCESS, key);
    PMIX_VALUE_DESTRUCT(&value);
    is(PMIx_Commit(), PMIX_SUCCESS, "commit");
}
// Waits until rank 0 has put it.
std::string text_of_leader(const char* key) {
    const pmix_proc_t leader = rank(0);
    pmix_value_t* found = nullptr;
    const pmix_status_t status = PMIx_Get(&leader, key, nullptr, 0, &found);
    is(status, PMIX_SUCCESS, key);
    if (status != PMIX_SUCCESS) return "";
    std::string text = found->data.string;
    PMIX_VALUE_RELEASE(found);
    return text;
}

// The last rank answers after the group has been made without it, and the leader ends before it has read the
// answer.
void late() {
    listen(kGroupCodes);
    put_and_commit("pid", std::to_string(getpid()));
    meet(all());
    const pmix_rank_t last = size - 1;
    if (self.rank == 0) {
        Infos directives;
        directives.number(PMIX_TIMEOUT, kSilence).yes(PMIX_GROUP_OPTIONAL);
        is(invite("test-late", ranks(all()), std::move(directives)).status, PMIX_ERR_PARTIAL_SUCCESS,
           "invite");
    } else if (self.rank != last) {
        wait_for(PMIX_GROUP_INVITED, "test-late");
        is(join("test-late", 0, PMIX_GROUP_ACCEPT).status, PMIX_SUCCESS, "join");
    }
    meet(all());
    if (self.rank == 0) {
        for (;;)
            pause();  // until it is killed
    }
    if (self.rank == last) {
        wait_for(PMIX_GROUP_INVITED, "test-late");
        const pmix_proc_t leader = rank(0);
        const auto process = static_cast<pid_t>(atoi(text_of_leader("pid").c_str()));
        kill(process, SIGSTOP);
        static Answer answer;
        is(PMIx_Group_join_nb("test-late", &leader, PMIX_GROUP_ACCEPT, nullptr, 0, on_info, &answer),
           PMIX_SUCCESS, "join_nb");
        // The answer has been sent when this returns, and is queued at the leader, or will find the leader
        // gone.
        is(PMIx_Fence(&self, 1, nullptr, 0), PMIX_SUCCESS, "fence");
        kill(process, SIGKILL);
        is(answer.wait(), PMIX_GROUP_CONSTRUCT_ABORT, "a late answer to one that has gone");
    }
    meet(without({0}));
}

// The leader's program aborts it by an event, to the last rank or to all, and the last rank answers
// afterwards: it has been notified, and is not notified again when the leader leaves.
void answer_after_abort(const std::string& range) {
    listen(kGroupCodes);
    put_and_commit("pid", std::to_string(getpid()));
    meet(all());
    const pmix_rank_t last = size - 1;
    const auto notify = [](pmix_status_t code, pmix_data_range_t whom, Infos infos) {
        infos.text(PMIX_GROUP_ID, "test-after");
        is(PMIx_Notify_event(code, &self, whom, infos.data(), infos.count(), nullptr, nullptr), PMIX_SUCCESS,
           "notify");
    };
    if (self.rank == 0) {
        static Answer answer;
        const std::vector<pmix_proc_t> procs = ranks(all());
        is(PMIx_Group_invite_nb("test-after", procs.data(), procs.size(), nullptr, 0, on_info, &answer),
           PMIX_SUCCESS, "invite");
        Infos infos;
        if (range == "custom") infos.procs(PMIX_EVENT_CUSTOM_RANGE, ranks({last}));
        notify(PMIX_GROUP_CONSTRUCT_ABORT, range == "custom" ? PMIX_RANGE_CUSTOM : PMIX_RANGE_NAMESPACE,
               std::move(infos));
        is(answer.wait(), PMIX_GROUP_CONSTRUCT_ABORT, "invite");
    } else {
        wait_for(PMIX_GROUP_CONSTRUCT_ABORT, "test-after");
    }
    meet(all());
    if (self.rank == 0) {
        // Its server has processed it, too, and is next notified of its departure.
        wait_for(PMIX_GROUP_INVITE_ACCEPTED, "test-after");
    } else if (self.rank == last) {
        const auto leader = static_cast<pid_t>(atoi(text_of_leader("pid").c_str()));
        // Sends the library's reply to an invitation that preceded the end.
        Infos infos;
        infos.procs(PMIX_EVENT_CUSTOM_RANGE, ranks({0}));
        wait_for(PMIX_GROUP_INVITED, "test-after");
        notify(PMIX_GROUP_INVITE_ACCEPTED, PMIX_RANGE_CUSTOM, std::move(infos));
        while (kill(leader, 0) == 0)
            usleep(1000);
        is(PMIx_Fence(&self, 1, nullptr, 0), PMIX_SUCCESS, "fence");
        need(count(PMIX_GROUP_CONSTRUCT_ABORT, "test-after") == 1, "told once");
    }
}

// The last rank is killed: before it answers, or after.
void member_dies(const std::string& when, const std::string& terms) {
    const pmix_rank_t victim = size - 1;
    if (self.rank == 0 && terms == "handler") {
        react(PMIX_GROUP_INVITE_FAILED, {PMIX_SUCCESS, nullptr, {}});
        react(PMIX_GROUP_MEMBER_FAILED, {PMIX_SUCCESS, nullptr, {}});
    }
    listen(kGroupCodes);
    meet(all());
    const std::vector<pmix_rank_t> rest = without({victim});
    const bool goes_on = terms != "none";
    if (self.rank == victim) {
        if (when == "early") die();
        wait_for(PMIX_GROUP_INVITED, "test-death");
        if (when == "invited") die();
        static Answer never;
        const pmix_proc_t leader = rank(0);
        is(PMIx_Group_join_nb("test-death", &leader, PMIX_GROUP_ACCEPT, nullptr, 0, on_info, &never),
           PMIX_SUCCESS, "join");
        // Its answer has been sent once the server has answered a later request.
        PMIx_Fence(&self, 1, nullptr, 0);
        die();
    }
    const pmix_status_t code = when == "accepted" ? PMIX_GROUP_MEMBER_FAILED : PMIX_GROUP_INVITE_FAILED;
    if (self.rank == 0) {
        Infos directives;
        if (terms == "optional") directives.yes(PMIX_GROUP_OPTIONAL);
        if (terms == "ft") directives.yes(PMIX_GROUP_FT_COLLECTIVE);
        static Answer answer;
        const std::vector<pmix_proc_t> procs = ranks(all());
        is(PMIx_Group_invite_nb("test-death", procs.data(), procs.size(), directives.data(),
                                directives.count(), on_info, &answer),
           PMIX_SUCCESS, "invite");
        const Came came = wait_for(code, "test-death");
        need(came.has_affected && came.affected == victim, "who has died");
        need(came.exit_code == 128 + SIGKILL, "the exit code that the host gave");
        need(!came.internal, "an internal key in the event");
        put_and_commit("dead", "yes");
        is(answer.wait(), goes_on ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_GROUP_MEMBER_FAILED, "invite");
        if (goes_on) need(answer.members == rest, "membership");
    } else {
        wait_for(PMIX_GROUP_INVITED, "test-death");
        // The group is not to be complete before its death.
        if (when == "accepted") text_of_leader("dead");
        const Answer answer = join("test-death", 0, PMIX_GROUP_ACCEPT);
        is(answer.status, goes_on ? PMIX_SUCCESS : PMIX_GROUP_CONSTRUCT_ABORT, "join");
        if (goes_on) need(answer.members == rest, "membership");
    }
    meet(rest);
}

// The leader is killed when all others wait; `what`: rank 2 (or one of two) becomes the leader, none does, or
// one aborts.
void leader_dies(const std::string& what) {
    static Infos me;
    me.yes(PMIX_GROUP_LEADER);
    const bool claims = (what == "claim" && self.rank == 2) || (what == "claims" && self.rank >= 2) ||
                        (what == "again" && self.rank <= 2);
    if (claims) react(PMIX_GROUP_LEADER_FAILED, {PMIX_SUCCESS, &me, {}});
    if (what == "abort" && self.rank == 2)
        react(PMIX_GROUP_LEADER_FAILED, {PMIX_GROUP_CONSTRUCT_ABORT, nullptr, {}});
    listen(kGroupCodes);
    meet(all());
    // One invited process answers only after there is a new leader.
    const pmix_rank_t late = size - 1;
    const std::vector<pmix_rank_t> rest = without({0});
    if (self.rank == 0) {
        static Answer never;
        const std::vector<pmix_proc_t> procs = ranks(all());
        is(PMIx_Group_invite_nb("test-leader", procs.data(), procs.size(), nullptr, 0, on_info, &never),
           PMIX_SUCCESS, "invite");
        for (size_t i = 0; i < 3000 && count(PMIX_GROUP_INVITE_ACCEPTED) < size - 2; ++i)
            usleep(10000);
        die();
    }
    wait_for(PMIX_GROUP_INVITED, "test-leader");
    if (self.rank == late) {
        wait_for(PMIX_GROUP_LEADER_FAILED, "test-leader");
        if (what != "abort") wait_for(PMIX_GROUP_LEADER_SELECTED, "test-leader");
        if (what == "abort") wait_for(PMIX_GROUP_CONSTRUCT_ABORT, "test-leader");
    }
    const Answer answer = join("test-leader", 0, PMIX_GROUP_ACCEPT);
    const Came lost = wait_for(PMIX_GROUP_LEADER_FAILED, "test-leader");
    need(lost.has_affected && lost.affected == 0, "who has died");
    if (what == "none") {
        need(!wait_for(PMIX_GROUP_LEADER_SELECTED, "test-leader").has_affected, "nobody leads");
        is(answer.status, PMIX_GROUP_LEADER_FAILED, "join");
    } else if (what == "abort") {
        wait_for(PMIX_GROUP_CONSTRUCT_ABORT, "test-leader");
        is(answer.status, PMIX_GROUP_CONSTRUCT_ABORT, "join");
    } else {
        const Came selected = wait_for(PMIX_GROUP_LEADER_SELECTED, "test-leader");
        need(selected.has_affected && (what == "claims" ? selected.affected >= 2 : selected.affected == 2),
             "who leads now");
        is(answer.status, PMIX_SUCCESS, "join");
        need(answer.members == rest, "membership");
        need(count(PMIX_GROUP_LEADER_SELECTED, "test-leader") == 1, "one new leader");
    }
    meet(rest);
}

// Ranks leave, one by one; the remaining ones are notified. One is killed just after it has left.
void leave() {
    listen(kGroupCodes);
    meet(all());
    if (self.rank == 0) {
        // The inviter is a member although it does not name itself.
        const Answer answer = invite("test-leave", ranks(without({0})));
        is(answer.status, PMIX_SUCCESS, "invite");
        need(answer.members == all(), "membership with the inviter");
    } else {
        wait_for(PMIX_GROUP_INVITED, "test-leave");
        is(join("test-leave", 0, PMIX_GROUP_ACCEPT).status, PMIX_SUCCESS, "join");
    }
    meet(all());
    const pmix_rank_t leaver = size - 1;
    const pmix_rank_t victim = size - 2;
    if (self.rank == leaver) {
        is(PMIx_Group_leave("test-leave", nullptr, 0), PMIX_SUCCESS, "leave");
        is(PMIx_Group_leave("test-leave", nullptr, 0), PMIX_ERR_NOT_FOUND, "leave again");
    } else {
        const Came came = wait_for(PMIX_GROUP_LEFT, "test-leave");
        need(came.source.rank == leaver && came.has_affected && came.affected == leaver, "who left");
        const Came update = wait_for(PMIX_GROUP_MEMBERSHIP_UPDATE, "test-leave");
        need(update.members == without({leaver}), "who is left");
    }
    meet(all());
    if (self.rank == leaver) need(count(PMIX_GROUP_LEFT) == 0, "who leaves is not told");
    if (self.rank == victim) {
        is(PMIx_Group_leave("test-leave", nullptr, 0), PMIX_SUCCESS, "leave");
        die();
    }
    if (self.rank != leaver) {
        for (size_t i = 0; i < 3000 && count(PMIX_GROUP_LEFT) < 2; ++i)
            usleep(10000);
        need(count(PMIX_GROUP_LEFT) == 2, "an event of the second");
    }
    meet(without({victim}));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    alarm(80);
    if (PMIx_Init(&self, nullptr, 0) != PMIX_SUCCESS) return 2;
    const pmix_proc_t job = rank(PMIX_RANK_WILDCARD);
    pmix_value_t* value = nullptr;
    is(PMIx_Get(&job, PMIX_JOB_SIZE, nullptr, 0, &value), PMIX_SUCCESS, "job size");
    size = value->data.uint32;
    PMIx_Value_destruct(value);
    free(value);
    const std::string what = argv[1];
    const std::string how = argc > 2 ? argv[2] : "";
    if (what == "all") all_join();
    if (what == "use") use();
    if (what == "forms") forms();
    if (what == "decline") decline(how);
    if (what == "leader_aborts") leader_aborts(how);
    if (what == "late") late();
    if (what == "answer_after_abort") answer_after_abort(how);
    if (what == "silent") silent(how == "optional");
    if (what == "member_dies") member_dies(how, argc > 3 ? argv[3] : "none");
    if (what == "leader_dies") leader_dies(how);
    if (what == "leave") leave();
    is(PMIx_Finalize(nullptr, 0), PMIX_SUCCESS, "finalize");
    return failed ? 1 : 0;
}
