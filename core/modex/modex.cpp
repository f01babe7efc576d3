// SPDX-License-Identifier: BSD-3-Clause
// The exchange of posted data on the server: see modex.hpp.
#include "core/modex/modex.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "core/exchange/exchange.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/exchange/peers.hpp"
#include "core/runtime/get_directives.hpp"
#include "core/runtime/lookup.hpp"
#include "framework/base/compress.hpp"

namespace muster {
namespace {

/// The session that a look-up in that realm is about; UINT32_MAX if it has no number.
uint32_t session_of(const Gds& store, const Lookup& wanted) {
    if (wanted.session_id) return *wanted.session_id;
    return stored_number(store, wanted.nspace, PMIX_RANK_WILDCARD, PMIX_SESSION_ID).value_or(UINT32_MAX);
}

}  // namespace

void pack_object(Packer& out, const pmix_proc_t& proc, const Packer& values) {
    Packer object(out.format());
    object.proc(proc);
    object.raw(values.view());
    out.bytes(object.view());
}

namespace {

std::optional<ContributionForm> chosen_form(const Parameters& parameters) {
    const auto form = parameters.text("server_base_contribution_form");
    if (form == "4.2") return ContributionForm::Older;
    if (form == "6.0") return ContributionForm::Newer;
    return std::nullopt;
}

}  // namespace

Modex::Modex(Exchange& exchange, Host& host, Namespaces& namespaces, const Peers& peers, Sources sources)
    : exchange_(exchange),
      host_(host),
      namespaces_(namespaces),
      peers_(peers),
      sources_(std::move(sources)),
      most_committed_(exchange.runtime().parameters().size("server_base_max_committed")),
      most_at_once_(exchange.runtime().parameters().size("server_base_max_payload")),
      form_(chosen_form(exchange.runtime().parameters())) {}

Modex::~Modex() = default;

std::optional<Bytes> Modex::job_level_answer(const GetRequest& request) {
    const Gds& store = exchange_.store();
    pmix_proc_t owner = request.target;
    Packer out(request.format);
    Packer values(request.format);
    if (!request.key) {
        owner.rank = PMIX_RANK_WILDCARD;
        if (store.pack_job(request.target.nspace, values, false) != PMIX_SUCCESS) return std::nullopt;
    } else {
        Lookup lookup = lookup_of(request.target.nspace, request.target.rank, request.key->c_str());
        GetDirectives directives;
        if (read_get_directives(request.info, lookup, directives) != PMIX_SUCCESS) return std::nullopt;
        const bool of_session = lookup.realm == Lookup::Realm::Session;
        const uint32_t session = of_session ? session_of(store, lookup) : UINT32_MAX;
        const auto visit = [&](const Found& found) {
            if (!of_session) {
                values.kval(found.key, found.value);
                return;
            }
            // Without qualifier it would be taken for the job's.
            Info array;
            array.add(PMIX_SESSION_ID, session);
            if (array.add_copy(found.key, found.value) != PMIX_SUCCESS) return;
            values.kval(PMIX_SESSION_INFO_ARRAY, *std::move(array).to_value());
        };
        if (store.find(lookup, visit) != PMIX_SUCCESS) return std::nullopt;
    }
    pack_object(out, owner, values);
    if (out.error() != PMIX_SUCCESS) return std::nullopt;
    return out.take();
}

std::optional<Bytes> Modex::try_answer(const GetRequest& request) {
    const bool sets = request.key && key_is(request.key->c_str(), PMIX_PSET_NAMES);
    if (sets || (request.key && key_is(request.key->c_str(), PMIX_GROUP_NAMES))) {
        const Value names =
            sets ? sources_.process_sets(request.target) : exchange_.groups().names_value(request.target);
        if (names.type() != PMIX_UNDEF) {
            Packer out(request.format);
            Packer values(request.format);
            values.kval(request.key->c_str(), *names);
            pack_object(out, request.target, values);
            return out.take();
        }
    }
    const Gds& store = exchange_.store();
    const bool job_level = request.target.rank == PMIX_RANK_WILDCARD ||
                           request.target.rank == PMIX_RANK_UNDEF ||
                           (request.key && key_is_reserved(request.key->c_str()));
    if (job_level) return job_level_answer(request);

    if (!may_give(request.requester, user_of(request), request.target)) return std::nullopt;
    const bool local = namespaces_.is_local(request.target);
    Packer values(request.format);
    bool has_key = !request.key.has_value();
    Lookup lookup;
    if (request.key) {
        const Lookup plain = lookup_of(request.target.nspace, request.target.rank, request.key->c_str());
        lookup = plain;
        GetDirectives directives;
        // Values with qualifiers all have one key; only the store can check for the requested one.
        has_key = read_get_directives(request.info, lookup, directives) == PMIX_SUCCESS &&
                  !lookup.qualifiers.empty();
        if (!has_key) {
            // All that the process posted is packed for it: not where it is not there, or for other nodes
            // alone.
            lookup = plain;
            if (local) lookup.scope = PMIX_LOCAL;
        }
        if (store.find(lookup, [](const Found&) {}) != PMIX_SUCCESS) return std::nullopt;
    }
    const pmix_status_t status =
        store.find_posted(request.target, local ? View::Local : View::All, [&](const Found& found) {
            if (request.key && key_is(found.key, request.key->c_str())) has_key = true;
            values.kval(found.key, found.value);
        });
    // The host may have registered data of the process after the requester got its job data.
    if (request.key && !has_key)
        store.find(lookup, [&](const Found& found) { values.kval(found.key, found.value); });
    else if (status != PMIX_SUCCESS)
        return std::nullopt;

    Packer out(request.format);
    if (!nspace_is(request.requester.nspace, request.target.nspace)) {
        // A process of another job has no data of this one yet.
        Packer job(request.format);
        if (store.pack_job(request.target.nspace, job, false) == PMIX_SUCCESS) {
            pack_object(out, make_proc(request.target.nspace, PMIX_RANK_WILDCARD), job);
        }
    }
    pack_object(out, request.target, values);
    if (out.error() != PMIX_SUCCESS) return std::nullopt;
    return out.take();
}

void Modex::get(GetRequest request, OnGet done) {
    exchange_.loop().assert_on_loop();
    Lookup lookup;
    GetDirectives directives;
    if (read_get_directives(request.info, lookup, directives) != PMIX_SUCCESS)
        return done(PMIX_ERR_BAD_PARAM, {});

    if (request.key && key_is(request.key->c_str(), PMIX_GROUP_NAMES) && !directives.immediate &&
        request.target.rank <= PMIX_RANK_VALID) {
        return get_group_names(std::move(request), directives, std::move(done));
    }
    get_value(std::move(request), directives, std::move(done));
}

void Modex::get_group_names(GetRequest request, const GetDirectives& directives, OnGet done) {
    Caller caller = Caller::host(exchange_.runtime());
    for (const PeerPtr& peer : peers_.all()) {
        if (proc_is(peer->proc, request.requester)) caller = Caller::of(*peer);
    }
    const auto kept = std::make_shared<GetRequest>(std::move(request));
    sources_.group_names(
        caller, kept->target, kept->info,
        [this, kept, directives, done = std::move(done)](const std::vector<std::string>& names) mutable {
            if (names.empty()) return get_value(std::move(*kept), directives, std::move(done));
            Packer out(kept->format);
            Packer values(kept->format);
            values.kval(PMIX_GROUP_NAMES, *texts_value(names));
            pack_object(out, kept->target, values);
            if (out.error() != PMIX_SUCCESS) return done(out.error(), {});
            done(PMIX_SUCCESS, out.take());
        });
}

void Modex::get_value(GetRequest request, const GetDirectives& directives, OnGet done) {
    Namespace* nspace = namespaces_.find(request.target.nspace);
    const bool local = nspace != nullptr && nspace->is_local(request.target.rank);
    // A copy of remote data may be stale; what a local process committed is always current.
    if (!directives.refresh || local) {
        if (auto blob = try_answer(request)) return done(PMIX_SUCCESS, std::move(*blob));
    }
    if (sources_.describe_node(request, done)) return;
    if (directives.immediate) return done(PMIX_ERR_NOT_FOUND, {});

    const bool reserved = request.key && key_is_reserved(request.key->c_str());
    const bool whole_job =
        request.target.rank == PMIX_RANK_WILDCARD || request.target.rank == PMIX_RANK_UNDEF;
    if (nspace != nullptr && nspace->registered && (reserved || whole_job)) {
        // The host provides job-level data when it registers the job; missing data will not arrive later.
        return done(PMIX_ERR_NOT_FOUND, {});
    }
    if (local) {
        const LocalClient* client = nspace->client(request.target.rank);
        if ((client != nullptr && client->gone()) || nspace->removed.count(request.target.rank) != 0)
            return done(PMIX_ERR_NOT_FOUND, {});
        // All that a process has posted came before its question.
        if (proc_is(request.requester, request.target) && !directives.timeout)
            return done(PMIX_ERR_NOT_FOUND, {});
        // After its first commit a process may or may not post more: waiting is bounded.
        const bool bounded = client != nullptr && client->commits > 0;
        return wait(std::move(request), std::move(done), bounded);
    }
    if (host_.module().direct_modex == nullptr) {
        if (nspace != nullptr) return done(PMIX_ERR_NOT_FOUND, {});
        return wait(std::move(request), std::move(done), true);  // the job may be registered yet
    }
    const pmix_proc_t target = request.target;
    wait(std::move(request), std::move(done), false);
    ask_host(target);
}

void Modex::wait(GetRequest request, OnGet done, bool bounded) {
    if (closed_) return done(PMIX_ERR_LOST_CONNECTION, {});
    WaitingList& list = waiting_[Proc(request.target)];
    const auto now = exchange_.loop().now();
    if (!request.deadline) {
        if (const auto timeout = read_timeout(request.info)) request.deadline = now + *timeout;
    }
    list.push_back(std::make_unique<Waiting>());
    Waiting& waiting = *list.back();
    waiting.place = std::prev(list.end());
    waiting.request = std::move(request);
    waiting.done = std::move(done);
    if (const auto deadline = waiting.request.deadline) {
        waiting.patient = true;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - now);
        arm(waiting, std::max(left, std::chrono::milliseconds::zero()), PMIX_ERR_TIMEOUT);
    } else if (bounded) {
        bound(waiting);
    }
}

