// SPDX-License-Identifier: BSD-3-Clause
// A host that forwards: records the arguments of iof_pull and push_stdin, and delivers output.
#pragma once

#include <gtest/gtest.h>
#include <pmix.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/integration/host.hpp"

namespace integration {

struct Forwarded {
    std::string nspace;
    pmix_rank_t rank = 0;
    size_t nprocs = 0;
    pmix_iof_channel_t channels = 0;
    std::vector<std::string> keys;
    std::string bytes;
    bool null = false;
    uint32_t uid = UINT32_MAX;
    bool has(const std::string& key) const {
        for (const std::string& one : keys) {
            if (one == key) return true;
        }
        return false;
    }
};

/// The arguments of the upcalls. One object at a time in a process.
class IofUpcalls {
  public:
    IofUpcalls() { current() = this; }
    ~IofUpcalls() {
        for (std::thread& thread : threads_)
            thread.join();
        current() = nullptr;
    }
    static void into(pmix_server_module_t& module) {
        module.iof_pull = on_pull;
        module.push_stdin = on_push;
        module.spawn = on_spawn;
    }
    pmix_status_t answer = PMIX_OPERATION_SUCCEEDED;  ///< PMIX_SUCCESS: later, from another thread
    /// That thread's answers to pushes: of bytes, and of the end.
    pmix_status_t answer_to_bytes = PMIX_SUCCESS, answer_to_end = PMIX_SUCCESS;

    /// Until release() nothing is answered.
    void hold() {
        const std::lock_guard guard(lock_);
        holding_ = true;
    }
    void release() {
        std::vector<std::pair<pmix_op_cbfunc_t, void*>> held;
        {
            const std::lock_guard guard(lock_);
            holding_ = false;
            held.swap(held_);
        }
        for (const auto& [done, context] : held)
            done(PMIX_SUCCESS, context);
    }

    /// The next spawn is answered with this job.
    void answer_spawn(const Host::Job& job) {
        const std::lock_guard guard(lock_);
        spawned_ = job.nspace;
    }

    std::vector<Forwarded> pulls() {
        const std::lock_guard guard(lock_);
        return pulls_;
    }
    std::vector<Forwarded> pushes() {
        const std::lock_guard guard(lock_);
        return pushes_;
    }
    bool wait_for_pulls(size_t count) {
        std::unique_lock guard(lock_);
        return changed_.wait_for(guard, std::chrono::seconds(30), [&] { return pulls_.size() >= count; });
    }
    bool wait_for_pushes(size_t count) {
        std::unique_lock guard(lock_);
        return changed_.wait_for(guard, std::chrono::seconds(30), [&] { return pushes_.size() >= count; });
    }

  private:
    static IofUpcalls*& current() {
        static IofUpcalls* one = nullptr;
        return one;
    }
    static void note(Forwarded& seen, const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                     size_t ninfo) {
        seen.nprocs = nprocs;
        if (nprocs > 0) {
            seen.nspace = procs[0].nspace;
            seen.rank = procs[0].rank;
        }
        for (size_t i = 0; i < ninfo; ++i) {
            seen.keys.emplace_back(info[i].key);
            if (std::strcmp(info[i].key, PMIX_USERID) == 0) seen.uid = info[i].value.data.uint32;
        }
    }
    pmix_status_t finish(pmix_op_cbfunc_t done, void* context, pmix_status_t later = PMIX_SUCCESS) {
        changed_.notify_all();
        if (holding_) {
            held_.emplace_back(done, context);
            return PMIX_SUCCESS;
        }
        if (answer == PMIX_SUCCESS) threads_.emplace_back([=] { done(later, context); });
        return answer;
    }
    static pmix_status_t on_pull(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                 size_t ninfo, pmix_iof_channel_t channels, pmix_op_cbfunc_t done,
                                 void* context) {
        IofUpcalls& self = *current();
        const std::lock_guard guard(self.lock_);
        Forwarded seen;
        note(seen, procs, nprocs, info, ninfo);
        seen.channels = channels;
        self.pulls_.push_back(seen);
        return self.finish(done, context);
    }
    static pmix_status_t on_push(const pmix_proc_t*, const pmix_proc_t targets[], size_t ntargets,
                                 const pmix_info_t info[], size_t ninfo, const pmix_byte_object_t* bytes,
                                 pmix_op_cbfunc_t done, void* context) {
        IofUpcalls& self = *current();
        const std::lock_guard guard(self.lock_);
        Forwarded seen;
        note(seen, targets, ntargets, info, ninfo);
        seen.null = bytes == nullptr || bytes->size == 0;
        if (!seen.null) seen.bytes.assign(bytes->bytes, bytes->size);
        self.pushes_.push_back(seen);
        return self.finish(done, context, seen.null ? self.answer_to_end : self.answer_to_bytes);
    }

