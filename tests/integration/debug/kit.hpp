// SPDX-License-Identifier: BSD-3-Clause
// Helpers of the programs of the debugger tests: attributes, events, results. Public API only.
#pragma once

#include <pmix_tool.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace kit {

inline int wrong = 0;

inline void expect(bool holds, const std::string& what) {
    if (holds) return;
    std::fprintf(stderr, "WRONG: %s\n", what.c_str());
    wrong = 1;
}
inline void expect_ok(pmix_status_t status, const std::string& what) {
    expect(status == PMIX_SUCCESS, what + ": " + PMIx_Error_string(status));
}

/// Generous, for loaded machines and slow sanitizers.
inline constexpr std::chrono::seconds kPatience{60};

/// Attributes, freed at the end.
class Infos {
  public:
    Infos() = default;
    Infos(const Infos&) = delete;
    ~Infos() {
        for (pmix_info_t& info : list_)
            PMIX_INFO_DESTRUCT(&info);
    }
    Infos& add(const char* key, const void* value, pmix_data_type_t type) {
        pmix_info_t info;
        std::memset(&info, 0, sizeof info);
        PMIx_Info_load(&info, key, value, type);
        list_.push_back(info);
        return *this;
    }
    Infos& flag(const char* key, bool value = true) { return add(key, &value, PMIX_BOOL); }
    Infos& text(const char* key, const std::string& value) { return add(key, value.c_str(), PMIX_STRING); }
    Infos& number(const char* key, int value) { return add(key, &value, PMIX_INT); }
    Infos& u16(const char* key, uint16_t value) { return add(key, &value, PMIX_UINT16); }
    Infos& rank(const char* key, pmix_rank_t value) { return add(key, &value, PMIX_PROC_RANK); }
    Infos& proc(const char* key, const pmix_proc_t& value) { return add(key, &value, PMIX_PROC); }
    Infos& required() {
        PMIx_Info_required(&list_.back());
        return *this;
    }
    pmix_info_t* data() { return list_.empty() ? nullptr : list_.data(); }
    size_t size() const { return list_.size(); }

  private:
    std::vector<pmix_info_t> list_;
};

inline pmix_proc_t proc_of(const std::string& nspace, pmix_rank_t rank = PMIX_RANK_WILDCARD) {
    pmix_proc_t proc;
    PMIx_Load_procid(&proc, nspace.c_str(), rank);
    return proc;
}

struct Seen {
    pmix_status_t code = 0;
    std::string nspace, breakpoint, affected_nspace;
    pmix_rank_t affected = PMIX_RANK_UNDEF;
    bool timed = false;
    int job_status = 1, exit_code = -1;
    std::string tree_root;
    int64_t tree_active = -1;
    pmix_proc_t failed{};
};

inline std::mutex lock;
inline std::condition_variable changed;
inline std::vector<Seen> events;

inline void on_event(size_t, pmix_status_t code, const pmix_proc_t*, pmix_info_t info[], size_t count,
                     pmix_info_t[], size_t, pmix_event_notification_cbfunc_fn_t done, void* data) {
    Seen seen;
    seen.code = code;
    for (size_t i = 0; i < count; ++i) {
        const pmix_value_t& value = info[i].value;
        if (PMIx_Check_key(info[i].key, PMIX_NSPACE)) seen.nspace = value.data.string;
        if (PMIx_Check_key(info[i].key, PMIX_BREAKPOINT)) seen.breakpoint = value.data.string;
        if (PMIx_Check_key(info[i].key, PMIX_EVENT_TIMESTAMP)) seen.timed = true;
        if (PMIx_Check_key(info[i].key, PMIX_JOB_TERM_STATUS)) seen.job_status = value.data.status;
        if (PMIx_Check_key(info[i].key, PMIX_SPAWN_TREE_ROOT)) seen.tree_root = value.data.string;
        if (PMIx_Check_key(info[i].key, PMIX_SPAWN_TREE_ACTIVE)) seen.tree_active = value.data.uint32;
        if (PMIx_Check_key(info[i].key, PMIX_EXIT_CODE)) seen.exit_code = value.data.integer;
        if (PMIx_Check_key(info[i].key, PMIX_PROCID)) seen.failed = *value.data.proc;
        if (PMIx_Check_key(info[i].key, PMIX_EVENT_AFFECTED_PROC)) {
            seen.affected_nspace = value.data.proc->nspace;
            seen.affected = value.data.proc->rank;
        }
    }
    {
        const std::lock_guard guard(lock);
        events.push_back(seen);
    }
    changed.notify_all();
    if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
}

inline void listen_to(std::vector<pmix_status_t> codes) {
    const pmix_status_t id =
        PMIx_Register_event_handler(codes.data(), codes.size(), nullptr, 0, on_event, nullptr, nullptr);
    expect(id >= 0, std::string("register: ") + PMIx_Error_string(id));
}

/// The first event of that code about that job; a code of 0 if none arrives.
inline Seen wait_for(pmix_status_t code, const std::string& nspace = {},
                     std::chrono::seconds patience = kPatience) {
    std::unique_lock guard(lock);
    Seen found;
    const bool came = changed.wait_for(guard, patience, [&] {
        for (const Seen& seen : events) {
            if (seen.code != code || (!nspace.empty() && seen.nspace != nspace)) continue;
            found = seen;
            return true;
        }
        return false;
    });
    expect(came, std::string("no ") + PMIx_Error_string(code) + " for " + nspace);
    return found;
}
inline bool has_come(pmix_status_t code, const std::string& nspace) {
    const std::lock_guard guard(lock);
    for (const Seen& seen : events) {
        if (seen.code == code && seen.nspace == nspace) return true;
    }
    return false;
}

