// SPDX-License-Identifier: BSD-3-Clause
// The events of a server: see event_router.hpp.
#include "core/events/event_router.hpp"

#include <algorithm>

#include "core/attribute/directives.hpp"
#include "core/events/events.hpp"
#include "core/exchange/command.hpp"
#include "core/exchange/host.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/runtime/keys.hpp"
#include "core/runtime/lookup.hpp"
#include "core/runtime/runtime.hpp"

namespace muster {
namespace {

/// `internal`: with the items that only this library understands, and does not show to handlers.
Bytes pack_event(const Event& event, WireFormat format, bool internal) {
    Info plain;
    const bool all = internal || std::ranges::none_of(event.info, [](const pmix_info_t& one) {
                         return is_internal_key(one.key);
                     });
    for (size_t i = 0; !all && i < event.info.size(); ++i) {
        if (!is_internal_key(event.info[i].key)) plain.add_copy(event.info[i]);
    }
    Packer message(format);
    message.command(static_cast<uint8_t>(Command::Notify)).status(event.status).proc(event.source);
    message.infos(all ? event.info : plain).items(&event.range, 1, PMIX_DATA_RANGE);
    return message.error() == PMIX_SUCCESS ? message.take() : Bytes();
}

/// Whether events can still be sent to a process.
bool is_there(const PeerPtr& peer) {
    return peer && !peer->finalized && peer->channel && peer->channel->is_open();
}

/// Events do not cross users, in either direction.
bool may_hear(Namespaces& namespaces, const Event& event, const Peer& peer) {
    if (event.about && !namespaces.may_see(peer.uid, *event.about)) return false;
    return !event.user || *event.user == peer.uid || is_master(*event.user) || is_master(peer.uid);
}

}  // namespace

/// The packed form of one event for each encoding of its receivers.
class EventRouter::PackedEvent {
  public:
    explicit PackedEvent(const Event& event) : event_(event) {}

    /// Empty if the event cannot be packed for this peer.
    const SharedBytes& bytes_for(const Peer& peer) {
        const bool internal = peer.version.can(Capability::GroupInvitations);
        for (const Form& form : forms_) {
            if (form.format.bfrops == peer.format.bfrops &&
                form.format.buffer_type == peer.format.buffer_type && form.internal == internal)
                return form.bytes;
        }
        forms_.push_back({peer.format, internal,
                          std::make_shared<const Bytes>(pack_event(event_, peer.format, internal))});
        return forms_.back().bytes;
    }