/// The process may or may not post more: waiting for it has an end.
void Modex::bound(Waiting& waiting) {
    const double seconds = exchange_.runtime().parameters().seconds("server_base_max_wait");
    arm(waiting, std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000)), PMIX_ERR_NOT_FOUND);
}

void Modex::arm(Waiting& waiting, std::chrono::milliseconds limit, pmix_status_t verdict) {
    waiting.time_limit = exchange_.loop().after(limit, [this, &waiting, verdict] {
        const auto found = waiting_.find(Proc(waiting.request.target));
        if (found == waiting_.end()) return;
        const auto expired = std::move(*waiting.place);
        found->second.erase(expired->place);
        if (found->second.empty()) waiting_.erase(found);
        MUSTER_LOG(exchange_.log(), Info, "gave up waiting for %s of %s on behalf of %s",
                   expired->request.key ? expired->request.key->c_str() : "the data",
                   proc_text(expired->request.target).c_str(), proc_text(expired->request.requester).c_str());
        expired->done(verdict, {});
    });
}

uint32_t Modex::user_of(const GetRequest& request) const {
    const PeerPtr peer = request.asker.lock();
    return peer ? peer->uid : Caller::host(exchange_.runtime()).uid;
}

bool Modex::may_give(const pmix_proc_t& requester, uint32_t uid, const pmix_proc_t& target) const {
    if (is_master(uid) || nspace_is(requester.nspace, target.nspace)) return true;
    if (const auto owner = namespaces_.owner_of(target)) return *owner == uid;
    const auto given = given_to_.find(Proc(target));
    return given != given_to_.end() && given->second.count(uid) != 0;
}

