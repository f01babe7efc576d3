// SPDX-License-Identifier: BSD-3-Clause
// The thread for files: see file_worker.hpp.
#include "core/control/file_worker.hpp"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <utility>

namespace muster {

void FileWorker::run(Task task, Task done) {
    {
        const MutexLock guard(lock_);
        jobs_.push_back({std::move(task), std::move(done)});
        if (std::exchange(working_, true)) return;
    }
    if (thread_.joinable()) thread_.join();  // it has found nothing more to do
    // Signals are for the threads of the host.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread([this] { work(); });
        pthread_setname_np(thread_.native_handle(), "pmix-files");
    } catch (const std::system_error&) {
        work();
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void FileWorker::work() {
    for (;;) {
        Job job;
        {
            const MutexLock guard(lock_);
            if (jobs_.empty()) {
                working_ = false;
                return;
            }
            job = std::move(jobs_.front());
            jobs_.pop_front();
        }
        try {
            if (job.task) job.task();
        } catch (const std::exception&) {
            // No memory: the remaining work is kept.
        }
        job.task = nullptr;
        if (!job.done) continue;
        {
            const MutexLock guard(lock_);
            done_.push_back(std::move(job.done));
        }
        loop_.post([weak = std::weak_ptr<FileWorker*>(self_)] {
            if (const auto self = weak.lock()) (*self)->deliver();
        });
    }
}

void FileWorker::deliver() {
    for (;;) {
        Task done;
        {
            const MutexLock guard(lock_);
            if (done_.empty()) return;
            done = std::move(done_.front());
            done_.pop_front();
        }
        done();
    }
}

void FileWorker::settled(Task done) {
    bool idle = false;
    {
        const MutexLock guard(lock_);
        idle = !working_ && done_.empty();
    }
    if (idle) return done();
    run({}, std::move(done));
}

void FileWorker::finish() {
    if (thread_.joinable()) thread_.join();
    deliver();
}

}  // namespace muster
