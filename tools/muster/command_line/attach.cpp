// SPDX-License-Identifier: BSD-3-Clause
// The job at another muster: see attach.hpp. Public API only. The library's thread writes output and records
// events; the main thread waits for these and for signals.
#include "tools/muster/command_line/tool_commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pmix_tool.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "tools/muster/command_line/connection.hpp"
#include "tools/muster/exchange/attributes.hpp"
#include "tools/muster/nodes/process.hpp"

namespace muster::launcher {
namespace {

/// After the job's end, for output that is on its way.
constexpr std::chrono::seconds kPatience{10};

/// Events seen by the library's thread. One job a process: the C interface has no context argument.
struct Seen {
    std::mutex lock;
    int wake = -1;                           ///< an eventfd: something has changed
    std::map<std::string, ProcName> failed;  ///< by the ended job's namespace; its name may not be known yet
    std::map<std::string, std::pair<pmix_status_t, int>> ended;  ///< how, and with which exit code
    bool files_only = false;  ///< the library writes them; set before there is output
    bool lost = false;
    bool unread = false;   ///< the output has no reader
    uint64_t outputs = 0;  ///< pieces of output
    uint64_t closed = 0;   ///< channels
};
Seen seen;

void wake() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(seen.wake, &one, sizeof one);
}

void on_event(size_t, pmix_status_t code, const pmix_proc_t*, pmix_info_t info[], size_t count, pmix_info_t[],
              size_t, pmix_event_notification_cbfunc_fn_t done, void* data) {
    guarded([&]() -> pmix_status_t {
        const std::lock_guard guard(seen.lock);
        if (code == PMIX_ERR_LOST_CONNECTION) seen.lost = true;
        const Infos facts(info, count);
        if (code == PMIX_EVENT_JOB_END && facts.find(PMIX_NSPACE) != nullptr) {
            const std::string name = facts.text(PMIX_NSPACE);
            const auto number = [&](const char* key) {
                return static_cast<int>(facts.integer(key).value_or(0));
            };
            seen.ended[name] = {number(PMIX_JOB_TERM_STATUS), number(PMIX_EXIT_CODE)};
            for (const ProcName& failed : facts.procs(PMIX_PROCID))
                seen.failed[name] = failed;
        }
        wake();
        return PMIX_SUCCESS;
    });
    if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
}

/// Blocks without a reader, and with it, in the end, the writers.
void on_output(size_t, pmix_iof_channel_t channel, pmix_proc_t*, pmix_byte_object_t* bytes,
               pmix_info_t info[], size_t count) {
    const int fd = channel == PMIX_FWD_STDERR_CHANNEL ? STDERR_FILENO : STDOUT_FILENO;
    const bool shown = !seen.files_only && bytes != nullptr && bytes->bytes != nullptr;
    const size_t size = shown ? bytes->size : 0;
    bool broken = false;
    for (size_t at = 0; at < size && !broken;) {
        const ssize_t written = write(fd, bytes->bytes + at, size - at);
        if (written > 0) {
            at += static_cast<size_t>(written);
        } else if (errno == EAGAIN) {
            pollfd room{fd, POLLOUT, 0};
            poll(&room, 1, -1);
        } else {
            broken = errno != EINTR;
        }
    }
    const std::lock_guard guard(seen.lock);
    ++seen.outputs;
    seen.unread |= broken;
    if (Infos(info, count).is_true(PMIX_IOF_COMPLETE)) ++seen.closed;
    wake();
}

/// The programs in the form of PMIx_Spawn; frees their memory.
class Apps {
  public:
    explicit Apps(const Options& options) : list_(options.job.apps.size()) {
        const std::filesystem::path here = std::filesystem::current_path();
        for (size_t i = 0; i < list_.size(); ++i) {
            const App& spec = options.job.apps[i];
            pmix_app_t& app = list_[i];
            PMIX_APP_CONSTRUCT(&app);
            app.cmd = strdup(spec.argv[0].c_str());
            for (const std::string& word : spec.argv)
                PMIx_Argv_append_nosize(&app.argv, word.c_str());
            for (const auto& [name, value] : spec.env)
                PMIx_Argv_append_nosize(&app.env, (name + "=" + value).c_str());
            app.cwd = strdup((spec.wdir.empty() ? here : here / spec.wdir).c_str());
            app.maxprocs = static_cast<int>(spec.ranks);
            InfoList info;
            if (!spec.pset.empty()) info.text(PMIX_PSET_NAME, spec.pset);
            if (!spec.hosts.empty()) info.text(PMIX_HOST, fmt::format("{}", fmt::join(spec.hosts, ",")));
            if (!spec.hostfile.empty()) info.text(PMIX_HOSTFILE, here / spec.hostfile);
            if (spec.preload_program) info.flag(PMIX_PRELOAD_BIN, true);
            if (!spec.preload_files.empty()) info.text(PMIX_PRELOAD_FILES, spec.preload_files);
            if (spec.max_restarts != kNotSaid) info.u32(PMIX_MAX_RESTARTS, spec.max_restarts);
            add_rare(spec, info);
            if (info.size() == 0) continue;
            PMIX_INFO_CREATE(app.info, info.size());
            app.ninfo = info.size();
            for (size_t k = 0; k < info.size(); ++k)
                PMIX_INFO_XFER(&app.info[k], &info.data()[k]);
        }
    }
    Apps(const Apps&) = delete;
    Apps& operator=(const Apps&) = delete;
    ~Apps() {
        for (pmix_app_t& app : list_)
            PMIX_APP_DESTRUCT(&app);
    }
    pmix_app_t* data() { return list_.data(); }
    size_t size() const { return list_.size(); }

