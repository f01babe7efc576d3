// SPDX-License-Identifier: BSD-3-Clause
// A process for the tests of tools: a server, or a tool that takes steps and prints the result of each, one
// line per step.
//   integration_tool serve NSPACE key=value...   prints "READY pid", serves until its input ends
//   integration_tool run STEP...                 a step is word[:key=value,...]
// Public API only.
#include <pmix_server.h>
#include <pmix_tool.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

pmix_proc_t self;

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

struct Attribute {
    const char* word;
    const char* key;
    pmix_data_type_t type;
};
constexpr Attribute kAttributes[] = {
    {"uri", PMIX_SERVER_URI, PMIX_STRING},
    {"tcp", PMIX_TCP_URI, PMIX_STRING},
    {"pid", PMIX_SERVER_PIDINFO, PMIX_PID},
    {"nspace", PMIX_SERVER_NSPACE, PMIX_STRING},
    {"system", PMIX_CONNECT_TO_SYSTEM, PMIX_BOOL},
    {"first", PMIX_CONNECT_SYSTEM_FIRST, PMIX_BOOL},
    {"file", PMIX_TOOL_ATTACHMENT_FILE, PMIX_STRING},
    {"optional", PMIX_TOOL_CONNECT_OPTIONAL, PMIX_BOOL},
    {"none", PMIX_TOOL_DO_NOT_CONNECT, PMIX_BOOL},
    {"retries", PMIX_CONNECT_MAX_RETRIES, PMIX_UINT32},
    {"delay", PMIX_CONNECT_RETRY_DELAY, PMIX_UINT32},
    {"timeout", PMIX_TIMEOUT, PMIX_INT},
    {"primary", PMIX_PRIMARY_SERVER, PMIX_BOOL},
    {"name", PMIX_TOOL_NSPACE, PMIX_STRING},
    {"rank", PMIX_TOOL_RANK, PMIX_UINT32},
    {"tmpdir", PMIX_SERVER_TMPDIR, PMIX_STRING},
    {"systemdir", PMIX_SYSTEM_TMPDIR, PMIX_STRING},
    {"launcher", PMIX_LAUNCHER, PMIX_BOOL},
    {"wait", PMIX_WAIT_FOR_CONNECTION, PMIX_BOOL},
    {"tools", PMIX_SERVER_TOOL_SUPPORT, PMIX_BOOL},
    {"syssupport", PMIX_SERVER_SYSTEM_SUPPORT, PMIX_BOOL},
    {"session", PMIX_SERVER_SESSION_SUPPORT, PMIX_BOOL},
    {"foreign", PMIX_SERVER_ALLOW_FOREIGN_TOOLS, PMIX_BOOL},
    {"rendezvous", PMIX_LAUNCHER_RENDEZVOUS_FILE, PMIX_STRING},
    {"remote", PMIX_SERVER_REMOTE_CONNECTIONS, PMIX_BOOL},
    {"host", PMIX_SERVER_HOSTNAME, PMIX_STRING},
};

/// "key=value,..." as attributes; unknown ones are stored in `others`.
std::vector<pmix_info_t> attributes(const std::vector<std::string>& words,
                                    std::vector<std::string>* others = nullptr) {
    std::vector<pmix_info_t> infos;
    for (const std::string& word : words) {
        const size_t at = word.find('=');
        const std::string key = word.substr(0, at),
                          value = at == std::string::npos ? "1" : word.substr(at + 1);
        bool known = false;
        for (const Attribute& attribute : kAttributes) {
            if (key != attribute.word) continue;
            known = true;
            const long number = std::atol(value.c_str());
            const bool yes = number != 0;
            const auto unsigned_number = static_cast<uint32_t>(number);
            const int signed_number = static_cast<int>(number);
            const auto pid = static_cast<pid_t>(number);
            const void* data = attribute.type == PMIX_STRING   ? static_cast<const void*>(value.c_str())
                               : attribute.type == PMIX_BOOL   ? static_cast<const void*>(&yes)
                               : attribute.type == PMIX_UINT32 ? static_cast<const void*>(&unsigned_number)
                               : attribute.type == PMIX_PID    ? static_cast<const void*>(&pid)
                                                               : static_cast<const void*>(&signed_number);
            pmix_info_t info;
            std::memset(&info, 0, sizeof info);
            PMIx_Info_load(&info, attribute.key, data, attribute.type);
            infos.push_back(info);
        }
        if (!known && others != nullptr) others->push_back(word);
    }
    return infos;
}

