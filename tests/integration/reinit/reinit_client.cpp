// SPDX-License-Identifier: BSD-3-Clause
// A process of a job that initialises repeatedly:
//   cycles COUNT [SEED]   COUNT times Init, a fence over the job, Finalize, with random delays in between
//   mixed COUNT [SEED]    the same with another, random operation in each cycle: fences, connections,
//                         groups that are destructed and groups that are not, invitations, published data,
//                         events, output that another process pulls
//   leaves                Init and a fence; rank 0 finalizes and ends, the others fence again and print
//                         its status
#include <pmix_tool.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/integration/says.hpp"

namespace {

using namespace integration;

pmix_proc_t self;

void init() {
    expect("PMIx_Init", PMIx_Init(&self, nullptr, 0));
}

void pause(std::mt19937& random) {
    if (random() % 4 == 0) usleep(random() % 500);
}

void fence(const std::string& when) {
    expect("fence " + when, PMIx_Fence(nullptr, 0, nullptr, 0));
}

pmix_proc_t whole_job() {
    pmix_proc_t job;
    PMIX_LOAD_PROCID(&job, self.nspace, PMIX_RANK_WILDCARD);
    return job;
}

uint32_t job_size() {
    const pmix_proc_t job = whole_job();
    pmix_value_t* value = nullptr;
    expect("PMIX_JOB_SIZE", PMIx_Get(&job, PMIX_JOB_SIZE, nullptr, 0, &value));
    const uint32_t size = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    return size;
}

void connect(std::mt19937& random, bool disconnects) {
    const pmix_proc_t job = whole_job();
    expect("PMIx_Connect", PMIx_Connect(&job, 1, nullptr, 0));
    pause(random);
    if (disconnects) expect("PMIx_Disconnect", PMIx_Disconnect(&job, 1, nullptr, 0));
}

void group(std::mt19937& random, const std::string& id, uint32_t size, bool context_id, bool destructs) {
    std::vector<pmix_proc_t> members(size);
    for (uint32_t rank = 0; rank < size; ++rank)
        PMIX_LOAD_PROCID(&members[rank], self.nspace, rank);
    pmix_info_t wants;
    PMIX_INFO_LOAD(&wants, PMIX_GROUP_ASSIGN_CONTEXT_ID, nullptr, PMIX_BOOL);
    pmix_info_t* results = nullptr;
    size_t count = 0;
    expect("construct " + id, PMIx_Group_construct(id.c_str(), members.data(), size, &wants,
                                                   context_id ? 1 : 0, &results, &count));
    PMIX_INFO_FREE(results, count);
    pause(random);
    if (destructs) expect("destruct " + id, PMIx_Group_destruct(id.c_str(), nullptr, 0));
}

void publish(std::mt19937& random, int cycle, uint32_t publisher) {
    const std::string key = "reinit." + std::to_string(cycle);
    if (self.rank == publisher) {
        pmix_info_t info;
        PMIX_INFO_LOAD(&info, key.c_str(), &cycle, PMIX_INT);
        expect("PMIx_Publish", PMIx_Publish(&info, 1));
    }
    fence("behind PMIx_Publish");
    pmix_pdata_t found;
    PMIX_PDATA_CONSTRUCT(&found);
    PMIX_LOAD_KEY(found.key, key.c_str());
    expect("PMIx_Lookup", PMIx_Lookup(&found, 1, nullptr, 0));
    expect_true("the value of " + key, found.value.data.integer == cycle && found.proc.rank == publisher);
    pause(random);
}

constexpr pmix_status_t kCode = PMIX_EXTERNAL_ERR_BASE - 30;
std::atomic<int> heard;       ///< the cycle of the last event
std::atomic<int> heard_more;  ///< events of this life

void on_event(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t info[], size_t count, pmix_info_t*,
              size_t, pmix_event_notification_cbfunc_fn_t done, void* data) {
    for (size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_KEY(&info[i], "reinit.cycle")) heard = info[i].value.data.integer;
    }
    ++heard_more;
    done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
}

void event(std::mt19937& random, int cycle, uint32_t sender) {
    heard = -1;
    heard_more = 0;
    pmix_status_t code = kCode;
    const pmix_status_t id = PMIx_Register_event_handler(&code, 1, nullptr, 0, on_event, nullptr, nullptr);
    expect_true("PMIx_Register_event_handler", id >= 0);
    fence("behind the registration");
    pause(random);
    if (self.rank == sender) {
        pmix_info_t info;
        PMIX_INFO_LOAD(&info, "reinit.cycle", &cycle, PMIX_INT);
        const pmix_status_t status =
            PMIx_Notify_event(kCode, &self, PMIX_RANGE_NAMESPACE, &info, 1, nullptr, nullptr);
        expect_true("PMIx_Notify_event", status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED);
    }
    for (int i = 0; i < 60000 && heard_more == 0; ++i)
        usleep(1000);
    fence("behind the event");
    if (heard != cycle || heard_more != 1) {
        fail("the event of cycle " + std::to_string(cycle) + " came as that of " + std::to_string(heard) +
             ", " + std::to_string(heard_more) + " events in all");
    }
}

std::atomic<int> invitations;  ///< of this life

void on_invitation(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t*, size_t, pmix_info_t*, size_t,
                   pmix_event_notification_cbfunc_fn_t done, void* data) {
    ++invitations;
    done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
}

