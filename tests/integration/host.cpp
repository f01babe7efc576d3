// SPDX-License-Identifier: BSD-3-Clause
// A host for tests: see host.hpp.
#include "tests/integration/host.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pmix.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>

extern char** environ;

namespace integration {
namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point after(double seconds) {
    return Clock::now() + std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6));
}

}  // namespace

struct Host::State {
    std::mutex lock;  // guards all below
    std::condition_variable changed;
    std::vector<Upcall> upcalls;
    std::set<std::string> held;
    std::map<std::string, std::vector<std::function<void()>>> kept;
    std::deque<std::function<void()>> answers;
    bool ending = false;
    pmix_status_t modex_status = PMIX_ERR_NOT_FOUND;
    std::string modex_data;
    bool fence_changed = false;
    pmix_status_t fence_status = PMIX_SUCCESS;
    std::string fence_data;
    std::thread answerer;
    int jobs = 0;

    void record(Upcall upcall, std::function<void()> answer) {
        std::lock_guard guard(lock);
        const std::string name = upcall.name;
        upcalls.push_back(std::move(upcall));
        if (held.count(name) > 0) {
            kept[name].push_back(std::move(answer));
        } else {
            answers.push_back(std::move(answer));
        }
        changed.notify_all();
    }
    void run() {
        std::unique_lock guard(lock);
        for (;;) {
            changed.wait(guard, [this] { return ending || !answers.empty(); });
            if (answers.empty()) return;
            auto answer = std::move(answers.front());
            answers.pop_front();
            guard.unlock();
            answer();
            guard.lock();
        }
    }
};

namespace {

// The module's functions have no context: there is one host at a time.
Host::State* current = nullptr;

std::vector<std::string> keys_of(const pmix_info_t info[], size_t ninfo) {
    std::vector<std::string> keys;
    for (size_t i = 0; i < ninfo; ++i)
        keys.emplace_back(info[i].key);
    return keys;
}

pmix_status_t on_connected(const pmix_proc_t* proc, void* object, pmix_info_t info[], size_t ninfo,
                           pmix_op_cbfunc_t done, void* context) {
    Upcall upcall{"connected", *proc, object, 0, "", {}, keys_of(info, ninfo), ""};
    current->record(std::move(upcall), [=] { done(PMIX_SUCCESS, context); });
    return PMIX_SUCCESS;
}

pmix_status_t on_finalized(const pmix_proc_t* proc, void* object, pmix_op_cbfunc_t done, void* context) {
    Upcall upcall{"finalized", *proc, object, 0, "", {}, {}, ""};
    current->record(std::move(upcall), [=] { done(PMIX_SUCCESS, context); });
    return PMIX_SUCCESS;
}

pmix_status_t on_abort(const pmix_proc_t* proc, void* object, int status, const char message[],
                       pmix_proc_t procs[], size_t nprocs, pmix_op_cbfunc_t done, void* context) {
    Upcall upcall{"abort", *proc, object, status, message == nullptr ? "" : message, {}, {}, ""};
    upcall.empty_list = procs != nullptr && nprocs == 0;
    if (procs != nullptr) upcall.procs.assign(procs, procs + nprocs);
    current->record(std::move(upcall), [=] { done(PMIX_SUCCESS, context); });
    return PMIX_SUCCESS;
}

// Passes data to a callback and overwrites the data as soon as the callback has returned: the server must
// have copied them.
void give(pmix_modex_cbfunc_t done, pmix_status_t status, std::string data, void* context) {
    done(status, data.empty() ? nullptr : data.data(), data.size(), context, nullptr, nullptr);
    std::fill(data.begin(), data.end(), '\xee');
}

pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[], size_t ninfo,
                       char* data, size_t size, pmix_modex_cbfunc_t done, void* context) {
    Upcall upcall;
    upcall.name = "fence";
    upcall.procs.assign(procs, procs + nprocs);
    upcall.keys = keys_of(info, ninfo);
    if (data != nullptr) upcall.data.assign(data, size);
    free(data);  // it belongs to the host
    pmix_status_t status = PMIX_SUCCESS;
    std::string answer = upcall.data;
    {
        std::lock_guard guard(current->lock);
        if (current->fence_changed) {
            status = current->fence_status;
            answer = current->fence_data;
        }
    }
    current->record(std::move(upcall), [=] { give(done, status, answer, context); });
    return PMIX_SUCCESS;
}

