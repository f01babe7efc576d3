// SPDX-License-Identifier: BSD-3-Clause
// The processes that a debugger's front end (debug_tool.cpp) starts: targets, daemons, agents.
//   target DIR          writes DIR/target.RANK after PMIx_Init, stops at the requested place
//   reader DIR          writes its standard input to DIR/input.RANK
//   daemon DIR          writes DIR/daemon.RANK: its identity, its targets and their state; releases targets
//                       that wait, unless DIR/hold exists
//   agent WORD COMMAND...   an exec agent with one word of its own: executes COMMAND
//   forkagent DIR       a fork/exec agent
//   launcher DIR        an intermediate launcher that only waits for the end of its parent: writes
//                       DIR/launcher after PMIx_tool_init, DIR/launcher.end at the end
#include <sys/wait.h>

#include "tests/integration/debug/kit.hpp"

using namespace kit;

namespace {

pmix_proc_t self;

int target(const std::string& dir) {
    expect_ok(PMIx_Init(&self, nullptr, 0), "PMIx_Init");
    std::string facts;
    for (const char* key : {PMIX_JOB_SIZE, PMIX_MAX_PROCS, PMIX_LOCAL_SIZE})
        facts += get(self.nspace, PMIX_RANK_WILDCARD, key) + " ";
    for (const char* key : {PMIX_LOCAL_RANK, PMIX_NODE_RANK, PMIX_GLOBAL_RANK})
        facts += get(self.nspace, self.rank, key) + " ";
    const char* agent = getenv("DEBUG_AGENT");
    facts += agent != nullptr ? agent : "-";
    if (!get(self.nspace, PMIX_RANK_WILDCARD, PMIX_DEBUG_STOP_IN_APP).empty()) {
        listen_to({PMIX_DEBUGGER_RELEASE});
        Infos infos;
        infos.text(PMIX_BREAKPOINT, "after-setup").flag(PMIX_EVENT_NON_DEFAULT);
        expect_ok(PMIx_Notify_event(PMIX_READY_FOR_DEBUG, nullptr, PMIX_RANGE_RM, infos.data(), infos.size(),
                                    nullptr, nullptr),
                  "ready");
        wait_for(PMIX_DEBUGGER_RELEASE);
    }
    write_file(dir + "/target." + std::to_string(self.rank), facts);
    expect_ok(PMIx_Fence(nullptr, 0, nullptr, 0), "fence");
    expect_ok(PMIx_Finalize(nullptr, 0), "PMIx_Finalize");
    return wrong;
}

int reader(const std::string& dir) {
    expect_ok(PMIx_Init(&self, nullptr, 0), "PMIx_Init");
    std::string input;
    char bytes[256];
    for (ssize_t got = 0; (got = read(STDIN_FILENO, bytes, sizeof bytes)) > 0;)
        input.append(bytes, static_cast<size_t>(got));
    write_file(dir + "/input." + std::to_string(self.rank), input);
    expect_ok(PMIx_Finalize(nullptr, 0), "PMIx_Finalize");
    return wrong;
}

int daemon(const std::string& dir) {
    expect_ok(PMIx_Init(&self, nullptr, 0), "PMIx_Init");
    listen_to({PMIX_READY_FOR_DEBUG});
    const std::string whom = get(self.nspace, PMIX_RANK_WILDCARD, PMIX_DEBUG_TARGET);
    const std::string nspace = whom.substr(0, whom.rfind(':'));
    const std::string local = get(self.nspace, self.rank, PMIX_LOCAL_RANK);
    const std::string code = get(self.nspace, PMIX_RANK_WILDCARD, "muster.debug.release");
    std::string facts = std::string(self.nspace) + " " + whom + " " + local + " " +
                        get(self.nspace, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE) + " ";
    facts += get(self.nspace, self.rank, PMIX_HOSTNAME) + " " + (code.empty() ? "none" : "told");
    const Seen ready = wait_for(PMIX_READY_FOR_DEBUG, nspace);
    facts += " " + ready.breakpoint;
    for (const Entry& entry : table_of(PMIX_QUERY_LOCAL_PROC_TABLE, nspace))
        facts += " " + std::to_string(entry.rank) + "=" + state_of(entry.pid);
    write_file(dir + "/daemon." + std::to_string(self.rank), facts);
    // All have inspected the targets before the first releases them.
    expect_ok(PMIx_Fence(nullptr, 0, nullptr, 0), "fence");
    expect(until([&] { return !exists(dir + "/hold"); }), "the front end has looked");
    if (self.rank == 0) release(nspace);
    expect_ok(PMIx_Finalize(nullptr, 0), "PMIx_Finalize");
    return wrong;
}

int exec_agent(char** words) {
    // The agent's own words end here; the program's words follow.
    setenv("DEBUG_AGENT", words[0], 1);
    execvp(words[1], words + 1);
    return 127;
}

int fork_agent(const std::string& dir) {
    expect_ok(PMIx_tool_init(&self, nullptr, 0), "PMIx_tool_init");
    const std::string whom = get(self.nspace, PMIX_RANK_WILDCARD, PMIX_DEBUG_TARGET);
    pmix_value_t* value = nullptr;
    expect_ok(PMIx_Get(&self, PMIX_LAUNCH_DIRECTIVES, nullptr, 0, &value), "launch directives");
    if (value == nullptr || value->type != PMIX_DATA_ARRAY) return 1;
    char **words = nullptr, **env = nullptr;
    std::string wdir, proc;
    for (size_t i = 0; i < value->data.darray->size; ++i) {
        const pmix_info_t& info = static_cast<pmix_info_t*>(value->data.darray->array)[i];
        if (PMIx_Check_key(info.key, PMIX_APP_ARGV)) {
            const pmix_data_array_t& array = *info.value.data.darray;
            for (size_t n = 0; n < array.size; ++n)
                PMIx_Argv_append_nosize(&words, static_cast<char**>(array.array)[n]);
        } else if (PMIx_Check_key(info.key, PMIX_SET_ENVAR)) {
            const pmix_envar_t& variable = info.value.data.envar;
            PMIx_Setenv(variable.envar, variable.value, true, &env);
        } else if (PMIx_Check_key(info.key, PMIX_WDIR)) {
            wdir = info.value.data.string;
        } else if (PMIx_Check_key(info.key, PMIX_PROCID)) {
            proc =
                std::string(info.value.data.proc->nspace) + ":" + std::to_string(info.value.data.proc->rank);
        }
    }
    PMIX_VALUE_RELEASE(value);
    PMIx_Setenv("DEBUG_AGENT", "forked", true, &env);
    write_file(dir + "/agent." + std::to_string(self.rank),
               std::string(self.nspace) + " " + whom + " " + proc);
    const pid_t pid = fork();
    if (pid == 0) {
        if (chdir(wdir.c_str()) != 0) _exit(126);
        execve(words[0], words, env);
        _exit(127);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    PMIx_Argv_free(words);
    PMIx_Argv_free(env);
    expect_ok(PMIx_tool_finalize(), "PMIx_tool_finalize");
    return wrong != 0 ? wrong : WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int launcher(const std::string& dir) {
    Infos infos;
    infos.flag(PMIX_LAUNCHER);
    expect_ok(PMIx_tool_init(&self, infos.data(), infos.size()), "PMIx_tool_init");
    listen_to({PMIX_EVENT_JOB_END});
    std::string facts = get(self.nspace, self.rank, PMIX_PARENT_ID);
    const pmix_proc_t job = proc_of(self.nspace);
    pmix_value_t* value = nullptr;
    expect_ok(PMIx_Get(&job, PMIX_LAUNCH_DIRECTIVES, nullptr, 0, &value), "launch directives");
    if (value != nullptr && value->type == PMIX_DATA_ARRAY) {
        for (size_t i = 0; i < value->data.darray->size; ++i)
            facts += std::string(" ") + static_cast<pmix_info_t*>(value->data.darray->array)[i].key;
        PMIX_VALUE_RELEASE(value);
    }
    for (const char* name : {"PMIX_LAUNCHER_RNDZ_URI", "PMIX_KEEPALIVE_PIPE"})
        expect(getenv(name) == nullptr, std::string(name) + " is still there");
    write_file(dir + "/launcher", facts);
    wait_for(PMIX_EVENT_JOB_END);
    PMIx_tool_finalize();
    write_file(dir + "/launcher.end", "seen");
    return wrong;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 2 ? argv[1] : "";
    if (what == "target") return target(argv[2]);
    if (what == "reader") return reader(argv[2]);
    if (what == "daemon") return daemon(argv[2]);
    if (what == "agent" && argc > 3) return exec_agent(argv + 2);
    if (what == "forkagent") return fork_agent(argv[2]);
    if (what == "launcher") return launcher(argv[2]);
    std::fprintf(stderr, "usage: debug_client target|daemon|agent|forkagent DIR\n");
    return 2;
}
