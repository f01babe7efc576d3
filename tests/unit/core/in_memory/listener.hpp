// SPDX-License-Identifier: BSD-3-Clause
// An event handler in memory: it records the received events, and answers as the test requests.
#pragma once

#include <pmix_common.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/events/events.hpp"
#include "core/process/process.hpp"

namespace muster::testing_in_memory {

class Listener {
  public:
    /// One received event.
    struct Heard {
        pmix_status_t status = PMIX_SUCCESS;
        pmix_proc_t source{};
        Info info;
        std::vector<std::string> results;  ///< keys of the results of the handlers before this one
    };

    Listener() : number_(next()++) { all()[number_] = this; }
    ~Listener() { all().erase(number_); }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    /// The status with which each call completes.
    pmix_status_t returns = PMIX_EVENT_NO_ACTION_TAKEN;
    /// The results that each call adds.
    Info adds;
    /// If set, calls complete by complete(), not on return.
    bool holds = false;
    std::vector<Heard> heard;

    /// Posts the registration to the loop of the process.
    void listen(Process& process, std::vector<pmix_status_t> codes, Info directives = {}) {
        HandlerSpec spec;
        spec.codes = std::move(codes);
        spec.function = &Listener::called;
        const pmix_status_t read = spec.read_directives(directives);
        spec.return_object = reinterpret_cast<void*>(number_);
        registration_ = std::make_shared<Registration>();
        if (read != PMIX_SUCCESS) {
            *registration_ = {true, read, 0};
            return;
        }
        auto kept = std::make_shared<Info>(std::move(directives));
        process.loop().post([&process, spec, kept, state = registration_] {
            process.events().register_handler(spec, std::move(*kept),
                                              [state](pmix_status_t status, size_t id) {
                                                  *state = {true, status, id};
                                              });
        });
    }
    /// Whether the registration was answered.
    bool registered() const { return registration_ && registration_->answered; }
    pmix_status_t status() const { return registration_->status; }
    size_t id() const { return registration_->id; }
    /// Posts the deregistration to the loop of the process.
    std::shared_ptr<pmix_status_t> stop(Process& process) {
        auto status = std::make_shared<pmix_status_t>(PMIX_ERROR);
        process.loop().post([&process, id = id(), status] {
            process.events().deregister_handler(id, [status](pmix_status_t result) { *status = result; });
        });
        return status;
    }
    /// Completes the oldest pending call.
    void complete() {
        const auto [done, cbdata] = held_.front();
        held_.erase(held_.begin());
        done(returns, adds.data(), adds.size(), nullptr, nullptr, cbdata);
    }
    size_t held() const { return held_.size(); }

    size_t count(pmix_status_t code) const {
        return static_cast<size_t>(
            std::count_if(heard.begin(), heard.end(), [&](const Heard& one) { return one.status == code; }));
    }
    /// The last event of this code, or null.
    const Heard* last(pmix_status_t code) const {
        const auto found =
            std::find_if(heard.rbegin(), heard.rend(), [&](const Heard& one) { return one.status == code; });
        return found == heard.rend() ? nullptr : &*found;
    }

  private:
    struct Registration {
        bool answered = false;
        pmix_status_t status = PMIX_SUCCESS;
        size_t id = 0;
    };

    static uintptr_t& next() {
        static uintptr_t number = 1;
        return number;
    }
    static std::map<uintptr_t, Listener*>& all() {
        static std::map<uintptr_t, Listener*> listeners;
        return listeners;
    }
    static void called(size_t, pmix_status_t status, const pmix_proc_t* source, pmix_info_t info[],
                       size_t ninfo, pmix_info_t results[], size_t nresults,
                       pmix_event_notification_cbfunc_fn_t done, void* cbdata) {
        const pmix_value_t* object = InfoView{info, ninfo}.value(PMIX_EVENT_RETURN_OBJECT);
        const auto found = all().find(reinterpret_cast<uintptr_t>(object->data.ptr));
        // The test is over.
        if (found == all().end())
            return done(PMIX_EVENT_NO_ACTION_TAKEN, nullptr, 0, nullptr, nullptr, cbdata);
        Listener& self = *found->second;
        Heard one;
        one.status = status;
        one.source = *source;
        if (auto copy = Info::copy_of(info, ninfo)) one.info = std::move(*copy);
        for (size_t i = 0; i < nresults; ++i)
            one.results.emplace_back(key_view(results[i].key));
        self.heard.push_back(std::move(one));
        self.held_.emplace_back(done, cbdata);
        if (!self.holds) self.complete();
    }

    const uintptr_t number_;
    std::shared_ptr<Registration> registration_;
    std::vector<std::pair<pmix_event_notification_cbfunc_fn_t, void*>> held_;
};

}  // namespace muster::testing_in_memory
