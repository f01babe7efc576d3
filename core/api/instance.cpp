// SPDX-License-Identifier: BSD-3-Clause
// The Process object of this process: see instance.hpp.
#include "core/api/instance.hpp"

#include <pmix/muster.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <new>
#include <string>
#include <thread>

#include "core/api/topology.hpp"
#include "framework/base/descriptor_claim.hpp"
#include "framework/base/mutex.hpp"

namespace muster {
namespace {

struct Slot {
    Mutex lock;  // held during init and finalize as a whole
    int references MUSTER_GUARDED_BY(lock) = 0;
    std::unique_ptr<Process> owned MUSTER_GUARDED_BY(lock);
    std::atomic<Process*> current{nullptr};
    std::atomic<long> users{0};
    Server* inherited = nullptr;  // in a child of fork(): the parent's server, to be read only
};

/// Time limit of fork() for the progress thread to pause, and the maximum duration of the pause.
constexpr std::chrono::milliseconds kForkPatience{100};
constexpr std::chrono::seconds kLongestFork{2};

/// The progress thread of a server pauses while another thread forks, so that the child reads a consistent
/// server (PMIx_server_setup_fork).
struct Standstill {
    Mutex lock;
    std::condition_variable changed;
    bool reached MUSTER_GUARDED_BY(lock) = false;
    bool over MUSTER_GUARDED_BY(lock) = false;
};
thread_local std::shared_ptr<Standstill> standstill;

enum class ForkWatch { Off, Beginning, On };
constinit std::atomic<ForkWatch> fork_watch{ForkWatch::Off};

/// Never destroyed: threads may call while the process exits. There from the start: a child of fork() finds
/// it whatever others did.
union Lasting {
    Slot slot;
    constexpr Lasting() : slot() {}
    ~Lasting() {}  // NOLINT(modernize-use-equals-default)
};
constinit Lasting lasting;

Slot& slot() {
    return lasting.slot;
}

/// fork() does not wait for a progress thread that does not pause (a host blocks it in an upcall): most
/// children of fork() call exec and read nothing.
void let_server_stand() {
    try {
        const Use use;
        if (!use || use->server() == nullptr || use->loop().on_loop()) return;
        if (use->runtime().host_drives()) return;
        auto ours = std::make_shared<Standstill>();
        use->loop().post([ours] {
            MutexLock lock(ours->lock);
            ours->reached = true;
            ours->changed.notify_all();
            const auto limit = std::chrono::steady_clock::now() + kLongestFork;
            while (!ours->over && lock.wait_until(ours->changed, limit)) {
            }
        });
        MutexLock lock(ours->lock);
        const auto limit = std::chrono::steady_clock::now() + kForkPatience;
        while (!ours->reached && lock.wait_until(ours->changed, limit)) {
        }
        standstill = ours;
    } catch (...) {  // without memory the child may find the server in the middle of a change
        standstill.reset();
    }
}

void before_fork() {
    let_server_stand();
    DescriptorClaim::before_fork();
}

void after_fork() {
    DescriptorClaim::after_fork();
    const auto ours = std::move(standstill);
    standstill.reset();
    if (!ours) return;
    const MutexLock lock(ours->lock);
    ours->over = true;
    ours->changed.notify_all();
}

/// In a child of fork() there is no progress thread, and the connection is the parent's: the child is not
/// initialised, and may be on its own. The parent's objects stay where they are, untouched: other threads may
/// have been in the middle of changing them, or of making the first of them. Only its connections are closed
/// here, so that the servers see the parent's end when it comes.
void forget_in_child() MUSTER_NO_THREAD_SAFETY_ANALYSIS {
    fork_watch = ForkWatch::On;  // the thread that was setting it is not in the child
    Slot& the_slot = slot();
    new (&the_slot.lock) Mutex;  // another thread may have held it
    Process* process = the_slot.owned.release();
    if (process != nullptr) the_slot.inherited = process->server();
    the_slot.references = 0;
    the_slot.current.store(nullptr);
    the_slot.users.store(0);
    DescriptorClaim::close_all_in_child();
}

/// Before anything is locked or made that a child could find so. It is done once; where the one that does it
/// does not come to an end, a fork() of its process was in between, and this is the child.
bool watch_forks() {
    ForkWatch before = ForkWatch::Off;
    if (!fork_watch.compare_exchange_strong(before, ForkWatch::Beginning)) {
        for (int looks = 0; fork_watch == ForkWatch::Beginning && looks < 1000; ++looks)
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        if (fork_watch == ForkWatch::On) return true;
    }
    const bool watching = pthread_atfork(before_fork, after_fork, forget_in_child) == 0;
    fork_watch = watching ? ForkWatch::On : ForkWatch::Off;
    return watching;
}

/// Returns the caller's address for the text of an error, or null.
char** error_text(InfoView info) {
    const pmix_value_t* value = info.value(MUSTER_ERROR_TEXT);
    return value != nullptr && value->type == PMIX_POINTER ? static_cast<char**>(value->data.ptr) : nullptr;
}

/// The sentence of an init for which the system has given too little, by the error of the call that failed.
Error want_of_resources(int error) {
    // Nothing else in an init is refused with EPERM. The C library takes clone() where clone3 is unknown
    // only.
    if (error == EPERM)
        return {
            PMIX_ERR_NO_PERMISSIONS,
            "the progress thread cannot be started: the kernel refuses clone3 with EPERM; have the seccomp "
            "filter of the container refuse clone3 with ENOSYS"};
    return {PMIX_ERR_NOMEM,
            std::string("memory, a descriptor or a thread cannot be had: ") + std::strerror(error)};
}

}  // namespace

Hold::Hold() {
    Slot& the_slot = slot();
    // Counted first, looked second: finalize clears the pointer first and looks at the count second.
    the_slot.users.fetch_add(1);
    process_ = the_slot.current.load();
    if (process_ == nullptr) the_slot.users.fetch_sub(1);
}

Hold::~Hold() {
    if (process_ != nullptr) slot().users.fetch_sub(1);
}

bool instance::add_reference() {
    Slot& the_slot = slot();
    const MutexLock lock(the_slot.lock);
    if (the_slot.references == 0) return false;
    ++the_slot.references;
    return true;
}

pmix_status_t instance::initialize(const Make& make, InfoView info) {
    char** const text = error_text(info);
    if (text != nullptr) *text = nullptr;
    const Uncancelled uncancelled;
    if (fork_watch != ForkWatch::On && !watch_forks()) return PMIX_ERR_NOMEM;
    Slot& the_slot = slot();
    const MutexLock lock(the_slot.lock);
    if (the_slot.references > 0) {
        ++the_slot.references;
        return PMIX_SUCCESS;
    }
    auto made = [&]() -> decltype(make()) {
        try {
            errno = 0;
            return make();
        } catch (const std::bad_alloc&) {
            return want_of_resources(errno);
        }
    }();
    if (!made) {
        if (text != nullptr) *text = ::strdup(made.error().text.c_str());
        return made.status();
    }
    the_slot.owned = std::move(*made);
    the_slot.references = 1;
    the_slot.current.store(the_slot.owned.get());
    return PMIX_SUCCESS;
}

pmix_status_t instance::finalize(bool fence, pmix_status_t* goodbye) {
    const Uncancelled uncancelled;
    Slot& the_slot = slot();
    const MutexLock lock(the_slot.lock);
    if (the_slot.references == 0) return PMIX_ERR_INIT;
    if (the_slot.references > 1) {
        --the_slot.references;
        return PMIX_SUCCESS;
    }
    Process& process = *the_slot.owned;
    if (process.loop().on_loop()) return PMIX_ERR_WOULD_BLOCK;  // a handler cannot end the thread it runs on
    process.runtime().start();  // if PMIx_Progress_thread_stop has ended it: finalize needs it
    const pmix_status_t answered = process.say_goodbye(fence);
    if (goodbye != nullptr) *goodbye = answered;
    the_slot.current.store(nullptr);
    // Calls on other threads end now: say_goodbye() has answered them with an error.
    // Fewer than none: calls in the middle of which a handler made this process.
    while (the_slot.users.load() > 0) {
        process.runtime().progress();
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    process.stop();
    the_slot.owned.reset();
    the_slot.references = 0;
    api::forget_topology();
    return PMIX_SUCCESS;
}

Server* instance::inherited_server() {
    return slot().inherited;
}

bool instance::initialized() {
    return slot().current.load() != nullptr;
}

}  // namespace muster
