// SPDX-License-Identifier: BSD-3-Clause
// The event handlers of one process: their order, and the chains in which they run. Belongs to the loop; only
// the completion function that a handler is given may be called on any thread.
//
// A chain has the handlers that matched when its event arrived: the handler that asked to be first, those of
// one code, of several, the default ones, and the one that asked to be last. A handler that never completes
// blocks only its own chain.
#pragma once

#include <pmix_common.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/events/event.hpp"
#include "core/events/event_store.hpp"
#include "framework/base/loop.hpp"

namespace muster {

/// One handler's constraint: before (or after) the one at `other` in the list. SIZE_MAX: no constraint.
struct OrderWish {
    size_t other;
    bool before;
};

/// Orders the elements 0..n-1 so that each constraint is satisfied; otherwise the order is unchanged. Cyclic
/// constraints are satisfied as far as possible.
std::vector<size_t> order_by_wishes(const std::vector<OrderWish>& wishes);

/// A handler as it was registered (PMIx_Register_event_handler).
struct HandlerSpec {
    enum class Position : uint8_t { Prepend, Append, First, Last, FirstInCategory, LastInCategory };

    std::vector<pmix_status_t> codes;  ///< none: every code
    pmix_notification_fn_t function = nullptr;
    std::string name;
    Position position = Position::Prepend;
    enum class Relation : uint8_t { None, Before, After };
    Relation relation = Relation::None;
    std::string other_name;  ///< of the handler that `relation` is about
    size_t other_id = 0;     ///< the same by number, where no name was given
    std::optional<void*> return_object;
    pmix_data_range_t range = PMIX_RANGE_UNDEF;  ///< of sources
    std::vector<pmix_proc_t> range_procs;        ///< PMIX_RANGE_CUSTOM
    std::vector<pmix_proc_t> affected;           ///< only events that concern one of these; none: all
    bool one_shot = false;

    /// PMIX_ERR_BAD_PARAM for directives of the wrong type or that contradict each other.
    pmix_status_t read_directives(InfoView info);
};

class EventEngine {
  public:
    /// Whether the source of an event is in the range that a handler asked for.
    using InRange = std::function<bool(const HandlerSpec& handler, const pmix_proc_t& source)>;
    /// Called at the end of an event's chain, with the results of its handlers: each one's status under its
    /// name, and then its results. `answered`: a handler was called; false also if the event was dropped.
    using OnEnd = std::function<void(const Info& results, bool answered)>;
    /// Called when a handler removes itself (PMIX_EVENT_ONESHOT).
    using OnGone = std::function<void(const std::vector<pmix_status_t>& codes)>;

    /// @param hold_bytes  limit of events without a handler yet
    /// @param open_bytes  limit of events whose handlers have not completed yet; further events are dropped
    EventEngine(EventLoop& loop, size_t hold_bytes, size_t open_bytes, InRange in_range, OnGone on_gone);
    /// Later completions of handlers are ignored.
    ~EventEngine();
    EventEngine(const EventEngine&) = delete;
    EventEngine& operator=(const EventEngine&) = delete;

    /// Adds a handler, which gets no events before activate(). PMIX_ERR_EVENT_REGISTRATION when the place it
    /// asks for is taken.
    pmix_status_t add(HandlerSpec spec, size_t& id);
    /// Activates the handler: it gets new events, and immediately the held ones that no handler has taken.
    void activate(size_t id);
    /// No event is given to it any more; nothing when there is no such handler. Returns its codes.
    std::optional<std::vector<pmix_status_t>> remove(size_t id);

    /// Runs the handlers for an event. If none matches, it is cached for later ones, if permitted.
    /// `for_defaults`: default handlers are called, unless the event excludes them. `on_end` (may be null) is
    /// called once, perhaps inside; never when a handler does not complete.
    void deliver(EventPtr event, bool for_defaults, OnEnd on_end = nullptr);

    /// Whether deliver() would ask a handler.
    bool wanted(const Event& event, bool for_defaults) const {
        return !chain_for(event, for_defaults).empty();
    }

    /// Events dropped for lack of space.
    size_t dropped() const { return held_.dropped() + refused_; }
    /// A number for the handler that runs now; 0 if none does. Any thread.
    uint64_t running() const {
        const uint64_t begun = begun_;
        return begun == returned_ ? 0 : begun;
    }
    /// Waits until that handler has returned, for a second at most. Not in a handler.
    void await_return(uint64_t handler) const;

  private:
    struct Handler {
        size_t id = 0;
        HandlerSpec spec;
        bool active = false;
        bool removed = false;
    };
    using HandlerPtr = std::shared_ptr<Handler>;
    struct Chain;
    struct OpenCalls;

    static OpenCalls& open_calls();
    static void completed(pmix_status_t status, pmix_info_t* results, size_t nresults,
                          pmix_op_cbfunc_t cbfunc, void* cbdata, void* notification_cbdata);

    std::vector<HandlerPtr>& category(const HandlerSpec& spec);
    HandlerPtr find(size_t id) const;
    bool matches(const Handler& handler, const Event& event, bool for_defaults) const;
    std::vector<HandlerPtr> chain_for(const Event& event, bool for_defaults) const;
    void run(EventPtr event, std::vector<HandlerPtr> handlers, OnEnd on_end);
    void advance(const std::shared_ptr<Chain>& chain);
    void finish(Chain& chain);
    void call(const std::shared_ptr<Chain>& chain, const HandlerPtr& handler);
    std::atomic<uint64_t> begun_ = 0, returned_ = 0;  ///< calls of handlers

    EventLoop& loop_;
    InRange in_range_;
    OnGone on_gone_;
    uint64_t owner_ = 0;  // distinguishes our open calls from those of another engine of this process
    size_t next_id_ = 0;
    uint64_t next_number_ = 0;
    EventStore held_;
    const size_t max_open_bytes_;
    size_t open_bytes_ = 0;  ///< of events whose chains have not ended
    size_t refused_ = 0;     ///< events dropped for lack of space
    HandlerPtr first_;
    HandlerPtr last_;
    std::vector<HandlerPtr> single_;
    std::vector<HandlerPtr> multi_;
    std::vector<HandlerPtr> default_;
};

}  // namespace muster