void say(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
}

std::string named(const pmix_proc_t& proc) {
    return std::string(proc.nspace) + ":" + std::to_string(proc.rank);
}

void wait_for_line() {
    char line[64];
    if (std::fgets(line, sizeof line, stdin) == nullptr) clearerr(stdin);
}

// --- the server ---

std::string policy;  // "" accepts all
std::atomic<int> tools_seen{0};

/// As PRRTE does: the tool's job data are registered before the tool is accepted.
void register_and_answer(const pmix_proc_t& proc, pmix_tool_connection_cbfunc_t answer, void* cbdata) {
    struct Waiting {
        pmix_proc_t proc;
        pmix_info_t info;
        pmix_tool_connection_cbfunc_t answer;
        void* cbdata;
    };
    auto* waiting = new Waiting{proc, {}, answer, cbdata};
    PMIx_Info_load(&waiting->info, PMIX_NSDIR, "/of/the/host", PMIX_STRING);
    const auto registered = [](pmix_status_t status, void* data) {
        std::unique_ptr<Waiting> done(static_cast<Waiting*>(data));
        done->answer(status, &done->proc, done->cbdata);
        PMIx_Info_destruct(&done->info);
    };
    const pmix_status_t status =
        PMIx_server_register_nspace(waiting->proc.nspace, 1, &waiting->info, 1, registered, waiting);
    if (status != PMIX_SUCCESS) registered(status, waiting);
}

void tool_connected(pmix_info_t* info, size_t ninfo, pmix_tool_connection_cbfunc_t answer, void* cbdata) {
    std::string about;
    pmix_proc_t proc;
    PMIx_Load_procid(&proc, "", PMIX_RANK_UNDEF);
    for (size_t i = 0; i < ninfo; ++i) {
        const pmix_value_t& value = info[i].value;
        about += (i == 0 ? "" : " ") + std::string(info[i].key);
        if (value.type == PMIX_UINT32) about += "=" + std::to_string(value.data.uint32);
        if (PMIx_Check_key(info[i].key, PMIX_NSPACE)) {
            PMIx_Load_nspace(proc.nspace, value.data.string);
            about += "=" + std::string(value.data.string);
        }
        if (PMIx_Check_key(info[i].key, PMIX_RANK)) proc.rank = value.data.rank;
    }
    if (policy != "quiet") say("TOOL " + about);
    if (policy == "silent") return;
    if (proc.nspace[0] == '\0') {
        const std::string name =
            policy == "twins" ? "twin"
                              : "tool-" + std::to_string(getpid()) + "-" + std::to_string(++tools_seen);
        PMIx_Load_procid(&proc, name.c_str(), 0);
        if (policy == "nameless") PMIx_Load_procid(&proc, "", PMIX_RANK_UNDEF);
    }
    if (policy == "registers") return register_and_answer(proc, answer, cbdata);
    answer(policy == "refuse" ? PMIX_ERR_NO_PERMISSIONS : PMIX_SUCCESS, &proc, cbdata);
}

pmix_status_t query(pmix_proc_t*, pmix_query_t* queries, size_t, pmix_info_cbfunc_t answer, void* cbdata) {
    static pmix_info_t info;
    PMIx_Info_load(&info, queries[0].keys[0], "of the host", PMIX_STRING);
    answer(PMIX_SUCCESS, &info, 1, cbdata, nullptr, nullptr);
    return PMIX_SUCCESS;
}

