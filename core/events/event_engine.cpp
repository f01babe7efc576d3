// SPDX-License-Identifier: BSD-3-Clause
// Handlers and chains: see event_engine.hpp. A handler gives back only the pointer it was given, perhaps
// twice, perhaps after the library has ended. So that pointer is a number, looked up in the one table of
// calls that are open in this process; a number that is not there is ignored.
#include "core/events/event_engine.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <new>
#include <thread>
#include <unordered_map>
#include <utility>

#include "core/runtime/keys.hpp"
#include "framework/base/mutex.hpp"

namespace muster {
namespace {

/// A handler may wait for a lock that the waiting thread holds.
constexpr std::chrono::seconds kLongestWait{1};
constexpr std::chrono::microseconds kLook{100};

constexpr std::pair<const char*, HandlerSpec::Position> kPositions[] = {
    {PMIX_EVENT_HDLR_FIRST, HandlerSpec::Position::First},
    {PMIX_EVENT_HDLR_LAST, HandlerSpec::Position::Last},
    {PMIX_EVENT_HDLR_FIRST_IN_CATEGORY, HandlerSpec::Position::FirstInCategory},
    {PMIX_EVENT_HDLR_LAST_IN_CATEGORY, HandlerSpec::Position::LastInCategory},
    {PMIX_EVENT_HDLR_PREPEND, HandlerSpec::Position::Prepend},
    {PMIX_EVENT_HDLR_APPEND, HandlerSpec::Position::Append}};

}  // namespace

pmix_status_t HandlerSpec::read_directives(InfoView info) {
    bool placed = false;
    for (const pmix_info_t& one : info) {
        const auto place = [&](Position wanted) {
            if (!info.is_true(one.key)) return true;
            if (placed) return false;
            placed = true;
            position = wanted;
            return true;
        };
        const auto relate = [&](Relation wanted) {
            if (placed) return false;
            placed = true;
            relation = wanted;
            if (const char* text = value_as_string(&one.value)) {
                other_name = text;
                return !other_name.empty();
            }
            const auto number = value_as_number<size_t>(&one.value);
            other_id = number.value_or(0);
            return number.has_value();
        };
        bool good = true;
        const auto wanted =
            std::ranges::find_if(kPositions, [&](const auto& entry) { return key_is(one.key, entry.first); });
        if (wanted != std::end(kPositions)) {
            good = place(wanted->second);
        } else if (key_is(one.key, PMIX_EVENT_HDLR_NAME)) {
            const char* text = value_as_string(&one.value);
            good = text != nullptr;
            if (good) name = text;
        } else if (key_is(one.key, PMIX_EVENT_HDLR_BEFORE)) {
            good = relate(Relation::Before);
        } else if (key_is(one.key, PMIX_EVENT_HDLR_AFTER)) {
            good = relate(Relation::After);
        } else if (key_is(one.key, PMIX_EVENT_RETURN_OBJECT)) {
            good = one.value.type == PMIX_POINTER;
            if (good) return_object = one.value.data.ptr;
        } else if (key_is(one.key, PMIX_EVENT_ONESHOT)) {
            one_shot = info.is_true(PMIX_EVENT_ONESHOT);
        } else if (key_is(one.key, PMIX_RANGE)) {
            good = one.value.type == PMIX_DATA_RANGE;
            if (good) range = one.value.data.range;
        } else if (key_is(one.key, PMIX_EVENT_CUSTOM_RANGE)) {
            good = append_procs(one.value, range_procs);
            // The list alone determines the range.
            if (!info.has(PMIX_RANGE)) range = PMIX_RANGE_CUSTOM;
        } else if (key_is(one.key, PMIX_EVENT_AFFECTED_PROC) || key_is(one.key, PMIX_EVENT_AFFECTED_PROCS)) {
            good = append_procs(one.value, affected);
        }
        if (!good) return PMIX_ERR_BAD_PARAM;
    }
    if (range > PMIX_RANGE_PROC_LOCAL) return PMIX_ERR_BAD_PARAM;
    return (range == PMIX_RANGE_CUSTOM) == range_procs.empty() ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS;
}

/// The run of one event through its handlers.
struct EventEngine::Chain {
    EventEngine* engine = nullptr;
    EventPtr event;
    std::vector<HandlerPtr> handlers;
    OnEnd on_end;
    size_t cost = 0;
    size_t next = 0;
    Info results;  ///< of the handlers so far: each one's status under its name, then its results
    // The arguments of the running handler; valid until it completes.
    HandlerPtr current;
    std::vector<pmix_info_t> shown;  ///< the event's infos, which the event owns, then those of `own`
    Info own;
    bool calling = false;    ///< inside the handler
    bool completed = false;  ///< it completed before it returned
    pmix_status_t status = PMIX_SUCCESS;

