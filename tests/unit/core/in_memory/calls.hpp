// SPDX-License-Identifier: BSD-3-Clause
// Calls of processes in memory: each is posted to the loop of its process, and its answers are counted.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/client/client.hpp"
#include "core/events/events.hpp"
#include "core/groups/group_client.hpp"
#include "core/groups/invitation.hpp"
#include "core/groups/leave.hpp"
#include "core/process/process.hpp"
#include "core/spawn/connect.hpp"

namespace muster::testing_in_memory {

/// A call and its answer. Copies are the same call.
class Call {
  public:
    bool there() const { return state_->answers > 0; }
    /// How often it was answered.
    int answers() const { return state_->answers; }
    pmix_status_t status() const { return there() ? state_->answer.status : PMIX_ERR_NOT_FOUND; }
    bool good() const { return status() == PMIX_SUCCESS || status() == PMIX_ERR_PARTIAL_SUCCESS; }
    const Info& info() const { return state_->answer.info; }
    const HostAnswer& answer() const { return state_->answer; }
    /// The ranks of PMIX_GROUP_MEMBERSHIP among the results.
    std::vector<pmix_rank_t> ranks() const {
        std::vector<pmix_proc_t> procs;
        if (const pmix_value_t* value = info().view().value(PMIX_GROUP_MEMBERSHIP))
            append_procs(*value, procs);
        std::vector<pmix_rank_t> ranks;
        for (const pmix_proc_t& proc : procs)
            ranks.push_back(proc.rank);
        return ranks;
    }
    std::optional<size_t> context_id() const { return info().view().number<size_t>(PMIX_GROUP_CONTEXT_ID); }
    HostDone deliver() const {
        return [state = state_](HostAnswer answer) {
            ++state->answers;
            state->answer = std::move(answer);
        };
    }

  private:
    struct State {
        int answers = 0;
        HostAnswer answer;
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// The calls of one step, by rank.
using Calls = std::map<pmix_rank_t, Call>;

inline Info with(const char* key, bool value = true) {
    Info info;
    info.add(key, value);
    return info;
}
/// The same as a required directive.
inline Info with_required(const char* key) {
    Info info = with(key);
    info[0].flags |= PMIX_INFO_REQD;
    return info;
}
inline Info with_timeout(int seconds, Info info = {}) {
    info.add(PMIX_TIMEOUT, seconds);
    return info;
}
inline std::vector<pmix_proc_t> procs_of(const char* nspace, const std::vector<pmix_rank_t>& ranks) {
    std::vector<pmix_proc_t> procs;
    for (const pmix_rank_t rank : ranks)
        procs.push_back(make_proc(nspace, rank));
    return procs;
}

/// Posts `start(done)` to the loop of the process.
template <class Start>
Call call(Process& process, Start start) {
    Call made;
    auto shared = std::make_shared<Start>(std::move(start));
    process.loop().post([shared, done = made.deliver()] { (*shared)(done); });
    return made;
}

inline Call construct(Process& process, const std::string& id, std::vector<pmix_proc_t> procs,
                      Info info = {}) {
    return call(
        process, [&process, id, procs = std::move(procs), info = std::move(info)](HostDone done) mutable {
            process.group_client().construct(id, std::make_shared<const ProcList>(procs.data(), procs.size()),
                                             std::move(info), {}, std::move(done));
        });
}
inline Call destruct(Process& process, const std::string& id, Info info = {}) {
    return call(process, [&process, id, info = std::move(info)](HostDone done) mutable {
        process.group_client().destruct(id, std::move(info), {}, std::move(done));
    });
}
inline Call invite(Process& process, const std::string& id, std::vector<pmix_proc_t> procs, Info info = {}) {
    return call(process,
                [&process, id, procs = std::move(procs), info = std::move(info)](HostDone done) mutable {
                    process.invitations().invite(id, procs, std::move(info), std::move(done));
                });
}
inline Call join(Process& process, const std::string& id, std::optional<pmix_proc_t> leader,
                 bool accept = true, Info info = {}) {
    return call(process, [&process, id, leader, accept, info = std::move(info)](HostDone done) mutable {
        process.invitations().join(id, leader, accept, std::move(info), std::move(done));
    });
}
inline Call leave(Process& process, const std::string& id) {
    return call(process, [&process, id](HostDone done) {
        leave_group(process.exchange(), process.events(), process.invitations(), id, std::move(done));
    });
}
inline Call fence(Process& process, std::vector<pmix_proc_t> procs, Info info = {}) {
    return call(process, [&process, procs = std::move(procs), info = std::move(info)](HostDone done) mutable {
        process.client()->fence(procs, info, [done](pmix_status_t status) { done(answer_of(status)); });
    });
}
inline Call connect_procs(Process& process, std::vector<pmix_proc_t> procs, Info info = {}) {
    return call(process, [&process, procs = std::move(procs), info = std::move(info)](HostDone done) mutable {
        connect(process.exchange(), procs, std::move(info), std::move(done));
    });
}
inline Call disconnect_procs(Process& process, std::vector<pmix_proc_t> procs, Info info = {}) {
    return call(process, [&process, procs = std::move(procs), info = std::move(info)](HostDone done) mutable {
        disconnect(process.exchange(), procs, std::move(info), std::move(done));
    });
}

/// An event of this process, or of another `source` if its host reports it.
inline std::shared_ptr<Event> make_event(const pmix_proc_t& source, pmix_status_t code,
                                         pmix_data_range_t range, Info info = {}) {
    auto event = std::make_shared<Event>();
    event->status = code;
    event->source = source;
    event->range = range;
    event->info = std::move(info);
    return event;
}
/// PMIx_Notify_event; directives that cannot be read are answered with their error.
inline Call notify(Process& process, std::shared_ptr<Event> event) {
    return call(process, [&process, event](HostDone done) {
        if (const pmix_status_t read = event->read_directives(); read != PMIX_SUCCESS)
            return done(answer_of(read));
        process.events().notify(event, [done](pmix_status_t status) { done(answer_of(status)); });
    });
}
inline Call notify(Process& process, pmix_status_t code, pmix_data_range_t range, Info info = {}) {
    return notify(process, make_event(process.self(), code, range, std::move(info)));
}

}  // namespace muster::testing_in_memory
