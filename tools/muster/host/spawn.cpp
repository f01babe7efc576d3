// SPDX-License-Identifier: BSD-3-Clause
// The upcall spawn: translates the attributes of the job and of its programs.
#include <pmix.h>

#include <array>
#include <cstring>

#include "tools/muster/host/spawn.hpp"
#include "tools/muster/host/upcalls.hpp"

namespace muster::launcher {
namespace {

/// Of the library: who asks takes the output that it wants forwarded without a pull
/// (docs/reference/tools.md).
constexpr const char* kUnaskedOutputKey = "muster.iof.unasked";

EnvChange env_change(EnvChange::Kind kind, const pmix_envar_t& variable) {
    EnvChange change;
    change.kind = kind;
    change.name = variable.envar != nullptr ? variable.envar : "";
    change.value = variable.value != nullptr ? variable.value : "";
    if (variable.separator != '\0') change.separator = variable.separator;
    return change;
}

/// A directive about an environment variable; false for other attributes.
bool read_environment(const pmix_info_t& info, std::vector<EnvChange>& changes) {
    static constexpr std::array<std::pair<const char*, EnvChange::Kind>, 5> kKinds = {{
        {PMIX_SET_ENVAR, EnvChange::Kind::Set},
        {PMIX_ADD_ENVAR, EnvChange::Kind::Add},
        {PMIX_PREPEND_ENVAR, EnvChange::Kind::Prepend},
        {PMIX_APPEND_ENVAR, EnvChange::Kind::Append},
        {PMIX_FIRST_ENVAR, EnvChange::Kind::First},
    }};
    for (const auto& [key, kind] : kKinds) {
        if (!PMIX_CHECK_KEY(&info, key)) continue;
        if (info.value.type == PMIX_ENVAR) changes.push_back(env_change(kind, info.value.data.envar));
        return true;
    }
    if (!PMIX_CHECK_KEY(&info, PMIX_UNSET_ENVAR)) return false;
    EnvChange change;
    change.kind = EnvChange::Kind::Unset;
    change.name = text_of(info.value);
    if (!change.name.empty()) changes.push_back(std::move(change));
    return true;
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find(',', at), text.size());
        if (end > at) parts.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

/// An attribute of a program (or of all of them, given with the job); false for others.
bool read_app_info(const pmix_info_t& info, App& app) {
    const std::string text = text_of(info.value);
    if (PMIX_CHECK_KEY(&info, PMIX_WDIR)) {
        app.wdir = text;
    } else if (PMIX_CHECK_KEY(&info, PMIX_SET_SESSION_CWD)) {
        app.session_wdir = is_true(info);
    } else if (PMIX_CHECK_KEY(&info, PMIX_INDEX_ARGV)) {
        app.index_argv = is_true(info);
    } else if (PMIX_CHECK_KEY(&info, PMIX_PSET_NAME)) {
        app.pset = text;
    } else if (PMIX_CHECK_KEY(&info, PMIX_HOST)) {
        app.hosts = split(text);
    } else if (PMIX_CHECK_KEY(&info, PMIX_HOSTFILE)) {
        app.hostfile = text;
    } else if (PMIX_CHECK_KEY(&info, PMIX_PREFIX)) {
        EnvChange change;
        change.kind = EnvChange::Kind::Prepend;
        change.name = "PATH";
        change.value = text + "/bin";
        app.env_changes.push_back(change);
        change.name = "LD_LIBRARY_PATH";
        change.value = text + "/lib";
        app.env_changes.push_back(std::move(change));
    } else {
        return read_environment(info, app.env_changes);
    }
    return true;
}

bool read_output_info(const pmix_info_t& info, OutputPolicy& output) {
    auto is = [&](const char* a, const char* b) {
        return PMIX_CHECK_KEY(&info, a) || PMIX_CHECK_KEY(&info, b);
    };
    if (is(PMIX_TAG_OUTPUT, PMIX_IOF_TAG_OUTPUT)) {
        output.tag = is_true(info);
    } else if (is(PMIX_IOF_RANK_OUTPUT, PMIX_IOF_RANK_OUTPUT)) {
        output.rank = is_true(info);
    } else if (is(PMIX_TIMESTAMP_OUTPUT, PMIX_IOF_TIMESTAMP_OUTPUT)) {
        output.timestamp = is_true(info);
    } else if (is(PMIX_MERGE_STDERR_STDOUT, PMIX_IOF_MERGE_STDERR_STDOUT)) {
        output.merge = is_true(info);
    } else if (is(PMIX_OUTPUT_TO_FILE, PMIX_IOF_OUTPUT_TO_FILE)) {
        output.file = text_of(info.value);
    } else if (is(PMIX_OUTPUT_TO_DIRECTORY, PMIX_IOF_OUTPUT_TO_DIRECTORY)) {
        output.directory = text_of(info.value);
    } else if (is(PMIX_OUTPUT_NOCOPY, PMIX_IOF_FILE_ONLY)) {
        output.copy = !is_true(info);
    } else {
        return false;
    }
    return true;
}

bool read_wish(const pmix_info_t& info, JobWishes& wishes) {
    const std::array<std::pair<const char*, bool*>, 12> flags = {{
        {PMIX_NOTIFY_COMPLETION, &wishes.notify_end},
        {PMIX_NOTIFY_JOB_EVENTS, &wishes.notify_events},
        {PMIX_NOTIFY_PROC_TERMINATION, &wishes.notify_procs},
        {PMIX_NOTIFY_PROC_ABNORMAL_TERMINATION, &wishes.notify_failures},
        {PMIX_LOG_COMPLETION, &wishes.log_end},
        {PMIX_LOG_JOB_EVENTS, &wishes.log_events},
        {PMIX_LOG_PROC_TERMINATION, &wishes.log_procs},
        {PMIX_LOG_PROC_ABNORMAL_TERMINATION, &wishes.log_failures},
        {PMIX_EVENT_SILENT_TERMINATION, &wishes.silent},
        {PMIX_SPAWN_CHILD_SEP, &wishes.separate},
        {PMIX_REPORT_CHILD_SEP, &wishes.report_separately},
        {PMIX_JOB_RECOVERABLE, &wishes.recoverable},
    }};
    for (const auto& [key, flag] : flags) {
        if (!PMIX_CHECK_KEY(&info, key)) continue;
        *flag = is_true(info);
        return true;
    }
    for (const auto& [key, channel] : {std::pair(PMIX_FWD_STDOUT, PMIX_FWD_STDOUT_CHANNEL),
                                       std::pair(PMIX_FWD_STDERR, PMIX_FWD_STDERR_CHANNEL)}) {
        if (!PMIX_CHECK_KEY(&info, key)) continue;
        if (is_true(info)) wishes.forward |= channel;
        return true;
    }
    if (!PMIX_CHECK_KEY(&info, PMIX_ABORT_NON_ZERO_TERM)) return false;
    wishes.nonzero_is_fine = !is_true(info);
    return true;
}

/// Reads a number of seconds or of things into `out`; false when it is none.
bool read_number(const pmix_info_t& info, uint32_t& out) {
    const std::optional<int64_t> value = integer_of(info.value);
    if (!value || *value < 0 || *value > INT32_MAX) return false;
    out = static_cast<uint32_t>(*value);
    return true;
}

/// The readers of the job's standard input.
bool read_input(const pmix_info_t& info, InputPolicy& input) {
    std::optional<int64_t> rank = integer_of(info.value);
    if (info.value.type == PMIX_BOOL) {  // as before the Standard made it a rank
        if (is_true(info)) input.target = InputPolicy::Target::All;
        return true;
    }
    if (info.value.type == PMIX_PROC && info.value.data.proc != nullptr) rank = info.value.data.proc->rank;
    if (!rank) return false;
    if (static_cast<uint32_t>(*rank) == PMIX_RANK_WILDCARD) {
        input.target = InputPolicy::Target::All;
    } else if (static_cast<uint32_t>(*rank) <= PMIX_RANK_VALID) {
        input = {InputPolicy::Target::One, static_cast<uint32_t>(*rank)};
    }
    return true;
}

/// An attribute of the job; PMIX_ERR_NOT_FOUND for one that is not known here.
pmix_status_t read_job_info(const pmix_info_t& info, Job& job) {
    auto is = [&](const char* key) { return PMIX_CHECK_KEY(&info, key); };
    auto number = [&](uint32_t& out) { return read_number(info, out) ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM; };
    if (is(PMIX_PARENT_ID)) {
        if (info.value.type != PMIX_PROC || info.value.data.proc == nullptr) return PMIX_ERR_BAD_PARAM;
        job.parent = name_of(*info.value.data.proc);
    } else if (is(PMIX_MAPBY)) {
        if (const std::string text = text_of(info.value); !text.empty()) job.map_by = text;
    } else if (is(PMIX_PPR)) {
        job.map_by = "ppr:" + text_of(info.value);
    } else if (is(PMIX_BINDTO)) {
        if (const std::string text = text_of(info.value); !text.empty()) job.bind_to = text;
    } else if (is(PMIX_CPUS_PER_PROC)) {
        return number(job.cpus_per_proc);
    } else if (is(PMIX_NO_OVERSUBSCRIBE)) {
        job.no_oversubscribe = is_true(info);
    } else if (is(PMIX_NO_PROCS_ON_HEAD)) {
        job.not_on_head = is_true(info);
    } else if (is(PMIX_TIMEOUT) || is(PMIX_SPAWN_TIMEOUT)) {
        return number(job.spawn_seconds);
    } else if (is(PMIX_JOB_TIMEOUT)) {
        return number(job.job_seconds);
    } else if (is(PMIX_STDIN_TGT) || is(PMIX_FWD_STDIN)) {
        return read_input(info, job.input) ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    } else if (!read_output_info(info, job.output) && !read_wish(info, job.wishes)) {
        return PMIX_ERR_NOT_FOUND;
    }
    return PMIX_SUCCESS;
}

/// For a new job that is a launcher: how it is to launch, and what is to hold for what it starts in turn.
bool is_for_launchers(const pmix_info_t& info) {
    return PMIX_CHECK_KEY(&info, PMIX_LAUNCH_DIRECTIVES) || PMIX_CHECK_KEY(&info, PMIX_LAUNCHER_DAEMON);
}

/// Whether this is an attribute of the request to the scheduler.
bool is_for_scheduler(const pmix_info_t& info) {
    return strncmp(info.key, "pmix.alloc.", strlen("pmix.alloc.")) == 0;
}

/// Whether this names a destination or a format of the log; false also for the events that are to be logged.
bool is_log_info(const pmix_info_t& info) {
    for (const char* key :
         {PMIX_LOG_STDERR, PMIX_LOG_STDOUT, PMIX_LOG_SYSLOG, PMIX_LOG_LOCAL_SYSLOG, PMIX_LOG_GLOBAL_SYSLOG,
          PMIX_LOG_EMAIL, PMIX_LOG_GLOBAL_DATASTORE, PMIX_LOG_JOB_RECORD, PMIX_LOG_SYSLOG_PRI,
          PMIX_LOG_TAG_OUTPUT, PMIX_LOG_TIMESTAMP_OUTPUT, PMIX_LOG_XML_OUTPUT}) {
        if (PMIX_CHECK_KEY(&info, key)) return true;
    }
    return false;
}

/// Whether this describes the requestor, or holds for every job anyway.
bool is_remark(const pmix_info_t& info) {
    for (const char* key :
         {PMIX_SPAWNED, PMIX_USERID, PMIX_GRPID, PMIX_REQUESTOR_IS_TOOL, PMIX_REQUESTOR_IS_CLIENT,
          PMIX_PERSONALITY, PMIX_RANKBY, PMIX_ENVARS_HARVESTED, PMIX_FWD_ENVIRONMENT, PMIX_FWD_STDDIAG,
          PMIX_WDIR_USER_SPECIFIED, PMIX_SPAWN_TOOL, PMIX_NOHUP}) {
        if (PMIX_CHECK_KEY(&info, key)) return true;
    }
    return false;
}

/// Attributes that must not be ignored: the job would run in the wrong place, or be part of another.
bool cannot_do(const pmix_info_t& info) {
    for (const char* key : {PMIX_COSPAWN_APP, PMIX_DO_NOT_LAUNCH}) {
        if (PMIX_CHECK_KEY(&info, key) && is_true(info)) return true;
    }
    return false;
}

/// RANKBY may only be what is done anyhow.
bool can_do(const pmix_info_t& info) {
    if (!PMIX_CHECK_KEY(&info, PMIX_RANKBY)) return true;
    const std::string text = text_of(info.value);
    return text.empty() || text == "slot" || text == "fill";
}

pmix_status_t read_app(const pmix_app_t& given, const App& common, Job& job) {
    App app = common;
    for (size_t i = 0; given.argv != nullptr && given.argv[i] != nullptr; ++i)
        app.argv.emplace_back(given.argv[i]);
    if (given.cmd != nullptr) app.program = given.cmd;
    if (app.argv.empty()) {
        if (app.program.empty()) return PMIX_ERR_JOB_NO_EXE_SPECIFIED;
        app.argv.push_back(app.program);
    }
    std::vector<EnvChange> own;
    for (size_t i = 0; given.env != nullptr && given.env[i] != nullptr; ++i) {
        const std::string text = given.env[i];
        const size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0) return PMIX_ERR_BAD_PARAM;
        own.push_back({EnvChange::Kind::Set, text.substr(0, equals), text.substr(equals + 1), ':'});
    }
    app.env_changes.insert(app.env_changes.begin(), own.begin(), own.end());
    if (given.cwd != nullptr) app.wdir = given.cwd;
    if (given.maxprocs > 0) app.ranks = static_cast<unsigned>(given.maxprocs);
    for (size_t i = 0; i < given.ninfo; ++i) {
        const pmix_info_t& info = given.info[i];
        if (cannot_do(info)) return PMIX_ERR_NOT_SUPPORTED;
        if (read_app_info(info, app) || (is_remark(info) && can_do(info))) continue;
        pmix_status_t status = read_debug_info(info, app);
        if (status == PMIX_ERR_NOT_FOUND) status = read_job_info(info, job);
        if (status == PMIX_ERR_NOT_FOUND && PMIX_INFO_IS_REQUIRED(&info)) return PMIX_ERR_NOT_SUPPORTED;
        if (status != PMIX_ERR_NOT_FOUND && status != PMIX_SUCCESS) return status;
    }
    // Daemons are there to let others go on; they do not wait themselves.
    if (app.daemons.daemon) app.stops = {};
    job.apps.push_back(std::move(app));
    return PMIX_SUCCESS;
}

pmix_status_t read_request(const pmix_proc_t& proc, const pmix_info_t info[], size_t count,
                           const pmix_app_t apps[], size_t app_count, Job& job) {
    if (apps == nullptr || app_count == 0) return PMIX_ERR_JOB_NO_EXE_SPECIFIED;
    job.parent = job.wishes.requestor = name_of(proc);
    job.input.target = InputPolicy::Target::None;
    App common;
    InfoList log, own, allocation;
    for (size_t i = 0; i < count; ++i) {
        if (is_log_info(info[i])) {
            log.copy(info[i]);
            continue;
        }
        if (is_for_scheduler(info[i])) {
            allocation.copy(info[i]);
            job.needs_allocation |= PMIX_INFO_IS_REQUIRED(&info[i]);
            continue;
        }
        if (is_for_launchers(info[i])) {
            own.copy(info[i]);
            continue;
        }
        if (cannot_do(info[i])) return PMIX_ERR_NOT_SUPPORTED;
        if (read_app_info(info[i], common) || (is_remark(info[i]) && can_do(info[i]))) continue;
        pmix_status_t status = read_debug_info(info[i], common);
        if (status == PMIX_ERR_NOT_FOUND) status = read_job_info(info[i], job);
        if (status == PMIX_ERR_NOT_FOUND) {
            if (PMIX_INFO_IS_REQUIRED(&info[i])) return PMIX_ERR_NOT_SUPPORTED;
        } else if (status != PMIX_SUCCESS) {
            return status;
        }
    }
    // Output is kept for tools, which ask for it when they know the job's name.
    const pmix_info_t* tool = find_info(info, count, PMIX_REQUESTOR_IS_TOOL);
    if (tool == nullptr || !is_true(*tool)) job.wishes.forward = 0;
    if (allocation.size() > 0) job.allocation = packed(allocation.data(), allocation.size(), PMIX_INFO);
    if (own.size() > 0) job.attributes = packed(own.data(), own.size(), PMIX_INFO);
    if (log.size() > 0) job.wishes.log = packed(log.data(), log.size(), PMIX_INFO);
    for (size_t i = 0; i < app_count; ++i) {
        if (const pmix_status_t status = read_app(apps[i], common, job); status != PMIX_SUCCESS)
            return status;
    }
    return PMIX_SUCCESS;
}

}  // namespace

