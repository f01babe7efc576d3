// SPDX-License-Identifier: BSD-3-Clause
// The client of services_test.cpp: calls one service per word and prints the result.
#include <pmix.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/integration/hostile_infos.hpp"

namespace {

pmix_proc_t self;

void say(const std::string& line) {
    printf("%s\n", line.c_str());
    fflush(stdout);
}

/// "SUCCESS", "NOT_FOUND".
std::string name_of(pmix_status_t status) {
    const std::string name = PMIx_Error_string(status);
    const std::string error = "PMIX_ERR_", any = "PMIX_";
    if (name.compare(0, error.size(), error) == 0) return name.substr(error.size());
    return name.compare(0, any.size(), any) == 0 ? name.substr(any.size()) : name;
}

/// An info that is freed at its end.
struct OneInfo {
    pmix_info_t info{};
    OneInfo(const char* key, const void* data, pmix_data_type_t type) {
        PMIx_Info_load(&info, key, data, type);
    }
    ~OneInfo() { PMIx_Info_destruct(&info); }
};

void publish(const std::string& key, const std::string& text) {
    OneInfo entry(key.c_str(), text.c_str(), PMIX_STRING);
    // A client's claim about its own user must not reach the host.
    const uint32_t somebody = 4711;
    pmix_info_t infos[2];
    infos[0] = entry.info;
    PMIx_Info_load(&infos[1], PMIX_USERID, &somebody, PMIX_UINT32);
    say("PUBLISH " + name_of(PMIx_Publish(infos, 2)));
}

void lookup(const std::vector<std::string>& keys, int timeout) {
    std::vector<pmix_pdata_t> data(keys.size());
    for (size_t i = 0; i < keys.size(); ++i)
        snprintf(data[i].key, sizeof data[i].key, "%s", keys[i].c_str());
    OneInfo limit(PMIX_TIMEOUT, &timeout, PMIX_INT);
    const pmix_status_t status = PMIx_Lookup(data.data(), data.size(), &limit.info, timeout > 0 ? 1 : 0);
    std::string line = "LOOKUP " + name_of(status);
    for (pmix_pdata_t& one : data) {
        line += std::string(" ") + (one.value.type == PMIX_STRING ? one.value.data.string : "-");
        if (one.value.type == PMIX_STRING) line += "@" + std::to_string(one.proc.rank);
        PMIx_Value_destruct(&one.value);
    }
    say(line);
}

void unpublish(const std::string& key) {
    std::string text = key;
    char* keys[] = {text.data(), nullptr};
    say("UNPUBLISH " + name_of(PMIx_Unpublish(key == "all" ? nullptr : keys, nullptr, 0)));
}

void spawn(const std::string& command, bool stops) {
    std::string text = command;
    const OneInfo stop(PMIX_DEBUG_STOP_IN_APP, nullptr, PMIX_BOOL);
    char* argv[] = {text.data(), nullptr};
    pmix_app_t app{};
    app.argv = argv;  // without cmd: the first argument is the command
    app.maxprocs = 3;
    if (stops) {
        app.info = const_cast<pmix_info_t*>(&stop.info);
        app.ninfo = 1;
    }
    pmix_nspace_t nspace;
    const pmix_status_t status = PMIx_Spawn(nullptr, 0, &app, 1, nspace);
    uint32_t size = 0;
    if (status == PMIX_SUCCESS) {
        pmix_proc_t job;
        memset(&job, 0, sizeof job);
        snprintf(job.nspace, sizeof job.nspace, "%s", nspace);
        job.rank = PMIX_RANK_WILDCARD;
        OneInfo here(PMIX_OPTIONAL, nullptr, PMIX_BOOL);
        pmix_value_t* value = nullptr;
        if (PMIx_Get(&job, PMIX_JOB_SIZE, &here.info, 1, &value) == PMIX_SUCCESS) {
            size = value->data.uint32;
            PMIx_Value_destruct(value);
            free(value);
        }
    }
    say("SPAWN " + name_of(status) + " " + nspace + " " + std::to_string(size));
}

void connect(const std::string& other, bool disconnect_only) {
    pmix_proc_t procs[2] = {self, self};
    procs[0].rank = PMIX_RANK_WILDCARD;
    procs[1].rank = PMIX_RANK_WILDCARD;
    snprintf(procs[1].nspace, sizeof procs[1].nspace, "%s", other.c_str());
    if (!disconnect_only) {
        const pmix_status_t status = PMIx_Connect(procs, 2, nullptr, 0);
        OneInfo here(PMIX_OPTIONAL, nullptr, PMIX_BOOL);
        pmix_value_t* value = nullptr;
        uint32_t size = 0;
        if (PMIx_Get(&procs[1], PMIX_JOB_SIZE, &here.info, 1, &value) == PMIX_SUCCESS) {
            size = value->data.uint32;
            PMIx_Value_destruct(value);
            free(value);
        }
        say("CONNECT " + name_of(status) + " " + std::to_string(size));
    }
    say("DISCONNECT " + name_of(PMIx_Disconnect(procs, 2, nullptr, 0)));
}

void query(const std::vector<std::string>& keys) {
    std::vector<std::string> texts = keys;
    std::vector<char*> argv;
    for (std::string& text : texts)
        argv.push_back(text.data());
    argv.push_back(nullptr);
    pmix_query_t query{argv.data(), nullptr, 0};
    pmix_info_t* results = nullptr;
    size_t count = 0;
    const pmix_status_t status = PMIx_Query_info(&query, 1, &results, &count);
    std::string line = "QUERY " + name_of(status);
    for (size_t i = 0; i < count; ++i) {
        line += std::string(" ") + results[i].key + "=";
        line += results[i].value.type == PMIX_STRING ? results[i].value.data.string : "?";
    }
    if (results != nullptr) PMIx_Info_free(results, count);
    say(line);
}

void cleanup(const std::string& path, bool directory) {
    OneInfo entry(directory ? PMIX_REGISTER_CLEANUP_DIR : PMIX_REGISTER_CLEANUP, path.c_str(), PMIX_STRING);
    OneInfo recursive(PMIX_CLEANUP_RECURSIVE, nullptr, PMIX_BOOL);
    pmix_info_t infos[] = {entry.info, recursive.info};
    pmix_info_t* results = nullptr;
    size_t count = 0;
    say("CLEANUP " + name_of(PMIx_Job_control(&self, 1, infos, 2, &results, &count)));
}

/// Each service of the host, with meaningless arguments; prints the call's name and status.
struct Ask {
    const char* name;
    void (*run)();
};
const Ask kAsks[] = {
    {"publish", [] { publish("test.each", "x"); }},
    {"lookup", [] { lookup({"test.each"}, 0); }},
    {"unpublish", [] { unpublish("test.each"); }},
    {"spawn", [] { spawn("nothing", false); }},
    {"connect", [] { connect("nowhere", false); }},
    {"query", [] { query({PMIX_QUERY_QUEUE_LIST}); }},
    {"allocate",
     [] {
         OneInfo text(PMIX_ALLOC_ID, "x", PMIX_STRING);
         pmix_info_t* results = nullptr;
         size_t count = 0;
         say("ALLOCATE " + name_of(PMIx_Allocation_request(PMIX_ALLOC_NEW, &text.info, 1, &results, &count)));
     }},
    {"control",
     [] {
         const int signal = 10;
         OneInfo kill(PMIX_JOB_CTRL_SIGNAL, &signal, PMIX_INT);
         pmix_info_t* results = nullptr;
         size_t count = 0;
         say("CONTROL " + name_of(PMIx_Job_control(nullptr, 0, &kill.info, 1, &results, &count)));
     }},
    {"monitor",
     [] {
         OneInfo usage(PMIX_MONITOR_NODE_RESOURCE_USAGE, nullptr, PMIX_UNDEF);
         char name[] = "elsewhere";
         char* names[] = {name};
         pmix_data_array_t array{PMIX_STRING, 1, names};
         OneInfo node(PMIX_MONITOR_TARGET_NODES, &array, PMIX_DATA_ARRAY);
         pmix_info_t* results = nullptr;
         size_t count = 0;
         say("MONITOR " +
             name_of(PMIx_Process_monitor(&usage.info, PMIX_SUCCESS, &node.info, 1, &results, &count)));
     }},
    {"credential",
     [] {
         pmix_byte_object_t credential{};
         say("CREDENTIAL " + name_of(PMIx_Get_credential(nullptr, 0, &credential)));
         free(credential.bytes);
     }},
    {"validate",
     [] {
         char bytes[] = "abc";
         const pmix_byte_object_t credential{bytes, 3};
         pmix_info_t* results = nullptr;
         size_t count = 0;
         say("VALIDATE " + name_of(PMIx_Validate_credential(&credential, nullptr, 0, &results, &count)));
     }},
    {"fabric",
     [] {
         pmix_fabric_t one{};
         OneInfo vendor(PMIX_FABRIC_VENDOR, "nobody", PMIX_STRING);
         say("FABRIC " + name_of(PMIx_Fabric_register(&one, &vendor.info, 1)));
     }},
    {"session", [] { say("SESSION " + name_of(PMIx_Session_control(1, nullptr, 0, nullptr, nullptr))); }},
    {"block",
     [] {
         char block[] = "block";
         say("BLOCK " +
             name_of(PMIx_Resource_block(PMIX_RESOURCE_BLOCK_DEFINE, block, nullptr, 0, nullptr, 0)));
     }},
};

void log_record() {
    OneInfo entry(PMIX_LOG_JOB_RECORD, "a line", PMIX_STRING);
    say("LOG " + name_of(PMIx_Log(&entry.info, 1, nullptr, 0)));
}

/// Every call with every bad array. Calls may refuse it if the Standard allows that.
void hostile() {
    for (const integration::InfoCall& one : integration::service_calls(self)) {
        size_t tried = 0;
        integration::each_hostile([&](const std::string& what, pmix_info_t* infos, size_t count) {
            const pmix_status_t status = one.call(infos, count);
            if (infos == nullptr && status != PMIX_ERR_BAD_PARAM)
                say(std::string("WRONG ") + one.name + " " + what + " " + name_of(status));
            if (status == PMIX_ERR_LOST_CONNECTION || status == PMIX_ERR_UNREACH || status == PMIX_ERR_INIT)
                say(std::string("LOST ") + one.name + " " + what + " " + name_of(status));
            ++tried;
        });
        say(std::string("TRIED ") + one.name + " " + std::to_string(tried));
    }
}

void heartbeat() {
    const uint32_t seconds = 1;
    OneInfo beat(PMIX_MONITOR_HEARTBEAT, nullptr, PMIX_BOOL);
    OneInfo period(PMIX_MONITOR_HEARTBEAT_TIME, &seconds, PMIX_UINT32);
    pmix_info_t* results = nullptr;
    size_t count = 0;
    say("MONITOR " + name_of(PMIx_Process_monitor(&beat.info, PMIX_MONITOR_HEARTBEAT_ALERT, &period.info, 1,
                                                  &results, &count)));
}

/// Ranks with a resident size and hosts with a load average among the results, in order.
std::string measured(const pmix_info_t* results, size_t count) {
    std::set<std::string> all;
    for (size_t i = 0; i < count; ++i) {
        if (results[i].value.type != PMIX_DATA_ARRAY) continue;
        const pmix_data_array_t& sample = *results[i].value.data.darray;
        const auto* facts = static_cast<const pmix_info_t*>(sample.array);
        for (size_t k = 0; k < sample.size; ++k) {
            if (PMIx_Check_key(facts[k].key, PMIX_PROC_RSS) && facts[k].value.data.fval > 0)
                all.insert(std::to_string(facts[0].value.data.proc->rank));
            if (PMIx_Check_key(facts[k].key, PMIX_NODE_LOAD_AVG)) all.insert(facts[0].value.data.string);
        }
    }
    std::string line;
    for (const std::string& one : all)
        line += " " + one;
    return line;
}

std::atomic<int> reports{0};

void on_report(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t info[], size_t ninfo, pmix_info_t*,
               size_t, pmix_event_notification_cbfunc_fn_t done, void* context) {
    if (measured(info, ninfo) == " " + std::to_string(self.rank)) ++reports;
    done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, context);
}

