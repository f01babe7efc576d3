// SPDX-License-Identifier: BSD-3-Clause
// Creation and destruction of the runtime: see runtime.hpp.
#include "core/runtime/runtime.hpp"

#include <pmix/muster.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "framework/base/cpu_list.hpp"
#include "framework/library_parameters.hpp"

namespace muster {
namespace {

/// A directory from an attribute, then from environment variables, then /tmp.
std::string choose_directory(InfoView info, const char* attribute,
                             std::initializer_list<const char*> variables) {
    if (const pmix_info_t* given = info.find(attribute)) {
        if (const char* path = value_as_string(&given->value); path != nullptr && *path != '\0') return path;
    }
    for (const char* variable : variables) {
        if (const char* path = secure_getenv(variable); path != nullptr && *path != '\0') return path;
    }
    return "/tmp";
}

std::string own_hostname(InfoView info) {
    if (const pmix_info_t* given = info.find(PMIX_HOSTNAME)) {
        if (const char* name = value_as_string(&given->value); name != nullptr && *name != '\0') return name;
    }
    if (const char* name = secure_getenv("PMIX_HOSTNAME"); name != nullptr && *name != '\0') return name;
    char name[256] = "localhost";
    gethostname(name, sizeof name - 1);
    return name;
}

}  // namespace

Result<std::unique_ptr<Runtime>> Runtime::create(const Options& options) {
    std::unique_ptr<Runtime> runtime(new Runtime());
    runtime->role_ = options.role;
    runtime->hostname_ = own_hostname(options.info);
    runtime->session_directory_ =
        choose_directory(options.info, PMIX_SERVER_TMPDIR, {"PMIX_SERVER_TMPDIR", "TMPDIR", "TEMP", "TMP"});
    runtime->system_directory_ =
        choose_directory(options.info, PMIX_SYSTEM_TMPDIR, {"PMIX_SYSTEM_TMPDIR", "TMPDIR", "TEMP", "TMP"});
    runtime->thread_name_ = "pmix-progress";

    Parameters::Sources sources = Parameters::Sources::standard();
    runtime->parameters_ = std::make_unique<Parameters>(std::move(sources));
    define_library_parameters(*runtime->parameters_);

    const bool external = options.info.is_true(PMIX_EXTERNAL_PROGRESS);
    constexpr int64_t kLongestPolling = 1000000;
    const std::chrono::microseconds poll_limit(
        std::clamp<int64_t>(runtime->parameters_->integer("pmix_progress_poll_time"), 0, kLongestPolling));
    if (external) {
        EventLoop& loop = *(runtime->loop_ = std::make_unique<EventLoop>());
        runtime->callers_.emplace(loop).poll_fd();
    } else if (options.role == Role::Client || options.shares_loop) {
        // A client, or a tool that is no server, mostly waits for one reply at a time.
        EventLoop& loop = *(runtime->loop_ = std::make_unique<EventLoop>(EventLoop::On::Poll, poll_limit));
        runtime->thread_.emplace(loop, LoopThread::Beside::Callers);
        runtime->callers_.emplace(loop, &*runtime->thread_);
    } else {
        runtime->loop_ = std::make_unique<EventLoop>(EventLoop::On::Libevent, poll_limit);
        runtime->thread_.emplace(*runtime->loop_, LoopThread::Beside::Nobody);
    }

    Registry::Options where = Registry::Options::standard(*runtime->parameters_);
    where.linked = linked_components();
    where.loop = runtime->loop_.get();
    if (options.role != Role::Client) where.attributes = init_attributes(options.info);
    runtime->registry_ = std::make_unique<Registry>(*runtime->parameters_, where);
    runtime->log_ = &runtime->registry_->log(options.role == Role::Server ? "server"
                                             : options.role == Role::Tool ? "tool"
                                                                          : "client");

    if (auto bound = runtime->bind_thread(options.info); !bound) {
        MUSTER_LOG(*runtime->log_, Error, "cannot start: %s", bound.error().text.c_str());
        return bound.error();
    }

    const auto unusable = [&](std::string reason) {
        MUSTER_LOG(*runtime->log_, Error, "cannot start: %s", reason.c_str());
        return Error{PMIX_ERR_NOT_AVAILABLE, std::move(reason)};
    };
    const auto encodings = runtime->registry_->bfrops();
    if (encodings.empty()) return unusable(runtime->registry_->why_none("bfrops"));
    runtime->own_format_ = {encodings.front(), BufferType::NonDescribed};

    const auto stores = runtime->registry_->stores();
    if (stores.empty()) return unusable(runtime->registry_->why_none("gds"));
    runtime->store_ = stores.front();
    if (const char* behind = runtime->store_->behind(); *behind != '\0') {
        Gds* other = runtime->registry_->store_behind(behind);
        if (other == nullptr) {
            return unusable(std::string("store ") + runtime->store_->name() + " needs store " + behind +
                            ", which cannot be used");
        }
        runtime->store_->stand_before(*other);
    }
    StoreContext context;
    context.format = runtime->own_format_;
    context.hostname = runtime->hostname_;
    // Only servers, which launchers are, parse the maps of hosts; other processes get the parsed maps.
    if (options.role == Role::Server || options.info.is_true(PMIX_LAUNCHER))
        runtime->pregs_ = runtime->registry_->pregs();
    context.pregs = runtime->pregs_;
    runtime->store_->set_context(std::move(context));
    // Clients have their server's environment; a large job would log the same lines many times.
    if (options.role != Role::Client) {
        const pmix_value_t* names = options.info.value(MUSTER_CHECK_PARAMETERS);
        const char* text = names != nullptr ? value_as_string(names) : nullptr;
        runtime->registry_->warn_unknown_parameters(text != nullptr ? std::optional<std::string_view>(text)
                                                                    : std::nullopt);
    }
    return runtime;
}

Result<void> Runtime::bind_thread(InfoView info) {
    std::string wanted = parameters_->text("pmix_progress_thread_cpus");
    bool required = parameters_->boolean("pmix_bind_progress_thread_reqd");
    if (const pmix_info_t* given = info.find(PMIX_BIND_PROGRESS_THREAD)) {
        const char* text = value_as_string(&given->value);
        if (text == nullptr)
            return Error{PMIX_ERR_BAD_PARAM,
                         "PMIX_BIND_PROGRESS_THREAD is no string: give a list such as 0-3,8"};
        wanted = text;
    } else if (wanted.empty()) {
        return {};
    }
    if (info.find(PMIX_BIND_REQUIRED) != nullptr) required = info.is_true(PMIX_BIND_REQUIRED);

    const auto processors = read_cpu_list(wanted);
    std::optional<Error> failed;
    if (!processors) {
        failed = Error{PMIX_ERR_BAD_PARAM, "the list of processors for the progress thread, '" + wanted +
                                               "', is none: give numbers and ranges such as 0-3,8"};
    } else if (host_drives()) {
        failed = Error{PMIX_ERR_NOT_SUPPORTED,
                       "with PMIX_EXTERNAL_PROGRESS there is no progress thread that could be bound"};
    } else if (!can_bind_to(*processors)) {
        failed = Error{PMIX_ERR_NOT_SUPPORTED, "this process may use none of the processors " + wanted +
                                                   ", to which its progress thread is to be bound"};
    }
    if (failed && required) return std::move(*failed);
    if (failed) {
        MUSTER_LOG(*log_, Warning, "%s; it is not bound", failed->text.c_str());
        return {};
    }
    thread_->bind(*processors);
    return {};
}

Runtime::~Runtime() {
    stop();
    registry_.reset();
    // Explicitly: the end of a task that has not run may answer a call, which asks for the callers then.
    callers_.reset();
    thread_.reset();
    loop_.reset();
}

void Runtime::note_own_facts(const pmix_proc_t* server, const char* uri) {
    constexpr size_t kFacts = 8;
    own_facts_.reserve(kFacts);
    own_facts_.add(PMIX_PROCID, self_);
    own_facts_.add(PMIX_NSPACE, static_cast<const char*>(self_.nspace));
    own_facts_.add(PMIX_RANK, Value::rank(self_.rank));
    own_facts_.add(PMIX_PROC_PID, Value::pid(getpid()));
    if (server != nullptr) {
        own_facts_.add(PMIX_SERVER_NSPACE, static_cast<const char*>(server->nspace));
        own_facts_.add(PMIX_SERVER_RANK, Value::rank(server->rank));
    }
    if (uri != nullptr) own_facts_.add(PMIX_SERVER_URI, uri);
    if (host_drives()) own_facts_.add(MUSTER_PROGRESS_FD, callers_->poll_fd());
}

void Runtime::start() {
    if (thread_) thread_->start(thread_name_.c_str());
}

void Runtime::set_company(size_t processes) {
    // Counts the processors of the affinity mask: a peer may need the only one that this process may use.
    cpu_set_t mine;
    const int processors = sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1;
    loop_->polling().allow(processes <= static_cast<size_t>(processors));
}

void Runtime::stop(Task last) {
    if (thread_) thread_->stop(std::move(last));
}

const Bfrops* Runtime::find_bfrops(std::string_view wire_name) {
    for (const Bfrops* encoding : registry_->bfrops()) {
        if (encoding->speaks(wire_name)) return encoding;
    }
    return nullptr;
}

}  // namespace muster
