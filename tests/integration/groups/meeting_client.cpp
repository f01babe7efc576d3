// SPDX-License-Identifier: BSD-3-Clause
// Groups of all processes of a job, constructed and destructed again and again, where each process calls in
// its own way: plainly, so that all can use shared memory, or with a directive that needs the server. All
// ways give the same result. meeting_client SEED ROUNDS; exits with 0 on success.
#include <algorithm>
#include <random>
#include <thread>

#include "tests/integration/invitations/kit.hpp"

using namespace kit;

namespace {

struct Made {
    pmix_status_t status = PMIX_ERROR;
    size_t context_id = 0;
    size_t members = 0;
    std::vector<pmix_rank_t> ranks;

    void read(pmix_status_t came, const pmix_info_t* results, size_t n) {
        status = came;
        for (size_t i = 0; i < n; ++i) {
            if (PMIX_CHECK_KEY(&results[i], PMIX_GROUP_CONTEXT_ID)) context_id = results[i].value.data.size;
            if (PMIX_CHECK_KEY(&results[i], PMIX_GROUP_MEMBERSHIP)) ranks = ranks_of(results[i].value);
        }
    }
};

/// The answer to a call that does not wait.
struct Later {
    std::mutex lock;  // guards all below
    std::condition_variable signal;
    bool came = false;
    Made made;