  private:
    struct Form {
        WireFormat format;
        bool internal;
        SharedBytes bytes;
    };
    const Event& event_;
    std::vector<Form> forms_;
};

EventRouter::EventRouter(Runtime& runtime, Host& host, Namespaces& namespaces, Raise raise,
                         const Limits& limits)
    : runtime_(runtime),
      host_(host),
      namespaces_(namespaces),
      raise_(std::move(raise)),
      held_(limits.held_bytes),
      max_queued_(limits.queued_bytes),
      max_codes_(limits.codes) {}
EventRouter::~EventRouter() = default;

void EventRouter::pass(PackedEvent& event, Peer& peer) {
    const SharedBytes& bytes = event.bytes_for(peer);
    if (bytes->empty() || !peer.channel) return;
    const auto full = [&] {
        return peer.channel->queued() > 0 && peer.channel->queued() + bytes->size() > max_queued_;
    };
    if (full()) peer.channel->flush();  // only bytes that it does not accept count
    if (full()) {
        // Not logged for each event: there may be many.
        if (unsent_++ % 1024 == 0) {
            MUSTER_LOG(runtime_.log(), Error,
                       "client %s does not take its events (%zu bytes wait): more are given up",
                       peer.text().c_str(), peer.channel->queued());
        }
        return;
    }
    peer.channel->send_shared_soon(0, tag::kEvent, bytes);
}

// --- registrations ---

/// Whether a client may register these codes, too.
bool EventRouter::has_room(const Peer& peer, const std::vector<pmix_status_t>& codes) {
    const auto found = by_peer_.find(peer.index);
    if (found == by_peer_.end()) return codes.size() <= max_codes_;
    Registration& registration = *found->second;
    const auto fits = [&] {
        const auto fresh = std::ranges::count_if(
            codes, [&](pmix_status_t code) { return !registration.codes.contains(code); });
        return registration.codes.size() + static_cast<size_t>(fresh) <= max_codes_;
    };
    // Deregistered codes are kept only to prevent duplicate events.
    if (!fits()) std::erase_if(registration.codes, [](const auto& one) { return !one.second.active(); });
    const bool good = fits();
    if (!good && !std::exchange(registration.refused, true)) {
        MUSTER_LOG(runtime_.log(), Error,
                   "client %s has registered %zu codes of events: more are refused (pmix_event_max_codes)",
                   peer.text().c_str(), registration.codes.size());
    }
    return good;
}

/// With its registrations of a former life.
EventRouter::RegistrationPtr EventRouter::add_peer(const PeerPtr& client) {
    const auto former = former_.find(Proc(client->proc));
    auto registration = former == former_.end() ? std::make_shared<Registration>()
                                                : std::make_shared<Registration>(*former->second);
    registration->peer = client;
    registration->index = client->index;
    registration->proc = client->proc;
    by_peer_.emplace(client->index, registration);
    return registration;
}

void EventRouter::register_codes(const PeerPtr& peer, std::vector<pmix_status_t> codes, Info info,
                                 OnStatus done) {
    if (!has_room(*peer, codes)) return done(PMIX_ERR_OUT_OF_RESOURCE);
    // Registered only when the host has agreed: earlier events are held, and replayed.
    auto agreed = [this, ref = PeerRef(peer), codes, done = std::move(done)](pmix_status_t status) {
        const PeerPtr client = ref.lock();
        if (!is_there(client)) {
            if (status == PMIX_SUCCESS) forget_environment(codes);
            return;
        }
        if (status != PMIX_SUCCESS) return done(status);
        if (!has_room(*client, codes)) {  // it has registered others meanwhile
            forget_environment(codes);
            return done(PMIX_ERR_OUT_OF_RESOURCE);
        }
        const auto known = by_peer_.find(client->index);
        const RegistrationPtr registration = known != by_peer_.end() ? known->second : add_peer(client);
        const Registration before = *registration;
        for (const pmix_status_t code : codes) {
            Span& span = registration->codes.try_emplace(code, Span{next_number_, 0}).first->second;
            if (span.active()) {
                if (PMIX_SYSTEM_EVENT(code)) forget_environment({code});  // counted for this peer already
                continue;
            }
            span = {next_number_, UINT64_MAX};
            by_code_[code].push_back(registration);
        }
        if (codes.empty() && !(registration->has_defaults && registration->defaults.active())) {
            registration->has_defaults = true;
            registration->defaults = {next_number_, UINT64_MAX};
            defaults_.push_back(registration);
        }
        done(PMIX_SUCCESS);
        replay(before, client, codes);
    };
    want_environment(codes, std::move(info), std::move(agreed));
}

void EventRouter::deregister_codes(const PeerPtr& peer, const std::vector<pmix_status_t>& codes) {
    const auto found = by_peer_.find(peer->index);
    if (found == by_peer_.end()) return;
    const RegistrationPtr registration = found->second;
    for (const pmix_status_t code : codes) {
        const auto span = registration->codes.find(code);
        if (span == registration->codes.end() || !span->second.active()) continue;
        span->second.until = next_number_;
        end(registration, code);
    }
    if (codes.empty() && registration->has_defaults && registration->defaults.active()) {
        registration->defaults.until = next_number_;
        std::erase(defaults_, registration);
    }
}

bool EventRouter::wants(const Peer& peer, pmix_status_t code) const {
    const auto found = by_peer_.find(peer.index);
    if (found == by_peer_.end()) return false;
    const auto span = found->second->codes.find(code);
    return span != found->second->codes.end() && span->second.active();
}

void EventRouter::end(const RegistrationPtr& registration, pmix_status_t code) {
    if (const auto list = by_code_.find(code); list != by_code_.end()) {
        std::erase(list->second, registration);
        if (list->second.empty()) by_code_.erase(list);
    }
    forget_environment({code});
}

void EventRouter::forget(const RegistrationPtr& registration) {
    for (const auto& [code, span] : registration->codes) {
        if (span.active()) end(registration, code);
    }
    std::erase(defaults_, registration);
}

/// Keeps the registrations of a process that has finalized, and may initialise again.
void EventRouter::end(const RegistrationPtr& registration) {
    const LocalClient* client = namespaces_.client(registration->proc);
    const PeerPtr peer = registration->peer.lock();
    if (!peer || !peer->finalized || client == nullptr || client->peer != peer) return;
    // Codes of lives before this one count no more than those of one life.
    if (registration->codes.size() > max_codes_) registration->codes.clear();
    for (auto& [code, span] : registration->codes)
        span.until = std::min(span.until, next_number_);
    registration->defaults.until = std::min(registration->defaults.until, next_number_);
    former_[Proc(registration->proc)] = registration;
}

void EventRouter::departed() {
    for (auto it = by_peer_.begin(); it != by_peer_.end();) {
        // Further connections of a process, its children's, go by themselves.
        if (is_there(it->second->peer.lock())) {
            ++it;
            continue;
        }
        forget(it->second);
        end(it->second);
        it = by_peer_.erase(it);
    }
}

void EventRouter::lost(const pmix_proc_t& proc) {
    auto event = make_event(PMIX_ERR_LOST_CONNECTION, proc, PMIX_RANGE_PROC_LOCAL);
    event->info.add(PMIX_EVENT_AFFECTED_PROC, proc);
    event->affected.push_back(proc);
    event->cacheable = false;
    raise_(std::move(event));
}

void EventRouter::deregistered(const char* nspace) {
    std::erase_if(former_, [&](const auto& one) { return one.first.nspace() == nspace_view(nspace); });
    held_.remove_if([&](const EventStore::Held& held) {
        const Event& event = *held.event;
        if (event.range == PMIX_RANGE_NAMESPACE) return nspace_is(event.source.nspace, nspace);
        return event.range == PMIX_RANGE_CUSTOM &&
               std::ranges::all_of(event.targets, [&](const pmix_proc_t& target) {
                   return nspace_is(target.nspace, nspace);
               });
    });
}

// --- environment events ---

void EventRouter::want_environment(const std::vector<pmix_status_t>& codes, Info info, OnStatus done) {
    std::vector<pmix_status_t> fresh;
    std::vector<pmix_status_t> wanted;
    for (const pmix_status_t code : codes) {
        if (!PMIX_SYSTEM_EVENT(code)) continue;
        wanted.push_back(code);
        if (!environment_.contains(code)) fresh.push_back(code);
    }
    const pmix_server_module_t& module = host_.module();
    if (!wanted.empty() && module.register_events == nullptr) return done(PMIX_ERR_NOT_SUPPORTED);
    const bool is_asked =
        std::ranges::any_of(wanted, [&](pmix_status_t code) { return unanswered_.contains(code); });
    if (is_asked) {
        waiting_wants_.push_back({codes, std::move(info), std::move(done)});
        return;
    }
    for (const pmix_status_t code : wanted)
        ++environment_[code];
    const bool must_ask = needs_host(Function::RegisterEventHandler, info);
    if (must_ask && wanted.empty()) return done(PMIX_ERR_NOT_SUPPORTED);
    if (fresh.empty() && !must_ask) return done(PMIX_SUCCESS);
    unanswered_.insert(fresh.begin(), fresh.end());
    struct Arguments {
        std::vector<pmix_status_t> codes;
        Info info;
    };
    auto kept = std::make_shared<Arguments>(Arguments{must_ask ? wanted : fresh, std::move(info)});
    mark_processed("register_events", kept->info);
    host_.upcall(
        "register_events", kept,
        [this, wanted, fresh, done = std::move(done)](const HostAnswer& answer) {
            for (const pmix_status_t code : fresh)
                unanswered_.erase(code);
            if (answer.status != PMIX_SUCCESS) {
                // The host has not accepted these; the others may have been deregistered by all processes.
                for (const pmix_status_t code : fresh)
                    environment_.erase(code);
                forget_environment(wanted);
            }
            done(answer.status);
            for (WaitingWant& one : std::exchange(waiting_wants_, {}))
                want_environment(one.codes, std::move(one.info), std::move(one.done));
        },
        [&](void* cbdata) {
            return module.register_events(kept->codes.data(), kept->codes.size(), kept->info.data(),
                                          kept->info.size(), Host::on_op, cbdata);
        });
}

void EventRouter::forget_environment(const std::vector<pmix_status_t>& codes) {
    std::vector<pmix_status_t> unwanted;
    for (const pmix_status_t code : codes) {
        const auto count = environment_.find(code);
        if (count == environment_.end() || --count->second > 0) continue;
        environment_.erase(count);
        unwanted.push_back(code);
    }
    const pmix_server_module_t& module = host_.module();
    if (unwanted.empty() || module.deregister_events == nullptr) return;
    auto kept = std::make_shared<std::vector<pmix_status_t>>(std::move(unwanted));
    host_.upcall(
        "deregister_events", kept, [](const HostAnswer&) {},
        [&](void* cbdata) {
            return module.deregister_events(kept->data(), kept->size(), Host::on_op, cbdata);
        });
}

// --- ranges ---

bool EventRouter::in_range(const Event& event, const pmix_proc_t& proc) const {
    switch (event.range) {
        case PMIX_RANGE_RM:
        case PMIX_RANGE_PROC_LOCAL:
            return false;
        case PMIX_RANGE_CUSTOM:
            return event.is_meant_for(proc);
        case PMIX_RANGE_NAMESPACE:
            // The host has already chosen the servers for its own event.
            return nspace_is(event.source.nspace, proc.nspace) ||
                   namespaces_.find(event.source.nspace) == nullptr;
        case PMIX_RANGE_SESSION: {
            const Gds& store = runtime_.store();
            const auto session = [&](const char* nspace) {
                return stored_number(store, nspace, PMIX_RANK_WILDCARD, PMIX_SESSION_ID);
            };
            if (nspace_is(event.source.nspace, proc.nspace)) return true;
            const auto from = session(event.source.nspace);
            const auto to = session(proc.nspace);
            return !from || !to || *from == *to;
        }
        default:
            return true;
    }
}

bool EventRouter::reaches_beyond(const Event& event, bool& surely) const {
    const auto has_remote_members = [&](const char* name) {
        Namespace* nspace = namespaces_.find(name);
        if (nspace == nullptr) return true;
        const auto size = runtime_.store().job_size(name);
        return !size || *size > nspace->local_count();
    };
    surely = false;
    if (event.stays_local) return false;
    switch (event.range) {
        case PMIX_RANGE_LOCAL:
        case PMIX_RANGE_PROC_LOCAL:
            return false;
        case PMIX_RANGE_NAMESPACE:
            return surely = has_remote_members(event.source.nspace);
        case PMIX_RANGE_CUSTOM:
            return surely = std::ranges::any_of(event.targets, [&](const auto& target) {
                       return target.rank == PMIX_RANK_WILDCARD ? has_remote_members(target.nspace)
                                                                : !namespaces_.is_local(target);
                   });
        case PMIX_RANGE_RM:
            return surely = true;
        default:
            surely = has_remote_members(event.source.nspace);
            return true;
    }
}

bool EventRouter::concerns(const Event& event, const pmix_proc_t& proc) const {
    return event.concerns_job(proc.nspace);
}

// --- delivery ---

void EventRouter::to_clients(const EventPtr& event) {
    const uint64_t number = next_number_++;
    if (event->range == PMIX_RANGE_RM || event->range == PMIX_RANGE_PROC_LOCAL) return;
    PackedEvent packed(*event);
    const auto send = [&](const std::vector<RegistrationPtr>& registrations) {
        for (const RegistrationPtr& registration : registrations) {
            if (registration->served == number) continue;
            registration->served = number;
            // A process handles its own events before the server gets them.
            if (proc_is(event->source, registration->proc) || !in_range(*event, registration->proc)) continue;
            const PeerPtr peer = registration->peer.lock();
            if (peer && may_hear(namespaces_, *event, *peer)) pass(packed, *peer);
        }
    };
    if (const auto found = by_code_.find(event->status); found != by_code_.end()) send(found->second);
    if (!event->non_default) send(defaults_);
    if (event->cacheable) held_.add(event, number, true);
}

bool EventRouter::had(const Registration& registration, const EventStore::Held& held) const {
    const auto span = registration.codes.find(held.event->status);
    // The registration replayed the events that were held at that time.
    if (span != registration.codes.end() && held.number < span->second.until) return true;
    if (!registration.has_defaults || held.event->non_default) return false;
    const Span& defaults = registration.defaults;
    return held.number < defaults.until &&
           (held.number >= defaults.since || concerns(*held.event, registration.proc));
}

bool EventRouter::had_before(const pmix_proc_t& proc, const EventPtr& event) const {
    const auto former = former_.find(Proc(proc));
    const auto held = std::find_if(held_.held().begin(), held_.held().end(),
                                   [&](const EventStore::Held& one) { return one.event == event; });
    return held == held_.held().end() || (former != former_.end() && had(*former->second, *held));
}

void EventRouter::replay(const Registration& before, const PeerPtr& peer,
                         const std::vector<pmix_status_t>& codes) {
    for (const EventStore::Held& held : held_.held()) {
        const Event& event = *held.event;
        if (codes.empty()) {
            // No replay of other jobs' events to default handlers: most of those end the process.
            if (event.non_default || !concerns(event, peer->proc)) continue;
        } else if (std::ranges::find(codes, event.status) == codes.end()) {
            continue;
        }
        if (proc_is(event.source, peer->proc) || !in_range(event, peer->proc) ||
            !may_hear(namespaces_, event, *peer) || had(before, held))
            continue;
        PackedEvent packed(event);
        pass(packed, *peer);
    }
}

pmix_status_t EventRouter::tell_host(const EventPtr& event) {
    const pmix_server_module_t& module = host_.module();
    if (module.notify_event == nullptr) return PMIX_ERR_NOT_SUPPORTED;
    // Hosts take the infos as their own to read, not to change.
    auto kept = std::const_pointer_cast<Event>(event);
    mark_processed("notify_event", kept->info);
    pmix_status_t status = PMIX_SUCCESS;
    host_.upcall(
        "notify_event", kept, [](const HostAnswer&) {},
        [&](void* cbdata) {
            return status = module.notify_event(kept->status, &kept->source, kept->range, kept->info.data(),
                                                kept->info.size(), Host::on_op, cbdata);
        });
    return status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status;
}

void EventRouter::from_client(EventPtr event, const OnStatus& done) {
    bool surely = false;
    const bool beyond = reaches_beyond(*event, surely);
    const bool needs = needs_host(Function::NotifyEvent, event->info);
    pmix_status_t status = beyond ? tell_host(event) : needs ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;
    // An event whose directives the host refuses is delivered to no process.
    if (needs && status != PMIX_SUCCESS) return done(status);
    // A launcher without a host has already received its own events.
    const bool ours =
        event->range == PMIX_RANGE_CUSTOM && std::ranges::all_of(event->targets, [&](const auto& target) {
            return among({target}, runtime_.self());
        });
    if (status == PMIX_ERR_NOT_SUPPORTED && (!surely || ours)) status = PMIX_SUCCESS;
    // The answer is written before the event: otherwise the processes that the event wakes would use the
    // processors first, and the reporter would wait for all of them. The host has the event; the reporter
    // need not wait for its delivery (Standard: PMIx_Notify_event).
    done(status);
    if (event->range != PMIX_RANGE_RM && event->range != PMIX_RANGE_PROC_LOCAL) {
        to_clients(event);
        raise_(event);
    }
}

void EventRouter::from_host(EventPtr event, const OnStatus& done) {
    bool surely = false;
    // An event of another source comes from the host, which notifies the other nodes itself.
    const bool own = proc_is(event->source, runtime_.self());
    const bool upwards = own && reaches_beyond(*event, surely);
    if (upwards && host_.module().notify_event == nullptr) return done(PMIX_ERR_NOT_SUPPORTED);
    if (own && !upwards && needs_host(Function::NotifyEvent, event->info))
        return done(PMIX_ERR_NOT_SUPPORTED);
    to_clients(event);
    raise_(event);
    done(upwards ? tell_host(event) : PMIX_SUCCESS);
}

}  // namespace muster