pmix_status_t on_modex(const pmix_proc_t* proc, const pmix_info_t info[], size_t ninfo,
                       pmix_modex_cbfunc_t done, void* context) {
    Upcall upcall{"modex", *proc, nullptr, 0, "", {}, keys_of(info, ninfo), ""};
    for (size_t i = 0; i < ninfo; ++i) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_REQUESTOR)) upcall.procs.push_back(*info[i].value.data.proc);
        if (PMIX_CHECK_KEY(&info[i], PMIX_USERID))
            upcall.status = static_cast<int>(info[i].value.data.uint32);
    }
    pmix_status_t status = PMIX_SUCCESS;
    std::string data;
    {
        std::lock_guard guard(current->lock);
        status = current->modex_status;
        data = current->modex_data;
    }
    current->record(std::move(upcall), [=] { give(done, status, data, context); });
    return PMIX_SUCCESS;
}

/// Waits for the callback of one call.
class Done {
  public:
    static void callback(pmix_status_t status, void* self) {
        auto* done = static_cast<Done*>(self);
        std::lock_guard guard(done->lock_);
        done->status_ = status;
        done->there_ = true;
        done->changed_.notify_all();
    }
    pmix_status_t wait(pmix_status_t returned) {
        if (returned == PMIX_OPERATION_SUCCEEDED) return PMIX_SUCCESS;
        if (returned != PMIX_SUCCESS) return returned;
        std::unique_lock guard(lock_);
        const auto limit = after(20);
        while (!there_) {
            if (Clock::now() > limit) return PMIX_ERR_TIMEOUT;
            // Does nothing, unless this host drives the library itself.
            guard.unlock();
            PMIx_Progress();
            guard.lock();
            changed_.wait_for(guard, std::chrono::milliseconds(1), [this] { return there_; });
        }
        return status_;
    }

  private:
    std::mutex lock_;
    std::condition_variable changed_;
    pmix_status_t status_ = PMIX_SUCCESS;
    bool there_ = false;
};

pmix_proc_t process_of(const Host::Job& job, pmix_rank_t rank) {
    pmix_proc_t proc;
    memset(&proc, 0, sizeof proc);
    snprintf(proc.nspace, sizeof proc.nspace, "%s", job.nspace.c_str());
    proc.rank = rank;
    return proc;
}

std::string this_host() {
    char name[256] = "localhost";
    gethostname(name, sizeof name - 1);
    return name;
}

std::string joined(const std::vector<pmix_rank_t>& ranks) {
    std::string text;
    for (const pmix_rank_t rank : ranks)
        text += (text.empty() ? "" : ",") + std::to_string(rank);
    return text;
}

}  // namespace

// --- processes ---

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::exchange(other.output_, -1)),
      input_(std::exchange(other.input_, -1)),
      buffer_(std::move(other.buffer_)) {}

Process::~Process() {
    if (pid_ > 0) wait(0);
    if (output_ >= 0) close(output_);
    if (input_ >= 0) close(input_);
}

std::string Process::line(double seconds) {
    const auto limit = after(seconds);
    for (;;) {
        const size_t end = buffer_.find('\n');
        if (end != std::string::npos) {
            std::string found = buffer_.substr(0, end);
            buffer_.erase(0, end + 1);
            return found;
        }
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now()).count();
        pollfd ready{output_, POLLIN, 0};
        if (left < 0 || poll(&ready, 1, static_cast<int>(left)) <= 0) return "";
        char block[1024];
        const ssize_t got = read(output_, block, sizeof block);
        if (got <= 0) return "";
        buffer_.append(block, static_cast<size_t>(got));
    }
}

