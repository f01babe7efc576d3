// SPDX-License-Identifier: BSD-3-Clause
// The protocol of groups by invitation, randomised: random_client SEED [ROUNDS]. All ranks derive the same
// rounds from the seed: the leader, the invited processes, the ones that accept, decline, do not answer or
// are killed and when, the time of an abort by the leader, the volunteers if the leader is killed, late
// answers, and the processes that leave or are killed meanwhile. Invariants: no call hangs; all survivors
// that learn of a group learn of the same one, and of the same departures. Exits with 0 if they hold; a
// failure names the seed.
#include <optional>
#include <random>
#include <sstream>

#include "tests/integration/invitations/kit.hpp"

using namespace kit;

namespace {

enum class Part { Stays, Accepts, Declines, Silent, DiesAtOnce, DiesInvited, DiesAccepted };

/// A leave from the group: undisturbed; of a member that is killed; while another member is killed.
enum class Leave { Leaves, Dies, AnotherDies };

struct Round {
    pmix_rank_t leader = 0;
    bool leader_dies = false;
    bool leader_aborts = false;
    int leader_delay = 0;  ///< microseconds until it does
    bool optional = false;
    bool ft = false;
    bool notify = false;
    std::vector<pmix_rank_t> invited;
    std::map<pmix_rank_t, Part> parts;
    std::map<pmix_rank_t, int> delays;  ///< microseconds before an answer
    std::map<pmix_rank_t, bool> claims;
    pmix_rank_t leaver = 0;
    Leave leave = Leave::Leaves;
    int leave_delay = 0;        ///< microseconds between its call and its end
    bool late_accepts = false;  ///< the late answers of processes that did not answer
};

Round draw(std::mt19937& chance, std::mt19937& more, const std::vector<pmix_rank_t>& alive) {
    const auto one_of = [&](uint32_t n) { return static_cast<int>(chance() % n); };
    Round round;
    round.leader = alive[static_cast<size_t>(one_of(static_cast<uint32_t>(alive.size())))];
    int may_die = alive.size() > 3 ? static_cast<int>(alive.size()) - 3 : 0;
    round.leader_dies = may_die > 0 && one_of(5) == 0;
    round.leader_delay = one_of(3) == 0 ? 0 : one_of(30000);
    if (round.leader_dies) --may_die;
    if (!round.leader_dies && more() % 8 == 0) {
        round.leader_aborts = true;
        round.leader_delay = static_cast<int>(more() % 25000);
    }
    round.leave = static_cast<Leave>(more() % 3);
    round.leave_delay = static_cast<int>(more() % 3 == 0 ? 0 : more() % 500);
    round.late_accepts = more() % 2 == 0;
    round.optional = one_of(2) == 0;
    round.ft = one_of(4) == 0;
    round.notify = one_of(3) == 0;
    round.leaver = alive[static_cast<size_t>(one_of(static_cast<uint32_t>(alive.size())))];
    for (const pmix_rank_t member : alive) {
        const bool in = one_of(5) != 0;
        const int draw = one_of(20);
        round.delays[member] = one_of(3) == 0 ? 0 : one_of(20000);
        round.claims[member] = one_of(3) == 0;
        Part part = Part::Stays;
        if (member != round.leader && in) {
            round.invited.push_back(member);
            part = Part::Accepts;
            if (draw < 2) part = Part::Declines;
            if (draw == 2) part = Part::Silent;
            if (draw >= 3 && draw <= 5 && may_die > 0) {
                part = draw == 3 ? Part::DiesAtOnce : draw == 4 ? Part::DiesInvited : Part::DiesAccepted;
                --may_die;
            }
        }
        round.parts[member] = part;
    }
    return round;
}

bool dies(const Round& round, pmix_rank_t one) {
    const Part part = round.parts.at(one);
    return (one == round.leader && round.leader_dies) || part == Part::DiesAtOnce ||
           part == Part::DiesInvited || part == Part::DiesAccepted;
}

std::string text_of(const std::vector<pmix_rank_t>& numbers) {
    std::ostringstream text;
    for (const pmix_rank_t number : numbers)
        text << number << ' ';
    return text.str();
}

/// Whether the group was formed for this process; `answer` identifies the group.
bool play(const Round& round, const std::string& group, Answer& answer) {
    static Infos me;
    if (me.count() == 0) me.yes(PMIX_GROUP_LEADER);
    react(PMIX_GROUP_LEADER_FAILED,
          {PMIX_SUCCESS,
           round.claims.at(self.rank) && round.parts.at(self.rank) == Part::Accepts ? &me : nullptr,
           {}});
    const Part part = round.parts.at(self.rank);
    if (part == Part::DiesAtOnce) die();
    if (self.rank == round.leader) {
        Infos directives;
        directives.number(PMIX_TIMEOUT, 1);
        if (round.optional) directives.yes(PMIX_GROUP_OPTIONAL);
        if (round.ft) directives.yes(PMIX_GROUP_FT_COLLECTIVE);
        if (round.notify) directives.yes(PMIX_GROUP_NOTIFY_TERMINATION);
        std::vector<pmix_proc_t> procs = ranks(round.invited);
        procs.push_back(self);
        is(PMIx_Group_invite_nb(group.c_str(), procs.data(), procs.size(), directives.data(),
                                directives.count(), on_info, &answer),
           PMIX_SUCCESS, group + ": invite");
        if (round.leader_dies) {
            usleep(static_cast<useconds_t>(round.leader_delay));
            die();
        }
        if (round.leader_aborts) {
            // Whenever it arrives, all get the same status.
            usleep(static_cast<useconds_t>(round.leader_delay));
            Infos infos;
            infos.text(PMIX_GROUP_ID, group.c_str()).procs(PMIX_EVENT_CUSTOM_RANGE, {self});
            is(PMIx_Notify_event(PMIX_GROUP_CONSTRUCT_ABORT, &self, PMIX_RANGE_CUSTOM, infos.data(),
                                 infos.count(), nullptr, nullptr),
               PMIX_SUCCESS, group + ": abort");
        }
        const pmix_status_t status = answer.wait();
        return status == PMIX_SUCCESS || status == PMIX_ERR_PARTIAL_SUCCESS;
    }
    if (part == Part::Stays || part == Part::Silent) return false;
    // If a leader dies before it has invited, no process waits.
    {
        std::unique_lock guard(lock);
        const bool came = changed.wait_for(guard, round.leader_dies ? std::chrono::seconds(2) : kLimit, [&] {
            return std::any_of(events.begin(), events.end(), [&](const Came& one) {
                return one.status == PMIX_GROUP_INVITED && one.group == group;
            });
        });
        if (!came && !round.leader_dies && part == Part::Accepts) {
            guard.unlock();
            complain(group + ": no invitation");
        }
        if (!came && part != Part::DiesInvited && part != Part::DiesAccepted) return false;
    }
    if (part == Part::DiesInvited) die();
    usleep(static_cast<useconds_t>(round.delays.at(self.rank)));
    const pmix_proc_t leader = rank(round.leader);
    const bool accepts = part != Part::Declines;
    is(PMIx_Group_join_nb(group.c_str(), &leader, accepts ? PMIX_GROUP_ACCEPT : PMIX_GROUP_DECLINE, nullptr,
                          0, on_info, &answer),
       PMIX_SUCCESS, group + ": join");
    if (part == Part::DiesAccepted) {
        usleep(static_cast<useconds_t>(round.delays.at(self.rank)));
        die();
    }
    return answer.wait() == PMIX_SUCCESS && accepts;
}

/// Exchanges the results of all survivors.
std::map<pmix_rank_t, std::string> exchange(const std::string& key, const std::string& mine,
                                            const std::vector<pmix_rank_t>& alive) {
    pmix_value_t value;
    memset(&value, 0, sizeof value);
    value.type = PMIX_STRING;
    value.data.string = const_cast<char*>(mine.c_str());
    is(PMIx_Put(PMIX_GLOBAL, key.c_str(), &value), PMIX_SUCCESS, "put");
    is(PMIx_Commit(), PMIX_SUCCESS, "commit");
    Infos collect;
    collect.yes(PMIX_COLLECT_DATA);
    const std::vector<pmix_proc_t> procs = ranks(alive);
    is(PMIx_Fence(procs.data(), procs.size(), collect.data(), collect.count()), PMIX_SUCCESS,
       key + ": fence");
    std::map<pmix_rank_t, std::string> told;
    for (const pmix_rank_t other : alive) {
        const pmix_proc_t proc = rank(other);
        pmix_value_t* found = nullptr;
        is(PMIx_Get(&proc, key.c_str(), nullptr, 0, &found), PMIX_SUCCESS, key + ": get");
        if (found == nullptr) continue;
        told[other] = found->data.string;
        PMIx_Value_destruct(found);
        free(found);
    }
    return told;
}

void check(const Round& round, const std::string& group, const std::map<pmix_rank_t, std::string>& told) {
    std::string members;
    for (const auto& [one, text] : told) {
        if (text.empty()) continue;
        if (members.empty()) members = text;
        need(text == members,
             group + ": rank " + std::to_string(one) + " has " + text + "others have " + members);
    }
    if (members.empty()) return;
    std::istringstream read(members);
    for (pmix_rank_t member = 0; read >> member;) {
        const bool invited = member == round.leader || std::find(round.invited.begin(), round.invited.end(),
                                                                 member) != round.invited.end();
        need(invited, group + ": rank " + std::to_string(member) + " was not invited");
        const auto found = told.find(member);
        need(found == told.end() || !found->second.empty(),
             group + ": rank " + std::to_string(member) + " is in it and does not know");
    }
    for (const auto& [one, text] : told) {
        const std::string number = std::to_string(one) + " ";
        if (!text.empty())
            need((" " + members).find(" " + number) != std::string::npos, group + ": not in it");
    }
}

/// Members that did not answer in time answer after the end: they get an error, and no process waits.
void answer_late(const Round& round, const std::string& group) {
    if (round.parts.at(self.rank) != Part::Silent) return;
    auto* answer = new Answer;
    const pmix_proc_t leader = rank(round.leader);
    is(PMIx_Group_join_nb(group.c_str(), &leader, round.late_accepts ? PMIX_GROUP_ACCEPT : PMIX_GROUP_DECLINE,
                          nullptr, 0, on_info, answer),
       PMIX_SUCCESS, group + ": late answer");
    const pmix_status_t status = answer->wait();
    // A leader that will be killed may still exist, without its answers.
    if (round.late_accepts && !round.leader_dies)
        need(status != PMIX_SUCCESS, group + ": in it by a late answer");
}

/// The members according to the server of this process.
std::vector<pmix_rank_t> members_of(const std::string& group) {
    char key[] = PMIX_QUERY_GROUP_MEMBERSHIP;
    char* keys[] = {key, nullptr};
    Infos qualifiers;
    qualifiers.text(PMIX_GROUP_ID, group.c_str());
    pmix_query_t query;
    memset(&query, 0, sizeof query);
    query.keys = keys;
    query.qualifiers = qualifiers.data();
    query.nqual = qualifiers.count();
    pmix_info_t* results = nullptr;
    size_t n = 0;
    std::vector<pmix_rank_t> found;
    if (PMIx_Query_info(&query, 1, &results, &n) == PMIX_SUCCESS && n == 1)
        found = ranks_of(results[0].value);
    if (results != nullptr) PMIx_Info_free(results, n);
    return found;
}

/// One member leaves, and perhaps another is killed; all others get the same members. Removes killed members
/// from `alive`.
void leave(const Round& round, const std::string& group, const std::map<pmix_rank_t, std::string>& told,
           std::vector<pmix_rank_t>& alive) {
    const auto in = [&](pmix_rank_t one) { return told.contains(one) && !told.at(one).empty(); };
    if (!in(round.leaver)) return;
    // Servers have reported members that were killed before, if requested.
    std::vector<pmix_rank_t> rest;
    for (const auto& [one, text] : told) {
        if (one != round.leaver && !text.empty()) rest.push_back(one);
    }
    std::optional<pmix_rank_t> victim;
    if (round.leave == Leave::Dies) victim = round.leaver;
    if (round.leave == Leave::AnotherDies && !rest.empty()) victim = rest.back();
    if (alive.size() <= 3) victim.reset();
    if (victim) {
        std::erase(alive, *victim);
        std::erase(rest, *victim);
    }
    if (self.rank == round.leaver) {
        static Answer left;
        left.done = false;
        is(PMIx_Group_leave_nb(group.c_str(), nullptr, 0, on_done, &left), PMIX_SUCCESS, group + ": leave");
        if (victim == self.rank) {
            usleep(static_cast<useconds_t>(round.leave_delay));
            die();
        }
        is(left.wait(), PMIX_SUCCESS, group + ": leave");
        return;
    }
    if (victim == self.rank) {
        usleep(static_cast<useconds_t>(round.leave_delay));
        die();
    }
    if (!in(self.rank)) return;
    // It may have been killed before it could say anything.
    if (victim != round.leaver) wait_for(PMIX_GROUP_LEFT, group);
    if (!round.notify) return;
    std::vector<pmix_rank_t> members;
    for (const auto end = std::chrono::steady_clock::now() + kLimit;
         members != rest && std::chrono::steady_clock::now() < end; usleep(1000)) {
        members = members_of(group);
        std::sort(members.begin(), members.end());
    }
    need(members == rest, group + ": members " + text_of(members) + "instead of " + text_of(rest));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    const auto seed = static_cast<uint32_t>(strtoul(argv[1], nullptr, 10));
    const int rounds = argc > 2 ? atoi(argv[2]) : 5;
    alarm(static_cast<unsigned>(60 + 10 * rounds));
    if (PMIx_Init(&self, nullptr, 0) != PMIX_SUCCESS) return 2;
    const pmix_proc_t job = rank(PMIX_RANK_WILDCARD);
    pmix_value_t* value = nullptr;
    is(PMIx_Get(&job, PMIX_JOB_SIZE, nullptr, 0, &value), PMIX_SUCCESS, "job size");
    size = value->data.uint32;
    PMIx_Value_destruct(value);
    free(value);
    listen({PMIX_GROUP_INVITED, PMIX_GROUP_LEADER_FAILED, PMIX_GROUP_LEFT});
    std::mt19937 chance(seed), more(~seed);
    std::vector<pmix_rank_t> alive = all();
    meet(alive);
    for (int number = 0; number < rounds && !failed; ++number) {
        const std::string group = "random." + std::to_string(seed) + "." + std::to_string(number);
        const Round round = draw(chance, more, alive);
        // Kept: an answer may still arrive after a failed round.
        auto* answer = new Answer;
        const bool in = play(round, group, *answer);
        std::erase_if(alive, [&](pmix_rank_t one) { return dies(round, one); });
        if (getenv("RANDOM_CLIENT_VERBOSE") != nullptr) {
            printf("%s rank %u part %d leader %u%s: %s %s\n", group.c_str(), self.rank,
                   static_cast<int>(round.parts.at(self.rank)), round.leader,
                   round.leader_dies ? " dies" : "", PMIx_Error_string(answer->status),
                   text_of(answer->members).c_str());
            fflush(stdout);
        }
        const auto told = exchange(group, in ? text_of(answer->members) : "", alive);
        check(round, group, told);
        answer_late(round, group);
        leave(round, group, told, alive);
        // The next leader may have ended before this process begins: its round is drawn again.
        react(PMIX_GROUP_LEADER_FAILED, {PMIX_SUCCESS, nullptr, {}});
        meet(alive);
    }
    if (failed) complain("seed " + std::to_string(seed));
    is(PMIx_Finalize(nullptr, 0), PMIX_SUCCESS, "finalize");
    return failed ? 1 : 0;
}
