// SPDX-License-Identifier: BSD-3-Clause
// The client of iof_test.cpp: pulls output, or pushes input, with the directives in its words, and prints the
// results. Words: action, namespace, rank, channels (o, e, d, i, all), then directives. It proceeds to the
// next step (deregister, the end) at each line of its stdin.
#include <malloc.h>
#include <pmix.h>
#include <pmix_tool.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

std::mutex lock;  // guards the members below, and the output
bool sum_up = false;
bool take_payload = false;
bool from_nobody = false;
bool twice = false;
struct Sum {
    uint64_t bytes = 0;
    uint64_t hash = 14695981039346656037U;
};
std::map<std::pair<pmix_rank_t, pmix_iof_channel_t>, Sum> sums;
std::atomic<bool> stall{false};
std::atomic<bool> ended{false};

void say(const std::string& line) {
    printf("%s\n", line.c_str());
    fflush(stdout);
}

/// "SUCCESS", "NOT_FOUND".
std::string name_of(pmix_status_t status) {
    if (status > 0) return "ID";
    const std::string name = PMIx_Error_string(status);
    const std::string error = "PMIX_ERR_", any = "PMIX_";
    return name.substr(name.compare(0, error.size(), error) == 0 ? error.size() : any.size());
}

std::string printable(const char* bytes, size_t size) {
    std::string text;
    for (size_t i = 0; i < size; ++i) {
        const auto c = static_cast<unsigned char>(bytes[i]);
        if (c == '\n') {
            text += "\\n";
        } else if (isprint(c) != 0) {
            text += static_cast<char>(c);
        } else {
            text += '?';
        }
    }
    return text;
}

void on_output(size_t id, pmix_iof_channel_t channel, pmix_proc_t* source, pmix_byte_object_t* payload,
               pmix_info_t info[], size_t ninfo) {
    while (stall)
        usleep(1000);
    const std::lock_guard guard(lock);
    bool complete = false;
    std::string note;
    for (size_t i = 0; i < ninfo; ++i) {
        if (strcmp(info[i].key, PMIX_IOF_COMPLETE) == 0) complete = true;
        if (strcmp(info[i].key, "muster.iof.dropped") == 0)
            note = " dropped=" + std::to_string(info[i].value.data.size);
    }
    if (sum_up) {
        Sum& sum = sums[{source->rank, channel}];
        for (size_t i = 0; i < payload->size; ++i)
            sum.hash = (sum.hash ^ static_cast<unsigned char>(payload->bytes[i])) * 1099511628211U;
        sum.bytes += payload->size;
        if (complete)
            say("SUM " + std::to_string(source->rank) + " " + std::to_string(channel) + " " +
                std::to_string(sum.bytes) + " " + std::to_string(sum.hash));
        return;
    }
    say("GOT " + std::to_string(id) + " " + std::to_string(channel) + " " + std::to_string(source->rank) +
        " [" + printable(payload->bytes, payload->size) + "]" + (complete ? " complete" : "") + note);
    if (take_payload) PMIx_Byte_object_destruct(payload);  // what it has taken the library leaves alone
}

void on_event(size_t, pmix_status_t status, const pmix_proc_t*, pmix_info_t info[], size_t ninfo,
              pmix_info_t*, size_t, pmix_event_notification_cbfunc_fn_t done, void* context) {
    std::string channel = "-";
    for (size_t i = 0; i < ninfo; ++i) {
        if (strcmp(info[i].key, "muster.iof.channel") == 0)
            channel = std::to_string(info[i].value.data.uint16);
    }
    {
        const std::lock_guard guard(lock);
        say("EVENT " + name_of(status) + " " + channel);
    }
    ended = true;
    done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, context);
}