/// Usage of all processes, of this one every second until it is cancelled, and of this node and another.
void usage() {
    pmix_info_t* results = nullptr;
    size_t count = 0;
    OneInfo all(PMIX_MONITOR_PROC_RESOURCE_USAGE, nullptr, PMIX_UNDEF);
    pmix_status_t status = PMIx_Process_monitor(&all.info, PMIX_SUCCESS, nullptr, 0, &results, &count);
    say("PROCESSES " + name_of(status) + measured(results, count));
    PMIx_Info_free(results, count);

    pmix_status_t code = PMIX_MONITOR_RESUSAGE_UPDATE;
    PMIx_Register_event_handler(&code, 1, nullptr, 0, on_report, nullptr, nullptr);
    const uint32_t seconds = 1;
    pmix_data_array_t procs{PMIX_PROC, 1, &self};
    pmix_info_t directives[3];
    PMIx_Info_load(&directives[0], PMIX_MONITOR_TARGET_PROCS, &procs, PMIX_DATA_ARRAY);
    PMIx_Info_load(&directives[1], PMIX_MONITOR_RESOURCE_RATE, &seconds, PMIX_UINT32);
    PMIx_Info_load(&directives[2], PMIX_MONITOR_ID, "mine", PMIX_STRING);
    status = PMIx_Process_monitor(&all.info, code, directives, 3, &results, &count);
    say("REPORTING " + name_of(status) + measured(results, count));
    PMIx_Info_free(results, count);
    while (reports < 2)
        usleep(1000);
    for (int i = 0; i < 2; ++i) {
        OneInfo cancel(PMIX_MONITOR_CANCEL, "mine", PMIX_STRING);
        say("CANCEL " +
            name_of(PMIx_Process_monitor(&cancel.info, PMIX_SUCCESS, nullptr, 0, &results, &count)));
    }
    for (pmix_info_t& directive : directives)
        PMIx_Info_destruct(&directive);

    OneInfo node(PMIX_MONITOR_NODE_RESOURCE_USAGE, nullptr, PMIX_UNDEF);
    char own[256] = "", other[] = "elsewhere";
    gethostname(own, sizeof own - 1);
    char* names[] = {own, other};
    pmix_data_array_t array{PMIX_STRING, 2, names};
    OneInfo targets(PMIX_MONITOR_TARGET_NODES, &array, PMIX_DATA_ARRAY);
    status = PMIx_Process_monitor(&node.info, PMIX_SUCCESS, &targets.info, 1, &results, &count);
    const std::string hosts = measured(results, count);
    say("NODES " + name_of(status) + (hosts.find(own) == std::string::npos ? "" : " own") +
        (hosts.find(other) == std::string::npos ? "" : " other"));
    PMIx_Info_free(results, count);
}

