// SPDX-License-Identifier: BSD-3-Clause
// I/O forwarding of a process: see forwarding.hpp.
#include "core/iof/forwarding.hpp"

#include <pmix/muster.h>

#include <utility>

#include "core/events/events.hpp"
#include "core/iof/forwarder.hpp"
#include "core/iof/messages.hpp"
#include "core/runtime/lookup.hpp"
#include "core/runtime/runtime.hpp"
#include "framework/gds.hpp"

namespace muster {

Forwarding::Forwarding(Exchange& exchange, Events& events)
    : exchange_(exchange),
      events_(events),
      console_(
          exchange.loop(),
          [this](pmix_iof_channel_t channel) { raise(PMIX_ERR_IOF_FAILURE, exchange_.self(), channel); }),
      puller_(exchange, *this),
      pusher_(exchange, *this) {}

Forwarding::~Forwarding() = default;

void Forwarding::attach(Upstream& upstream) {
    puller_.attach(upstream);
    upstream.on_message(tag::kIofControl,
                        [this, &upstream](const Frame& frame) { receive_control(upstream, frame); });
    // Another server does not know of the suspension, and would never end it.
    upstream.on_lost([this](const pmix_proc_t&) { resume_input(); });
    upstream.on_primary([this] { resume_input(); });
}

/// A server suspends or resumes the input from this process, and thus the input that this process's own
/// server gets from others.
void Forwarding::receive_control(const Upstream& upstream, const Frame& frame) {
    Unpacker in(upstream.format(), frame.payload.view());
    FlowControl control;
    if (!control.read(in)) {
        MUSTER_LOG(exchange_.log(), Error, "server %s sent flow control that cannot be read (%zu bytes)",
                   proc_text(upstream.server()).c_str(), frame.payload.size());
        return;
    }
    if ((control.channels & PMIX_FWD_STDIN_CHANNEL) == 0) return;
    // A server names this process, alone or with others.
    if (!InputGate::matches(control.source, exchange_.self())) return;
    if (forwarder_ != nullptr) {
        const bool all = InputGate::matches(control.source, make_proc("", PMIX_RANK_WILDCARD));
        relayed_ = control.suspend || (relayed_ && !all);
    }
    control_input(control.source, control.suspend);
}

void Forwarding::control_input(const pmix_proc_t& producers, bool suspend) {
    if (InputGate::matches(producers, exchange_.self())) {
        if (!suspend)
            pusher_.resume();
        else if (exchange_.upstream() != nullptr)
            pusher_.suspend();
    }
    if (forwarder_ != nullptr) forwarder_->control_input(producers, suspend);
}

void Forwarding::resume_input() {
    if (std::exchange(relayed_, false)) forwarder_->control_input(make_proc("", PMIX_RANK_WILDCARD), false);
    pusher_.resume();
}

FindFacts Forwarding::find_facts() {
    return [this](const pmix_proc_t& source) {
        SourceFacts facts;
        const auto look_up = [&](const char* key, const auto& take) {
            const Lookup lookup = lookup_of(source.nspace, source.rank, key);
            exchange_.store().find(lookup, [&](const Found& found) { take(found.value); });
        };
        look_up(PMIX_HOSTNAME, [&](const pmix_value_t& value) {
            if (const char* host = value_as_string(&value)) facts.host = host;
        });
        look_up(PMIX_PROC_PID, [&](const pmix_value_t& value) {
            if (const auto pid = value_as_number<int64_t>(&value)) facts.pid = std::to_string(*pid);
        });
        const Lookup job = lookup_of(source.nspace, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
        exchange_.store().find(job, [&](const Found& found) {
            facts.ranks = value_as_number<pmix_rank_t>(&found.value).value_or(0);
        });
        facts.writer = exchange_.runtime().hostname();
        return facts;
    };
}

OutputSink::OnFailure Forwarding::on_failure() {
    return [this](const pmix_proc_t& source, pmix_iof_channel_t channel) {
        raise(PMIX_ERR_IOF_FAILURE, source, channel);
    };
}

void Forwarding::raise(pmix_status_t code, const pmix_proc_t& affected, pmix_iof_channel_t channel) {
    auto event = make_event(code, exchange_.self(), PMIX_RANGE_PROC_LOCAL);
    event->info.add(PMIX_EVENT_AFFECTED_PROC, affected);
    event->info.add(MUSTER_IOF_CHANNEL, static_cast<uint16_t>(channel));
    [[maybe_unused]] const pmix_status_t read = event->read_directives();
    // Handlers may do anything, and the reporter is in the middle of an operation.
    exchange_.loop().post([this, event] { events_.raise(event); });
}

void Forwarding::finish() {
    puller_.finish();
    pusher_.finish();
}

}  // namespace muster