/// The group is kept to the end of the life, or destructed by all. A later life has one of the same name.
void invitation(std::mt19937& random, uint32_t leader, uint32_t size, bool destructs) {
    const std::string id = "invited";
    invitations = 0;
    pmix_status_t code = PMIX_GROUP_INVITED;
    expect_true("PMIx_Register_event_handler",
                PMIx_Register_event_handler(&code, 1, nullptr, 0, on_invitation, nullptr, nullptr) >= 0);
    fence("before the invitation");
    pause(random);
    pmix_info_t* results = nullptr;
    size_t count = 0;
    if (self.rank == leader) {
        const pmix_proc_t job = whole_job();
        expect("PMIx_Group_invite", PMIx_Group_invite(id.c_str(), &job, 1, nullptr, 0, &results, &count));
    } else {
        for (int i = 0; i < 60000 && invitations == 0; ++i)
            usleep(1000);
        pmix_proc_t inviter = self;
        inviter.rank = leader;
        expect("PMIx_Group_join",
               PMIx_Group_join(id.c_str(), &inviter, PMIX_GROUP_ACCEPT, nullptr, 0, &results, &count));
    }
    uint32_t members = 0;
    for (size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_KEY(&results[i], PMIX_GROUP_MEMBERSHIP))
            members = static_cast<uint32_t>(results[i].value.data.darray->size);
    }
    PMIX_INFO_FREE(results, count);
    expect_true("the membership of " + id, members == size);
    pause(random);
    if (destructs) expect("destruct " + id, PMIx_Group_destruct(id.c_str(), nullptr, 0));
}

std::atomic<int> pulled;  ///< the cycle in the last received output

void on_output(size_t, pmix_iof_channel_t, pmix_proc_t*, pmix_byte_object_t* bytes, pmix_info_t*, size_t) {
    const std::string text(bytes->bytes, bytes->size);
    const size_t at = text.find("output ");
    if (at != std::string::npos) pulled = std::atoi(text.c_str() + at + 7);
}

/// A pull is deregistered, or kept to the end of the life. In the latter case it redirects the output from
/// the launcher until then.
void output(std::mt19937& random, int cycle, uint32_t writer, uint32_t size, bool gives_back) {
    const bool pulls = self.rank == (writer + 1) % size;
    pulled = -1;
    pmix_status_t id = 0;
    if (pulls) {
        pmix_proc_t from = self;
        from.rank = writer;
        pmix_info_t copy;
        PMIX_INFO_LOAD(&copy, PMIX_IOF_COPY, nullptr, PMIX_BOOL);
        id = PMIx_IOF_pull(&from, 1, &copy, gives_back ? 1 : 0, PMIX_FWD_STDOUT_CHANNEL, on_output, nullptr,
                           nullptr);
        expect_true("PMIx_IOF_pull", id >= 0);
    }
    fence("behind the pull");
    pause(random);
    if (self.rank == writer) say("output " + std::to_string(cycle) + ".");
    for (int i = 0; i < 60000 && pulls && pulled != cycle; ++i)
        usleep(1000);
    if (pulls && pulled != cycle) fail("no output of cycle " + std::to_string(cycle));
    if (pulls && gives_back) {
        const pmix_status_t status =
            PMIx_IOF_deregister(static_cast<size_t>(id), nullptr, 0, nullptr, nullptr);
        expect_true("PMIx_IOF_deregister", status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED);
    }
}

void operation(std::mt19937& random, unsigned what, int cycle) {
    const uint32_t size = job_size();
    const uint32_t chosen = what / 10 % size;
    switch (what % 10) {
        case 0:
            return fence("of cycle " + std::to_string(cycle));
        case 1:
        case 2:
            return connect(random, what % 10 == 1);
        case 3:
        case 4:
            return group(random, "again", size, what % 10 == 3, true);
        case 5:
            return group(random, "only." + std::to_string(cycle), size, what / 10 % 2 == 0, false);
        case 6:
            return publish(random, cycle, chosen);
        case 7:
            return invitation(random, chosen, size, what / 10 % 2 == 0);
        case 8:
            return output(random, cycle, chosen, size, what / 10 % 2 == 0);
        default:
            return event(random, cycle, chosen);
    }
}

int cycles(int count, unsigned seed, bool mixed) {
    std::mt19937 random;
    std::mt19937 common(seed);  // all do the same
    for (int cycle = 0; cycle < count; ++cycle) {
        init();
        if (cycle == 0) random.seed(seed + self.rank);
        pause(random);
        if (mixed)
            operation(random, common(), cycle);
        else
            fence("of cycle " + std::to_string(cycle));
        pause(random);
        expect("PMIx_Finalize", PMIx_Finalize(nullptr, 0));
        pause(random);
    }
    // No pull of an ended life consumes the last line.
    if (mixed) {
        init();
        fence("behind all cycles");
        expect("PMIx_Finalize", PMIx_Finalize(nullptr, 0));
    }
    say("cycles: " + std::to_string(count));
    return 0;
}

int leaves() {
    init();
    expect("fence", PMIx_Fence(nullptr, 0, nullptr, 0));
    if (self.rank != 0) say(PMIx_Error_string(PMIx_Fence(nullptr, 0, nullptr, 0)));
    expect("PMIx_Finalize", PMIx_Finalize(nullptr, 0));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if ((what == "cycles" || what == "mixed") && argc > 2) {
        const unsigned seed = argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 1;
        return cycles(std::atoi(argv[2]), seed, what == "mixed");
    }
    if (what == "leaves") return leaves();
    fail("unknown behaviour '" + what + "'");
}