void on_file_alert(size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t info[], size_t ninfo, pmix_info_t*,
                   size_t, pmix_event_notification_cbfunc_fn_t done, void* context) {
    for (size_t i = 0; i < ninfo; ++i) {
        if (strcmp(info[i].key, PMIX_MONITOR_ID) == 0) say(std::string("ALERT ") + info[i].value.data.string);
    }
    done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, context);
}

/// Monitors a file by each of its properties; none of them changes.
void watch(const std::string& path) {
    pmix_status_t code = PMIX_MONITOR_FILE_ALERT;
    PMIx_Register_event_handler(&code, 1, nullptr, 0, on_file_alert, nullptr, nullptr);
    const uint32_t seconds = 1;
    pmix_info_t* results = nullptr;
    size_t count = 0;
    OneInfo file(PMIX_MONITOR_FILE, path.c_str(), PMIX_STRING);
    for (const char* sign : {PMIX_MONITOR_FILE_SIZE, PMIX_MONITOR_FILE_ACCESS, PMIX_MONITOR_FILE_MODIFY}) {
        pmix_info_t directives[3];
        PMIx_Info_load(&directives[0], sign, nullptr, PMIX_BOOL);
        PMIx_Info_load(&directives[1], PMIX_MONITOR_FILE_CHECK_TIME, &seconds, PMIX_UINT32);
        PMIx_Info_load(&directives[2], PMIX_MONITOR_ID, sign, PMIX_STRING);
        say("MONITOR " + name_of(PMIx_Process_monitor(&file.info, PMIX_MONITOR_FILE_ALERT, directives, 3,
                                                      &results, &count)));
        PMIx_Info_destruct(&directives[2]);
    }
    // One of them is cancelled; a missing one cannot be.
    for (const char* id : {PMIX_MONITOR_FILE_ACCESS, "no.such.monitor"}) {
        OneInfo cancel(PMIX_MONITOR_CANCEL, id, PMIX_STRING);
        say("CANCEL " +
            name_of(PMIx_Process_monitor(&cancel.info, PMIX_SUCCESS, nullptr, 0, &results, &count)));
    }
    // Nothing is monitored without a file, a property or a time.
    OneInfo sign(PMIX_MONITOR_FILE_SIZE, nullptr, PMIX_BOOL);
    say("TIMELESS " +
        name_of(PMIx_Process_monitor(&file.info, PMIX_SUCCESS, &sign.info, 1, &results, &count)));
}

