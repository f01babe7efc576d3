// SPDX-License-Identifier: BSD-3-Clause
// Event notification of a process: see events.hpp.
#include "core/events/events.hpp"

#include <algorithm>

#include "core/attribute/directives.hpp"
#include "core/events/event_router.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/runtime/keys.hpp"
#include "core/runtime/runtime.hpp"
#include "framework/base/status.hpp"

namespace muster {
namespace {

/// Events that follow each other faster form a stream: no process can have seen the one before.
constexpr std::chrono::microseconds kStream{5};

/// Directives that order and restrict handlers are ours; the others are for the server and its host.
bool is_for_server(const pmix_info_t& info) {
    return !key_is_any(
        info.key,
        {PMIX_EVENT_HDLR_NAME, PMIX_EVENT_HDLR_FIRST, PMIX_EVENT_HDLR_LAST, PMIX_EVENT_HDLR_FIRST_IN_CATEGORY,
         PMIX_EVENT_HDLR_LAST_IN_CATEGORY, PMIX_EVENT_HDLR_PREPEND, PMIX_EVENT_HDLR_APPEND,
         PMIX_EVENT_HDLR_BEFORE, PMIX_EVENT_HDLR_AFTER, PMIX_EVENT_RETURN_OBJECT, PMIX_EVENT_ONESHOT,
         PMIX_RANGE, PMIX_EVENT_CUSTOM_RANGE, PMIX_EVENT_AFFECTED_PROC, PMIX_EVENT_AFFECTED_PROCS});
}

}  // namespace

bool Events::source_in_range(const HandlerSpec& handler, const pmix_proc_t& source) const {
    switch (handler.range) {
        case PMIX_RANGE_CUSTOM:
            return among(handler.range_procs, source);
        case PMIX_RANGE_PROC_LOCAL:
            return proc_is(source, runtime_.self());
        case PMIX_RANGE_NAMESPACE:
            return nspace_is(source.nspace, runtime_.self().nspace);
        case PMIX_RANGE_LOCAL: {
            if (proc_is(source, runtime_.self())) return true;
            if (router_ != nullptr) return namespaces_->is_local(source);
            if (client_ != nullptr && proc_is(source, client_->server())) return true;
            const auto ranks = runtime_.store().local_ranks(source.nspace);
            return std::ranges::find(ranks, source.rank) != ranks.end();
        }
        case PMIX_RANGE_RM: {
            const pmix_proc_t& manager =
                router_ != nullptr || client_ == nullptr ? runtime_.self() : client_->server();
            return nspace_is(source.nspace, manager.nspace);
        }
        default:
            return true;
    }
}

Events::Events(Runtime& runtime)
    : runtime_(runtime),
      engine_(
          runtime.loop(), runtime.parameters().size("pmix_event_cache_size"),
          runtime.parameters().size("pmix_event_queue_size"),
          [this](const HandlerSpec& handler, const pmix_proc_t& source) {
              return source_in_range(handler, source);
          },
          [this](const std::vector<pmix_status_t>& codes) { withdraw(codes); }) {
    constexpr size_t kMostOfAClient = 20;
    observers_.reserve(kMostOfAClient);
}

void Events::attach(Upstream& client) {
    client_ = &client;
    client.on_message(tag::kEvent, [this](const Frame& frame) { receive(frame); });
    client.on_lost([this](const pmix_proc_t& server) { lost(server); });
    client.on_primary([this] { tell_primary(); });
}

void Events::serve(EventRouter& router, Namespaces& namespaces) {
    namespaces_ = &namespaces;
    router_ = &router;
}

Upstream* Events::upstream() const {
    return client_ != nullptr && client_->connected() ? client_ : nullptr;
}

void Events::tell_primary() {
    std::vector<pmix_status_t> codes;
    for (const auto& [code, count] : wanted_)
        codes.push_back(code);
    const auto tell = [this](const std::vector<pmix_status_t>& some) {
        Packer message = client_->packer(Command::RegisterEvents);
        message.counted(some.data(), some.size(), PMIX_STATUS).infos({});
        client_->request_status(std::move(message), [this](pmix_status_t status) {
            if (status != PMIX_SUCCESS) {
                MUSTER_LOG(runtime_.log(), Error, "server %s did not register our event handlers: %s",
                           proc_text(client_->server()).c_str(), status_text(status));
            }
        });
    };
    if (upstream() == nullptr) return;
    if (!codes.empty()) tell(codes);
    if (wanted_defaults_ > 0) tell({});
}

void Events::observe(pmix_status_t code, Observer observer) {
    observers_.emplace_back(code, std::move(observer));
}

bool Events::is_observed(pmix_status_t code) const {
    return std::ranges::any_of(observers_, [code](const auto& observer) { return observer.first == code; });
}

EventEngine::OnEnd Events::observed(const EventPtr& event) {
    std::vector<EventEngine::OnEnd> ends;
    for (const auto& [code, observer] : observers_) {
        if (code != event->status) continue;
        if (EventEngine::OnEnd on_end = observer(event)) ends.push_back(std::move(on_end));
    }
    if (ends.empty()) return nullptr;
    return [ends = std::move(ends)](const Info& results, bool answered) {
        for (const EventEngine::OnEnd& on_end : ends)
            on_end(results, answered);
    };
}

void Events::listen(const std::vector<pmix_status_t>& codes) {
    std::vector<pmix_status_t> fresh;
    for (const pmix_status_t code : codes) {
        if (!listened_.contains(code) && !wanted_.contains(code)) fresh.push_back(code);
    }
    runtime_.loop().need_driver();
    // A server sees all that passes.
    if (!fresh.empty() && upstream() != nullptr) tell_listened(fresh);
    // Last: a code that the server has not been asked for is asked for by the next call.
    for (const pmix_status_t code : codes) {
        if (listened_.contains(code)) continue;
        ++wanted_[code];
        listened_.insert(code);
    }
}

void Events::tell_listened(const std::vector<pmix_status_t>& fresh) {
    Packer message = client_->packer(Command::RegisterEvents);
    message.counted(fresh.data(), fresh.size(), PMIX_STATUS).infos({});
    client_->request_status(std::move(message), [this, n = fresh.size()](pmix_status_t status) {
        if (status != PMIX_SUCCESS) {
            MUSTER_LOG(runtime_.log(), Error, "server %s refused to register %zu events for the library: %s",
                       proc_text(client_->server()).c_str(), n, status_text(status));
        }
    });
}

void Events::register_handler(HandlerSpec spec, Info info, OnRegistered done) {
    if (!runtime_.loop().need_driver()) return done(PMIX_ERR_NOMEM, 0);  // its events are unsolicited
    const std::vector<pmix_status_t> codes = spec.codes;
    size_t id = 0;
    if (const pmix_status_t added = engine_.add(std::move(spec), id); added != PMIX_SUCCESS)
        return done(added, 0);

    Info directives;
    for (size_t i = 0; i < info.size(); ++i) {
        if (is_for_server(info[i])) directives.add_move(info[i]);
    }
    const bool needs_host = muster::needs_host(Function::RegisterEventHandler, directives);
    std::vector<pmix_status_t> fresh;
    for (const pmix_status_t code : codes) {
        // A server that refuses the first handler of a code may not refuse the next.
        if (wanted_[code]++ == 0 || !directives.empty() || unanswered_.contains(code)) fresh.push_back(code);
    }
    const bool ask = codes.empty() ? wanted_defaults_++ == 0 || !directives.empty() : !fresh.empty();

    auto finish = [this, id, done = std::move(done)](pmix_status_t status) {
        if (status != PMIX_SUCCESS) {
            if (auto unwanted = engine_.remove(id)) withdraw(*unwanted);
            return done(status, 0);
        }
        done(PMIX_SUCCESS, id);
        engine_.activate(id);
    };
    if (EventRouter* router = router_; router != nullptr && upstream() == nullptr) {
        // A tool with its own clients has no environment that reports events.
        const bool tool = runtime_.role() == Runtime::Role::Tool && !needs_host;
        return router->want_environment(
            fresh, std::move(directives), [tool, finish = std::move(finish)](pmix_status_t status) {
                finish(tool && status == PMIX_ERR_NOT_SUPPORTED ? PMIX_SUCCESS : status);
            });
    }
    if (upstream() == nullptr || !ask) return finish(PMIX_SUCCESS);
    Packer message = client_->packer(Command::RegisterEvents);
    message.counted(fresh.data(), fresh.size(), PMIX_STATUS).infos(directives);
    unanswered_.insert(fresh.begin(), fresh.end());
    client_->request_status(std::move(message),
                            [this, fresh, finish = std::move(finish)](pmix_status_t status) {
                                for (const pmix_status_t code : fresh)
                                    unanswered_.erase(unanswered_.find(code));
                                // Without a server a handler still serves this process.
                                finish(status == PMIX_ERR_LOST_CONNECTION ? PMIX_SUCCESS : status);
                            });
}

void Events::withdraw(const std::vector<pmix_status_t>& codes) {
    std::vector<pmix_status_t> unwanted;
    for (const pmix_status_t code : codes) {
        const auto count = wanted_.find(code);
        if (count == wanted_.end() || --count->second > 0) continue;
        wanted_.erase(count);
        unwanted.push_back(code);
    }
    const bool last_default = codes.empty() && wanted_defaults_ > 0 && --wanted_defaults_ == 0;
    if (unwanted.empty() && !last_default) return;
    if (EventRouter* router = router_) router->forget_environment(unwanted);
    if (upstream() == nullptr) return;
    Packer message = client_->packer(Command::DeregisterEvents);
    for (const pmix_status_t code : unwanted)
        message.status(code);
    client_->send(std::move(message));
}

void Events::deregister_handler(size_t id, const OnStatus& done) {
    const auto codes = engine_.remove(id);
    if (codes) withdraw(*codes);
    done(codes ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM);
}

void Events::notify(EventPtr event, const OnStatus& done) {
    if (EventRouter* router = router_) {
        if (upstream() == nullptr) return router->from_host(std::move(event), done);
        router->to_clients(event);
    }
    if (event->range == PMIX_RANGE_PROC_LOCAL) {
        done(PMIX_SUCCESS);
        return raise(std::move(event));
    }
    if (upstream() == nullptr) return done(PMIX_ERR_UNREACH);
    const pmix_status_t status = event->status;
    client_->request_status(packed(*event, Command::Notify), done);
    try {
        if (concerns_us(*event)) return raise(std::move(event));
        if (const EventEngine::OnEnd on_end = observed(event)) on_end(Info(), false);
    } catch (const std::bad_alloc&) {
        // The others get the event, so it counts as sent.
        MUSTER_LOG(runtime_.log(), Error, "event %d: no memory for the handlers of this process", status);
    }
}

Packer Events::packed(const Event& event, Command command) const {
    Packer message = client_->packer(command);
    message.status(event.status).items(&event.range, 1, PMIX_DATA_RANGE).infos(event.info);
    return message;
}

bool Events::concerns_us(const Event& event) const {
    return event.range != PMIX_RANGE_RM &&
           (event.range != PMIX_RANGE_CUSTOM || event.is_meant_for(runtime_.self()));
}

bool Events::report(const EventPtr& event, bool waits) {
    const auto now = runtime_.loop().now();
    const bool stream = now - std::exchange(reported_, now) < kStream && !waits;
    if (stream || event->range != PMIX_RANGE_LOCAL || router_ != nullptr || upstream() == nullptr ||
        !client_->server_version().can(Capability::SilentReport) || client_->busy() ||
        is_observed(event->status) || engine_.wanted(*event, true) ||
        needs_host(Function::NotifyEvent, event->info))
        return false;
    Packer message = packed(*event, Command::Report);
    if (message.error() != PMIX_SUCCESS || client_->too_long(message.length())) return false;
    raise(event);  // cached for later handlers
    client_->send(std::move(message));
    reported_ = runtime_.loop().now();
    return true;
}

void Events::raise(EventPtr event) {
    // The default handler of a host takes all events for failures (Slurm's ends the step), so it gets
    // only errors, and an application's events for all processes (docs/decisions/0008).
    const bool to_all = event->range == PMIX_RANGE_GLOBAL && status_name(event->status) == nullptr;
    const bool for_defaults = router_ == nullptr || to_all || is_error_event(event->status);
    EventEngine::OnEnd on_end = observed(event);
    engine_.deliver(std::move(event), for_defaults, std::move(on_end));
}

void Events::receive(const Frame& frame) {
    Unpacker in(client_->format(), frame.payload.view());
    uint8_t command = 0;
    auto event = std::make_shared<Event>();
    event->range = PMIX_RANGE_LOCAL;  // omitted by servers
    if (!in.command(command) || !in.status(event->status) || !in.proc(event->source) ||
        !in.infos(event->info) || (!in.at_end() && !in.item(&event->range, PMIX_DATA_RANGE)) ||
        command != static_cast<uint8_t>(Command::Notify)) {
        MUSTER_LOG(runtime_.log(), Error, "an event from server %s cannot be read (%zu bytes) and is dropped",
                   proc_text(client_->server()).c_str(), frame.payload.size());
        return;
    }
    // Our server decided that it is for us; only its own directives matter here.
    [[maybe_unused]] const pmix_status_t read = event->read_directives();
    // A server that is also a client (a launcher, a tool with children of its own) passes on events of
    // its own server.
    if (EventRouter* router = router_) router->to_clients(event);
    raise(std::move(event));
}

void Events::lost(const pmix_proc_t& server) {
    auto event = make_event(PMIX_ERR_LOST_CONNECTION, server, PMIX_RANGE_PROC_LOCAL);
    event->cacheable = false;
    raise(std::move(event));
}

size_t Events::dropped() {
    const EventRouter* router = router_;
    return engine_.dropped() + (router == nullptr ? 0 : router->dropped());
}

}  // namespace muster
