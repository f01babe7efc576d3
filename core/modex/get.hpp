// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Get, whatever the role: first the store, on the caller's thread; then, if need be, the source of the
// data (our server, or as a server a local process or the host).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/exchange/exchange.hpp"
#include "core/runtime/get_directives.hpp"

namespace muster {

class Modex;

/// One call of PMIx_Get or PMIx_Get_nb. Owns copies of what it must keep when it leaves the caller's thread.
class GetCall {
  public:
    /// `result` receives a value to be freed by PMIx_Value_free (n = 1), or, as the directives ask, the
    /// caller's own storage is filled, or a pointer into the store is given. `proc` and `key` may be null
    /// (ourselves; everything). Returns PMIX_ERR_BAD_PARAM for a call that makes no sense.
    /// `modex`: of the server role of this process, or null.
    pmix_status_t prepare(Exchange& exchange, Modex* modex, const pmix_proc_t* proc, const char* key,
                          InfoView info);

    /// From the store. PMIX_ERR_NOT_FOUND if it is absent (or must be refreshed). Any thread.
    pmix_status_t look(pmix_value_t** result);
    /// Whether asking others is allowed and possible; else the status to return.
    pmix_status_t may_ask() const;
    bool waits_for_nothing() const;
    /// Copies the data to which look() only referred, so that the call outlives its caller's arguments.
    pmix_status_t detach();
    /// Sends the request, then repeats the lookup. Loop. `*result` as for look(); `done` is called once.
    static void ask(std::shared_ptr<GetCall> call, std::function<void(pmix_status_t, pmix_value_t*)> done);

    const GetDirectives& directives() const { return directives_; }
    /// This process's own values are never stale.
    bool must_refresh() const { return directives_.refresh && !proc_is(target_, exchange_->self()); }

  private:
    pmix_status_t read_directives();
    pmix_status_t look_for_all(pmix_value_t** result);

    /// The arguments of a call that continues on another thread.
    struct Copies {
        std::string key;
        Info info;
    };

    Exchange* exchange_ = nullptr;
    Modex* modex_ = nullptr;
    pmix_proc_t target_;                            ///< since prepare(); its 260 bytes are not filled twice
    const char* key_ = nullptr;                     ///< null: everything
    bool memberships_ = false;                      ///< the key's values change by themselves
    Lookup::Realm array_of_ = Lookup::Realm::Auto;  ///< all of this realm is asked for, by its array's key
    Lookup lookup_;
    GetDirectives directives_;
    InfoView info_;
    std::unique_ptr<Copies> copies_;
};

/// The blocking form as a whole. The thread cannot be cancelled where it waits, and waits nowhere else.
pmix_status_t get_blocking(Exchange& exchange, Modex* modex, const pmix_proc_t* proc, const char* key,
                           InfoView info, pmix_value_t** result);

/// Asks the server for `key` of `target` (null: all of it). When `done` gets PMIX_SUCCESS, the store has the
/// server's data; PMIX_ERR_NOT_FOUND without a server, PMIX_ERR_LOST_CONNECTION if it ends first. `refresh`:
/// the store's own copy of the value may be stale. It is removed once the server has answered, even if the
/// answer is that there is no such value. On the loop; `done` runs there, once.
void fetch(Exchange& exchange, const pmix_proc_t& target, const char* key, InfoView info,
           Upstream::OnStatus done, bool refresh = false);

/// Drops this process's copies of values that their owners have deleted, on the server's message.
void follow_deletions(Exchange& exchange, Upstream& upstream);

}  // namespace muster