void Modex::retry(const Proc& target, bool final_answer, const Fresh* fresh) {
    // Any number may wait, and packing an answer takes time: only for requests that may find their key now.
    const auto may_have_come = [&](const GetRequest& request) {
        if (fresh == nullptr || !request.key || key_is_reserved(request.key->c_str())) return true;
        if (fresh->contains(*request.key)) return true;
        return !request.info.empty() && fresh->contains(PMIX_QUALIFIED_VALUE);
    };
    const auto found = waiting_.find(target);
    if (found == waiting_.end()) return;
    WaitingList list = std::move(found->second);
    waiting_.erase(found);
    WaitingList later;
    const LocalClient* client = namespaces_.client(target.to_c());
    const bool has_committed = client == nullptr || client->commits > 0;
    for (auto next = list.begin(); next != list.end();) {
        const auto at = next++;
        Waiting* const waiting = at->get();
        auto blob = may_have_come(waiting->request) ? try_answer(waiting->request) : std::nullopt;
        if (blob) {
            waiting->done(PMIX_SUCCESS, std::move(*blob));
        } else if (final_answer) {
            waiting->done(PMIX_ERR_NOT_FOUND, {});
        } else {
            // It has committed without that key: from now on waiting is bounded.
            if (!waiting->time_limit && has_committed) bound(*waiting);
            later.splice(later.end(), list, at);
        }
    }
    if (!later.empty()) waiting_[target].splice(waiting_[target].end(), later);
}