struct Directives {
    std::vector<pmix_info_t> infos;
    ~Directives() {
        for (pmix_info_t& info : infos)
            PMIx_Info_destruct(&info);
    }
    void add(const char* key, const void* data, pmix_data_type_t type) {
        infos.emplace_back();
        memset(&infos.back(), 0, sizeof infos.back());
        PMIx_Info_load(&infos.back(), key, data, type);
    }
    void read(const std::string& word) {
        static const std::map<std::string, const char*> flags = {{"oldest", PMIX_IOF_DROP_OLDEST},
                                                                 {"newest", PMIX_IOF_DROP_NEWEST},
                                                                 {"copy", PMIX_IOF_COPY},
                                                                 {"redirect", PMIX_IOF_REDIRECT},
                                                                 {"tag", PMIX_IOF_TAG_OUTPUT},
                                                                 {"detailed", PMIX_IOF_TAG_DETAILED_OUTPUT},
                                                                 {"ts", PMIX_IOF_TIMESTAMP_OUTPUT},
                                                                 {"rank", PMIX_IOF_RANK_OUTPUT},
                                                                 {"xml", PMIX_IOF_XML_OUTPUT},
                                                                 {"raw", PMIX_IOF_OUTPUT_RAW},
                                                                 {"merge", PMIX_IOF_MERGE_STDERR_STDOUT},
                                                                 {"pattern", PMIX_IOF_FILE_PATTERN},
                                                                 {"fonly", PMIX_IOF_FILE_ONLY},
                                                                 {"complete", PMIX_IOF_COMPLETE},
                                                                 {"local", PMIX_IOF_LOCAL_OUTPUT},
                                                                 {"stdin", PMIX_IOF_PUSH_STDIN}};
        static const std::map<std::string, const char*> numbers = {{"cache", PMIX_IOF_CACHE_SIZE},
                                                                   {"bsize", PMIX_IOF_BUFFERING_SIZE},
                                                                   {"btime", PMIX_IOF_BUFFERING_TIME}};
        const size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
        const auto number = static_cast<uint32_t>(strtoul(value.c_str(), nullptr, 10));
        if (name == "sum") {
            sum_up = true;
        } else if (name == "take") {
            take_payload = true;
        } else if (name == "nobody") {
            from_nobody = true;
        } else if (name == "twice") {
            twice = true;
        } else if (name == "stall") {
            stall = true;
        } else if (const auto flag = flags.find(name); flag != flags.end()) {
            add(flag->second, nullptr, PMIX_BOOL);
        } else if (const auto sized = numbers.find(name); sized != numbers.end()) {
            add(sized->second, &number, PMIX_UINT32);
        } else if (name == "wrong") {
            add(PMIX_IOF_CACHE_SIZE, "text", PMIX_STRING);
        } else if (name == "file" || name == "dir") {
            add(name == "file" ? PMIX_IOF_OUTPUT_TO_FILE : PMIX_IOF_OUTPUT_TO_DIRECTORY, value.c_str(),
                PMIX_STRING);
        }
    }
};

pmix_iof_channel_t channels_of(const std::string& word) {
    if (word == "all") return PMIX_FWD_ALL_CHANNELS;
    pmix_iof_channel_t channels = 0;
    for (const char c : word) {
        if (c == 'i') channels |= PMIX_FWD_STDIN_CHANNEL;
        if (c == 'o') channels |= PMIX_FWD_STDOUT_CHANNEL;
        if (c == 'e') channels |= PMIX_FWD_STDERR_CHANNEL;
        if (c == 'd') channels |= PMIX_FWD_STDDIAG_CHANNEL;
        if (c == 'x') channels |= 0x4000;
    }
    return channels;
}

void wait_for_line() {
    char c = 0;
    while (read(0, &c, 1) == 1 && c != '\n') {
    }
}

uint64_t dropped() {
    char key[] = "muster.iof.dropped";
    char* keys[] = {key, nullptr};
    pmix_query_t query{keys, nullptr, 0};
    pmix_info_t* results = nullptr;
    size_t count = 0;
    uint64_t found = UINT64_MAX;
    if (PMIx_Query_info(&query, 1, &results, &count) == PMIX_SUCCESS && count == 1)
        found = results[0].value.data.size;
    if (results != nullptr) PMIx_Info_free(results, count);
    return found;
}

struct Answer {
    std::atomic<int> status{1};
    std::atomic<size_t> id{0};
    pmix_status_t wait() const {
        while (status == 1)
            usleep(1000);
        return status;
    }
    static void registered(pmix_status_t status, size_t id, void* data) {
        const std::lock_guard guard(lock);
        say("PULLED " + name_of(status));
        static_cast<Answer*>(data)->id = id;
        static_cast<Answer*>(data)->status = status;
    }
    static void done(pmix_status_t status, void* data) {
        const std::lock_guard guard(lock);
        say("PUSHED " + name_of(status));
        static_cast<Answer*>(data)->status = status;
    }
};

void pull(const pmix_proc_t& source, pmix_iof_channel_t channels, const Directives& directives, bool show) {
    Answer answer;
    pmix_status_t status =
        PMIx_IOF_pull(&source, from_nobody ? 0 : 1, directives.infos.data(), directives.infos.size(),
                      channels, show ? nullptr : on_output, Answer::registered, &answer);
    if (status == PMIX_SUCCESS) {
        answer.wait();
    } else {
        const std::lock_guard guard(lock);
        say("REFUSED " + name_of(status));
    }
    wait_for_line();
    stall = false;
    wait_for_line();
    {
        const uint64_t count = dropped();
        const std::lock_guard guard(lock);
        say("DROPPED " + std::to_string(count));
    }
    status = PMIx_IOF_deregister(answer.id, nullptr, 0, nullptr, nullptr);
    {
        const std::lock_guard guard(lock);
        say("DEREGISTERED " + name_of(status));
    }
    if (!twice) return;
    status = PMIx_IOF_deregister(answer.id, nullptr, 0, nullptr, nullptr);
    const std::lock_guard guard(lock);
    say("AGAIN " + name_of(status));
}

