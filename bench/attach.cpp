// SPDX-License-Identifier: BSD-3-Clause
// How fast tools attach to a running server and leave it. Public API only, and only functions that every
// libpmix.so.2 since 4.2 has, so the same binary runs on Muster and on OpenPMIx (bench/performance, compare).
//
//   attach [-n TOOLS]
//
// A host starts TOOLS tools (200), one after the other, each a process of its own that finds the server by
// its process ID (PMIx_tool_init) and leaves it (PMIx_tool_finalize); then one that attaches and leaves ten
// times as often (PMIx_tool_attach_to_server, PMIx_tool_disconnect). Prints one line, medians in
// microseconds: the whole life of such a process (attach), half of which is its start and end, which has
// nothing to do with the server (start: of this program without a call of the library); both calls in it
// (init, finalize, and calls for the two together), its mean processor time, the tools a second, and both
// calls of the one that stays (again, leave, and stay for the two together).
#include <pmix_tool.h>
#include <spawn.h>
#include <sys/wait.h>

#include <filesystem>
#include <system_error>

#include "bench/host.hpp"

namespace {

using namespace bench;

/// The results of a tool, written to its standard output.
struct Times {
    int64_t init, finalize;
};

bool tell(const Times& times) {
    return write(1, &times, sizeof times) == sizeof times;
}

/// Does nothing, attaches once, or attaches `rounds` times without ending in between.
int tool(pid_t server, int rounds) {
    if (rounds == 0) return tell({}) ? 0 : 1;
    pmix_info_t info;
    memset(&info, 0, sizeof info);
    check("PMIx_Info_load", PMIx_Info_load(&info, PMIX_SERVER_PIDINFO, &server, PMIX_PID));
    pmix_proc_t self;
    if (rounds > 1) {
        pmix_info_t alone;
        memset(&alone, 0, sizeof alone);
        const bool yes = true;
        check("PMIx_Info_load", PMIx_Info_load(&alone, PMIX_TOOL_DO_NOT_CONNECT, &yes, PMIX_BOOL));
        check("PMIx_tool_init", PMIx_tool_init(&self, &alone, 1));
        std::vector<int64_t> attach, leave;
        for (int i = 0; i < rounds; ++i) {
            pmix_proc_t found;
            const int64_t begin = nanoseconds();
            check("PMIx_tool_attach_to_server", PMIx_tool_attach_to_server(&self, &found, &info, 1));
            const int64_t attached = nanoseconds();
            check("PMIx_tool_disconnect", PMIx_tool_disconnect(&found));
            attach.push_back(attached - begin);
            leave.push_back(nanoseconds() - attached);
        }
        return tell({median(attach), median(leave)}) ? 0 : 1;
    }
    const int64_t begin = nanoseconds();
    check("PMIx_tool_init", PMIx_tool_init(&self, &info, 1));
    const int64_t attached = nanoseconds();
    check("PMIx_tool_finalize", PMIx_tool_finalize());
    return tell({attached - begin, nanoseconds() - attached}) ? 0 : 1;
}

/// Each tool gets a name, as it asks.
void on_tool(pmix_info_t*, size_t, pmix_tool_connection_cbfunc_t answer, void* context) {
    static int count = 0;
    pmix_proc_t proc = proc_of(("bench-tool-" + std::to_string(++count)).c_str(), 0);
    answer(PMIX_SUCCESS, &proc, context);
}

pmix_status_t on_finalized(const pmix_proc_t*, void*, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}

/// Starts one, waits for its end, and returns what it measured.
Times run_tool(const char* self, int rounds) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) die("pipe2", PMIX_ERROR);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    const std::string pid = std::to_string(getpid()), number = std::to_string(rounds);
    char* words[] = {const_cast<char*>(self), const_cast<char*>("tool"), const_cast<char*>(pid.c_str()),
                     const_cast<char*>(number.c_str()), nullptr};
    pid_t child = -1;
    if (posix_spawn(&child, "/proc/self/exe", &actions, nullptr, words, environ) != 0)
        die("posix_spawn", PMIX_ERROR);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    Times times{};
    const bool told = read(ends[0], &times, sizeof times) == sizeof times;
    int status = 0;
    waitpid(child, &status, 0);
    close(ends[0]);
    if (!told || status != 0) die("a tool failed", PMIX_ERROR);
    return times;
}

int host(const char* self, int tools) {
    std::string folder = std::filesystem::temp_directory_path() / "bench-attach-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) die("mkdtemp", PMIX_ERROR);
    setenv("PMIX_SERVER_TMPDIR", folder.c_str(), 1);
    setenv("PMIX_SYSTEM_TMPDIR", folder.c_str(), 1);
    pmix_server_module_t module;
    memset(&module, 0, sizeof module);
    module.tool_connected = on_tool;
    module.client_finalized = on_finalized;
    pmix_info_t infos[3];
    memset(infos, 0, sizeof infos);
    const bool yes = true;
    PMIx_Info_load(&infos[0], PMIX_SERVER_TOOL_SUPPORT, &yes, PMIX_BOOL);
    PMIx_Info_load(&infos[1], PMIX_SERVER_TMPDIR, folder.c_str(), PMIX_STRING);
    PMIx_Info_load(&infos[2], PMIX_SYSTEM_TMPDIR, folder.c_str(), PMIX_STRING);
    check("PMIx_server_init", PMIx_server_init(&module, infos, 3));

    std::vector<int64_t> whole, init, finalize, start;
    const int64_t begin = nanoseconds(), processor = processor_time(RUSAGE_CHILDREN);
    for (int i = 0; i < tools; ++i) {
        const int64_t started = nanoseconds();
        const Times times = run_tool(self, 1);
        whole.push_back(nanoseconds() - started);
        init.push_back(times.init);
        finalize.push_back(times.finalize);
    }
    const double seconds = static_cast<double>(nanoseconds() - begin) / 1e9;
    const int64_t used = processor_time(RUSAGE_CHILDREN) - processor;
    for (int i = 0; i < tools; ++i) {
        const int64_t started = nanoseconds();
        run_tool(self, 0);
        start.push_back(nanoseconds() - started);
    }
    const Times again = run_tool(self, 10 * tools);
    const auto us = [](int64_t time) { return static_cast<double>(time) / 1000; };
    printf(
        "attach n=%d attach=%.1f start=%.1f init=%.1f finalize=%.1f calls=%.1f cpu=%.1f per_second=%.0f "
        "again=%.1f leave=%.1f stay=%.1f\n",
        tools, us(median(whole)), us(median(start)), us(median(init)), us(median(finalize)),
        us(median(init) + median(finalize)), static_cast<double>(used) / tools, tools / seconds,
        us(again.init), us(again.finalize), us(again.init + again.finalize));
    fflush(stdout);
    PMIx_server_finalize();
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    program = "attach";
    if (argc == 4 && strcmp(argv[1], "tool") == 0) return tool(atoi(argv[2]), atoi(argv[3]));
    int tools = 200;
    if (argc == 3 && strcmp(argv[1], "-n") == 0) tools = atoi(argv[2]);
    if ((argc != 1 && argc != 3) || tools < 1) {
        fprintf(stderr, "attach [-n TOOLS]\n");
        return 2;
    }
    return host(argv[0], tools);
}