    void take(pmix_status_t code, Info given) {
        status = code;
        // A handler may strike out results of others by emptying their keys.
        Info kept;
        for (size_t i = 0; i < results.size(); ++i) {
            if (results[i].key[0] != '\0') kept.add_move(results[i]);
        }
        kept.add(current->spec.name.empty() ? "UNKNOWN" : current->spec.name.c_str(), Value::status(code));
        for (size_t i = 0; i < given.size(); ++i)
            kept.add_move(given[i]);
        results = std::move(kept);
        own = Info();
        current.reset();
    }
};

struct EventEngine::OpenCalls {
    struct Call {
        uint64_t owner;
        EventLoop* loop;
        std::shared_ptr<Chain> chain;
    };
    Mutex lock;
    std::unordered_map<uintptr_t, Call> by_number MUSTER_GUARDED_BY(lock);
    uintptr_t next_number MUSTER_GUARDED_BY(lock) = 1;
    uint64_t next_owner MUSTER_GUARDED_BY(lock) = 1;
};

EventEngine::OpenCalls& EventEngine::open_calls() {
    static auto* table = new OpenCalls;  // never destroyed: handlers may complete while the process exits
    return *table;
}

EventEngine::EventEngine(EventLoop& loop, size_t hold_bytes, size_t open_bytes, InRange in_range,
                         OnGone on_gone)
    : loop_(loop),
      in_range_(std::move(in_range)),
      on_gone_(std::move(on_gone)),
      held_(hold_bytes),
      max_open_bytes_(open_bytes) {
    OpenCalls& open = open_calls();
    const MutexLock lock(open.lock);
    owner_ = open.next_owner++;
}

EventEngine::~EventEngine() {
    OpenCalls& open = open_calls();
    std::vector<std::shared_ptr<Chain>> dropped;  // destroyed outside the lock
    const MutexLock lock(open.lock);
    std::erase_if(open.by_number, [&](auto& entry) {
        if (entry.second.owner != owner_) return false;
        dropped.push_back(std::move(entry.second.chain));
        return true;
    });
}

std::vector<EventEngine::HandlerPtr>& EventEngine::category(const HandlerSpec& spec) {
    if (spec.codes.empty()) return default_;
    return spec.codes.size() == 1 ? single_ : multi_;
}

pmix_status_t EventEngine::add(HandlerSpec spec, size_t& id) {
    loop_.assert_on_loop();
    using Position = HandlerSpec::Position;
    auto handler = std::make_shared<Handler>();
    handler->spec = std::move(spec);
    handler->id = next_id_;
    const Position position = handler->spec.position;
    if (position == Position::First || position == Position::Last) {
        HandlerPtr& place = position == Position::First ? first_ : last_;
        if (place) return PMIX_ERR_EVENT_REGISTRATION;
        place = handler;
    } else {
        auto& handlers = category(handler->spec);
        const bool front_taken =
            !handlers.empty() && handlers.front()->spec.position == Position::FirstInCategory;
        const bool back_taken =
            !handlers.empty() && handlers.back()->spec.position == Position::LastInCategory;
        const auto front = handlers.begin() + (front_taken ? 1 : 0);
        const auto back = handlers.end() - (back_taken ? 1 : 0);
        switch (position) {
            case Position::FirstInCategory:
                if (front_taken) return PMIX_ERR_EVENT_REGISTRATION;
                handlers.insert(handlers.begin(), handler);
                break;
            case Position::LastInCategory:
                if (back_taken) return PMIX_ERR_EVENT_REGISTRATION;
                handlers.push_back(handler);
                break;
            case Position::Append:
                handlers.insert(back, handler);
                break;
            default:
                handlers.insert(front, handler);
        }
    }
    id = next_id_++;
    return PMIX_SUCCESS;
}

EventEngine::HandlerPtr EventEngine::find(size_t id) const {
    for (const HandlerPtr& handler : {first_, last_}) {
        if (handler && handler->id == id) return handler;
    }
    for (const auto* handlers : {&single_, &multi_, &default_}) {
        for (const HandlerPtr& handler : *handlers) {
            if (handler->id == id) return handler;
        }
    }
    return nullptr;
}

void EventEngine::activate(size_t id) {
    loop_.assert_on_loop();
    const HandlerPtr handler = find(id);
    if (!handler) return;
    handler->active = true;
    std::vector<EventPtr> wanted;
    held_.remove_if([&](const EventStore::Held& held) {
        if (!matches(*handler, *held.event, held.for_defaults)) return false;
        wanted.push_back(held.event);
        return true;
    });
    for (EventPtr& event : wanted)
        run(std::move(event), {handler}, nullptr);
}

std::optional<std::vector<pmix_status_t>> EventEngine::remove(size_t id) {
    loop_.assert_on_loop();
    const HandlerPtr handler = find(id);
    if (!handler) return std::nullopt;
    handler->removed = true;
    if (first_ == handler) first_.reset();
    if (last_ == handler) last_.reset();
    std::erase(category(handler->spec), handler);
    return handler->spec.codes;
}

bool EventEngine::matches(const Handler& handler, const Event& event, bool for_defaults) const {
    const HandlerSpec& spec = handler.spec;
    if (!handler.active || handler.removed) return false;
    if (spec.codes.empty()) {
        if (!for_defaults || event.non_default) return false;
    } else if (std::ranges::find(spec.codes, event.status) == spec.codes.end()) {
        return false;
    }
    if (!spec.affected.empty() && !overlap(spec.affected, event.affected)) return false;
    return spec.range == PMIX_RANGE_UNDEF || in_range_(spec, event.source);
}

std::vector<EventEngine::HandlerPtr> EventEngine::chain_for(const Event& event, bool for_defaults) const {
    std::vector<HandlerPtr> chain;
    if (first_ && matches(*first_, event, for_defaults)) chain.push_back(first_);
    for (const auto* handlers : {&single_, &multi_, &default_}) {
        std::vector<HandlerPtr> matching;
        bool wishes_made = false;
        for (const HandlerPtr& handler : *handlers) {
            if (!matches(*handler, event, for_defaults)) continue;
            matching.push_back(handler);
            wishes_made |= handler->spec.relation != HandlerSpec::Relation::None;
        }
        if (!wishes_made) {
            chain.insert(chain.end(), matching.begin(), matching.end());
            continue;
        }
        std::vector<OrderWish> wishes;
        for (const HandlerPtr& handler : matching) {
            const HandlerSpec& spec = handler->spec;
            OrderWish wish{SIZE_MAX, spec.relation == HandlerSpec::Relation::Before};
            for (size_t i = 0; i < matching.size() && spec.relation != HandlerSpec::Relation::None; ++i) {
                const Handler& other = *matching[i];
                const bool meant =
                    spec.other_name.empty() ? other.id == spec.other_id : other.spec.name == spec.other_name;
                if (meant) wish.other = i;
            }
            wishes.push_back(wish);
        }
        for (const size_t i : order_by_wishes(wishes))
            chain.push_back(matching[i]);
    }
    if (last_ && matches(*last_, event, for_defaults)) chain.push_back(last_);
    return chain;
}

void EventEngine::deliver(EventPtr event, bool for_defaults, OnEnd on_end) {
    loop_.assert_on_loop();
    std::vector<HandlerPtr> handlers = chain_for(*event, for_defaults);
    if (!handlers.empty()) return run(std::move(event), std::move(handlers), std::move(on_end));
    if (event->cacheable) held_.add(std::move(event), next_number_++, for_defaults);
    if (on_end) on_end(Info(), false);
}

void EventEngine::run(EventPtr event, std::vector<HandlerPtr> handlers, OnEnd on_end) {
    const size_t cost = event->cost();
    // A single event is always accepted.
    if (open_bytes_ > 0 && open_bytes_ + cost > max_open_bytes_) {
        ++refused_;
        if (on_end) on_end(Info(), false);
        return;
    }
    auto chain = std::make_shared<Chain>();
    chain->engine = this;
    chain->event = std::move(event);
    chain->handlers = std::move(handlers);
    chain->on_end = std::move(on_end);
    open_bytes_ += chain->cost = cost;
    advance(chain);
}

void EventEngine::finish(Chain& chain) {
    open_bytes_ -= chain.cost;
    if (const OnEnd on_end = std::move(chain.on_end)) on_end(chain.results, true);
}

void EventEngine::advance(const std::shared_ptr<Chain>& chain) {
    while (chain->next < chain->handlers.size()) {
        const HandlerPtr handler = chain->handlers[chain->next++];
        if (handler->removed) continue;
        if (handler->spec.one_shot) {
            if (auto codes = remove(handler->id)) on_gone_(*codes);
        }
        call(chain, handler);
        if (!chain->completed) return;  // completed() continues
        if (chain->status == PMIX_EVENT_ACTION_COMPLETE) break;
    }
    finish(*chain);
}

void EventEngine::call(const std::shared_ptr<Chain>& chain, const HandlerPtr& handler) {
    chain->current = handler;
    chain->completed = false;
    if (!handler->spec.name.empty()) chain->own.add(PMIX_EVENT_HDLR_NAME, handler->spec.name.c_str());
    if (handler->spec.return_object)
        chain->own.add(PMIX_EVENT_RETURN_OBJECT, Value::pointer(*handler->spec.return_object));
    // Borrowed: the event and `own` stay the owners.
    chain->shown.clear();
    std::ranges::copy_if(chain->event->info, std::back_inserter(chain->shown),
                         [](const pmix_info_t& one) { return !is_internal_key(one.key); });
    chain->shown.insert(chain->shown.end(), chain->own.begin(), chain->own.end());
    uintptr_t number = 0;
    {
        OpenCalls& open = open_calls();
        const MutexLock lock(open.lock);
        number = open.next_number++;
        open.by_number.emplace(number, OpenCalls::Call{owner_, &loop_, chain});
    }
    chain->calling = true;
    ++begun_;
    handler->spec.function(handler->id, chain->event->status, &chain->event->source,
                           chain->shown.empty() ? nullptr : chain->shown.data(), chain->shown.size(),
                           chain->results.data(), chain->results.size(), completed,
                           reinterpret_cast<void*>(number));
    ++returned_;
    chain->calling = false;
}

void EventEngine::await_return(uint64_t handler) const {
    const auto end = std::chrono::steady_clock::now() + kLongestWait;
    while (returned_ < handler && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(kLook);
}

void EventEngine::completed(pmix_status_t status, pmix_info_t* results, size_t nresults,
                            pmix_op_cbfunc_t cbfunc, void* cbdata, void* notification_cbdata) {
    std::optional<Info> given;
    try {
        // The caller may free its results as soon as this returns.
        if (results != nullptr && nresults > 0) given = Info::copy_of(results, nresults);
        OpenCalls& open = open_calls();
        const MutexLock lock(open.lock);
        auto node = open.by_number.extract(reinterpret_cast<uintptr_t>(notification_cbdata));
        if (node.empty()) return;
        const std::shared_ptr<Chain> chain = std::move(node.mapped().chain);
        EventLoop& loop = *node.mapped().loop;
        if (cbfunc != nullptr) loop.post([cbfunc, cbdata] { cbfunc(PMIX_SUCCESS, cbdata); });
        if (loop.on_loop() && chain->calling) {
            // advance() continues when the handler has returned.
            chain->completed = true;
            chain->take(status, given ? std::move(*given) : Info());
            return;
        }
        // Posted under the lock: the engine's destructor cannot take the loop away before.
        auto shared = std::make_shared<Info>(given ? std::move(*given) : Info());
        loop.post([chain, status, shared] {
            chain->take(status, std::move(*shared));
            if (status == PMIX_EVENT_ACTION_COMPLETE) {
                chain->engine->finish(*chain);
            } else {
                chain->engine->advance(chain);
            }
        });
    } catch (const std::bad_alloc&) {
        // The chain ends here: nothing can be passed to the next handlers.
    }
}

std::vector<size_t> order_by_wishes(const std::vector<OrderWish>& wishes) {
    const size_t n = wishes.size();
    std::vector<size_t> order(n);
    for (size_t i = 0; i < n; ++i)
        order[i] = i;
    // Each element has one constraint, so constraints form trees: after as many rounds as elements all are
    // satisfied.
    bool moved = true;
    for (size_t round = 0; moved && round < n; ++round) {
        moved = false;
        for (size_t i = 0; i < n; ++i) {
            if (wishes[i].other >= n || wishes[i].other == i) continue;
            const auto self = std::ranges::find(order, i);
            const auto other = std::ranges::find(order, wishes[i].other);
            if ((self < other) == wishes[i].before) continue;
            if (wishes[i].before) {
                std::rotate(other, self, self + 1);
            } else {
                std::rotate(self, self + 1, other + 1);
            }
            moved = true;
        }
    }
    return order;
}

}  // namespace muster