inline void release(const std::string& nspace, pmix_rank_t rank = PMIX_RANK_WILDCARD) {
    Infos infos;
    infos.proc(PMIX_EVENT_CUSTOM_RANGE, proc_of(nspace, rank)).flag(PMIX_EVENT_NON_DEFAULT);
    expect_ok(PMIx_Notify_event(PMIX_DEBUGGER_RELEASE, nullptr, PMIX_RANGE_CUSTOM, infos.data(), infos.size(),
                                nullptr, nullptr),
              "release");
}

/// A program of a spawn.
class App {
  public:
    App(const std::string& command, const std::vector<std::string>& arguments, int count) {
        PMIX_APP_CONSTRUCT(&app_);
        app_.cmd = strdup(command.c_str());
        PMIx_Argv_append_nosize(&app_.argv, command.c_str());
        for (const std::string& argument : arguments)
            PMIx_Argv_append_nosize(&app_.argv, argument.c_str());
        app_.maxprocs = count;
    }
    App(const App&) = delete;
    ~App() {
        app_.info = nullptr;  // the caller's
        app_.ninfo = 0;
        PMIX_APP_DESTRUCT(&app_);
    }
    App& env(const std::string& variable) {
        PMIx_Argv_append_nosize(&app_.env, variable.c_str());
        return *this;
    }
    App& with(Infos& infos) {
        app_.info = infos.data();
        app_.ninfo = infos.size();
        return *this;
    }
    pmix_app_t* get() { return &app_; }

  private:
    pmix_app_t app_;
};

inline pmix_status_t spawn(Infos& infos, const std::vector<pmix_app_t*>& apps, std::string& nspace) {
    std::vector<pmix_app_t> all;
    for (const pmix_app_t* app : apps)
        all.push_back(*app);
    pmix_nspace_t name = "";
    const pmix_status_t status = PMIx_Spawn(infos.data(), infos.size(), all.data(), all.size(), name);
    nspace = name;
    return status;
}

struct Entry {
    pmix_rank_t rank;
    pid_t pid;
    std::string host;
};

inline std::vector<Entry> table_of(const char* key, const std::string& nspace) {
    Infos qualifiers;
    qualifiers.text(PMIX_NSPACE, nspace);
    char* keys[] = {const_cast<char*>(key), nullptr};
    pmix_query_t query;
    query.keys = keys;
    query.qualifiers = qualifiers.data();
    query.nqual = qualifiers.size();
    pmix_info_t* results = nullptr;
    size_t count = 0;
    const pmix_status_t status = PMIx_Query_info(&query, 1, &results, &count);
    expect_ok(status, std::string("query ") + key);
    std::vector<Entry> table;
    if (status == PMIX_SUCCESS && count == 1 && results[0].value.type == PMIX_DATA_ARRAY) {
        const pmix_data_array_t& array = *results[0].value.data.darray;
        for (size_t i = 0; i < array.size; ++i) {
            const auto& entry = static_cast<pmix_proc_info_t*>(array.array)[i];
            table.push_back({entry.proc.rank, entry.pid, entry.hostname});
        }
    }
    if (results != nullptr) PMIx_Info_free(results, count);
    return table;
}

inline std::string query_text(const char* key) {
    char* keys[] = {const_cast<char*>(key), nullptr};
    pmix_query_t query;
    std::memset(&query, 0, sizeof query);
    query.keys = keys;
    pmix_info_t* results = nullptr;
    size_t count = 0;
    std::string text;
    if (PMIx_Query_info(&query, 1, &results, &count) == PMIX_SUCCESS && count > 0 &&
        results[0].value.type == PMIX_STRING)
        text = results[0].value.data.string;
    if (results != nullptr) PMIx_Info_free(results, count);
    return text;
}

/// A value as text; "" if there is none.
inline std::string get(const std::string& nspace, pmix_rank_t rank, const char* key) {
    const pmix_proc_t proc = proc_of(nspace, rank);
    pmix_value_t* value = nullptr;
    if (PMIx_Get(&proc, key, nullptr, 0, &value) != PMIX_SUCCESS) return {};
    std::string text;
    if (value->type == PMIX_STRING) {
        text = value->data.string;
    } else if (value->type == PMIX_PROC) {
        text = value->data.proc->nspace;
        text += value->data.proc->rank == PMIX_RANK_WILDCARD ? ":*"
                                                             : ":" + std::to_string(value->data.proc->rank);
    } else {
        uint32_t number = 0;
        pmix_status_t status = PMIX_SUCCESS;
        PMIX_VALUE_GET_NUMBER(status, value, number, uint32_t);
        text = status == PMIX_SUCCESS ? std::to_string(number) : PMIx_Data_type_string(value->type);
    }
    PMIX_VALUE_RELEASE(value);
    return text;
}

inline std::string text_of(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}
/// Written atomically: a process may wait for it.
inline void write_file(const std::string& path, const std::string& text) {
    std::ofstream(path + ".new") << text;
    rename((path + ".new").c_str(), path.c_str());
}
inline bool exists(const std::string& path) {
    return access(path.c_str(), F_OK) == 0;
}
inline bool until(const std::function<bool()>& holds) {
    for (const auto end = std::chrono::steady_clock::now() + kPatience; !holds();) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

/// The system's letter for the state of a process.
inline char state_of(pid_t pid) {
    const std::string line = text_of("/proc/" + std::to_string(pid) + "/stat");
    const size_t end = line.rfind(')');
    return end == std::string::npos || end + 2 >= line.size() ? '?' : line[end + 2];
}

}  // namespace kit
