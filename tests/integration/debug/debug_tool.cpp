// SPDX-License-Identifier: BSD-3-Clause
// A debugger's front end, one case per run: debug_tool CASE URI CLIENT DIR NODES. `muster serve`
// runs at URI with NODES nodes; CLIENT is debug_client; DIR is an empty folder.
#include "tests/integration/debug/kit.hpp"

#include <algorithm>

using namespace kit;

namespace {

std::string client, dir;
int nodes = 1;

std::string fact(const std::string& file, int number) {
    std::stringstream text(text_of(dir + "/" + file));
    std::string word;
    for (int i = 0; i <= number; ++i)
        text >> word;
    return word;
}

bool any_target() {
    for (int rank = 0; rank < 8; ++rank) {
        if (exists(dir + "/target." + std::to_string(rank))) return true;
    }
    return false;
}

/// The job has succeeded, and each of its targets has run.
void expect_end(const std::string& nspace, int count) {
    const Seen end = wait_for(PMIX_EVENT_JOB_END, nspace);
    expect(end.job_status == PMIX_SUCCESS, nspace + " ended with " + PMIx_Error_string(end.job_status));
    expect(end.timed, "the end has a time");
    for (int rank = 0; rank < count; ++rank)
        expect(exists(dir + "/target." + std::to_string(rank)),
               "target " + std::to_string(rank) + " has run");
}

/// They stop at `place`; none has continued; the tool releases them.
void stop(const char* key, const char* place, bool stopped) {
    Infos infos;
    infos.flag(key).required().flag(PMIX_NOTIFY_JOB_EVENTS);
    App app(client, {"target", dir}, 4);
    std::string nspace;
    expect_ok(spawn(infos, {app.get()}, nspace), "spawn");
    const Seen ready = wait_for(PMIX_READY_FOR_DEBUG, nspace);
    expect(ready.breakpoint == place, "ready at " + ready.breakpoint);
    expect(ready.affected_nspace == nspace && ready.affected == PMIX_RANK_WILDCARD, "all are ready");
    const auto table = table_of(PMIX_QUERY_PROC_TABLE, nspace);
    expect(table.size() == 4, "the table has 4 entries");
    for (const Entry& entry : table) {
        const char state = state_of(entry.pid);
        expect((state == 'T') == stopped, std::string("a target's state is ") + state);
    }
    expect(!any_target(), "none has gone on");
    expect(wait_for(PMIX_LAUNCH_COMPLETE, nspace).timed, "the launch has a time");
    release(nspace);
    expect_end(nspace, 4);
}

/// Only one rank stops.
void stop_one() {
    Infos infos;
    infos.rank(PMIX_DEBUG_STOP_IN_INIT, 2).flag(PMIX_NOTIFY_COMPLETION);
    App app(client, {"target", dir}, 4);
    std::string nspace;
    expect_ok(spawn(infos, {app.get()}, nspace), "spawn");
    expect(wait_for(PMIX_READY_FOR_DEBUG, nspace).breakpoint == "pmix-init", "rank 2 is ready");
    for (const int rank : {0, 1, 3})
        expect(until([&] { return exists(dir + "/target." + std::to_string(rank)); }), "the others run on");
    expect(!exists(dir + "/target.2"), "rank 2 waits");
    release(nspace, 2);
    expect_end(nspace, 4);
}

/// Checks the output of the daemons: one job of `count`, its ranks and its targets.
void expect_daemons(const std::string& nspace, int count, const std::string& place, char state) {
    const std::string own = fact("daemon.0", 0);
    std::vector<int> seen(8, 0);
    for (int rank = 0; rank < count; ++rank) {
        const std::string file = "daemon." + std::to_string(rank);
        expect(until([&] { return exists(dir + "/" + file); }), file + " is there");
        expect(fact(file, 0) == own && own != nspace, "the daemons have a namespace of their own");
        expect(fact(file, 1) == nspace + ":*", "their target is told: " + fact(file, 1));
        expect(fact(file, 3) == std::to_string(count), "they are a job of their own size");
        expect(fact(file, 5) == "told", "they know how targets are released");
        expect(fact(file, 6) == place, "they hear where the targets wait: " + fact(file, 6));
        std::stringstream text(text_of(dir + "/" + file));
        std::string word;
        for (int skip = 0; skip < 7; ++skip)
            text >> word;
        while (text >> word) {
            ++seen[static_cast<size_t>(word[0] - '0')];
            expect(state == '?' || word.back() == state, "a target is in state " + word);
        }
    }
    // Each target is on the node of one daemon at least.
    for (int rank = 0; rank < 4; ++rank)
        expect(seen[static_cast<size_t>(rank)] > 0, "target " + std::to_string(rank) + " has a daemon");
}

/// Daemons for a running job, on the nodes of its processes.
void colocate(const char* key, uint16_t number, int count) {
    Infos infos;
    infos.flag(PMIX_DEBUG_STOP_ON_EXEC).flag(PMIX_NOTIFY_JOB_EVENTS);
    App app(client, {"target", dir}, 4);
    std::string nspace, daemons;
    expect_ok(spawn(infos, {app.get()}, nspace), "spawn");
    Infos how;
    how.flag(PMIX_DEBUGGER_DAEMONS).proc(PMIX_DEBUG_TARGET, proc_of(nspace)).u16(key, number).required();
    how.flag(PMIX_NOTIFY_COMPLETION);
    App debugger(client, {"daemon", dir}, 0);
    expect_ok(spawn(how, {debugger.get()}, daemons), "spawn of the daemons");
    expect(daemons != nspace && !daemons.empty(), "another namespace");
    expect_end(nspace, 4);
    expect_daemons(nspace, count, "exec", 'T');
    expect(fact("daemon.0", 0) == daemons, "the namespace that was given back");
    wait_for(PMIX_EVENT_JOB_END, daemons);
}

/// Application and daemons by one call; the daemons do not count in the application's job data.
void cospawn(const char* key, uint16_t number, int count) {
    Infos infos;
    infos.flag(PMIX_DEBUG_STOP_IN_INIT).flag(PMIX_NOTIFY_JOB_EVENTS);
    Infos how;
    how.flag(PMIX_DEBUGGER_DAEMONS).u16(key, number);
    App app(client, {"target", dir}, 4);
    App debugger(client, {"daemon", dir}, 0);
    debugger.with(how);
    std::string nspace;
    // Both run when the call returns, until the file is removed; the second job is in the list of jobs.
    write_file(dir + "/hold", "");
    expect_ok(spawn(infos, {app.get(), debugger.get()}, nspace), "spawn");
    const std::string names = query_text(PMIX_QUERY_NAMESPACES);
    unlink((dir + "/hold").c_str());
    expect(std::count(names.begin(), names.end(), ',') == 1, "two jobs: " + names);
    expect(names.find(nspace) == 0, "the application comes first: " + names);
    expect_end(nspace, 4);
    expect_daemons(nspace, count, "pmix-init", '?');
    for (int rank = 0; rank < 4; ++rank) {
        const std::string file = "target." + std::to_string(rank);
        expect(fact(file, 0) == "4" && fact(file, 1) == "4", "the application has 4 processes");
        expect(fact(file, 3) == fact(file, 4), "its node ranks begin with 0: " + text_of(dir + "/" + file));
        expect(fact(file, 5) == std::to_string(rank), "so do its global ranks");
        unlink((dir + "/" + file).c_str());
    }
    wait_for(PMIX_EVENT_JOB_END, fact("daemon.0", 0));
    // The daemons do not count for the next job.
    Infos plain;
    plain.flag(PMIX_NOTIFY_COMPLETION);
    std::string next;
    expect_ok(spawn(plain, {app.get()}, next), "spawn");
    expect_end(next, 4);
    expect(fact("target.0", 5) == "4", "the next global rank is " + fact("target.0", 5));
}

void agent(bool forked) {
    Infos infos;
    infos.flag(PMIX_NOTIFY_COMPLETION);
    if (forked) {
        infos.text(PMIX_FORKEXEC_AGENT, client + " forkagent " + dir);
    } else {
        infos.text(PMIX_EXEC_AGENT, client + " agent own-word");
    }
    infos.required();
    App app(client, {"target", dir}, 4);
    std::string nspace;
    expect_ok(spawn(infos, {app.get()}, nspace), "spawn");
    expect_end(nspace, 4);
    for (int rank = 0; rank < 4; ++rank) {
        const std::string number = std::to_string(rank);
        expect(fact("target." + number, 6) == (forked ? "forked" : "own-word"), "an agent started it");
        expect(fact("target." + number, 0) == "4", "the job has 4 processes");
        if (!forked) continue;
        expect(fact("agent." + number, 0) != nspace, "agents have a namespace of their own");
        expect(fact("agent." + number, 1) == nspace + ":*", "and a target");
        expect(fact("agent." + number, 2) == nspace + ":" + number, "each its process");
    }
}

/// Whether this level supports attributes that stop processes for this function.
void expect_stops(const char* level, const char* function, const std::vector<std::string>& names) {
    Infos qualifiers;
    qualifiers.text(level, function);
    char* keys[] = {const_cast<char*>(PMIX_QUERY_ATTRIBUTE_SUPPORT), nullptr};
    pmix_query_t query;
    query.keys = keys;
    query.qualifiers = qualifiers.data();
    query.nqual = qualifiers.size();
    pmix_info_t* results = nullptr;
    size_t count = 0;
    expect_ok(PMIx_Query_info(&query, 1, &results, &count), std::string("attributes of ") + function);
    std::string found;
    // Each level is an array with one entry per function, whose value is an array of attributes.
    const auto elements = [](const pmix_info_t& info) {
        return info.value.type == PMIX_DATA_ARRAY && info.value.data.darray != nullptr
                   ? *info.value.data.darray
                   : pmix_data_array_t{};
    };
    for (size_t i = 0; i < count; ++i) {
        const pmix_data_array_t functions = elements(results[i]);
        for (size_t f = 0; functions.type == PMIX_INFO && f < functions.size; ++f) {
            const pmix_info_t& one = static_cast<pmix_info_t*>(functions.array)[f];
            const pmix_data_array_t attributes = elements(one);
            expect(PMIx_Check_key(one.key, function), std::string("an answer about ") + one.key);
            for (size_t a = 0; attributes.type == PMIX_REGATTR && a < attributes.size; ++a)
                found += std::string(static_cast<pmix_regattr_t*>(attributes.array)[a].name) + " ";
        }
    }
    if (results != nullptr) PMIx_Info_free(results, count);
    for (const std::string& name : names)
        expect(found.find(name + " ") != std::string::npos, name + " in '" + found + "'");
}

/// Impossible requests are refused; unknown directives that are not required are ignored.
void refusals() {
    App app(client, {"target", dir}, 1);
    std::string nspace;
    for (const char* key : {"pmix.no.such.directive", PMIX_IOF_INHERIT}) {
        Infos infos;
        infos.flag(key).required();
        expect(spawn(infos, {app.get()}, nspace) == PMIX_ERR_NOT_SUPPORTED,
               std::string("an unknown directive is refused: ") + key);
    }
    {
        const uint64_t one = 1;
        Infos infos;
        infos.add(PMIX_ALLOC_NUM_NODES, &one, PMIX_UINT64).required();
        expect(spawn(infos, {app.get()}, nspace) == PMIX_ERR_NOT_SUPPORTED,
               "no resources without a scheduler");
    }
    {
        Infos infos;
        infos.text(PMIX_DEBUG_STOP_IN_INIT, "perhaps");
        expect(spawn(infos, {app.get()}, nspace) == PMIX_ERR_BAD_PARAM, "no choice of ranks");
    }
    {
        Infos infos;
        infos.flag(PMIX_DEBUGGER_DAEMONS).proc(PMIX_DEBUG_TARGET, proc_of("nobody"));
        App daemons(client, {"daemon", dir}, 0);
        expect(spawn(infos, {daemons.get()}, nspace) == PMIX_ERR_JOB_FAILED_TO_MAP, "no such target");
    }
    expect(nspace.empty() && query_text(PMIX_QUERY_NAMESPACES).empty(), "nothing was started");
    Infos infos;
    infos.flag("pmix.no.such.directive").flag(PMIX_NOTIFY_COMPLETION);
    expect_ok(spawn(infos, {app.get()}, nspace), "an unknown directive that is not required");
    expect_end(nspace, 1);
    // A tool can query the supported features first.
    const std::string debug = query_text(PMIX_QUERY_DEBUG_SUPPORT);
    for (const char* key : {PMIX_DEBUG_STOP_IN_INIT, PMIX_DEBUG_STOP_IN_APP, PMIX_DEBUGGER_DAEMONS,
                            PMIX_DEBUG_DAEMONS_PER_NODE, PMIX_DEBUG_DAEMONS_PER_PROC})
        expect(debug.find(key) != std::string::npos, std::string(key) + " in " + debug);
    expect_stops(PMIX_CLIENT_ATTRIBUTES, "PMIx_Init", {"PMIX_DEBUG_STOP_IN_INIT"});
    expect_stops(PMIX_HOST_ATTRIBUTES, "PMIx_Spawn",
                 {"PMIX_DEBUG_STOP_IN_INIT", "PMIX_DEBUG_STOP_IN_APP", "PMIX_DEBUGGER_DAEMONS"});
}

/// All directives of a tool about the output, the events and the stops of a job; none is ignored.
void directives() {
    Infos infos;
    infos.rank(PMIX_FWD_STDIN, 0).required();
    for (const char* key :
         {PMIX_FWD_STDOUT, PMIX_FWD_STDERR, PMIX_FWD_STDDIAG, PMIX_IOF_DROP_OLDEST, PMIX_IOF_TAG_OUTPUT,
          PMIX_IOF_TIMESTAMP_OUTPUT, PMIX_IOF_RANK_OUTPUT, PMIX_IOF_MERGE_STDERR_STDOUT, PMIX_NOHUP,
          PMIX_NOTIFY_JOB_EVENTS, PMIX_NOTIFY_COMPLETION})
        infos.flag(key).required();
    for (const char* key :
         {PMIX_IOF_DROP_NEWEST, PMIX_IOF_OUTPUT_RAW, PMIX_IOF_XML_OUTPUT, PMIX_IOF_FILE_PATTERN,
          PMIX_IOF_FILE_ONLY, PMIX_LOG_JOB_EVENTS, PMIX_LOG_COMPLETION, PMIX_DEBUG_STOP_ON_EXEC,
          PMIX_DEBUG_STOP_IN_INIT, PMIX_DEBUG_STOP_IN_APP})
        infos.flag(key, false).required();
    const uint32_t size = 1 << 16, seconds = 1;
    infos.add(PMIX_IOF_CACHE_SIZE, &size, PMIX_UINT32).required();
    infos.add(PMIX_IOF_BUFFERING_SIZE, &size, PMIX_UINT32).required();
    infos.add(PMIX_IOF_BUFFERING_TIME, &seconds, PMIX_UINT32).required();
    infos.text(PMIX_IOF_OUTPUT_TO_FILE, dir + "/output").required();
    infos.text(PMIX_IOF_OUTPUT_TO_DIRECTORY, dir + "/output.d").required();
    App app(client, {"target", dir}, 2);
    std::string nspace;
    expect_ok(spawn(infos, {app.get()}, nspace), "spawn with all directives of tools");
    expect(wait_for(PMIX_EVENT_JOB_START, nspace).timed, "the start has a time");
    expect_end(nspace, 2);
}

/// Bytes for the standard input of these processes.
pmix_status_t push(const std::vector<pmix_proc_t>& targets, std::string bytes, bool last) {
    pmix_byte_object_t object{bytes.data(), bytes.size()};
    Infos infos;
    if (last) infos.flag(PMIX_IOF_COMPLETE);
    return PMIx_IOF_push(targets.data(), targets.size(), &object, infos.data(), infos.size(), nullptr,
                         nullptr);
}

/// Input reaches the processes whose spawn requested it, and not before it is pushed.
void input() {
    App app(client, {"reader", dir}, 3);
    std::string nspace;
    const auto text = [](int rank) {
        const std::string file = dir + "/input." + std::to_string(rank);
        expect(until([&] { return exists(file); }), "rank " + std::to_string(rank) + " has read its input");
        std::string read = text_of(file);
        unlink(file.c_str());
        return read;
    };
    {
        Infos infos;
        infos.rank(PMIX_FWD_STDIN, 1).required().flag(PMIX_NOTIFY_COMPLETION);
        expect_ok(spawn(infos, {app.get()}, nspace), "spawn with input for rank 1");
        expect(text(0).empty() && text(2).empty(), "the others have no input");
        expect(push({proc_of(nspace, 0)}, "x", true) == PMIX_ERR_NOT_SUPPORTED, "none can be pushed to them");
        expect(!exists(dir + "/input.1"), "rank 1 waits for its input");
        expect_ok(push({proc_of(nspace, 1)}, "one ", false), "push");
        expect(!exists(dir + "/input.1"), "and for the end of it");
        expect_ok(push({proc_of(nspace, 1)}, "more", true), "push of the end");
        expect(text(1) == "one more", "what rank 1 has read");
        wait_for(PMIX_EVENT_JOB_END, nspace);
    }
    {
        Infos infos;
        infos.rank(PMIX_FWD_STDIN, PMIX_RANK_WILDCARD).required().flag(PMIX_NOTIFY_COMPLETION);
        expect_ok(spawn(infos, {app.get()}, nspace), "spawn with input for all");
        expect_ok(push({proc_of(nspace, 2)}, "two ", false), "push to one");
        expect_ok(push({proc_of(nspace, 0), proc_of(nspace, 1)}, "both ", false), "push to many");
        expect_ok(push({proc_of(nspace, 1)}, "end", true), "the end for one");
        expect_ok(push({proc_of(nspace)}, "all", false), "push to all");
        expect_ok(push({proc_of(nspace)}, "", true), "the end for all");
        expect(text(0) == "both all" && text(1) == "both end" && text(2) == "two all", "what all have read");
        wait_for(PMIX_EVENT_JOB_END, nspace);
    }
    Infos infos;
    infos.flag(PMIX_DEBUG_STOP_IN_INIT).flag(PMIX_NOTIFY_COMPLETION);
    expect_ok(spawn(infos, {app.get()}, nspace), "spawn without input");
    expect(push({proc_of(nspace)}, "x", true) == PMIX_ERR_NOT_SUPPORTED, "nothing was kept open for input");
    wait_for(PMIX_READY_FOR_DEBUG, nspace);
    release(nspace);
    wait_for(PMIX_EVENT_JOB_END, nspace);
}

/// PMIX_QUERY_ALLOC_STATUS with one qualifier; the text of the error if there is no answer.
std::string allocation_status(const char* qualifier, const std::string& value) {
    char* keys[] = {const_cast<char*>(PMIX_QUERY_ALLOC_STATUS), nullptr};
    Infos qualifiers;
    qualifiers.text(qualifier, value).required();
    pmix_query_t query{keys, qualifiers.data(), qualifiers.size()};
    pmix_info_t* results = nullptr;
    size_t count = 0;
    const pmix_status_t status = PMIx_Query_info(&query, 1, &results, &count);
    if (status != PMIX_SUCCESS) return PMIx_Error_string(status);
    const bool text = count == 1 && PMIx_Check_key(results[0].key, PMIX_QUERY_ALLOC_STATUS) &&
                      results[0].value.type == PMIX_STRING;
    const std::string said = text ? results[0].value.data.string : "no text";
    PMIx_Info_free(results, count);
    return said;
}

/// The host requests the resources of a spawn from its scheduler: the job runs on the granted nodes, or not
/// at all.
void allocated() {
    App app(client, {"target", dir}, 3);
    std::string nspace;
    const uint64_t one = 1, two = 2;
    {
        Infos infos;
        infos.add(PMIX_ALLOC_NUM_NODES, &two, PMIX_UINT64).required().text(PMIX_ALLOC_REQ_ID, "large");
        expect(allocation_status(PMIX_ALLOC_REQ_ID, "large") == "PMIX_ERR_NOT_FOUND", "before the request");
        expect(spawn(infos, {app.get()}, nspace) == PMIX_ERR_OUT_OF_RESOURCE, "what the scheduler refuses");
        expect(query_text(PMIX_QUERY_NAMESPACES).empty(), "nothing was started");
        expect(allocation_status(PMIX_ALLOC_REQ_ID, "large") == "refused", "the refused request");
    }
    Infos infos;
    infos.add(PMIX_ALLOC_NUM_NODES, &one, PMIX_UINT64).required().text(PMIX_ALLOC_REQ_ID, "small");
    infos.flag(PMIX_DEBUG_STOP_IN_INIT).flag(PMIX_NOTIFY_COMPLETION);
    expect_ok(spawn(infos, {app.get()}, nspace), "spawn with resources");
    const auto table = table_of(PMIX_QUERY_PROC_TABLE, nspace);
    expect(table.size() == 3, "three processes");
    for (const Entry& entry : table)
        expect(entry.host == "node1", "a process is on " + entry.host);
    wait_for(PMIX_READY_FOR_DEBUG, nspace);
    expect(allocation_status(PMIX_ALLOC_ID, "allocation-1") == "granted", "the allocation");
    expect(allocation_status(PMIX_ALLOC_REQ_ID, "small") == "granted", "its request");
    expect(allocation_status(PMIX_NSPACE, nspace) == "granted", "that of a job");
    expect(allocation_status(PMIX_ALLOC_ID, "allocation-2") == "PMIX_ERR_NOT_FOUND", "an unknown name");
    expect(allocation_status(PMIX_ALLOC_REQ_ID, "") == "PMIX_ERR_NOT_FOUND", "no name, of a tool");
    release(nspace);
    expect_end(nspace, 3);
    expect(until([] { return allocation_status(PMIX_ALLOC_ID, "allocation-1") == "released"; }),
           "it is given back");
    Infos elsewhere;
    elsewhere.add(PMIX_ALLOC_NUM_NODES, &one, PMIX_UINT64).text(PMIX_HOST, "node0");
    expect(spawn(elsewhere, {app.get()}, nspace) == PMIX_ERR_JOB_FAILED_TO_MAP, "a node that was not given");
}

/// The events of a job's life are logged: instead of the events, and in addition to them.
void logged() {
    const char *out = getenv("MUSTER_OUT"), *err = getenv("MUSTER_ERR");
    if (out == nullptr || err == nullptr) return expect(false, "where does muster write to?");
    const auto written = [](const char* file, const std::string& line) {
        expect(until([&] { return text_of(file).find(line + "\n") != std::string::npos; }),
               "no line '" + line + "' in " + text_of(file));
    };
    App app(client, {"target", dir}, 2), fails("/bin/sh", {"-c", "exit 3"}, 1);
    std::string silent, told;
    {
        Infos infos;
        infos.flag(PMIX_LOG_JOB_EVENTS).required();
        expect_ok(spawn(infos, {app.get()}, silent), "spawn");
        written(err, std::string(PMIx_Error_string(PMIX_EVENT_JOB_START)) + ": " + silent);
        written(err, std::string(PMIx_Error_string(PMIX_LAUNCH_COMPLETE)) + ": " + silent);
        written(err, std::string(PMIx_Error_string(PMIX_EVENT_JOB_END)) + ": " + silent + " ended with " +
                         PMIx_Error_string(PMIX_SUCCESS));
    }
    Infos infos;
    infos.flag(PMIX_LOG_COMPLETION).required().flag(PMIX_NOTIFY_COMPLETION).flag(PMIX_LOG_STDOUT);
    infos.flag(PMIX_LOG_PROC_ABNORMAL_TERMINATION).required();
    expect_ok(spawn(infos, {fails.get()}, told), "spawn");
    const Seen end = wait_for(PMIX_EVENT_JOB_END, told);
    expect(end.exit_code == 3, "the event is there, too");
    const std::string how = PMIx_Error_string(end.job_status);
    written(out, std::string(PMIx_Error_string(PMIX_EVENT_PROC_TERMINATED)) + ": " + told +
                     ", rank 0 with exit code 3");
    written(out, std::string(PMIx_Error_string(PMIX_EVENT_JOB_END)) + ": " + told + " ended with " + how +
                     ", rank 0 with exit code 3");
    expect(text_of(err).find(std::string(PMIx_Error_string(PMIX_EVENT_JOB_END)) + ": " + told) ==
               std::string::npos,
           "the second log goes to standard output only");
    for (const pmix_status_t code : {PMIX_EVENT_JOB_START, PMIX_LAUNCH_COMPLETE, PMIX_EVENT_JOB_END})
        expect(!has_come(code, silent), "no event where only the log was asked for");
}

/// The event of the end of a job has the number of running jobs of the same descent: for this tool's own
/// jobs, and for a child of one.
void spawn_tree(const pmix_proc_t& self) {
    const auto ended = [&](const std::string& nspace, int64_t active) {
        const Seen end = wait_for(PMIX_EVENT_JOB_END, nspace);
        expect(end.tree_root == self.nspace, nspace + " descends from " + end.tree_root);
        expect(end.tree_active == active, nspace + " leaves " + std::to_string(end.tree_active));
    };
    App app(client, {"target", dir}, 2), brief("/bin/true", {}, 1);
    std::string first, second, child, alone;
    Infos held;
    held.flag(PMIX_DEBUG_STOP_IN_INIT).flag(PMIX_NOTIFY_COMPLETION);
    expect_ok(spawn(held, {app.get()}, first), "spawn");
    wait_for(PMIX_READY_FOR_DEBUG, first);
    Infos told, below;
    told.flag(PMIX_NOTIFY_COMPLETION);
    expect_ok(spawn(told, {brief.get()}, second), "spawn of another");
    ended(second, 1);
    below.flag(PMIX_NOTIFY_COMPLETION).proc(PMIX_PARENT_ID, proc_of(first, 0));
    expect_ok(spawn(below, {brief.get()}, child), "spawn of a child of the first");
    ended(child, 1);
    release(first);
    ended(first, 0);
    expect_ok(spawn(told, {brief.get()}, alone), "spawn of the last");
    ended(alone, 0);
}

/// A launcher that the library starts itself: stopped in its init until it is released, found by its name.
void local_launcher(const pmix_proc_t& self) {
    Infos infos;
    infos.flag(PMIX_SPAWN_TOOL).flag(PMIX_DEBUG_STOP_IN_INIT).flag(PMIX_NOTIFY_COMPLETION).required();
    pmix_info_t directive[2];
    const bool yes = true;
    PMIX_INFO_LOAD(&directive[0], PMIX_DEBUG_STOP_ON_EXEC, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&directive[1], PMIX_NOTIFY_JOB_EVENTS, &yes, PMIX_BOOL);
    pmix_data_array_t array{PMIX_INFO, 2, directive};
    infos.add(PMIX_LAUNCH_DIRECTIVES, &array, PMIX_DATA_ARRAY);
    App app(client, {"launcher", dir}, 1);
    std::string nspace;
    expect_ok(spawn(infos, {app.get()}, nspace), "spawn");
    Infos how;
    how.flag(PMIX_WAIT_FOR_CONNECTION).number(PMIX_TIMEOUT, 60);
    const pmix_proc_t server = proc_of(nspace, 0);
    expect_ok(PMIx_tool_set_server(&server, how.data(), how.size()), "set server");
    pmix_proc_t* servers = nullptr;
    size_t count = 0;
    expect_ok(PMIx_tool_get_servers(&servers, &count), "servers");
    expect(count > 0 && PMIx_Check_procid(&servers[0], &server), "the launcher is the primary server");
    free(servers);
    wait_for(PMIX_READY_FOR_DEBUG);
    expect(!exists(dir + "/launcher"), "it is held within PMIx_tool_init");
    release(nspace, 0);
    expect(until([] { return exists(dir + "/launcher"); }), "it goes on");
    expect(fact("launcher", 0) == std::string(self.nspace) + ":" + std::to_string(self.rank),
           "its parent is " + fact("launcher", 0));
    expect(fact("launcher", 1) == PMIX_DEBUG_STOP_ON_EXEC && fact("launcher", 2) == PMIX_NOTIFY_JOB_EVENTS,
           "the directives: " + text_of(dir + "/launcher"));
    // A failing start or request returns an error at once.
    Infos none;
    App missing("/no/such/program", {}, 1);
    std::string other;
    PMIx_tool_disconnect(&server);
    expect(spawn(none, {missing.get()}, other) == PMIX_ERR_JOB_EXE_NOT_FOUND, "no such program");
    Infos stop;
    stop.flag(PMIX_DEBUG_STOP_ON_EXEC);
    expect(spawn(stop, {app.get()}, other) == PMIX_ERR_NOT_SUPPORTED, "no stop on exec without a host");
}

/// A tool without a server that is not a launcher cannot start anything, nor can a tool whose server's host
/// cannot.
void no_spawn(pmix_status_t expected) {
    Infos infos;
    App app(client, {"target", dir}, 1);
    std::string nspace;
    const pmix_status_t status = spawn(infos, {app.get()}, nspace);
    expect(status == expected, std::string("spawn is ") + PMIx_Error_string(status));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 6) return 2;
    const std::string what = argv[1];
    client = argv[3];
    dir = argv[4];
    nodes = atoi(argv[5]);
    Infos infos;
    if (what == "alone" || what == "launcher") {
        infos.flag(PMIX_TOOL_DO_NOT_CONNECT);
    } else {
        infos.text(PMIX_SERVER_URI, argv[2]);
    }
    infos.flag(PMIX_LAUNCHER, what != "alone");
    pmix_proc_t self;
    const pmix_status_t status = PMIx_tool_init(&self, infos.data(), infos.size());
    expect_ok(status, "PMIx_tool_init");
    if (status != PMIX_SUCCESS) return 1;
    listen_to({PMIX_READY_FOR_DEBUG, PMIX_EVENT_JOB_START, PMIX_LAUNCH_COMPLETE, PMIX_EVENT_JOB_END});
    if (what == "launcher") local_launcher(self);
    if (what == "release") {  // the launcher itself, whose name the URI begins with
        const std::string uri = argv[2];
        release(uri.substr(0, uri.rfind('.', uri.find(';'))), 0);
    }
    if (what == "alone") no_spawn(PMIX_ERR_UNREACH);
    if (what == "nohost") no_spawn(PMIX_ERR_NOT_SUPPORTED);
    const bool needs_ptrace = what == "exec" || what == "pernode";
    const bool ptrace = !needs_ptrace || query_text(PMIX_QUERY_DEBUG_SUPPORT).find(PMIX_DEBUG_STOP_ON_EXEC) !=
                                             std::string::npos;
    if (!ptrace) {
        std::puts("SKIPPED: this system does not allow ptrace");
        PMIx_tool_finalize();
        return 77;
    }
    if (what == "init") stop(PMIX_DEBUG_STOP_IN_INIT, "pmix-init", false);
    if (what == "app") stop(PMIX_DEBUG_STOP_IN_APP, "after-setup", false);
    if (what == "exec") stop(PMIX_DEBUG_STOP_ON_EXEC, "exec", true);
    if (what == "one") stop_one();
    if (what == "tree") spawn_tree(self);
    if (what == "pernode") colocate(PMIX_DEBUG_DAEMONS_PER_NODE, 1, nodes);
    if (what == "perproc") cospawn(PMIX_DEBUG_DAEMONS_PER_PROC, 1, 4);
    if (what == "cospawn") cospawn(PMIX_DEBUG_DAEMONS_PER_NODE, 2, 2 * nodes);
    if (what == "execagent") agent(false);
    if (what == "forkagent") agent(true);
    if (what == "refusals") refusals();
    if (what == "directives") directives();
    if (what == "input") input();
    if (what == "logged") logged();
    if (what == "allocated") allocated();
    expect_ok(PMIx_tool_finalize(), "PMIx_tool_finalize");
    return wrong;
}