/// One key of this process, requested three times: the last time bypassing the cache.
void ask_again() {
    char key[] = "test.fact";
    char* keys[] = {key, nullptr};
    pmix_info_t qualifiers[2];
    PMIx_Info_load(&qualifiers[0], PMIX_PROCID, &self, PMIX_PROC);
    PMIx_Info_load(&qualifiers[1], PMIX_QUERY_REFRESH_CACHE, nullptr, PMIX_BOOL);
    std::string line = "FACT";
    for (const size_t count : {1, 1, 2, 1}) {
        pmix_query_t query{keys, qualifiers, count};
        pmix_info_t* results = nullptr;
        size_t found = 0;
        const pmix_status_t status = PMIx_Query_info(&query, 1, &results, &found);
        line += " " + (status == PMIX_SUCCESS && found == 1 && results[0].value.type == PMIX_UINT32
                           ? std::to_string(results[0].value.data.uint32)
                           : name_of(status));
        if (results != nullptr) PMIx_Info_free(results, found);
    }
    PMIx_Info_destruct(&qualifiers[0]);
    say(line);
}

/// The functions of a level that support PMIX_TIMEOUT (none: "-"); for the host all functions with all their
/// attributes.
void attribute_support() {
    for (const char* level :
         {PMIX_CLIENT_ATTRIBUTES, PMIX_TOOL_ATTRIBUTES, PMIX_SERVER_ATTRIBUTES, PMIX_HOST_ATTRIBUTES}) {
        char key[] = PMIX_QUERY_ATTRIBUTE_SUPPORT;
        char* keys[] = {key, nullptr};
        OneInfo all(level, "all", PMIX_STRING);
        pmix_query_t query{keys, &all.info, 1};
        pmix_info_t* results = nullptr;
        size_t found = 0;
        const pmix_status_t status = PMIx_Query_info(&query, 1, &results, &found);
        std::string line = std::string("LEVEL ") + level + " " + name_of(status);
        size_t functions = 0;
        if (found == 1 && results[0].value.type == PMIX_DATA_ARRAY) {
            const auto* infos = static_cast<const pmix_info_t*>(results[0].value.data.darray->array);
            functions = results[0].value.data.darray->size;
            for (size_t i = 0; i < functions; ++i) {
                const pmix_data_array_t* list = infos[i].value.data.darray;
                const auto* attributes = static_cast<const pmix_regattr_t*>(list->array);
                if (strcmp(level, PMIX_HOST_ATTRIBUTES) == 0) {
                    line += std::string(" ") + infos[i].key + "(";
                    for (size_t k = 0; k < list->size; ++k)
                        line += (k == 0 ? "" : ",") + std::string(attributes[k].name);
                    line += ")";
                    continue;
                }
                for (size_t k = 0; k < list->size; ++k) {
                    if (strcmp(attributes[k].string, PMIX_TIMEOUT) == 0)
                        line += std::string(" ") + infos[i].key;
                }
            }
        }
        if (results != nullptr) PMIx_Info_free(results, found);
        say(line + (functions == 0 ? " -" : ""));
    }
}