pmix_status_t read_directives(const pmix_info_t info[], size_t count, Job& job) {
    pmix_app_t any;
    PMIX_APP_CONSTRUCT(&any);
    any.cmd = strdup("any");
    const pmix_proc_t nobody = to_pmix({});
    const pmix_status_t status = read_request(nobody, info, count, &any, 1, job);
    PMIX_APP_DESTRUCT(&any);
    return status;
}

namespace {

pmix_status_t spawn(const pmix_proc_t* proc, const pmix_info_t info[], size_t count, const pmix_app_t apps[],
                    size_t app_count, pmix_spawn_cbfunc_t callback, void* data) {
    return guarded([&] {
        Job job;
        const pmix_status_t status = read_request(*proc, info, count, apps, app_count, job);
        if (status != PMIX_SUCCESS) return status;
        const pmix_info_t* unasked = find_info(info, count, kUnaskedOutputKey);
        const uint32_t channels = unasked != nullptr && is_true(*unasked) ? job.wishes.forward : 0;
        ask_launcher(Topic::Spawn, pack(job),
                     [channels, tool = name_of(*proc), callback, data](pmix_status_t done, Buffer& in) {
                         std::string nspace;
                         if (done == PMIX_SUCCESS && !in.unpack(nspace)) done = PMIX_ERR_UNPACK_FAILURE;
                         pmix_nspace_t name;
                         PMIX_LOAD_NSPACE(name, nspace.c_str());
                         if (callback != nullptr) callback(done, name, data);
                         // The library knows its reader now, and what was held may follow.
                         if (done == PMIX_SUCCESS && channels != 0) forward_unasked(tool, nspace, channels);
                     });
        return status;
    });
}

}  // namespace