    static pmix_status_t on_spawn(const pmix_proc_t*, const pmix_info_t[], size_t, const pmix_app_t[], size_t,
                                  pmix_spawn_cbfunc_t done, void* context) {
        IofUpcalls& self = *current();
        std::string job;
        {
            const std::lock_guard guard(self.lock_);
            job = self.spawned_;
        }
        done(PMIX_SUCCESS, job.data(), context);
        return PMIX_SUCCESS;
    }

    std::mutex lock_;  // guards all below
    std::condition_variable changed_;
    std::vector<Forwarded> pulls_, pushes_;
    std::string spawned_;
    std::vector<std::thread> threads_;
    bool holding_ = false;
    std::vector<std::pair<pmix_op_cbfunc_t, void*>> held_;
};

/// Blocking form.
inline pmix_status_t deliver(const Host::Job& job, pmix_rank_t rank, pmix_iof_channel_t channel,
                             std::string text, const pmix_info_t* info = nullptr, size_t ninfo = 0) {
    pmix_proc_t source{};
    std::snprintf(source.nspace, sizeof source.nspace, "%s", job.nspace.c_str());
    source.rank = rank;
    const pmix_byte_object_t object{text.data(), text.size()};
    return PMIx_server_IOF_deliver(&source, channel, &object, info, ninfo, nullptr, nullptr);
}

/// Pieces delivered without waiting, whose callbacks are counted.
class Deliveries {
  public:
    ~Deliveries() { EXPECT_TRUE(wait(sent_)); }
    void send(const Host::Job& job, pmix_rank_t rank, pmix_iof_channel_t channel, std::string text) {
        auto* piece = new Piece{this, std::move(text), {}, {}};
        std::snprintf(piece->source.nspace, sizeof piece->source.nspace, "%s", job.nspace.c_str());
        piece->source.rank = rank;
        piece->object = {piece->text.data(), piece->text.size()};
        ++sent_;
        ASSERT_EQ(PMIx_server_IOF_deliver(&piece->source, channel, &piece->object, nullptr, 0, done, piece),
                  PMIX_SUCCESS);
    }
    size_t sent() const { return sent_; }
    size_t done() {
        const std::lock_guard guard(lock_);
        return done_;
    }
    bool wait(size_t count, double seconds = 60) {
        std::unique_lock guard(lock_);
        return changed_.wait_for(guard, std::chrono::duration<double>(seconds),
                                 [&] { return done_ >= count; });
    }

  private:
    struct Piece {
        Deliveries* owner;
        std::string text;
        pmix_proc_t source;
        pmix_byte_object_t object;
    };
    static void done(pmix_status_t, void* data) {
        auto* piece = static_cast<Piece*>(data);
        Deliveries& self = *piece->owner;
        delete piece;
        const std::lock_guard guard(self.lock_);
        ++self.done_;
        self.changed_.notify_all();
    }
    size_t sent_ = 0;
    std::mutex lock_;  // guards done_
    std::condition_variable changed_;
    size_t done_ = 0;
};

inline std::string slurp(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace integration