pmix_status_t refuse_nothing(const pmix_proc_t*, void*, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

/// A scheduler with one free node.
pmix_status_t allocate(const pmix_proc_t*, pmix_alloc_directive_t directive, const pmix_info_t info[],
                       size_t count, pmix_info_cbfunc_t answer, void* cbdata) {
    std::string about = directive == PMIX_ALLOC_NEW ? "ALLOCATE" : "RELEASE";
    uint64_t nodes = 0;
    for (size_t i = 0; i < count; ++i) {
        const pmix_value_t& value = info[i].value;
        if (PMIx_Check_key(info[i].key, PMIX_ALLOC_ID)) about += " " + std::string(value.data.string);
        if (PMIx_Check_key(info[i].key, PMIX_ALLOC_NUM_NODES)) nodes = value.data.uint64;
    }
    static int number = 0;
    if (directive == PMIX_ALLOC_NEW) about += " " + std::to_string(nodes);
    say(about);
    if (directive != PMIX_ALLOC_NEW || nodes != 1) {
        answer(nodes > 1 ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS, nullptr, 0, cbdata, nullptr, nullptr);
        return PMIX_SUCCESS;
    }
    pmix_info_t granted[2];
    std::memset(granted, 0, sizeof granted);
    PMIx_Info_load(&granted[0], PMIX_ALLOC_ID, ("allocation-" + std::to_string(++number)).c_str(),
                   PMIX_STRING);
    PMIx_Info_load(&granted[1], PMIX_ALLOC_NODE_LIST, "node1", PMIX_STRING);
    answer(PMIX_SUCCESS, granted, 2, cbdata, nullptr, nullptr);
    for (pmix_info_t& one : granted)
        PMIx_Info_destruct(&one);
    return PMIX_SUCCESS;
}

int serve(const std::string& nspace, const std::vector<std::string>& words) {
    std::vector<std::string> others;
    std::vector<pmix_info_t> infos = attributes(words, &others);
    pmix_server_module_t module;
    std::memset(&module, 0, sizeof module);
    module.client_finalized = refuse_nothing;
    module.query = query;
    module.tool_connected = tool_connected;
    for (const std::string& other : others) {
        if (other == "scheduler") module.allocate = allocate;
        if (other == "hookless") module.tool_connected = nullptr;
        if (other == "queryless") module.query = nullptr;
        if (other.compare(0, 7, "policy=") == 0) policy = other.substr(7);
    }
    pmix_info_t name;
    std::memset(&name, 0, sizeof name);
    PMIx_Info_load(&name, PMIX_SERVER_NSPACE, nspace.c_str(), PMIX_STRING);
    infos.push_back(name);
    const pmix_status_t status = PMIx_server_init(&module, infos.data(), infos.size());
    for (pmix_info_t& info : infos)
        PMIx_Info_destruct(&info);
    if (status != PMIX_SUCCESS) {
        say(std::string("INIT ") + PMIx_Error_string(status));
        return 1;
    }
    // A job to query.
    void* list = PMIx_Info_list_start();
    const uint32_t size = 7;
    PMIx_Info_list_add(list, PMIX_JOB_SIZE, &size, PMIX_UINT32);
    pmix_data_array_t array;
    PMIx_Info_list_convert(list, &array);
    PMIx_Info_list_release(list);
    PMIx_server_register_nspace(("job-of-" + nspace).c_str(), 0, static_cast<pmix_info_t*>(array.array),
                                array.size, nullptr, nullptr);
    PMIx_Data_array_destruct(&array);
    char* supported[] = {const_cast<char*>("PMIX_DEBUG_STOP_ON_EXEC"), nullptr};
    char spawn[] = "spawn";
    PMIx_Register_attributes(spawn, supported);
    say("READY " + std::to_string(getpid()));
    if (std::find(others.begin(), others.end(), "shown") != others.end()) {
        // The same result as for the server's own clients.
        pmix_proc_t client;
        PMIx_Load_procid(&client, ("job-of-" + nspace).c_str(), 0);
        char** variables = nullptr;
        PMIx_server_setup_fork(&client, &variables);
        for (char** variable = variables; variable != nullptr && *variable != nullptr; ++variable) {
            const std::string text = *variable;
            if (text.compare(0, 18, "PMIX_SERVER_URI41=") == 0) say("URI " + text.substr(18));
        }
        PMIx_Argv_free(variables);
    }
    for (char line[64]; std::fgets(line, sizeof line, stdin) != nullptr;) {
    }
    return PMIx_server_finalize() == PMIX_SUCCESS ? 0 : 1;
}

// --- the tool ---

std::atomic<int> lost{0};

void on_lost(size_t, pmix_status_t, const pmix_proc_t* source, pmix_info_t*, size_t, pmix_info_t*, size_t,
             pmix_event_notification_cbfunc_fn_t done, void* cbdata) {
    say("LOST " + named(*source));
    ++lost;
    if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, cbdata);
}

const pmix_data_array_t* array_of(const pmix_value_t& value, pmix_data_type_t type) {
    return value.type == PMIX_DATA_ARRAY && value.data.darray != nullptr && value.data.darray->type == type
               ? value.data.darray
               : nullptr;
}

