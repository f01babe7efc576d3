// SPDX-License-Identifier: BSD-3-Clause
// Upcalls to the host: see host.hpp. The host gives back only the pointer it was given, perhaps twice,
// perhaps after the server has ended. So that pointer is a number, looked up in the one table of upcalls that
// are open in this process; a number that is not there is ignored.
#include "core/exchange/host.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "core/runtime/get_directives.hpp"
#include "framework/base/mutex.hpp"
#include "framework/base/proc.hpp"

namespace muster {
namespace {

struct OpenUpcall : EventLoop::Errand {
    uint64_t owner = 0;
    EventLoop* loop = nullptr;
    std::shared_ptr<void> keep;
    HostDone done;
    HostAnswer answer;
    Host::Held held;

    /// The answer has arrived.
    void run() override {
        held = Host::Held();
        const HostDone call = std::exchange(done, nullptr);
        try {
            call(std::move(answer));
        } catch (const std::bad_alloc&) {
            call(answer_of(PMIX_ERR_NOMEM));
        }
        keep.reset();
    }
};

/// The C interface has space only for a pointer, hence one table per process.
struct OpenUpcalls {
    Mutex lock;
    std::unordered_map<uintptr_t, std::shared_ptr<OpenUpcall>> by_number MUSTER_GUARDED_BY(lock);
    uintptr_t next_number MUSTER_GUARDED_BY(lock) = 1;
    uint64_t next_owner MUSTER_GUARDED_BY(lock) = 1;
};

OpenUpcalls& open_upcalls() {
    static auto* table =
        new OpenUpcalls;  // never destroyed: a host's thread may answer while the process exits
    return *table;
}

}  // namespace

HostAnswer answer_of(pmix_status_t status) {
    HostAnswer answer;
    answer.status = status;
    return answer;
}

Host::Host(EventLoop& loop, Log& log, const pmix_server_module_t* module, size_t size)
    : loop_(loop), log_(log) {
    set_module(module, size);
    OpenUpcalls& open = open_upcalls();
    const MutexLock lock(open.lock);
    owner_ = open.next_owner++;
}

void Host::set_module(const pmix_server_module_t* module, size_t size) {
    module_ = {};
    if (module != nullptr) std::memcpy(static_cast<void*>(&module_), module, std::min(size, sizeof module_));
}

Host::~Host() {
    OpenUpcalls& open = open_upcalls();
    decltype(open.by_number) dropped;  // destroyed outside the lock
    const MutexLock lock(open.lock);
    for (auto it = open.by_number.begin(); it != open.by_number.end();) {
        if (it->second->owner == owner_) {
            dropped.insert(open.by_number.extract(it++));
        } else {
            ++it;
        }
    }
}

void Host::close() {
    closed_ = true;
    std::vector<uintptr_t> numbers;
    {
        OpenUpcalls& open = open_upcalls();
        const MutexLock lock(open.lock);
        for (const auto& [number, upcall] : open.by_number) {
            if (upcall->owner == owner_) numbers.push_back(number);
        }
    }
    for (const uintptr_t number : numbers)
        on_op(PMIX_ERR_LOST_CONNECTION, reinterpret_cast<void*>(number));
}

void Host::upcall(const char* name, std::shared_ptr<void> keep, HostDone done,
                  const std::function<pmix_status_t(void*)>& call) {
    uintptr_t number = 0;
    try {
        auto made = std::make_shared<OpenUpcall>();
        made->owner = owner_;
        made->loop = &loop_;
        made->keep = std::move(keep);
        made->done = done;
        OpenUpcalls& open = open_upcalls();
        const MutexLock lock(open.lock);
        number = open.next_number++;
        open.by_number.emplace(number, std::move(made));
    } catch (const std::bad_alloc&) {
        return done(answer_of(PMIX_ERR_NOMEM));
    }
    done = nullptr;
    MUSTER_LOG(log_, Debug, "upcall %s, number %zu", name, static_cast<size_t>(number));
    pmix_status_t status = PMIX_SUCCESS;
    try {
        status = closed_ ? PMIX_ERR_LOST_CONNECTION : call(reinterpret_cast<void*>(number));
    } catch (const std::bad_alloc&) {  // of a host in C++, too
        status = PMIX_ERR_NOMEM;
    }
    // Else the host will call back.
    if (status != PMIX_SUCCESS) on_op(status, reinterpret_cast<void*>(number));
}

void Host::answer(void* cbdata, HostAnswer answer, Held held) noexcept {
    OpenUpcalls& open = open_upcalls();
    const MutexLock lock(open.lock);
    auto node = open.by_number.extract(reinterpret_cast<uintptr_t>(cbdata));
    if (node.empty()) return;
    OpenUpcall& found = *node.mapped();
    if (answer.status == PMIX_OPERATION_SUCCEEDED) answer.status = PMIX_SUCCESS;
    found.answer = std::move(answer);
    found.held = std::move(held);
    // Under the lock: the owner's destructor cannot take the loop away before.
    found.loop->post_surely(std::move(node.mapped()));
}

void Host::on_op(pmix_status_t status, void* cbdata) {
    answer(cbdata, answer_of(status));
}

void Host::on_modex(pmix_status_t status, const char* data, size_t ndata, void* cbdata,
                    pmix_release_cbfunc_t release, void* release_data) {
    HostAnswer reply = answer_of(status);
    try {
        if (data != nullptr) reply.data.append(data, ndata);
    } catch (const std::bad_alloc&) {
        reply.status = PMIX_ERR_NOMEM;
    }
    answer(cbdata, std::move(reply), Held(release, release_data));
}

void Host::on_info(pmix_status_t status, pmix_info_t* info, size_t ninfo, void* cbdata,
                   pmix_release_cbfunc_t release, void* release_data) {
    HostAnswer reply = answer_of(status);
    try {
        if (info != nullptr && reply.info.add_copies({info, ninfo}) != PMIX_SUCCESS)
            reply.status = PMIX_ERR_BAD_PARAM;
    } catch (const std::bad_alloc&) {
        reply.status = PMIX_ERR_NOMEM;
    }
    answer(cbdata, std::move(reply), Held(release, release_data));
}

void Host::client_connected(const pmix_proc_t& proc, void* server_object, Info info, HostDone done) {
    struct Arguments {
        pmix_proc_t proc;
        Info info;
    };
    auto kept = std::make_shared<Arguments>(Arguments{proc, std::move(info)});
    if (module_.client_connected2 != nullptr) {
        upcall("client_connected2", kept, std::move(done), [&](void* cbdata) {
            return module_.client_connected2(&kept->proc, server_object, kept->info.data(), kept->info.size(),
                                             on_op, cbdata);
        });
        return;
    }
    if (module_.client_connected == nullptr) return answer_soon(PMIX_SUCCESS, std::move(done));
    pmix_status_t status = PMIX_SUCCESS;
    upcall(
        "client_connected", kept, [](const HostAnswer&) {},
        [&](void* cbdata) {
            status = module_.client_connected(&kept->proc, server_object, on_op, cbdata);
            return status;
        });
    answer_soon(status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status, std::move(done));
}

void Host::answer_soon(pmix_status_t status, HostDone done) {
    loop_.post([status, done = std::move(done)] { done(answer_of(status)); });
}

void Host::client_finalized(const pmix_proc_t& proc, void* server_object, HostDone done) {
    if (module_.client_finalized == nullptr) return answer_soon(PMIX_SUCCESS, std::move(done));
    auto kept = std::make_shared<pmix_proc_t>(proc);
    upcall("client_finalized", kept, std::move(done),
           [&](void* cbdata) { return module_.client_finalized(kept.get(), server_object, on_op, cbdata); });
}

void Host::abort(const pmix_proc_t& proc, void* server_object, pmix_status_t status, std::string message,
                 std::vector<pmix_proc_t> procs, HostDone done) {
    if (module_.abort == nullptr) return answer_soon(PMIX_ERR_NOT_SUPPORTED, std::move(done));
    struct Arguments {
        pmix_proc_t proc;
        std::string message;
        std::vector<pmix_proc_t> procs;
    };
    auto kept = std::make_shared<Arguments>(Arguments{proc, std::move(message), std::move(procs)});
    upcall("abort", kept, std::move(done), [&](void* cbdata) {
        return module_.abort(&kept->proc, server_object, status, kept->message.c_str(),
                             kept->procs.empty() ? nullptr : kept->procs.data(), kept->procs.size(), on_op,
                             cbdata);
    });
}

void Host::fence(std::vector<pmix_proc_t> procs, Info info, Bytes data, HostDone done) {
    if (module_.fence_nb == nullptr) return answer_soon(PMIX_ERR_NOT_SUPPORTED, std::move(done));
    struct Arguments {
        std::vector<pmix_proc_t> procs;
        Info info;
    };
    auto kept = std::make_shared<Arguments>(Arguments{std::move(procs), std::move(info)});
    upcall("fence_nb", kept, std::move(done), [&](void* cbdata) {
        // The data becomes the host's: it frees it (Standard, pmix_server_fencenb_fn_t).
        const size_t size = data.size();
        return module_.fence_nb(kept->procs.data(), kept->procs.size(), kept->info.data(), kept->info.size(),
                                reinterpret_cast<char*>(data.release()), size, on_modex, cbdata);
    });
}

void Host::direct_modex(const pmix_proc_t& proc, Info info, HostDone done) {
    if (module_.direct_modex == nullptr) return answer_soon(PMIX_ERR_NOT_SUPPORTED, std::move(done));
    struct Arguments {
        pmix_proc_t proc;
        Info info;
    };
    auto kept = std::make_shared<Arguments>(Arguments{proc, std::move(info)});
    upcall("direct_modex", kept, std::move(done), [&](void* cbdata) {
        const pmix_status_t status =
            module_.direct_modex(&kept->proc, kept->info.data(), kept->info.size(), on_modex, cbdata);
        // Done, and no callback that could bring data.
        return status == PMIX_OPERATION_SUCCEEDED ? PMIX_ERR_NOT_FOUND : status;
    });
}

HostDone Host::bounded(const char* what, const pmix_proc_t& caller, InfoView directives, HostDone done) {
    const auto limit = read_timeout(directives);
    if (!limit) return done;
    struct State {
        HostDone done;
        std::unique_ptr<Watch> watch;
        void finish(HostAnswer answer) {
            watch.reset();
            if (auto callback = std::exchange(done, nullptr)) callback(std::move(answer));
        }
    };
    auto state = std::make_shared<State>();
    state->done = std::move(done);
    constexpr std::chrono::seconds kHostsOwnTime{1};
    state->watch =
        loop_.after(*limit + kHostsOwnTime, [log = &log_, what, caller, weak = std::weak_ptr<State>(state)] {
            const auto expired = weak.lock();
            if (!expired) return;
            MUSTER_LOG(*log, Error, "%s of %s reached its time limit: the host has not answered", what,
                       proc_text(caller).c_str());
            expired->finish(answer_of(PMIX_ERR_TIMEOUT));
        });
    return [state](HostAnswer answer) { state->finish(std::move(answer)); };
}

}  // namespace muster