void Modex::registered(const char* nspace) {
    exchange_.loop().assert_on_loop();
    const auto of_nspace = [nspace](const Proc& proc) { return proc.nspace() == nspace; };
    for (auto& waiting :
         take_waiting([&](const Proc& proc) { return of_nspace(proc) && in_flight_.count(proc) == 0; })) {
        get(std::move(waiting->request), std::move(waiting->done));
    }
    request_again(of_nspace);
}

/// Takes out those that wait for one of the processes.
Modex::WaitingList Modex::take_waiting(const Concerned& concerned) {
    WaitingList taken;
    for (auto it = waiting_.begin(); it != waiting_.end();) {
        if (!concerned(it->first)) {
            ++it;
            continue;
        }
        taken.splice(taken.end(), it->second);
        it = waiting_.erase(it);
    }
    return taken;
}

/// Takes out the host's requests for one of the processes.
std::vector<std::pair<Proc, Modex::OnRequested>> Modex::take_requested(const Concerned& concerned) {
    std::vector<std::pair<Proc, OnRequested>> taken;
    for (auto it = requested_.begin(); it != requested_.end();) {
        if (!concerned(it->first)) {
            ++it;
            continue;
        }
        for (OnRequested& done : it->second)
            taken.emplace_back(it->first, std::move(done));
        it = requested_.erase(it);
    }
    return taken;
}

/// Something has changed that may answer the host's requests for these.
void Modex::request_again(const Concerned& concerned) {
    for (auto& [proc, done] : take_requested(concerned))
        requested(proc.to_c(), std::move(done));
}

void Modex::for_each_waiting(const std::function<void(const GetRequest&)>& visit) const {
    for (const auto& [target, list] : waiting_) {
        for (const auto& waiting : list)
            visit(waiting->request);
    }
}

void Modex::departed(const pmix_proc_t& proc) {
    exchange_.loop().assert_on_loop();
    const Proc target(proc);
    retry(target, true);
    request_again([&](const Proc& other) { return other == target; });
}

void Modex::forget(const PeerPtr& peer) {
    exchange_.loop().assert_on_loop();
    for (auto it = waiting_.begin(); it != waiting_.end();) {
        it->second.remove_if([&](const auto& waiting) {
            return !waiting->request.asker.owner_before(peer) && !peer.owner_before(waiting->request.asker);
        });
        it = it->second.empty() ? waiting_.erase(it) : std::next(it);
    }
}

void Modex::deregistered(const char* nspace) {
    if (const auto known = contributors_.find(nspace_view(nspace)); known != contributors_.end())
        contributors_.erase(known);
    exchange_.loop().assert_on_loop();
    end_all([nspace](const Proc& proc) { return proc.nspace() == nspace; }, PMIX_ERR_INVALID_NAMESPACE);
}

void Modex::close() {
    exchange_.loop().assert_on_loop();
    closed_ = true;
    end_all([](const Proc&) { return true; }, PMIX_ERR_LOST_CONNECTION);
}

void Modex::end_all(const Concerned& concerned, pmix_status_t verdict) {
    std::erase_if(in_flight_, [&](const auto& entry) { return concerned(entry.first); });
    std::erase_if(given_to_, [&](const auto& entry) { return concerned(entry.first); });
    std::erase_if(foreign_, concerned);
    std::erase_if(again_, [&](const auto& entry) { return concerned(entry.first); });
    // An answered caller may call again and change these lists.
    auto ended = take_waiting(concerned);
    auto callers = take_requested(concerned);
    for (auto& waiting : ended)
        waiting->done(verdict, {});
    for (auto& [proc, done] : callers)
        done(verdict, {});
}

}  // namespace muster