void push(const pmix_proc_t& target, const std::string& text, const Directives& directives) {
    std::string bytes = text;
    pmix_byte_object_t object{bytes.data(), bytes.size()};
    Answer answer;
    const pmix_status_t status =
        PMIx_IOF_push(&target, 1, text == "null" ? nullptr : &object, directives.infos.data(),
                      directives.infos.size(), Answer::done, &answer);
    if (status == PMIX_SUCCESS) {
        answer.wait();
        return;
    }
    const std::lock_guard guard(lock);
    say("PUSHED " + name_of(status));
}

/// All possible answers of a push.
void push_forms(const pmix_proc_t& target, const std::string& text) {
    std::string bytes = text;
    pmix_byte_object_t object{bytes.data(), bytes.size()};
    Answer answer;
    pmix_status_t status = PMIX_SUCCESS;
    {
        // A callback inside the call would deadlock on this lock.
        const std::lock_guard guard(lock);
        status = PMIx_IOF_push(&target, 1, &object, nullptr, 0, Answer::done, &answer);
        if (status != PMIX_SUCCESS) say("PUSHED " + name_of(status) + " at once");
    }
    answer.wait();
    status = PMIx_IOF_push(&target, 1, &object, nullptr, 0, nullptr, nullptr);
    say("BLOCKING " + name_of(status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status));
    // Neither bytes nor a directive; a length without bytes.
    pmix_byte_object_t missing{nullptr, 5};
    for (pmix_byte_object_t* bytes_of : {static_cast<pmix_byte_object_t*>(nullptr), &missing}) {
        Answer refused;
        status = PMIx_IOF_push(&target, 1, bytes_of, nullptr, 0, Answer::done, &refused);
        const std::lock_guard guard(lock);
        say("REFUSED " + name_of(status) + " " + std::to_string(refused.status == 1 ? 0 : 1));
    }
}

/// Many pulls until one is refused.
void pull_often(const pmix_proc_t& source) {
    int count = 0;
    while (count < 20000 &&
           PMIx_IOF_pull(&source, 1, nullptr, 0, PMIX_FWD_STDOUT_CHANNEL, on_output, nullptr, nullptr) > 0)
        ++count;
    say("PULLS " + std::to_string(count));
}

/// A tool that declares that it shows the output of its jobs, and spawns that many with these directives, the
/// next at each line of its stdin.
int spawn(int count, const Directives& directives) {
    pmix_proc_t self;
    Directives init;
    init.read("local");
    if (PMIx_tool_init(&self, init.infos.data(), init.infos.size()) != PMIX_SUCCESS) return 2;
    char program[] = "program";
    char* words[] = {program, nullptr};
    pmix_app_t app{};
    app.cmd = program;
    app.argv = words;
    app.maxprocs = 1;
    size_t before = 0;
    for (int i = 0; i < count; ++i) {
        pmix_nspace_t nspace;
        const pmix_status_t status =
            PMIx_Spawn(directives.infos.data(), directives.infos.size(), &app, 1, nspace);
        say("SPAWNED " + name_of(status));
        wait_for_line();
        // The first ones do one-time allocations.
        if (i == count / 2) before = mallinfo2().uordblks;
    }
    say("GREW " + std::to_string(static_cast<int64_t>(mallinfo2().uordblks - before)));
    return PMIx_tool_finalize() == PMIX_SUCCESS ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && strcmp(argv[1], "spawn") == 0) {
        Directives directives;
        for (int i = 3; i < argc; ++i)
            directives.read(argv[i]);
        return argc > 2 ? spawn(atoi(argv[2]), directives) : 2;
    }
    pmix_proc_t self;
    if (argc < 5 || PMIx_Init(&self, nullptr, 0) != PMIX_SUCCESS) return 2;
    const std::string what = argv[1];
    pmix_proc_t other;
    memset(&other, 0, sizeof other);
    snprintf(other.nspace, sizeof other.nspace, "%s", argv[2]);
    other.rank = strcmp(argv[3], "*") == 0 ? PMIX_RANK_WILDCARD
                                           : static_cast<pmix_rank_t>(strtoul(argv[3], nullptr, 10));
    Directives directives;
    for (int i = 5; i < argc; ++i)
        directives.read(argv[i]);
    pmix_status_t codes[] = {PMIX_ERR_IOF_COMPLETE, PMIX_ERR_IOF_FAILURE};
    PMIx_Register_event_handler(codes, 2, nullptr, 0, on_event, nullptr, nullptr);
    if (what == "pull" || what == "show") {
        pull(other, channels_of(argv[4]), directives, what == "show");
    } else if (what == "push_forms") {
        push_forms(other, argv[4]);
    } else if (what == "often") {
        pull_often(other);
    } else if (what == "push" || what == "push_stdin" || what == "push_stop") {
        push(other, what == "push" ? argv[4] : "null", directives);
        if (what == "push_stop") {
            const Directives end;
            const_cast<Directives&>(end).read("complete");
            usleep(10000);
            push(other, "null", end);
        }
        while (what == "push_stdin" && !ended)
            usleep(1000);
    }
    return PMIx_Finalize(nullptr, 0) == PMIX_SUCCESS ? 0 : 3;
}
