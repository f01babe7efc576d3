// SPDX-License-Identifier: BSD-3-Clause
// I/O forwarding of a process: see forwarding.hpp.
#include "core/iof/forwarding.hpp"

#include <pmix/muster.h>

#include "core/events/events.hpp"
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
    // Handlers may do anything; whoever reports is in the middle of something.
    exchange_.loop().post([this, event] { events_.raise(event); });
}

void Forwarding::finish() {
    puller_.finish();
    pusher_.finish();
}

}  // namespace muster