  private:
    static void add_rare(const App& spec, InfoList& info) {
        if (spec.session_wdir) info.flag(PMIX_SET_SESSION_CWD, true);
        if (spec.index_argv) info.flag(PMIX_INDEX_ARGV, true);
        if (!spec.added_hosts.empty())
            info.text(PMIX_ADD_HOST, fmt::format("{}", fmt::join(spec.added_hosts, ",")));
        if (!spec.added_hostfile.empty())
            info.text(PMIX_ADD_HOSTFILE, std::filesystem::absolute(spec.added_hostfile));
        for (const EnvChange& change : spec.env_changes) {
            if (change.kind == EnvChange::Kind::Unset) {
                info.text(PMIX_UNSET_ENVAR, change.name);
                continue;
            }
            pmix_envar_t variable{const_cast<char*>(change.name.c_str()),
                                  const_cast<char*>(change.value.c_str()), change.separator};
            info.add(change.kind == EnvChange::Kind::Append ? PMIX_APPEND_ENVAR : PMIX_PREPEND_ENVAR,
                     &variable, PMIX_ENVAR);
        }
    }

    std::vector<pmix_app_t> list_;
};

uint32_t input_rank(const InputPolicy& input) {
    return input.target == InputPolicy::Target::All ? PMIX_RANK_WILDCARD : input.rank;
}

class AttachedJob {
  public:
    explicit AttachedJob(const Options& options) : options_(options) {}
    ~AttachedJob() {
        if (signals_ >= 0) close(signals_);
        if (seen.wake >= 0) close(seen.wake);
    }
    AttachedJob(const AttachedJob&) = delete;
    AttachedJob& operator=(const AttachedJob&) = delete;

    int run() {
        watch();
        const Connection connection(options_.attach);
        pmix_status_t codes[] = {PMIX_EVENT_JOB_END, PMIX_ERR_LOST_CONNECTION};
        const pmix_status_t handler =
            PMIx_Register_event_handler(codes, 2, nullptr, 0, on_event, nullptr, nullptr);
        if (handler < 0) check(handler, "events cannot be heard");
        if (const int status = spawn(); status != 0) return status;
        show_output();
        give_input();
        return wait();
    }