    void arrived(pmix_status_t status, const pmix_info_t* results, size_t n) {
        const std::lock_guard guard(lock);
        made.read(status, results, n);
        came = true;
        signal.notify_all();
    }
    Made wait(const std::string& what) {
        std::unique_lock guard(lock);
        if (!signal.wait_for(guard, kLimit, [this] { return came; })) {
            complain("no answer to " + what);
            _exit(1);
        }
        return made;
    }
};

enum class Way { Plain, Limit, NonBlocking, Committed, Beside, Last = Beside };

/// A group of only this process, through the server, from another thread meanwhile.
void alone(const std::string& id) {
    pmix_info_t* results = nullptr;
    size_t n = 0;
    is(PMIx_Group_construct(id.c_str(), &self, 1, nullptr, 0, &results, &n), PMIX_SUCCESS, id);
    PMIx_Info_free(results, n);
    is(PMIx_Group_destruct(id.c_str(), nullptr, 0), PMIX_SUCCESS, id);
}

Made construct(const std::string& id, Way way, bool wants_id, const std::vector<pmix_rank_t>& order) {
    std::vector<pmix_proc_t> members = ranks(order);
    Infos directives;
    if (wants_id) directives.yes(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    if (way == Way::Limit) directives.number(PMIX_TIMEOUT, 60);
    if (way == Way::NonBlocking) {
        Later later;
        const pmix_status_t begun = PMIx_Group_construct_nb(
            id.c_str(), members.data(), members.size(), directives.data(), directives.count(),
            [](pmix_status_t status, pmix_info_t* results, size_t n, void* cbdata,
               pmix_release_cbfunc_t release, void* release_cbdata) {
                static_cast<Later*>(cbdata)->arrived(status, results, n);
                if (release != nullptr) release(release_cbdata);
            },
            &later);
        is(begun, PMIX_SUCCESS, "construct " + id);
        return begun == PMIX_SUCCESS ? later.wait(id) : Made();
    }
    std::thread beside;
    if (way == Way::Beside) beside = std::thread(alone, id + "-alone-" + std::to_string(self.rank));
    pmix_info_t* results = nullptr;
    size_t n = 0;
    Made made;
    const pmix_status_t status = PMIx_Group_construct(id.c_str(), members.data(), members.size(),
                                                      directives.data(), directives.count(), &results, &n);
    made.read(status, results, n);
    PMIx_Info_free(results, n);
    if (beside.joinable()) beside.join();
    return made;
}

pmix_status_t destruct(const std::string& id, Way way) {
    if (way == Way::Limit) {
        Infos limit;
        limit.number(PMIX_TIMEOUT, 60);
        return PMIx_Group_destruct(id.c_str(), limit.data(), limit.count());
    }
    if (way != Way::NonBlocking) return PMIx_Group_destruct(id.c_str(), nullptr, 0);
    Later later;
    is(PMIx_Group_destruct_nb(
           id.c_str(), nullptr, 0,
           [](pmix_status_t status, void* cbdata) {
               static_cast<Later*>(cbdata)->arrived(status, nullptr, 0);
           },
           &later),
       PMIX_SUCCESS, "destruct " + id);
    return later.wait(id).status;
}

void put(const std::string& key, const std::string& text) {
    pmix_value_t value;
    PMIX_VALUE_LOAD(&value, text.c_str(), PMIX_STRING);
    is(PMIx_Put(PMIX_GLOBAL, key.c_str(), &value), PMIX_SUCCESS, "put");
    PMIX_VALUE_DESTRUCT(&value);
    is(PMIx_Commit(), PMIX_SUCCESS, "commit");
}

void want(const pmix_proc_t& from, const std::string& key, const std::string& wanted) {
    pmix_value_t* value = nullptr;
    is(PMIx_Get(&from, key.c_str(), nullptr, 0, &value), PMIX_SUCCESS, key);
    if (value == nullptr) return;
    need(wanted == value->data.string, key + " of rank " + std::to_string(from.rank));
    PMIX_VALUE_RELEASE(value);
}

void rounds(unsigned seed, int count) {
    std::mt19937 shared(seed), own(seed * 1000 + self.rank);
    std::string ids;
    for (int round = 0; round < count; ++round) {
        if (failed) _exit(1);  // the others would wait for this process
        const std::string id = "t-meet-" + std::to_string(round);
        std::vector<pmix_rank_t> order = all();
        if (shared() % 4 == 0) std::rotate(order.begin(), order.begin() + 1, order.end());
        const bool wants_id = shared() % 2 == 0;
        // Usually all call plainly; otherwise each at random.
        const unsigned mixture = shared() % 4;
        const auto choose = [&] {
            const bool plain = mixture < 2 || (mixture == 2 && own() % size != 0);
            return plain ? Way::Plain : static_cast<Way>(own() % (static_cast<unsigned>(Way::Last) + 1));
        };
        if (own() % 4 == 0) usleep(own() % 500);
        const Way way = choose();
        const bool puts = mixture == 3;
        if (puts && way == Way::Committed) put(id, "of " + std::to_string(self.rank));
        const Made made = construct(id, way, wants_id, order);
        is(made.status, PMIX_SUCCESS, "construct " + id);
        need(made.ranks == order, "members of " + id);
        need((made.context_id != 0) == wants_id, "context id of " + id);
        ids += std::to_string(made.context_id) + " ";
        const pmix_rank_t place =
            static_cast<pmix_rank_t>(std::find(order.begin(), order.end(), self.rank) - order.begin());
        pmix_proc_t named;
        PMIX_LOAD_PROCID(&named, id.c_str(), place);
        if (puts && way == Way::Committed) want(named, id, "of " + std::to_string(self.rank));
        if (shared() % 8 == 0) {
            // The name is in use; all callers get the error.
            is(construct(id, choose(), wants_id, order).status, PMIX_ERR_EXISTS, "second " + id);
        }
        is(destruct(id, choose()), PMIX_SUCCESS, "destruct " + id);
        is(PMIx_Group_destruct(id.c_str(), nullptr, 0), PMIX_ERR_NOT_FOUND, "second destruct of " + id);
    }
    put("t.ids", ids);
    Infos collect;
    collect.yes(PMIX_COLLECT_DATA);
    is(PMIx_Fence(nullptr, 0, collect.data(), collect.count()), PMIX_SUCCESS, "fence");
    for (const pmix_rank_t other : all())
        want(rank(other), "t.ids", ids);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    alarm(300);
    if (PMIx_Init(&self, nullptr, 0) != PMIX_SUCCESS) return 2;
    const pmix_proc_t job = rank(PMIX_RANK_WILDCARD);
    pmix_value_t* value = nullptr;
    is(PMIx_Get(&job, PMIX_JOB_SIZE, nullptr, 0, &value), PMIX_SUCCESS, "job size");
    if (value == nullptr) return 2;
    size = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    rounds(static_cast<unsigned>(atoi(argv[1])), atoi(argv[2]));
    is(PMIx_Finalize(nullptr, 0), PMIX_SUCCESS, "finalize");
    return failed ? 1 : 0;
}