/// "NSPACE:PID ..." of PMIX_QUERY_AVAIL_SERVERS.
std::string servers_in(const pmix_value_t& value) {
    std::string text;
    const pmix_data_array_t* servers = array_of(value, PMIX_INFO);
    for (size_t i = 0; servers != nullptr && i < servers->size; ++i) {
        const auto& server = static_cast<const pmix_info_t*>(servers->array)[i];
        const pmix_data_array_t* facts = array_of(server.value, PMIX_INFO);
        if (!PMIx_Check_key(server.key, PMIX_SERVER_INFO_ARRAY) || facts == nullptr) return "no servers";
        const auto* fact = static_cast<const pmix_info_t*>(facts->array);
        if (!PMIx_Check_key(fact[0].key, PMIX_NSPACE)) return "no namespace first";
        text += (i == 0 ? "" : " ") + std::string(fact[0].value.data.string);
        for (size_t k = 0; k < facts->size; ++k)
            if (PMIx_Check_key(fact[k].key, PMIX_SERVER_PIDINFO))
                text += ":" + std::to_string(fact[k].value.data.pid);
    }
    return text;
}

/// "RANK:PID ..." of a process table.
std::string processes_in(const pmix_value_t& value) {
    std::string text;
    const pmix_data_array_t* processes = array_of(value, PMIX_PROC_INFO);
    if (processes == nullptr) return "no table";
    for (size_t i = 0; i < processes->size; ++i) {
        const auto& one = static_cast<const pmix_proc_info_t*>(processes->array)[i];
        text += (i == 0 ? "" : " ") + std::to_string(one.proc.rank) + ":" + std::to_string(one.pid);
    }
    return text;
}

/// Returns the values of these keys for this process ("own"), or for its whole job ("job", "node": as
/// PMIX_NODE_INFO).
std::string known_of(const std::string& word, const std::vector<std::string>& keys) {
    pmix_proc_t proc = self;
    if (word != "own") proc.rank = PMIX_RANK_WILDCARD;
    pmix_info_t of_node;
    std::memset(&of_node, 0, sizeof of_node);
    const bool yes = true;
    PMIx_Info_load(&of_node, PMIX_NODE_INFO, &yes, PMIX_BOOL);
    std::string text;
    for (const std::string& key : keys) {
        pmix_value_t* value = nullptr;
        const pmix_status_t status = PMIx_Get(&proc, key.c_str(), &of_node, word == "node" ? 1 : 0, &value);
        text += " ";
        if (status != PMIX_SUCCESS) {
            text += PMIx_Error_string(status);
        } else if (value->type == PMIX_STRING) {
            text += value->data.string;
        } else if (value->type == PMIX_UINT16) {
            text += std::to_string(value->data.uint16);
        } else if (value->type == PMIX_PROC_RANK || value->type == PMIX_UINT32) {
            text += std::to_string(value->type == PMIX_UINT32 ? value->data.uint32 : value->data.rank);
        } else {
            text += PMIx_Data_type_string(value->type);
        }
        if (value != nullptr) PMIx_Value_free(value, 1);
    }
    return text;
}

/// The attributes of the requested function, at its level.
std::string attributes_in(const pmix_value_t& value) {
    std::string text;
    const pmix_data_array_t* functions = array_of(value, PMIX_INFO);
    if (functions == nullptr || functions->size != 1) return "not one function";
    const auto* function = static_cast<const pmix_info_t*>(functions->array);
    const pmix_data_array_t* attributes = array_of(function->value, PMIX_REGATTR);
    for (size_t i = 0; attributes != nullptr && i < attributes->size; ++i)
        text += std::string(i == 0 ? "" : " ") + static_cast<pmix_regattr_t*>(attributes->array)[i].name;
    return text;
}

