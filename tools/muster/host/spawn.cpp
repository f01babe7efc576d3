// SPDX-License-Identifier: BSD-3-Clause
// The upcall spawn: translates the attributes of the job and of its programs.
#include <pmix.h>
#include <pmix/muster.h>

#include <cstring>
#include <variant>

#include "tools/muster/host/honoured.hpp"
#include "tools/muster/host/spawn.hpp"
#include "tools/muster/host/upcalls.hpp"
#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {
namespace {

/// An attribute whose value is stored unchanged: a flag, a text, or a number of seconds or items.
struct Field {
    const char* key;
    std::variant<bool*, std::string*, uint32_t*> value;
};

std::vector<Field> fields_of(App& app, Job& job) {
    OutputPolicy& output = job.output;
    OutputStyle& style = output.style;
    JobWishes& wishes = job.wishes;
    return {
        {PMIX_WDIR, &app.wdir},
        {PMIX_SET_SESSION_CWD, &app.session_wdir},
        {PMIX_HOSTFILE, &app.hostfile},
        {PMIX_INDEX_ARGV, &app.index_argv},
        {PMIX_ADD_HOSTFILE, &app.added_hostfile},
        {PMIX_PSET_NAME, &app.pset},
        {PMIX_RANKBY, &job.rank_by},
        {PMIX_CPU_LIST, &job.cpu_list},
        {PMIX_CPUS_PER_PROC, &job.cpus_per_proc},
        {PMIX_NO_OVERSUBSCRIBE, &job.no_oversubscribe},
        {PMIX_NO_PROCS_ON_HEAD, &job.not_on_head},
        {PMIX_DO_NOT_LAUNCH, &job.do_not_launch},
        {PMIX_COSPAWN_APP, &app.disconnected},
        {PMIX_DISPLAY_MAP, &job.display.map},
        {PMIX_DISPLAY_MAP_DETAILED, &job.display.detailed},
        {PMIX_DISPLAY_ALLOCATION, &job.display.allocation},
        {PMIX_REPORT_BINDINGS, &job.display.bindings},
        {PMIX_TIMEOUT, &job.spawn_seconds},
        {PMIX_SPAWN_TIMEOUT, &job.spawn_seconds},
        {PMIX_TIMEOUT_REPORT_STATE, &job.on_timeout.states},
        {PMIX_TIMEOUT_STACKTRACES, &job.on_timeout.stacks},
        {PMIX_JOB_TIMEOUT, &job.job_seconds},
        {PMIX_TAG_OUTPUT, &style.tag},
        {PMIX_TIMESTAMP_OUTPUT, &style.timestamp},
        {PMIX_MERGE_STDERR_STDOUT, &style.merge},
        {PMIX_OUTPUT_TO_FILE, &style.file},
        {PMIX_OUTPUT_TO_DIRECTORY, &style.directory},
        {PMIX_OUTPUT_NOCOPY, &style.file_only},
        {PMIX_IOF_TAG_OUTPUT, &style.tag},
        {PMIX_IOF_TAG_DETAILED_OUTPUT, &style.detailed},
        {PMIX_IOF_TAG_FULLNAME_OUTPUT, &style.full_name},
        {PMIX_IOF_RANK_OUTPUT, &style.rank},
        {PMIX_IOF_TIMESTAMP_OUTPUT, &style.timestamp},
        {PMIX_IOF_XML_OUTPUT, &style.xml},
        {PMIX_IOF_OUTPUT_RAW, &style.raw},
        {PMIX_IOF_MERGE_STDERR_STDOUT, &style.merge},
        {PMIX_IOF_OUTPUT_TO_FILE, &style.file},
        {PMIX_IOF_OUTPUT_TO_DIRECTORY, &style.directory},
        {PMIX_IOF_FILE_PATTERN, &style.pattern},
        {PMIX_IOF_FILE_ONLY, &style.file_only},
        {PMIX_IOF_BUFFERING_SIZE, &output.buffer_size},
        {PMIX_IOF_BUFFERING_TIME, &output.buffer_seconds},
        {PMIX_IOF_CACHE_SIZE, &output.cache_size},
        {PMIX_IOF_DROP_OLDEST, &output.drop_oldest},
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
        {PMIX_JOB_CONTINUOUS, &wishes.continuous},
        {PMIX_MAX_RESTARTS, &app.max_restarts},
        {PMIX_PRELOAD_BIN, &app.preload_program},
        {PMIX_PRELOAD_FILES, &app.preload_files},
    };
}

/// False if the value has the wrong type.
bool store(const pmix_info_t& info, const Field& field) {
    if (auto* const* flag = std::get_if<bool*>(&field.value)) {
        **flag = is_true(info);
    } else if (auto* const* text = std::get_if<std::string*>(&field.value)) {
        **text = text_of(info.value);
    } else {
        const std::optional<int64_t> number = integer_of(info.value);
        if (!number || *number < 0 || *number > INT32_MAX) return false;
        *std::get<uint32_t*>(field.value) = static_cast<uint32_t>(*number);
    }
    return true;
}

struct EnvDirective {
    const char* key;
    EnvChange::Kind kind;
};

constexpr EnvDirective kEnvDirectives[] = {
    {PMIX_SET_ENVAR, EnvChange::Kind::Set},       {PMIX_ADD_ENVAR, EnvChange::Kind::Add},
    {PMIX_UNSET_ENVAR, EnvChange::Kind::Unset},   {PMIX_PREPEND_ENVAR, EnvChange::Kind::Prepend},
    {PMIX_APPEND_ENVAR, EnvChange::Kind::Append}, {PMIX_FIRST_ENVAR, EnvChange::Kind::First},
};

/// A directive about an environment variable; false for other attributes.
bool read_environment(const pmix_info_t& info, std::vector<EnvChange>& changes) {
    for (const auto& [key, kind] : kEnvDirectives) {
        if (!PMIX_CHECK_KEY(&info, key)) continue;
        const pmix_envar_t& variable = info.value.data.envar;
        if (kind == EnvChange::Kind::Unset) {
            const std::string name = text_of(info.value);
            if (!name.empty()) changes.push_back({kind, name, {}, ':'});
        } else if (info.value.type == PMIX_ENVAR) {
            changes.push_back({kind, text_of(variable.envar), text_of(variable.value),
                               variable.separator != '\0' ? variable.separator : ':'});
        }
        return true;
    }
    return false;
}

/// The readers of the job's standard input; false if the value has the wrong type.
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

/// The channel to forward; 0 for other attributes. Processes have no stream of diagnostics, which the
/// Standard requires only if one exists; it may be pulled, and is empty.
uint32_t channel_of(const pmix_info_t& info) {
    if (PMIX_CHECK_KEY(&info, PMIX_FWD_STDOUT)) return PMIX_FWD_STDOUT_CHANNEL;
    if (PMIX_CHECK_KEY(&info, PMIX_FWD_STDERR)) return PMIX_FWD_STDERR_CHANNEL;
    return PMIX_CHECK_KEY(&info, PMIX_FWD_STDDIAG) ? PMIX_FWD_STDDIAG_CHANNEL : 0;
}

/// An attribute of the job or of its programs; PMIX_ERR_NOT_FOUND for one that is not known here.
pmix_status_t read_known(const pmix_info_t& info, App& app, Job& job) {
    for (const Field& field : fields_of(app, job)) {
        if (PMIX_CHECK_KEY(&info, field.key)) return store(info, field) ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    }
    const auto is = [&](const char* key) { return PMIX_CHECK_KEY(&info, key); };
    const std::string text = text_of(info.value);
    if (is(PMIX_HOST)) {
        app.hosts = split(text, ',');
        std::erase(app.hosts, "");
    } else if (is(PMIX_ADD_HOST)) {
        app.added_hosts = split(text, ',');
        std::erase(app.added_hosts, "");
    } else if (is(PMIX_DISPLAY_TOPOLOGY)) {
        job.display.topology = text.empty() ? "all" : text;
    } else if (is(PMIX_PREFIX)) {
        app.env_changes.push_back({EnvChange::Kind::Prepend, "PATH", text + "/bin", ':'});
        app.env_changes.push_back({EnvChange::Kind::Prepend, "LD_LIBRARY_PATH", text + "/lib", ':'});
    } else if (is(PMIX_PARENT_ID)) {
        if (info.value.type != PMIX_PROC || info.value.data.proc == nullptr) return PMIX_ERR_BAD_PARAM;
        job.parent = name_of(*info.value.data.proc);
    } else if (is(PMIX_MAPBY)) {
        if (!text.empty()) job.map_by = text;
    } else if (is(PMIX_PPR)) {
        job.map_by = "ppr:" + text;
    } else if (is(PMIX_BINDTO)) {
        if (!text.empty()) job.bind_to = text;
    } else if (is(PMIX_STDIN_TGT) || is(PMIX_FWD_STDIN)) {
        return read_input(info, job.input) ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    } else if (is(PMIX_IOF_DROP_NEWEST)) {
        job.output.drop_oldest = !is_true(info);
    } else if (const uint32_t channel = channel_of(info); channel != 0) {
        if (is_true(info)) job.wishes.forward |= channel;
    } else if (is(PMIX_ABORT_NON_ZERO_TERM)) {
        job.wishes.nonzero_is_fine = !is_true(info);
    } else if (!read_environment(info, app.env_changes)) {
        return read_debug_info(info, app);
    }
    return PMIX_SUCCESS;
}

/// For a new job that is a launcher: the directives for its own launch.
bool is_for_launchers(const pmix_info_t& info) {
    return is_any_of(info, {PMIX_LAUNCH_DIRECTIVES, PMIX_LAUNCHER_DAEMON});
}

/// Whether this is an attribute of the request to the scheduler.
bool is_for_scheduler(const pmix_info_t& info) {
    return strncmp(info.key, "pmix.alloc.", strlen("pmix.alloc.")) == 0;
}

/// Whether this names a destination or a format of the log; false also for the events to log.
bool is_log_info(const pmix_info_t& info) {
    return is_any_of(
        info, {PMIX_LOG_STDERR, PMIX_LOG_STDOUT, PMIX_LOG_SYSLOG, PMIX_LOG_LOCAL_SYSLOG,
               PMIX_LOG_GLOBAL_SYSLOG, PMIX_LOG_EMAIL, PMIX_LOG_GLOBAL_DATASTORE, PMIX_LOG_JOB_RECORD,
               PMIX_LOG_SYSLOG_PRI, PMIX_LOG_TAG_OUTPUT, PMIX_LOG_TIMESTAMP_OUTPUT, PMIX_LOG_XML_OUTPUT});
}

/// Whether this describes the requestor, is done by the requestor's library (the environment), or holds for
/// every job anyway: no start waits for PMIx_Init.
bool is_remark(const pmix_info_t& info) {
    return is_any_of(info,
                     {PMIX_SPAWNED, PMIX_USERID, PMIX_GRPID, PMIX_REQUESTOR_IS_TOOL, PMIX_REQUESTOR_IS_CLIENT,
                      PMIX_ENVARS_HARVESTED, PMIX_FWD_ENVIRONMENT, PMIX_WDIR_USER_SPECIFIED, PMIX_NON_PMI});
}

/// Whether the host ignores this attribute: no programming model is known here by name, and a tool's job is
/// placed and counted like any other. This also holds if the library acts upon the attribute.
bool is_without_effect(const pmix_info_t& info) {
    return is_any_of(info, {PMIX_PERSONALITY, PMIX_SPAWN_TOOL});
}

/// Reads an attribute that was given with the job, or with one of its programs.
pmix_status_t read_attribute(const pmix_info_t& info, App& app, Job& job) {
    if (is_without_effect(info)) {
        const bool declined = info.value.type == PMIX_BOOL && !is_true(info);
        return PMIX_INFO_IS_REQUIRED(&info) && !declined ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;
    }
    if (is_remark(info)) return PMIX_SUCCESS;
    // Jobs outlive the tool that spawned them, unless it sets PMIX_NOHUP to false.
    if (PMIX_CHECK_KEY(&info, PMIX_NOHUP)) {
        job.wishes.ends_with_tool = !is_true(info);
        return PMIX_SUCCESS;
    }
    const pmix_status_t status = read_known(info, app, job);
    if (status != PMIX_ERR_NOT_FOUND) return status;
    return is_required(info) ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;
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
    for (const pmix_info_t& info : Infos(given.info, given.ninfo)) {
        if (const pmix_status_t status = read_attribute(info, app, job); status != PMIX_SUCCESS)
            return status;
    }
    // Daemons release other processes; they do not stop themselves.
    if (app.daemons.daemon) app.stops = {};
    job.apps.push_back(std::move(app));
    return PMIX_SUCCESS;
}

pmix_status_t read_request(const pmix_proc_t& proc, const Infos& infos, const pmix_app_t apps[],
                           size_t app_count, Job& job) {
    if (apps == nullptr || app_count == 0) return PMIX_ERR_JOB_NO_EXE_SPECIFIED;
    job.parent = job.wishes.requestor = name_of(proc);
    job.input.target = InputPolicy::Target::None;
    App common;
    InfoList log, own, allocation;
    for (const pmix_info_t& info : infos) {
        pmix_status_t status = PMIX_SUCCESS;
        if (is_log_info(info)) {
            log.copy(info);
        } else if (is_for_scheduler(info)) {
            allocation.copy(info);
            job.needs_allocation |= PMIX_INFO_IS_REQUIRED(&info);
        } else if (is_for_launchers(info)) {
            own.copy(info);
        } else {
            status = read_attribute(info, common, job);
        }
        if (status != PMIX_SUCCESS) return status;
    }
    // Output is kept for tools, which ask for it when they know the job's name.
    if (infos.is_true(PMIX_REQUESTOR_IS_TOOL)) job.wishes.held = job.wishes.forward;
    job.allocation = packed(allocation.data(), allocation.size(), PMIX_INFO);
    job.attributes = packed(own.data(), own.size(), PMIX_INFO);
    job.wishes.log = packed(log.data(), log.size(), PMIX_INFO);
    for (size_t i = 0; i < app_count; ++i) {
        if (const pmix_status_t status = read_app(apps[i], common, job); status != PMIX_SUCCESS)
            return status;
    }
    return job.output.style.names_files() ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

}  // namespace

pmix_status_t read_directives(const Infos& directives, Job& job) {
    pmix_app_t any;
    PMIX_APP_CONSTRUCT(&any);
    any.cmd = strdup("any");
    const pmix_status_t status = read_request(to_pmix(ProcName()), directives, &any, 1, job);
    PMIX_APP_DESTRUCT(&any);
    return status;
}

namespace {

pmix_status_t spawn(const pmix_proc_t* proc, const pmix_info_t info[], size_t count, const pmix_app_t apps[],
                    size_t app_count, pmix_spawn_cbfunc_t callback, void* data) {
    const Infos infos(info, count);
    Job job;
    const pmix_status_t status = read_request(*proc, infos, apps, app_count, job);
    if (status != PMIX_SUCCESS) return status;
    const uint32_t channels = infos.is_true(MUSTER_IOF_UNASKED) ? job.wishes.forward : 0;
    ask_launcher(Topic::Spawn, pack(job),
                 [channels, tool = name_of(*proc), callback, data](pmix_status_t done, Buffer& in) {
                     std::string nspace;
                     if (done == PMIX_SUCCESS && !in.unpack(nspace)) done = PMIX_ERR_UNPACK_FAILURE;
                     pmix_nspace_t name;
                     PMIX_LOAD_NSPACE(name, nspace.c_str());
                     if (callback != nullptr) callback(done, name, data);
                     // The library knows the reader now, so held output may follow.
                     if (done == PMIX_SUCCESS && channels != 0) forward_unasked(tool, nspace, channels);
                 });
    return status;
}

}  // namespace

void add_spawn_upcalls(pmix_server_module_t& module) {
    module.spawn = upcall<spawn>;
}

const std::vector<const char*>& spawn_attributes() {
    static const std::vector<const char*> kAttributes = [] {
        std::vector<const char*> keys = debug_attributes();
        App app;
        Job job;
        for (const Field& field : fields_of(app, job))
            keys.push_back(field.key);
        for (const EnvDirective& directive : kEnvDirectives)
            keys.push_back(directive.key);
        for (const char* other : {PMIX_HOST,
                                  PMIX_ADD_HOST,
                                  PMIX_DISPLAY_TOPOLOGY,
                                  PMIX_PREFIX,
                                  PMIX_PARENT_ID,
                                  PMIX_LAUNCH_DIRECTIVES,
                                  PMIX_LAUNCHER_DAEMON,
                                  PMIX_MAPBY,
                                  PMIX_PPR,
                                  PMIX_BINDTO,
                                  PMIX_STDIN_TGT,
                                  PMIX_FWD_STDIN,
                                  PMIX_FWD_STDOUT,
                                  PMIX_FWD_STDERR,
                                  PMIX_FWD_STDDIAG,
                                  PMIX_IOF_DROP_NEWEST,
                                  PMIX_ABORT_NON_ZERO_TERM,
                                  PMIX_NOHUP,
                                  PMIX_NON_PMI,
                                  PMIX_FWD_ENVIRONMENT,
                                  PMIX_ENVARS_HARVESTED})
            keys.push_back(other);
        return keys;
    }();
    return kAttributes;
}

}  // namespace muster::launcher