void Process::go_on() {
    ASSERT_EQ(write(input_, "\n", 1), 1);
}

void Process::signal(int number) {
    if (pid_ > 0) kill(pid_, number);
}

int Process::wait(double seconds) {
    const auto limit = after(seconds);
    int status = 0;
    bool in_time = true;
    // The end of its output is the end of the process, unless it hangs at exit.
    while (waitpid(pid_, &status, WNOHANG) == 0) {
        if (Clock::now() >= limit) {
            in_time = false;
            kill(pid_, SIGKILL);
            waitpid(pid_, &status, 0);
            break;
        }
        pollfd ready{-1, 0, 0};
        poll(&ready, 1, 2);
    }
    pid_ = -1;
    if (!in_time) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// --- the host ---

uint32_t Host::Job::size() const {
    size_t sum = 0;
    for (const auto& node : nodes)
        sum += node.size();
    return static_cast<uint32_t>(sum);
}

Host::Host(const std::function<void(pmix_server_module_t&)>& change,
           const std::vector<pmix_info_t>& directives)
    : state_(std::make_unique<State>()) {
    signal(SIGPIPE, SIG_IGN);
    current = state_.get();
    // The library may keep the table's address: it lives as long as the program.
    static pmix_server_module_t module;
    memset(&module, 0, sizeof module);
    module.client_connected2 = on_connected;
    module.client_finalized = on_finalized;
    module.abort = on_abort;
    module.fence_nb = on_fence;
    module.direct_modex = on_modex;
    if (change) change(module);
    auto infos = directives;
    EXPECT_EQ(PMIx_server_init(&module, infos.empty() ? nullptr : infos.data(), infos.size()), PMIX_SUCCESS);
    // Afterwards: some actions of a server require a single-threaded process.
    state_->answerer = std::thread([state = state_.get()] { state->run(); });
}

Host::~Host() {
    EXPECT_EQ(PMIx_server_finalize(), PMIX_SUCCESS);
    {
        std::lock_guard guard(state_->lock);
        state_->ending = true;
        state_->answers.clear();
        state_->changed.notify_all();
    }
    state_->answerer.join();
    current = nullptr;
}

void* Host::object(pmix_rank_t rank) {
    static char objects[64];
    return &objects[rank];
}

Host::Job Host::start_job(uint32_t here, uint32_t elsewhere, const std::function<void(void* list)>& more) {
    std::vector<std::vector<pmix_rank_t>> nodes(elsewhere > 0 ? 2 : 1);
    for (uint32_t rank = 0; rank < here + elsewhere; ++rank)
        nodes[rank < here ? 0 : 1].push_back(rank);
    return start_job_on(std::move(nodes), more);
}

Host::Job Host::start_job_on(std::vector<std::vector<pmix_rank_t>> nodes,
                             const std::function<void(void* list)>& more) {
    Job job;
    job.nspace = "job-" + std::to_string(getpid()) + "-" + std::to_string(++state_->jobs);
    job.nodes = std::move(nodes);
    EXPECT_EQ(register_job(job, more), PMIX_SUCCESS);
    for (const pmix_rank_t rank : job.nodes[0]) {
        EXPECT_EQ(register_client(job, rank, geteuid(), getegid()), PMIX_SUCCESS);
    }
    return job;
}

pmix_status_t Host::register_job(const Job& job, const std::function<void(void* list)>& more) {
    const uint32_t size = job.size();
    const auto nodes = static_cast<uint32_t>(job.nodes.size());
    std::string names = this_host();
    std::string ranks = joined(job.nodes[0]);
    for (uint32_t i = 1; i < nodes; ++i) {
        names += ",elsewhere" + std::to_string(i);
        ranks += ";" + joined(job.nodes[i]);
    }
    char *node_map = nullptr, *proc_map = nullptr;
    EXPECT_EQ(PMIx_generate_regex(names.c_str(), &node_map), PMIX_SUCCESS);
    EXPECT_EQ(PMIx_generate_ppn(ranks.c_str(), &proc_map), PMIX_SUCCESS);

    void* list = PMIx_Info_list_start();
    const auto add = [list](const char* key, const void* value, pmix_data_type_t type) {
        EXPECT_EQ(PMIx_Info_list_add(list, key, value, type), PMIX_SUCCESS) << key;
    };
    add(PMIX_UNIV_SIZE, &size, PMIX_UINT32);
    add(PMIX_JOB_SIZE, &size, PMIX_UINT32);
    add(PMIX_MAX_PROCS, &size, PMIX_UINT32);
    add(PMIX_NUM_NODES, &nodes, PMIX_UINT32);
    add(PMIX_JOBID, job.nspace.c_str(), PMIX_STRING);
    add(PMIX_NODE_MAP, node_map, PMIX_REGEX);
    add(PMIX_PROC_MAP, proc_map, PMIX_REGEX);
    if (more) more(list);
    pmix_data_array_t array;
    EXPECT_EQ(PMIx_Info_list_convert(list, &array), PMIX_SUCCESS);
    PMIx_Info_list_release(list);
    Done done;
    const pmix_status_t status = done.wait(PMIx_server_register_nspace(
        job.nspace.c_str(), static_cast<int>(job.local()), static_cast<pmix_info_t*>(array.array), array.size,
        Done::callback, &done));
    PMIx_Data_array_destruct(&array);
    free(node_map);
    free(proc_map);
    return status;
}

pmix_status_t Host::register_client(const Job& job, pmix_rank_t rank, uid_t uid, gid_t gid) {
    const pmix_proc_t proc = process_of(job, rank);
    Done done;
    return done.wait(PMIx_server_register_client(&proc, uid, gid, object(rank), Done::callback, &done));
}

void Host::deregister_client(const Job& job, pmix_rank_t rank) {
    const pmix_proc_t proc = process_of(job, rank);
    Done done;
    PMIx_server_deregister_client(&proc, Done::callback, &done);
    EXPECT_EQ(done.wait(PMIX_SUCCESS), PMIX_SUCCESS);
}

void Host::deregister_job(const Job& job) {
    Done done;
    PMIx_server_deregister_nspace(job.nspace.c_str(), Done::callback, &done);
    EXPECT_EQ(done.wait(PMIX_SUCCESS), PMIX_SUCCESS);
}

std::vector<std::string> Host::environment(const Job& job, pmix_rank_t rank) {
    const pmix_proc_t proc = process_of(job, rank);
    size_t count = 0;
    while (environ[count] != nullptr)
        ++count;
    auto** variables = static_cast<char**>(calloc(count + 1, sizeof(char*)));
    for (size_t i = 0; i < count; ++i)
        variables[i] = strdup(environ[i]);
    EXPECT_EQ(PMIx_server_setup_fork(&proc, &variables), PMIX_SUCCESS);
    std::vector<std::string> found;
    for (size_t i = 0; variables[i] != nullptr; ++i) {
        found.emplace_back(variables[i]);
        free(variables[i]);
    }
    free(variables);
    return found;
}

Process Host::start(const Job& job, pmix_rank_t rank, const std::vector<std::string>& words) {
    return start_program(job, rank, INTEGRATION_CLIENT, words);
}

Process Host::start_program(const Job& job, pmix_rank_t rank, const std::string& program,
                            const std::vector<std::string>& words, const std::vector<std::string>& more) {
    auto variables = environment(job, rank);
    variables.insert(variables.end(), more.begin(), more.end());
    std::vector<char*> environment_block;
    for (auto& variable : variables)
        environment_block.push_back(variable.data());
    environment_block.push_back(nullptr);
    std::vector<std::string> all{program};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> arguments;
    for (auto& word : all)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);

    int output[2], input[2];
    EXPECT_EQ(pipe2(output, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(input, O_CLOEXEC), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(input[0], STDIN_FILENO);
        dup2(output[1], STDOUT_FILENO);
        execve(arguments[0], arguments.data(), environment_block.data());
        _exit(127);
    }
    close(output[1]);
    close(input[0]);
    return {pid, output[0], input[1]};
}

void Host::progress(double seconds) {
    pmix_value_t* value = nullptr;
    ASSERT_EQ(PMIx_Get(nullptr, "muster.progress.fd", nullptr, 0, &value), PMIX_SUCCESS);
    pollfd ready{value->data.integer, POLLIN, 0};
    PMIx_Value_destruct(value);
    free(value);
    poll(&ready, 1, static_cast<int>(seconds * 1000));
    PMIx_Progress();
}

std::vector<Upcall> Host::upcalls(const std::string& name) {
    std::lock_guard guard(state_->lock);
    std::vector<Upcall> found;
    for (const Upcall& upcall : state_->upcalls) {
        if (name.empty() || upcall.name == name) found.push_back(upcall);
    }
    return found;
}

bool Host::wait_for(const std::string& name, size_t count, double seconds) {
    std::unique_lock guard(state_->lock);
    return state_->changed.wait_until(guard, after(seconds), [&] {
        size_t found = 0;
        for (const Upcall& upcall : state_->upcalls)
            found += upcall.name == name ? 1U : 0U;
        return found >= count;
    });
}

void Host::hold(const std::string& name) {
    std::lock_guard guard(state_->lock);
    state_->held.insert(name);
}

void Host::release(const std::string& name) {
    std::lock_guard guard(state_->lock);
    state_->held.erase(name);
    for (auto& answer : state_->kept[name])
        state_->answers.push_back(std::move(answer));
    state_->kept.erase(name);
    state_->changed.notify_all();
}

void Host::answer_modex(pmix_status_t status, std::string data) {
    std::lock_guard guard(state_->lock);
    state_->modex_status = status;
    state_->modex_data = std::move(data);
}

void Host::answer_fence(pmix_status_t status, std::string data) {
    std::lock_guard guard(state_->lock);
    state_->fence_changed = true;
    state_->fence_status = status;
    state_->fence_data = std::move(data);
}

// --- data for other nodes ---

struct ModexRequest::Answer {
    std::mutex lock;
    std::condition_variable changed;
    bool there = false;
    pmix_status_t status = PMIX_SUCCESS;
    std::string data;
};

ModexRequest::ModexRequest(const Host::Job& job, pmix_rank_t rank) : answer_(std::make_shared<Answer>()) {
    const pmix_proc_t proc = process_of(job, rank);
    // The callback owns its share, so that an answer after the test's end finds it alive.
    auto* share = new std::shared_ptr<Answer>(answer_);
    const auto callback = [](pmix_status_t status, char* data, size_t size, void* context) {
        auto* held = static_cast<std::shared_ptr<Answer>*>(context);
        {
            std::lock_guard guard((*held)->lock);
            (*held)->there = true;
            (*held)->status = status;
            if (data != nullptr) (*held)->data.assign(data, size);
            (*held)->changed.notify_all();
        }
        delete held;
    };
    const pmix_status_t returned = PMIx_server_dmodex_request(&proc, callback, share);
    EXPECT_EQ(returned, PMIX_SUCCESS);
    if (returned != PMIX_SUCCESS) delete share;
}

bool ModexRequest::done(double seconds) {
    std::unique_lock guard(answer_->lock);
    return answer_->changed.wait_until(guard, after(seconds), [this] { return answer_->there; });
}

pmix_status_t ModexRequest::status() const {
    std::lock_guard guard(answer_->lock);
    return answer_->status;
}

std::string ModexRequest::data() const {
    std::lock_guard guard(answer_->lock);
    return answer_->data;
}

}  // namespace integration