/// "servers-here", "table:NSPACE[,local]", "support:LEVEL,FUNCTION": queries, and prints the answer.
std::string answer_of(const std::string& word, const std::vector<std::string>& arguments) {
    pmix_query_t query;
    std::memset(&query, 0, sizeof query);
    PMIx_Argv_append_nosize(&query.keys, word == "support"        ? PMIX_QUERY_ATTRIBUTE_SUPPORT
                                         : word == "servers-here" ? PMIX_QUERY_AVAIL_SERVERS
                                         : arguments.size() > 1   ? PMIX_QUERY_LOCAL_PROC_TABLE
                                                                  : PMIX_QUERY_PROC_TABLE);
    if (!arguments.empty()) {
        PMIx_Query_qualifiers_create(&query, 1);
        const char* key = word == "table"          ? PMIX_NSPACE
                          : arguments[0] == "host" ? PMIX_HOST_ATTRIBUTES
                                                   : PMIX_CLIENT_ATTRIBUTES;
        const std::string& value = arguments[word == "table" ? 0 : 1];
        PMIx_Info_load(&query.qualifiers[0], key, value.c_str(), PMIX_STRING);
    }
    pmix_info_t* results = nullptr;
    size_t count = 0;
    const pmix_status_t status = PMIx_Query_info(&query, 1, &results, &count);
    std::string text = PMIx_Error_string(status);
    if (status == PMIX_SUCCESS && count == 1) {
        const pmix_value_t& value = results[0].value;
        text += " " + (word == "table"     ? processes_in(value)
                       : word == "support" ? attributes_in(value)
                                           : servers_in(value));
    }
    PMIx_Info_free(results, count);
    PMIx_Query_destruct(&query);
    return text;
}