// The set-up of the job's network: under the request's ID, and for rank 1.
void network() {
    pmix_proc_t proc = self;
    proc.rank = PMIX_RANK_WILDCARD;
    pmix_value_t* value = nullptr;
    pmix_status_t status = PMIx_Get(&proc, "my.net", nullptr, 0, &value);
    std::string line = "NETWORK " + name_of(status);
    if (status == PMIX_SUCCESS && value->type == PMIX_DATA_ARRAY) {
        const auto* facts = static_cast<const pmix_info_t*>(value->data.darray->array);
        for (size_t i = 0; i < value->data.darray->size; ++i) {
            if (strcmp(facts[i].key, "pnet.tcp.ports") == 0)
                line += std::string(" ") + facts[i].value.data.string;
            if (strcmp(facts[i].key, PMIX_ALLOC_FABRIC_SEC_KEY) == 0)
                line += " key" + std::to_string(facts[i].value.data.bo.size);
        }
        PMIx_Value_free(value, 1);
    }
    proc.rank = 1;
    value = nullptr;
    status = PMIx_Get(&proc, PMIX_FABRIC_ENDPT, nullptr, 0, &value);
    line += " " + name_of(status);
    if (status == PMIX_SUCCESS && value->type == PMIX_DATA_ARRAY) {
        const auto* points = static_cast<const pmix_endpoint_t*>(value->data.darray->array);
        for (size_t i = 0; i < value->data.darray->size; ++i)
            line += " " + std::string(points[i].endpt.bytes, points[i].endpt.size);
        PMIx_Value_free(value, 1);
    }
    const char* variable = getenv("PNET_JOB_VARIABLE");
    say(line + (variable == nullptr ? "" : std::string(" ") + variable));
}

