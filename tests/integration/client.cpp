// SPDX-License-Identifier: BSD-3-Clause
// The clients of the integration tests: the first word selects the behaviour. The client prints a line at
// each step, waits for a line on standard input at some steps, and exits with 0 on success.
#include <pmix.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <vector>

#include "tests/integration/says.hpp"

namespace {

using namespace integration;

pmix_proc_t self;

void init() {
    expect("init", PMIx_Init(&self, nullptr, 0));
    say("INIT");
}

int finalize() {
    expect("finalize", PMIx_Finalize(nullptr, 0));
    say("END");
    return 0;
}

void put(pmix_scope_t scope, const std::string& key, const std::string& text) {
    pmix_value_t value;
    memset(&value, 0, sizeof value);
    value.type = PMIX_STRING;
    value.data.string = const_cast<char*>(text.c_str());
    expect("put", PMIx_Put(scope, key.c_str(), &value));
}

void commit() {
    expect("commit", PMIx_Commit());
}

struct Directives {
    std::vector<pmix_info_t> infos;
    template <class T>
    void add(const char* key, const T& value, pmix_data_type_t type) {
        pmix_info_t info;
        memset(&info, 0, sizeof info);
        expect(key, PMIx_Info_load(&info, key, &value, type));
        infos.push_back(info);
    }
};

// Returns a value as text.
std::string text_of(const pmix_value_t& value) {
    switch (value.type) {
        case PMIX_STRING:
            return value.data.string == nullptr ? "" : value.data.string;
        case PMIX_UINT32:
            return std::to_string(value.data.uint32);
        case PMIX_UINT16:
            return std::to_string(value.data.uint16);
        case PMIX_PROC_RANK:
            return std::to_string(value.data.rank);
        case PMIX_BOOL:
            return value.data.flag ? "true" : "false";
        default:
            return "type " + std::to_string(value.type);
    }
}

pmix_status_t get(pmix_rank_t rank, const std::string& key, Directives& directives, std::string& text) {
    pmix_proc_t target = self;
    target.rank = rank;
    pmix_value_t* value = nullptr;
    const pmix_status_t status =
        PMIx_Get(&target, key.c_str(), directives.infos.data(), directives.infos.size(), &value);
    if (status != PMIX_SUCCESS) return status;
    text = text_of(*value);
    PMIx_Value_destruct(value);
    free(value);
    return status;
}

std::string key_of(pmix_rank_t rank) {
    return "test.key." + std::to_string(rank);
}

// init: initialises and finalizes.
int run_init(const std::vector<std::string>&) {
    init();
    wait_for_word();
    return finalize();
}

// vanish: exits without PMIx_Finalize.
int run_vanish(const std::vector<std::string>&) {
    init();
    _exit(0);
}

// refused STATUS: PMIx_Init must fail; prints its status.
int run_refused(const std::vector<std::string>&) {
    const pmix_status_t status = PMIx_Init(&self, nullptr, 0);
    say(std::string("REFUSED ") + PMIx_Error_string(status));
    return status == PMIX_SUCCESS ? 1 : 0;
}

// fence SIZE COLLECT [STATUS]: posts, fences over the namespace, then reads the keys of SIZE ranks. The fence
// must return STATUS (default PMIX_SUCCESS).
int run_fence(const std::vector<std::string>& words) {
    const auto size = static_cast<pmix_rank_t>(std::stoul(words.at(0)));
    const bool collect = words.at(1) == "collect";
    const pmix_status_t expected = words.size() > 2 ? std::stoi(words[2]) : PMIX_SUCCESS;
    init();
    put(PMIX_GLOBAL, key_of(self.rank), "value of " + std::to_string(self.rank));
    commit();
    say("FENCING");
    pmix_proc_t all = self;
    all.rank = PMIX_RANK_WILDCARD;
    Directives directives;
    directives.add(PMIX_COLLECT_DATA, collect, PMIX_BOOL);
    directives.add(PMIX_TIMEOUT, 30, PMIX_INT);
    directives.add("test.directive", true, PMIX_BOOL);
    const pmix_status_t status = PMIx_Fence(&all, 1, directives.infos.data(), directives.infos.size());
    expect("fence", status, expected);
    say("FENCED");
    for (pmix_rank_t rank = 0; rank < size; ++rank) {
        Directives immediate;
        if (collect) immediate.add(PMIX_IMMEDIATE, true, PMIX_BOOL);
        std::string text;
        expect("get of " + std::to_string(rank), get(rank, key_of(rank), immediate, text));
        if (text != "value of " + std::to_string(rank)) fail("value '" + text + "'");
    }
    return finalize();
}

// post: waits for a word, posts, waits for another one.
int run_post(const std::vector<std::string>&) {
    init();
    wait_for_word();
    put(PMIX_GLOBAL, "test.posted", "everywhere");
    put(PMIX_LOCAL, "test.local", "here");
    put(PMIX_REMOTE, "test.remote", "there");
    commit();
    say("POSTED");
    wait_for_word();
    return finalize();
}

// get RANK KEY TIMES: gets a key (rank -2: of the job), prints its value or the error.
int run_get(const std::vector<std::string>& words) {
    const auto rank = static_cast<pmix_rank_t>(std::stol(words.at(0)));
    init();
    for (int i = 0; i < std::stoi(words.at(2)); ++i) {
        Directives directives;
        directives.add(PMIX_TIMEOUT, 20, PMIX_INT);
        std::string text;
        const pmix_status_t status = get(rank, words.at(1), directives, text);
        say(status == PMIX_SUCCESS ? "GOT " + text : std::string("NOT ") + PMIx_Error_string(status));
    }
    return finalize();
}

// local SIZE: prints the locally known data of the job and of each rank, without requests.
int run_facts(const std::vector<std::string>& words) {
    init();
    const auto show = [](pmix_rank_t rank, const char* name, const char* key, Directives directives) {
        directives.add(PMIX_OPTIONAL, true, PMIX_BOOL);
        std::string text;
        const pmix_status_t status = get(rank, key, directives, text);
        say(std::string(name) + " " + (status == PMIX_SUCCESS ? text : PMIx_Error_string(status)));
    };
    const auto job = [&](const char* name, const char* key) { show(PMIX_RANK_WILDCARD, name, key, {}); };
    job("job.size", PMIX_JOB_SIZE);
    job("num.nodes", PMIX_NUM_NODES);
    job("local.size", PMIX_LOCAL_SIZE);
    job("local.peers", PMIX_LOCAL_PEERS);
    job("local.leader", PMIX_LOCALLDR);
    job("node.list", PMIX_NODE_LIST);
    for (pmix_rank_t rank = 0; rank < std::stoul(words.at(0)); ++rank) {
        show(rank, "local.rank", PMIX_LOCAL_RANK, {});
        show(rank, "node.rank", PMIX_NODE_RANK, {});
        show(rank, "nodeid", PMIX_NODEID, {});
        show(rank, "hostname", PMIX_HOSTNAME, {});
    }
    return finalize();
}

// own_server: prints the server that the process belongs to.
int run_own_server(const std::vector<std::string>&) {
    init();
    std::string nspace, rank;
    Directives none;
    expect("get of the server's namespace", get(self.rank, PMIX_SERVER_NSPACE, none, nspace));
    expect("get of the server's rank", get(self.rank, PMIX_SERVER_RANK, none, rank));
    std::string uri, own;
    expect("get of the server's URI", get(self.rank, PMIX_SERVER_URI, none, uri));
    if (uri.rfind(nspace + "." + rank + ";tcp", 0) != 0) fail("the server's URI: " + uri);
    expect("get of the own rank", get(PMIX_RANK_INVALID, PMIX_RANK, none, own));
    if (own != std::to_string(self.rank)) fail("the own rank: " + own);
    say("SERVER " + nspace + "." + rank);
    return finalize();
}

// fence_of_others RANK: fences over that rank alone.
int run_fence_of_others(const std::vector<std::string>& words) {
    init();
    pmix_proc_t other = self;
    other.rank = static_cast<pmix_rank_t>(std::stoul(words.at(0)));
    expect("fence", PMIx_Fence(&other, 1, nullptr, 0));
    return finalize();
}

// fence_and_get OTHER RANK...: begins a fence over these ranks, requests a key that OTHER never posts, and
// waits for the fence.
int run_fence_and_get(const std::vector<std::string>& words) {
    init();
    std::vector<pmix_proc_t> procs(words.size(), self);
    for (size_t i = 0; i < words.size(); ++i)
        procs[i].rank = static_cast<pmix_rank_t>(std::stoul(words[i]));
    std::promise<pmix_status_t> fenced;
    const auto done = [](pmix_status_t status, void* promise) {
        static_cast<std::promise<pmix_status_t>*>(promise)->set_value(status);
    };
    expect("fence", PMIx_Fence_nb(&procs[1], procs.size() - 1, nullptr, 0, done, &fenced));
    pmix_value_t* value = nullptr;
    expect("get", PMIx_Get(&procs[0], "never", nullptr, 0, &value), PMIX_ERR_NOT_FOUND);
    expect("end of the fence", fenced.get_future().get());
    return finalize();
}

// notify STATUS RANGE: raises an event and finalizes.
int run_notify(const std::vector<std::string>& words) {
    init();
    expect("notify", PMIx_Notify_event(std::stoi(words.at(0)), &self,
                                       static_cast<pmix_data_range_t>(std::stoul(words.at(1))), nullptr, 0,
                                       nullptr, nullptr));
    return finalize();
}

// abort STATUS MESSAGE [RANK...]: prints what PMIx_Abort returned.
int run_abort(const std::vector<std::string>& words) {
    init();
    std::vector<pmix_proc_t> procs;
    for (size_t i = 2; i < words.size(); ++i) {
        procs.push_back(self);
        procs.back().rank = static_cast<pmix_rank_t>(std::stoul(words[i]));
    }
    const pmix_status_t status = PMIx_Abort(std::stoi(words.at(0)), words.at(1).c_str(),
                                            procs.empty() ? nullptr : procs.data(), procs.size());
    say(std::string("ABORT ") + PMIx_Error_string(status));
    return finalize();
}

// topology KEY: the server's description of the node is in the job's data.
size_t count_of(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
        ++count;
    return count;
}

// topology KEY immediate|optional: gets it from the server, or from the job's data, and prints "XML ", a hash
// of the text and the number of packages, or the error.
int run_topology(const std::vector<std::string>& words) {
    init();
    Directives directives;
    if (words.size() > 1) {
        directives.add(words[1] == "optional" ? PMIX_OPTIONAL : PMIX_IMMEDIATE, true, PMIX_BOOL);
        std::string text;
        const pmix_status_t status = get(PMIX_RANK_WILDCARD, words.at(0), directives, text);
        if (status == PMIX_SUCCESS && text.find("<topology") == std::string::npos)
            fail("no XML of a topology");
        say(status == PMIX_SUCCESS ? "XML " + std::to_string(std::hash<std::string>()(text)) +
                                         " packages=" + std::to_string(count_of(text, "type=\"Package\""))
                                   : std::string("NOT ") + PMIx_Error_string(status));
        return finalize();
    }
    directives.add(PMIX_OPTIONAL, true, PMIX_BOOL);
    std::string xml;
    expect("topology in the job's data", get(PMIX_RANK_WILDCARD, words.at(0), directives, xml));
    if (xml.find("<topology") == std::string::npos) fail("no XML of a topology");
    pmix_topology_t topology;
    memset(&topology, 0, sizeof topology);
    expect("load", PMIx_Load_topology(&topology));
    PMIx_Topology_destruct(&topology);
    return finalize();
}

}  // namespace

int main(int argc, char** argv) {
    alarm(60);  // no test takes this long: ends a hanging process that nothing else terminates
    const std::vector<std::string> words(argv + 2, argv + argc);
    const std::string what = argv[1];
    if (what == "init") return run_init(words);
    if (what == "vanish") return run_vanish(words);
    if (what == "refused") return run_refused(words);
    if (what == "fence") return run_fence(words);
    if (what == "post") return run_post(words);
    if (what == "get") return run_get(words);
    if (what == "facts") return run_facts(words);
    if (what == "own_server") return run_own_server(words);
    if (what == "fence_of_others") return run_fence_of_others(words);
    if (what == "fence_and_get") return run_fence_and_get(words);
    if (what == "notify") return run_notify(words);
    if (what == "abort") return run_abort(words);
    if (what == "topology") return run_topology(words);
    say("BAD no behaviour " + what);
    return 2;
}