void add_spawn_upcalls(pmix_server_module_t& module) {
    module.spawn = spawn;
}

const std::vector<const char*>& spawn_attributes() {
    static const std::vector<const char*> kKeys = [] {
        std::vector<const char*> keys = {PMIX_WDIR,
                                         PMIX_SET_SESSION_CWD,
                                         PMIX_PREFIX,
                                         PMIX_HOST,
                                         PMIX_HOSTFILE,
                                         PMIX_INDEX_ARGV,
                                         PMIX_PSET_NAME,
                                         PMIX_SET_ENVAR,
                                         PMIX_ADD_ENVAR,
                                         PMIX_UNSET_ENVAR,
                                         PMIX_PREPEND_ENVAR,
                                         PMIX_APPEND_ENVAR,
                                         PMIX_FIRST_ENVAR,
                                         PMIX_PARENT_ID,
                                         PMIX_LAUNCH_DIRECTIVES,
                                         PMIX_LAUNCHER_DAEMON,
                                         PMIX_MAPBY,
                                         PMIX_PPR,
                                         PMIX_RANKBY,
                                         PMIX_BINDTO,
                                         PMIX_CPUS_PER_PROC,
                                         PMIX_NO_OVERSUBSCRIBE,
                                         PMIX_NO_PROCS_ON_HEAD,
                                         PMIX_TIMEOUT,
                                         PMIX_SPAWN_TIMEOUT,
                                         PMIX_JOB_TIMEOUT,
                                         PMIX_STDIN_TGT,
                                         PMIX_FWD_STDOUT,
                                         PMIX_FWD_STDERR,
                                         PMIX_FWD_STDIN,
                                         PMIX_TAG_OUTPUT,
                                         PMIX_TIMESTAMP_OUTPUT,
                                         PMIX_MERGE_STDERR_STDOUT,
                                         PMIX_OUTPUT_TO_FILE,
                                         PMIX_OUTPUT_TO_DIRECTORY,
                                         PMIX_OUTPUT_NOCOPY,
                                         PMIX_IOF_TAG_OUTPUT,
                                         PMIX_IOF_RANK_OUTPUT,
                                         PMIX_IOF_TIMESTAMP_OUTPUT,
                                         PMIX_IOF_MERGE_STDERR_STDOUT,
                                         PMIX_IOF_OUTPUT_TO_FILE,
                                         PMIX_IOF_OUTPUT_TO_DIRECTORY,
                                         PMIX_IOF_FILE_ONLY,
                                         PMIX_NOTIFY_COMPLETION,
                                         PMIX_NOTIFY_JOB_EVENTS,
                                         PMIX_NOTIFY_PROC_TERMINATION,
                                         PMIX_NOTIFY_PROC_ABNORMAL_TERMINATION,
                                         PMIX_LOG_COMPLETION,
                                         PMIX_LOG_JOB_EVENTS,
                                         PMIX_LOG_PROC_TERMINATION,
                                         PMIX_LOG_PROC_ABNORMAL_TERMINATION,
                                         PMIX_EVENT_SILENT_TERMINATION,
                                         PMIX_SPAWN_CHILD_SEP,
                                         PMIX_REPORT_CHILD_SEP,
                                         PMIX_JOB_RECOVERABLE,
                                         PMIX_ABORT_NON_ZERO_TERM,
                                         PMIX_NOHUP};
        keys.insert(keys.end(), debug_attributes().begin(), debug_attributes().end());
        return keys;
    }();
    return kKeys;
}

}  // namespace muster::launcher