// Registers for the fabric of a plane ("-": any), and once more for updates of it.
void fabric(const std::string& plane) {
    OneInfo wanted(PMIX_FABRIC_PLANE, plane.c_str(), PMIX_STRING);
    pmix_fabric_t one{};
    pmix_status_t status =
        PMIx_Fabric_register(&one, plane == "-" ? nullptr : &wanted.info, plane == "-" ? 0 : 1);
    std::string line = "FABRIC " + name_of(status);
    if (status == PMIX_SUCCESS) {
        for (size_t i = 0; i < one.ninfo; ++i) {
            if (strcmp(one.info[i].key, PMIX_FABRIC_IDENTIFIER) == 0)
                line += std::string(" ") + one.info[i].value.data.string;
        }
        const size_t index = one.index;
        line += " " + name_of(PMIx_Fabric_update(&one)) +
                (one.index == index && one.ninfo > 0 ? " same" : " other");
        line += " " + name_of(PMIx_Fabric_deregister(&one));
        line += (one.info == nullptr ? " empty" : " full");
        one.index = 12345;
        line += " " + name_of(PMIx_Fabric_update(&one));
    }
    say(line);
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto word = [&](size_t i) { return i < words.size() ? words[i] : std::string(); };
    const pmix_status_t status = PMIx_Init(&self, nullptr, 0);
    if (status != PMIX_SUCCESS) return 1;
    if (word(0) == "publish") publish(word(1), word(2));
    if (word(0) == "lookup") lookup({words.begin() + 1, words.end()}, 0);
    if (word(0) == "lookup_timeout") lookup({word(1)}, 1);
    if (word(0) == "unpublish") unpublish(word(1));
    if (word(0) == "spawn") spawn(word(1), word(2) == "stop");
    if (word(0) == "connect") connect(word(1), false);
    if (word(0) == "disconnect") connect(word(1), true);
    if (word(0) == "query") query({words.begin() + 1, words.end()});
    if (word(0) == "cleanup") cleanup(word(1), false);
    if (word(0) == "cleanup_dir") cleanup(word(1), true);
    for (const Ask& ask : kAsks) {
        if (word(0) == "each" || (word(0) == "one" && word(1) == ask.name)) ask.run();
    }
    if (word(0) == "one" && word(1) == "log") log_record();
    if (word(0) == "one" && word(1) == "disconnect") connect(word(2), false);
    if (word(0) == "one" && word(1) == "fence") say("FENCE " + name_of(PMIx_Fence(nullptr, 0, nullptr, 0)));
    if (word(0) == "one" && word(1) == "get") {
        pmix_proc_t other = self;
        other.rank = static_cast<pmix_rank_t>(std::stoul(word(2)));
        pmix_value_t* value = nullptr;
        say("GET " + name_of(PMIx_Get(&other, "never.posted", nullptr, 0, &value)));
    }
    if (word(0) == "hostile") hostile();
    if (word(0) == "heartbeat") heartbeat();
    if (word(0) == "network") network();
    if (word(0) == "watch") watch(word(1));
    if (word(0) == "usage") usage();
    if (word(0) == "ask_again") ask_again();
    if (word(0) == "attributes") attribute_support();
    if (word(0) == "fabric") fabric(word(1));
    if (word(0) == "log") log_record();
    if (word(words.size() - 1) == "stay") {
        char byte;
        while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n') {
        }
    }
    if (PMIx_Finalize(nullptr, 0) != PMIX_SUCCESS) return 1;
    say("END");
    return 0;
}