  private:
    void watch() {
        sigset_t wanted;
        sigemptyset(&wanted);
        for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGUSR1, SIGUSR2})
            sigaddset(&wanted, number);
        sigprocmask(SIG_BLOCK, &wanted, nullptr);
        ::signal(SIGPIPE, SIG_IGN);
        signals_ = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
        seen.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (signals_ < 0 || seen.wake < 0)
            throw std::runtime_error(fmt::format("signals cannot be watched: {}", strerror(errno)));
    }

    int spawn() {
        Apps apps(options_);
        InfoList info;
        info.flag(PMIX_NOTIFY_COMPLETION, true);
        info.flag(PMIX_NOHUP, false);  // the job ends with this command
        info.flag(PMIX_FWD_STDOUT, true).flag(PMIX_FWD_STDERR, true);
        if (reads_input()) info.rank(PMIX_FWD_STDIN, input_rank(options_.job.input));
        if (options_.job.map_by != Job().map_by) info.text(PMIX_MAPBY, options_.job.map_by);
        if (options_.job.bind_to != Job().bind_to) info.text(PMIX_BINDTO, options_.job.bind_to);
        if (!options_.job.rank_by.empty()) info.text(PMIX_RANKBY, options_.job.rank_by);
        if (!options_.job.cpu_list.empty()) info.text(PMIX_CPU_LIST, options_.job.cpu_list);
        const DisplayWishes& display = options_.job.display;
        if (display.map) info.flag(PMIX_DISPLAY_MAP, true);
        if (display.detailed) info.flag(PMIX_DISPLAY_MAP_DETAILED, true);
        if (display.allocation) info.flag(PMIX_DISPLAY_ALLOCATION, true);
        if (display.bindings) info.flag(PMIX_REPORT_BINDINGS, true);
        if (!display.topology.empty()) info.text(PMIX_DISPLAY_TOPOLOGY, "");
        if (options_.job.no_oversubscribe) info.flag(PMIX_NO_OVERSUBSCRIBE, true);
        if (options_.job.wishes.continuous) info.flag(PMIX_JOB_CONTINUOUS, true);
        if (options_.job.do_not_launch) info.flag(PMIX_DO_NOT_LAUNCH, true);
        if (options_.job.wishes.recoverable) info.flag(PMIX_JOB_RECOVERABLE, true);
        if (options_.job.wishes.nonzero_is_fine) info.flag(PMIX_ABORT_NON_ZERO_TERM, false);
        if (options_.job.wishes.report_separately) info.flag(PMIX_REPORT_CHILD_SEP, true);
        if (options_.job.spawn_seconds > 0) info.u32(PMIX_SPAWN_TIMEOUT, options_.job.spawn_seconds);
        if (options_.job.on_timeout.states) info.flag(PMIX_TIMEOUT_REPORT_STATE, true);
        if (options_.job.on_timeout.stacks) info.flag(PMIX_TIMEOUT_STACKTRACES, true);
        if (options_.timeout > 0)
            info.u32(PMIX_JOB_TIMEOUT, static_cast<uint32_t>(std::ceil(options_.timeout)));
        pmix_nspace_t nspace;
        const pmix_status_t status = PMIx_Spawn(info.data(), info.size(), apps.data(), apps.size(), nspace);
        if (status == PMIX_ERR_TIMEOUT) {
            say(fmt::format("the job was not started within {} seconds and was ended", options_.timeout));
            return kTimeoutStatus;
        }
        if (status != PMIX_SUCCESS) {
            say(fmt::format("the job cannot be started: {}", PMIx_Error_string(status)));
            return status == PMIX_ERR_JOB_EXE_NOT_FOUND ? 127 : 1;
        }
        job_ = {nspace, PMIX_RANK_WILDCARD};
        return 0;
    }

    bool reads_input() const { return options_.job.input.target != InputPolicy::Target::None; }

    void show_output() {
        const OutputStyle& output = options_.job.output.style;
        InfoList info;
        if (output.tag) info.flag(PMIX_IOF_TAG_OUTPUT, true);
        if (output.rank) info.flag(PMIX_IOF_RANK_OUTPUT, true);
        if (output.timestamp) info.flag(PMIX_IOF_TIMESTAMP_OUTPUT, true);
        if (output.detailed) info.flag(PMIX_IOF_TAG_DETAILED_OUTPUT, true);
        if (output.full_name) info.flag(PMIX_IOF_TAG_FULLNAME_OUTPUT, true);
        if (output.xml) info.flag(PMIX_IOF_XML_OUTPUT, true);
        if (output.raw) info.flag(PMIX_IOF_OUTPUT_RAW, true);
        if (output.pattern) info.flag(PMIX_IOF_FILE_PATTERN, true);
        if (output.merge) info.flag(PMIX_IOF_MERGE_STDERR_STDOUT, true);
        if (!output.directory.empty()) info.text(PMIX_IOF_OUTPUT_TO_DIRECTORY, output.directory);
        if (!output.file.empty()) info.text(PMIX_IOF_OUTPUT_TO_FILE, output.file);
        // Not PMIX_IOF_FILE_ONLY: the end of the output would not be reported.
        seen.files_only = output.file_only && !(output.directory.empty() && output.file.empty());
        const pmix_proc_t job = to_pmix(job_);
        pmix_value_t* value = nullptr;
        if (PMIx_Get(&job, PMIX_JOB_SIZE, nullptr, 0, &value) == PMIX_SUCCESS) {
            size_ = static_cast<uint64_t>(integer_of(*value).value_or(0));
            PMIX_VALUE_RELEASE(value);
        }
        output_ =
            PMIx_IOF_pull(&job, 1, info.data(), info.size(),
                          PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL, on_output, nullptr, nullptr);
        if (output_ < 0)
            say(fmt::format("the output of job {} stays with its muster: {}", job_.nspace,
                            PMIx_Error_string(output_)));
    }

    void give_input() const {
        if (!reads_input()) return;
        const pmix_proc_t target = to_pmix({job_.nspace, input_rank(options_.job.input)});
        InfoList info;
        info.flag(PMIX_IOF_PUSH_STDIN, true);
        const pmix_status_t status =
            PMIx_IOF_push(&target, 1, nullptr, info.data(), info.size(), nullptr, nullptr);
        if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
            say(fmt::format("job {} gets no input: {}", job_.nspace, PMIx_Error_string(status)));
    }

    /// Until the job has ended and its output is here.
    int wait() {
        using Clock = std::chrono::steady_clock;
        uint64_t outputs = 0;
        auto patience = Clock::time_point::max();
        while (true) {
            {
                const std::lock_guard guard(seen.lock);
                if (seen.lost) {
                    say(fmt::format("the connection with the muster of job {} is lost", job_.nspace));
                    return 1;
                }
                if (seen.unread && status_ == 0) {
                    status_ = 128 + SIGPIPE;
                    say(fmt::format("job {}: its output has no reader any more; the job is ended",
                                    job_.nspace));
                    end(PMIX_JOB_CTRL_TERMINATE);
                }
                if (const auto ended = seen.ended.find(job_.nspace); ended != seen.ended.end()) {
                    if (output_ < 0 || seen.unread || seen.closed >= 2 * size_ || Clock::now() >= patience)
                        break;
                    if (patience == Clock::time_point::max() || outputs != seen.outputs)
                        patience = Clock::now() + kPatience;
                    outputs = seen.outputs;
                }
            }
            pollfd fds[] = {{signals_, POLLIN, 0}, {seen.wake, POLLIN, 0}};
            poll(fds, 2, patience == Clock::time_point::max() ? -1 : 1000);
            uint64_t count = 0;
            [[maybe_unused]] const ssize_t got = read(seen.wake, &count, sizeof count);
            signalfd_siginfo info;
            while (read(signals_, &info, sizeof info) == sizeof info)
                on_signal(static_cast<int>(info.ssi_signo));
        }
        // Flushes the last unfinished lines of kept output.
        if (output_ >= 0) PMIx_IOF_deregister(static_cast<size_t>(output_), nullptr, 0, nullptr, nullptr);
        return exit_status();
    }

    int exit_status() {
        const std::lock_guard guard(seen.lock);
        const auto [status, code] = seen.ended[job_.nspace];
        if (status_ != 0) return status_;
        if (status == PMIX_SUCCESS) return 0;
        if (status == PMIX_ERR_TIMEOUT) {
            say(fmt::format("the job did not end within {} seconds and was ended", options_.timeout));
            return kTimeoutStatus;
        }
        const auto failed = seen.failed.find(job_.nspace);
        say(fmt::format("job {} has failed: {}{}", job_.nspace, PMIx_Error_string(status),
                        failed != seen.failed.end()
                            ? fmt::format(", first rank {} with exit code {}", failed->second.rank, code)
                            : std::string()));
        return code != 0 ? code : 1;
    }

    void on_signal(int number) {
        switch (number) {
            case SIGUSR1:
            case SIGUSR2:
                return send(number);
            case SIGTSTP:
                end(PMIX_JOB_CTRL_PAUSE);
                raise(SIGSTOP);
                return end(PMIX_JOB_CTRL_RESUME);
            default:
                break;
        }
        if (status_ == 0) {
            status_ = 128 + number;
            say(fmt::format("the job is ended by {}", signal_text(number)));
            return end(PMIX_JOB_CTRL_TERMINATE);
        }
        end(PMIX_JOB_CTRL_KILL);
    }

    void send(int number) const {
        InfoList info;
        info.add(PMIX_JOB_CTRL_SIGNAL, &number, PMIX_INT);
        control(std::move(info));
    }
    void end(const char* how) const {
        InfoList info;
        info.flag(how, true);
        control(std::move(info));
    }
    /// Without waiting for the answer, which may be queued after output without a reader.
    void control(InfoList info) const {
        auto kept = std::make_unique<InfoList>(std::move(info));
        const pmix_proc_t job = to_pmix(job_);
        const pmix_status_t status = PMIx_Job_control_nb(
            &job, 1, kept->data(), kept->size(),
            [](pmix_status_t, pmix_info_t*, size_t, void* data, pmix_release_cbfunc_t release,
               void* released) {
                delete static_cast<InfoList*>(data);
                if (release != nullptr) release(released);
            },
            kept.get());
        if (status == PMIX_SUCCESS) (void)kept.release();  // the callback has it
    }

    static void say(const std::string& line) { fmt::print(stderr, "muster: {}\n", line); }

    const Options& options_;
    int signals_ = -1;
    ProcName job_;
    uint64_t size_ = UINT32_MAX;            ///< where it is not known the output's end is not, either
    pmix_status_t output_ = PMIX_ERR_INIT;  ///< number of the pull
    int status_ = 0;
};

}  // namespace

int run_attached(const Options& options) {
    return AttachedJob(options).run();
}

}  // namespace muster::launcher