void step(const std::string& word, const std::vector<std::string>& arguments) {
    std::vector<pmix_info_t> infos = attributes(arguments);
    pmix_info_t* data = infos.empty() ? nullptr : infos.data();
    const auto report = [&](pmix_status_t status, const std::string& more = {}) {
        say(word + " " + PMIx_Error_string(status) + (more.empty() ? "" : " " + more));
    };
    pmix_proc_t proc, server;
    PMIx_Load_procid(&server, "", PMIX_RANK_UNDEF);
    if (!arguments.empty()) PMIx_Load_procid(&proc, arguments[0].c_str(), PMIX_RANK_WILDCARD);
    if (word == "init") {
        const pmix_status_t status = PMIx_tool_init(&self, data, infos.size());
        report(status, status == PMIX_SUCCESS ? named(self) : "");
    } else if (word == "user") {
        // Another one from here on; "no" if that user could not even run this program.
        const auto id = static_cast<uid_t>(std::atol(arguments[0].c_str()));
        const bool became = setgid(id) == 0 && setuid(id) == 0;
        say(became && access("/proc/self/exe", R_OK) == 0 && access(arguments[1].c_str(), R_OK | X_OK) == 0
                ? "user yes"
                : "user no");
    } else if (word == "attach") {
        PMIx_Load_procid(&server, "nobody has set this", 7);
        const pmix_status_t status = PMIx_tool_attach_to_server(&self, &server, data, infos.size());
        report(status, status == PMIX_SUCCESS ? named(self) + " " + named(server) : "");
    } else if (word == "servers") {
        pmix_proc_t* servers = nullptr;
        size_t count = 0;
        const pmix_status_t status = PMIx_tool_get_servers(&servers, &count);
        std::string list;
        for (size_t i = 0; i < count; ++i)
            list += (i == 0 ? "" : " ") + named(servers[i]);
        std::free(servers);
        report(status, list);
    } else if (word == "set") {
        report(PMIx_tool_set_server(&proc, data, infos.size()));
    } else if (word == "disconnect") {
        report(PMIx_tool_disconnect(&proc));
    } else if (word == "connected") {
        say(std::string("connected ") + (PMIx_tool_is_connected() ? "yes" : "no"));
    } else if (word == "alone") {
        const auto threads = std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
        say(std::string("alone ") + (threads == 1 ? "yes" : "no"));
    } else if (word == "finalize") {
        report(PMIx_tool_finalize());
    } else if (word == "size") {
        pmix_value_t* value = nullptr;
        const pmix_status_t status = PMIx_Get(&proc, PMIX_JOB_SIZE, nullptr, 0, &value);
        report(status, status == PMIX_SUCCESS ? std::to_string(value->data.uint32) : "");
        if (value != nullptr) PMIx_Value_free(value, 1);
    } else if (word == "query") {
        pmix_query_t query;
        std::memset(&query, 0, sizeof query);
        PMIx_Argv_append_nosize(&query.keys, arguments[0].c_str());
        pmix_info_t* results = nullptr;
        size_t count = 0;
        const pmix_status_t status = PMIx_Query_info(&query, 1, &results, &count);
        report(status,
               count == 1 && results[0].value.type == PMIX_STRING ? results[0].value.data.string : "");
        PMIx_Info_free(results, count);
        PMIx_Query_destruct(&query);
    } else if (word == "servers-here" || word == "table" || word == "support") {
        say(word + " " + answer_of(word, arguments));
    } else if (word == "job" || word == "node" || word == "own") {
        say(word + known_of(word, arguments));
    } else if (word == "publish") {
        pmix_info_t info;
        std::memset(&info, 0, sizeof info);
        PMIx_Info_load(&info, arguments[0].c_str(), arguments[1].c_str(), PMIX_STRING);
        report(PMIx_Publish(&info, 1));
        PMIx_Info_destruct(&info);
    } else if (word == "fence") {
        report(PMIx_Fence(nullptr, 0, nullptr, 0));
    } else if (word == "uri" || word == "parent") {
        pmix_value_t* value = nullptr;
        const pmix_status_t status =
            PMIx_Get(&self, word == "uri" ? PMIX_SERVER_URI : PMIX_PARENT_ID, nullptr, 0, &value);
        report(status, status != PMIX_SUCCESS ? ""
                       : word == "uri"        ? value->data.string
                                              : named(*value->data.proc));
        if (value != nullptr) PMIx_Value_free(value, 1);
    } else if (word == "nsdir") {
        pmix_proc_t job = self;
        job.rank = PMIX_RANK_WILDCARD;
        pmix_value_t* value = nullptr;
        const pmix_status_t status = PMIx_Get(&job, PMIX_NSDIR, nullptr, 0, &value);
        report(status, status == PMIX_SUCCESS ? value->data.string : "");
        if (value != nullptr) PMIx_Value_free(value, 1);
    } else if (word == "environment") {
        const char* value = std::getenv(arguments[0].c_str());
        say("environment " + std::string(value == nullptr ? "-" : value));
    } else if (word == "module") {
        pmix_server_module_t module;
        std::memset(&module, 0, sizeof module);
        module.tool_connected = tool_connected;
        report(PMIx_tool_set_server_module(&module));
    } else if (word == "listen") {
        pmix_status_t codes[] = {PMIX_ERR_LOST_CONNECTION, PMIX_EVENT_JOB_END};
        const pmix_status_t id = PMIx_Register_event_handler(codes, 2, nullptr, 0, on_lost, nullptr, nullptr);
        say(id >= 0 ? "listen PMIX_SUCCESS" : "listen failed");
    } else if (word == "lost") {
        while (lost == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        lost = 0;
    } else if (word == "wait") {
        say("wait");
        wait_for_line();
    } else if (word == "many") {
        // Attach and detach, many times.
        pmix_status_t status = PMIX_SUCCESS;
        for (int i = std::atoi(arguments[0].c_str()); i > 0 && status == PMIX_SUCCESS; --i) {
            std::vector<pmix_info_t> how = attributes({arguments[1]});
            status = PMIx_tool_attach_to_server(nullptr, &server, how.data(), how.size());
            PMIx_Info_destruct(how.data());
            if (status == PMIX_SUCCESS) status = PMIx_tool_disconnect(&server);
        }
        report(status);
    } else if (word == "lives") {
        // Init and finalize, many times.
        pmix_status_t status = PMIX_SUCCESS;
        for (int i = std::atoi(arguments[0].c_str()); i > 0 && status == PMIX_SUCCESS; --i) {
            std::vector<pmix_info_t> how = attributes({arguments[1]});
            status = PMIx_tool_init(nullptr, how.data(), how.size());
            PMIx_Info_destruct(how.data());
            if (status == PMIX_SUCCESS) status = PMIx_tool_finalize();
        }
        report(status);
    } else {
        say("unknown step " + word);
    }
    for (pmix_info_t& info : infos)
        PMIx_Info_destruct(&info);
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() >= 2 && words[0] == "serve") return serve(words[1], {words.begin() + 2, words.end()});
    if (words.empty() || words[0] != "run") return 2;
    for (size_t i = 1; i < words.size(); ++i) {
        const size_t colon = words[i].find(':');
        step(words[i].substr(0, colon), colon == std::string::npos ? std::vector<std::string>()
                                                                   : split(words[i].substr(colon + 1), ','));
    }
    return 0;
}
