// SPDX-License-Identifier: BSD-3-Clause
// The attributes of a spawn that debuggers give (Standard: Tools and Debuggers, Debugger Support).
#include "tools/muster/host/spawn.hpp"

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

/// The ranks that a stop attribute selects; false for a value of another type.
bool read_choice_of(const pmix_info_t& info, RankChoice& choice) {
    choice = {};
    const pmix_value_t& value = info.value;
    const auto add = [&](uint32_t rank) {
        if (rank == PMIX_RANK_WILDCARD) {
            choice.all = true;
        } else {
            choice.ranks.push_back(rank);
        }
    };
    if (value.type == PMIX_UNDEF || value.type == PMIX_BOOL) {
        choice.all = is_true(info);
    } else if (value.type == PMIX_PROC_RANK) {
        add(value.data.rank);
    } else if (value.type == PMIX_PROC && value.data.proc != nullptr) {
        add(value.data.proc->rank);
    } else if (value.type == PMIX_DATA_ARRAY && value.data.darray != nullptr) {
        const pmix_data_array_t& array = *value.data.darray;
        if (array.type != PMIX_PROC_RANK && array.type != PMIX_PROC) return false;
        for (size_t i = 0; array.array != nullptr && i < array.size; ++i) {
            add(array.type == PMIX_PROC ? static_cast<const pmix_proc_t*>(array.array)[i].rank
                                        : static_cast<const pmix_rank_t*>(array.array)[i]);
        }
    } else {
        return false;
    }
    return true;
}

}  // namespace

bool can_stop_on_exec() {
    // Asked of the system once: a seccomp filter or a security module may forbid it.
    static const bool allowed = [] {
        const pid_t pid = fork();
        if (pid == 0) _exit(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 0 : 1);
        int status = 1;
        return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }();
    return allowed;
}

pmix_status_t read_debug_info(const pmix_info_t& info, App& app) {
    const auto is = [&](const char* key) { return PMIX_CHECK_KEY(&info, key); };
    const auto number = [&](uint32_t& out) {
        const auto value = integer_of(info.value);
        if (!value || *value < 0 || *value > UINT16_MAX) return PMIX_ERR_BAD_PARAM;
        out = static_cast<uint32_t>(*value);
        return PMIX_SUCCESS;
    };
    const auto choice = [&](RankChoice& out) {
        return read_choice_of(info, out) ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    };
    if (is(PMIX_DEBUG_STOP_IN_INIT)) return choice(app.stops.in_init);
    if (is(PMIX_DEBUG_STOP_IN_APP)) return choice(app.stops.in_app);
    if (is(PMIX_DEBUG_STOP_ON_EXEC)) {
        const pmix_status_t status = choice(app.stops.on_exec);
        return app.stops.on_exec.any() && !can_stop_on_exec() ? PMIX_ERR_NOT_SUPPORTED : status;
    }
    if (is(PMIX_DEBUGGER_DAEMONS)) {
        app.daemons.daemon = is_true(info);
    } else if (is(PMIX_DEBUG_DAEMONS_PER_NODE)) {
        return number(app.daemons.per_node);
    } else if (is(PMIX_DEBUG_DAEMONS_PER_PROC)) {
        return number(app.daemons.per_proc);
    } else if (is(PMIX_DEBUG_TARGET)) {
        if (info.value.type != PMIX_PROC || info.value.data.proc == nullptr) return PMIX_ERR_BAD_PARAM;
        app.daemons.target = name_of(*info.value.data.proc);
    } else if (is(PMIX_EXEC_AGENT)) {
        app.agents.exec = text_of(info.value);
    } else if (is(PMIX_FORKEXEC_AGENT)) {
        app.agents.fork = text_of(info.value);
    } else {
        return PMIX_ERR_NOT_FOUND;
    }
    return PMIX_SUCCESS;
}

const std::vector<const char*>& debug_attributes() {
    static const std::vector<const char*> kKeys = [] {
        std::vector<const char*> keys = {
            PMIX_DEBUG_STOP_IN_INIT, PMIX_DEBUG_STOP_IN_APP,      PMIX_DEBUGGER_DAEMONS,
            PMIX_DEBUG_TARGET,       PMIX_DEBUG_DAEMONS_PER_NODE, PMIX_DEBUG_DAEMONS_PER_PROC,
            PMIX_EXEC_AGENT,         PMIX_FORKEXEC_AGENT};
        if (can_stop_on_exec()) keys.push_back(PMIX_DEBUG_STOP_ON_EXEC);
        return keys;
    }();
    return kKeys;
}

}  // namespace muster::launcher
