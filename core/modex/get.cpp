// SPDX-License-Identifier: BSD-3-Clause
// PMIx_Get: see get.hpp.
#include "core/modex/get.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/exchange/command.hpp"
#include "core/modex/modex.hpp"
#include "core/runtime/completion.hpp"
#include "framework/base/compress.hpp"
#include "framework/base/uncancelled.hpp"

namespace muster {
namespace {

/// Keys whose values change without a new registration.
bool names_memberships(std::string_view key) {
    return key == PMIX_PSET_NAMES || key == PMIX_GROUP_NAMES;
}

/// The arrays by which hosts give all of a realm: as a key they ask for that.
Lookup::Realm realm_of_array(std::string_view key) {
    constexpr std::string_view kSuffix = ".arr";
    if (!key.ends_with(kSuffix)) return Lookup::Realm::Auto;
    if (key == PMIX_NODE_INFO_ARRAY) return Lookup::Realm::Node;
    if (key == PMIX_APP_INFO_ARRAY) return Lookup::Realm::App;
    if (key == PMIX_JOB_INFO_ARRAY) return Lookup::Realm::Job;
    if (key == PMIX_SESSION_INFO_ARRAY) return Lookup::Realm::Session;
    return Lookup::Realm::Auto;
}

/// A value as PMIx_Get gives it out; null if there is no memory for it.
pmix_value_t* to_heap(Value& value) {
    auto* holder = static_cast<pmix_value_t*>(std::malloc(sizeof(pmix_value_t)));
    if (holder != nullptr) *holder = value.release();
    return holder;
}

pmix_status_t take_in(Exchange& exchange, Unpacker& reply) {
    Gds& store = exchange.store();
    while (!reply.at_end()) {
        ByteView bytes;
        pmix_proc_t proc{};
        if (!reply.bytes(bytes)) return reply.error();
        Unpacker object(reply.format(), bytes);
        if (!object.proc(proc)) return object.error();
        if (proc.rank == PMIX_RANK_WILDCARD) {
            if (auto taken = store.unpack_job(proc.nspace, object); !taken) {
                MUSTER_LOG(exchange.log(), Error, "job data of %s: %s", proc.nspace,
                           taken.error().text.c_str());
                return taken.status();
            }
            continue;
        }
        const bool own = proc_is(proc, exchange.self());
        while (!object.at_end()) {
            std::string key;
            Value value;
            if (!object.kval(key, value)) return object.error();
            if (const pmix_status_t status = value_decompress(value.get()); status != PMIX_SUCCESS)
                return status;
            // This process's own values are newer than the server's copies.
            if (own && !key_is_reserved(key.c_str())) continue;
            if (const pmix_status_t status = store.post(proc, PMIX_GLOBAL, key.c_str(), *value);
                status != PMIX_SUCCESS) {
                return status;
            }
        }
    }
    return PMIX_SUCCESS;
}

}  // namespace

pmix_status_t GetCall::prepare(Exchange& exchange, Modex* modex, const pmix_proc_t* proc, const char* key,
                               InfoView info) {
    const size_t length = key == nullptr ? 0 : strnlen(key, PMIX_MAX_KEYLEN + 1);
    if (key != nullptr && (length == 0 || length > PMIX_MAX_KEYLEN)) return PMIX_ERR_BAD_PARAM;
    if (info.size > 0 && info.data == nullptr) return PMIX_ERR_BAD_PARAM;
    exchange_ = &exchange;
    modex_ = modex;
    target_ = proc == nullptr ? exchange.self() : *proc;
    if (!exchange.groups().translate(target_)) return PMIX_ERR_NOT_FOUND;
    if (target_.nspace[0] == '\0') nspace_load(target_.nspace, nspace_view(exchange.self().nspace));
    // The rank of the caller, which may not know it.
    if (target_.rank == PMIX_RANK_INVALID && nspace_is(target_.nspace, exchange.self().nspace) &&
        std::string_view(key, length) == PMIX_RANK)
        target_.rank = exchange.self().rank;
    array_of_ = realm_of_array({key, length});
    key_ = array_of_ == Lookup::Realm::Auto ? key : nullptr;
    memberships_ = names_memberships({key, length});
    info_ = info;
    lookup_.nspace = target_.nspace;
    lookup_.rank = target_.rank;
    lookup_.key = key_;
    return read_directives();
}

pmix_status_t GetCall::read_directives() {
    const pmix_status_t status = read_get_directives(info_, lookup_, directives_);
    lookup_.pin = directives_.pointer;
    if (array_of_ != Lookup::Realm::Auto) lookup_.realm = array_of_;
    // Only the server knows the current sets and groups.
    if (memberships_ && !directives_.optional) {
        const Upstream* upstream = exchange_->upstream();
        directives_.refresh |= modex_ != nullptr || (upstream != nullptr &&
                                                     upstream->server_version().can(Capability::GroupNames));
    }
    return status;
}

pmix_status_t GetCall::look(pmix_value_t** result) {
    if (key_ == nullptr) return look_for_all(result);
    pmix_status_t outcome = PMIX_SUCCESS;
    const auto visit = [&](const Found& found) {
        if (directives_.pointer && found.stable) {
            // The caller reads it in place and does not free it (PMIX_GET_POINTER_VALUES).
            *result = const_cast<pmix_value_t*>(&found.value);
        } else if (directives_.static_value && *result == nullptr) {
            outcome = PMIX_ERR_BAD_PARAM;
        } else {
            Value copy;
            if (found.copy != nullptr) {
                copy = std::move(*found.copy);
            } else {
                outcome = value_copy(copy.get(), &found.value);
                if (outcome != PMIX_SUCCESS) return;
            }
            if (directives_.static_value) {
                **result = copy.release();
                return;
            }
            *result = to_heap(copy);
            if (*result == nullptr) outcome = PMIX_ERR_NOMEM;
        }
    };
    // By reference: its captures are too large for the visitor without an allocation.
    pmix_status_t status = exchange_->store().find(lookup_, std::ref(visit));
    if (status == PMIX_ERR_INVALID_NAMESPACE && nspace_is(target_.nspace, exchange_->self().nspace)) {
        // A server need not register itself. It runs on this node.
        Lookup of_node = lookup_;
        of_node.nspace = "";
        of_node.rank = PMIX_RANK_WILDCARD;
        status = exchange_->store().find(of_node, std::ref(visit));
    }
    if (status != PMIX_SUCCESS && proc_is(target_, exchange_->self())) {
        if (const pmix_info_t* fact = exchange_->runtime().own_facts().find(key_)) {
            visit(Found{key_, fact->value, true});
            status = PMIX_SUCCESS;
        }
    }
    if (status != PMIX_SUCCESS && memberships_ && key_is(key_, PMIX_GROUP_NAMES)) {
        // A server of another library does not report it; this process knows its own groups.
        const Value names = exchange_->groups().names_value(target_);
        if (names.type() != PMIX_UNDEF) {
            visit(Found{key_, *names, false});
            status = PMIX_SUCCESS;
        }
    }
    return status != PMIX_SUCCESS ? status : outcome;
}

pmix_status_t GetCall::look_for_all(pmix_value_t** result) {
    pmix_status_t outcome = PMIX_SUCCESS;
    Info all;
    const pmix_status_t status = exchange_->store().find(lookup_, [&](const Found& found) {
        const pmix_status_t added = all.add_copy(found.key, found.value);
        if (added != PMIX_SUCCESS) outcome = added;
    });
    if (status != PMIX_SUCCESS || outcome != PMIX_SUCCESS) return status != PMIX_SUCCESS ? status : outcome;
    Value array = std::move(all).to_value();
    if (directives_.static_value) {
        if (*result == nullptr) return PMIX_ERR_BAD_PARAM;
        **result = array.release();
        return PMIX_SUCCESS;
    }
    *result = to_heap(array);
    return *result == nullptr ? PMIX_ERR_NOMEM : PMIX_SUCCESS;
}

pmix_status_t GetCall::may_ask() const {
    if (directives_.optional) return PMIX_ERR_NOT_FOUND;
    if (lookup_.scope == PMIX_INTERNAL) return PMIX_ERR_NOT_FOUND;
    if (exchange_->upstream() != nullptr) {
        // No other process has data of this process that it has not put.
        const bool own = proc_is(target_, exchange_->self());
        return own && key_ != nullptr && !key_is_reserved(key_) ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS;
    }
    return modex_ != nullptr ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

/// Whether the server has the value already or will never have it: the key is reserved, and the process is on
/// this node or not in its job. Servers of OpenPMIx wait two seconds for the process to post the key, unless
/// the request is PMIX_IMMEDIATE. The server has to ask other nodes about processes elsewhere.
bool GetCall::waits_for_nothing() const {
    if (key_ == nullptr || !key_is_reserved(key_) || memberships_ || directives_.immediate) return false;
    if (exchange_->attached()->server_version().can(Capability::AnswersAtOnce) ||
        target_.rank == PMIX_RANK_WILDCARD)
        return false;
    const Gds& store = exchange_->store();
    if (proc_is(target_, exchange_->self())) return true;
    const std::optional<uint32_t> size = store.job_size(target_.nspace);
    if (!size) return false;
    const std::vector<pmix_rank_t> local = store.local_ranks(target_.nspace);
    return target_.rank >= *size || std::ranges::find(local, target_.rank) != local.end();
}

pmix_status_t GetCall::detach() {
    auto copy = Info::copy_of(info_);
    if (!copy) return PMIX_ERR_BAD_PARAM;
    copies_ = std::make_unique<Copies>();
    copies_->info = std::move(*copy);
    info_ = copies_->info;
    if (key_ != nullptr) {
        copies_->key = key_;
        key_ = copies_->key.c_str();
    }
    lookup_ = Lookup();
    lookup_.nspace = target_.nspace;
    lookup_.rank = target_.rank;
    lookup_.key = key_;
    const pmix_status_t status = read_directives();
    // The caller's storage is filled by the caller's thread.
    if (!directives_.pointer) directives_.static_value = false;
    return status;
}

void GetCall::ask(std::shared_ptr<GetCall> call, std::function<void(pmix_status_t, pmix_value_t*)> done) {
    GetCall& self = *call;
    const auto again = [call, done](pmix_status_t status) {
        pmix_value_t* value = nullptr;
        if (status == PMIX_SUCCESS) {
            const bool sets = call->memberships_;
            // The server's answer is stored with the process, the host's job data with the application.
            if (sets) call->lookup_.realm = Lookup::Realm::Proc;
            status = call->look(&value);
            if (sets && status == PMIX_ERR_NOT_FOUND) {
                call->lookup_.realm = Lookup::Realm::Auto;
                status = call->look(&value);
            }
        }
        if (status == PMIX_ERR_INVALID_NAMESPACE) status = PMIX_ERR_NOT_FOUND;
        done(status, value);
    };
    Exchange& exchange = *self.exchange_;
    if (exchange.upstream() != nullptr) {
        if (!self.waits_for_nothing())
            return fetch(exchange, self.target_, self.key_, self.info_, again, self.must_refresh());
        Info at_once;
        if (at_once.add_copies(self.info_) != PMIX_SUCCESS) return done(PMIX_ERR_BAD_PARAM, nullptr);
        at_once.add(PMIX_IMMEDIATE, true);
        return fetch(exchange, self.target_, self.key_, at_once, again);
    }
    if (self.modex_ == nullptr) return done(PMIX_ERR_NOT_FOUND, nullptr);
    if (self.memberships_) {
        Value names = key_is(self.key_, PMIX_PSET_NAMES) ? self.modex_->names_of_sets(self.target_)
                                                         : exchange.groups().names_value(self.target_);
        if (names.type() == PMIX_UNDEF) return again(PMIX_SUCCESS);
        pmix_value_t* const holder = to_heap(names);
        return done(holder == nullptr ? PMIX_ERR_NOMEM : PMIX_SUCCESS, holder);
    }
    // A server would ask its host, which is the caller here: perhaps inside the upcall that requests this
    // process's data (Open MPI), on the thread that would have to answer. It waits only if it gave a time
    // limit.
    if (!self.directives_.timeout) return again(PMIX_SUCCESS);
    GetRequest request;
    request.requester = exchange.self();
    request.target = self.target_;
    if (self.key_ != nullptr) request.key = self.key_;
    if (auto copy = Info::copy_of(self.info_)) request.info = std::move(*copy);
    request.format = exchange.runtime().own_format();
    self.modex_->get(std::move(request), [again](pmix_status_t status, Bytes) { again(status); });
}

pmix_status_t get_blocking(Exchange& exchange, Modex* modex, const pmix_proc_t* proc, const char* key,
                           InfoView info, pmix_value_t** result) {
    GetCall call;
    pmix_status_t status = call.prepare(exchange, modex, proc, key, info);
    if (status != PMIX_SUCCESS) return status;
    if (!call.must_refresh()) {
        status = call.look(result);
        if (status == PMIX_SUCCESS) return status;
        if (status != PMIX_ERR_NOT_FOUND && status != PMIX_ERR_INVALID_NAMESPACE) return status;
    }
    if (status = call.may_ask(); status != PMIX_SUCCESS) return status;

    const Uncancelled uncancelled;
    // The shared copies keep a late answer valid, although the wait below ends after the last use.
    struct Answer {
        pmix_status_t status = PMIX_SUCCESS;
        pmix_value_t* value = nullptr;
    };
    auto shared = std::make_shared<GetCall>();
    if (status = shared->prepare(exchange, modex, proc, key, info); status != PMIX_SUCCESS) return status;
    if (status = shared->detach(); status != PMIX_SUCCESS) return status;
    pmix_value_t* storage = *result;
    const Answer answer =
        call_and_wait<Answer>(exchange.runtime(), {PMIX_ERR_WOULD_BLOCK, nullptr}, [shared](auto deliver) {
            GetCall::ask(shared, [deliver](pmix_status_t code, pmix_value_t* value) {
                deliver({code, value});
            });
        });
    if (answer.status != PMIX_SUCCESS) return answer.status;
    if (call.directives().fills_storage()) {
        if (storage != nullptr) *storage = *answer.value;
        std::free(answer.value);
        return storage == nullptr ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS;
    }
    *result = answer.value;
    return PMIX_SUCCESS;
}

void fetch(Exchange& exchange, const pmix_proc_t& target, const char* key, InfoView info,
           Upstream::OnStatus done, bool refresh) {
    Upstream* upstream = exchange.upstream();
    if (upstream == nullptr) return done(PMIX_ERR_NOT_FOUND);
    Packer message = upstream->packer(Command::Get);
    message.string(target.nspace).rank(target.rank).infos(info);
    if (key != nullptr) message.string(key);
    if (const pmix_status_t error = message.error(); error != PMIX_SUCCESS) return done(error);
    std::string stale;
    if (refresh && key != nullptr && !key_is_reserved(key) && target.rank < PMIX_RANK_VALID) stale = key;
    upstream->request(std::move(message),
                      [&exchange, target, stale = std::move(stale), done = std::move(done)](Unpacker* reply) {
                          if (reply == nullptr) return done(PMIX_ERR_LOST_CONNECTION);
                          pmix_status_t status = PMIX_SUCCESS;
                          if (!reply->status(status)) return done(reply->error());
                          if (!stale.empty() && (status == PMIX_SUCCESS || status == PMIX_ERR_NOT_FOUND))
                              exchange.store().remove(target, PMIX_DEL_GLOBAL, stale.c_str());
                          done(status == PMIX_SUCCESS ? take_in(exchange, *reply) : status);
                      });
}

void follow_deletions(Exchange& exchange, Upstream& upstream) {
    upstream.on_message(tag::kDelete, [&exchange, &upstream](const Frame& frame) {
        Unpacker in(upstream.format(), frame.payload.view());
        pmix_proc_t proc{};
        pmix_scope_t scope = PMIX_SCOPE_UNDEF;
        std::string key;
        if (!in.proc(proc) || !in.scope(scope) || !in.string(key)) return;
        const bool deletes = scope == PMIX_DEL_LOCAL || scope == PMIX_DEL_REMOTE ||
                             scope == PMIX_DEL_GLOBAL || scope == PMIX_DEL_INTERNAL;
        if (!deletes) return;
        if (proc.rank == PMIX_RANK_WILDCARD) {
            // Resources that the host has deregistered.
            Info entries;
            if (in.at_end()) {
                entries.add(key.c_str(), Value());
            } else if (!in.infos(entries)) {
                return;
            }
            return exchange.store().forget_resources(entries);
        }
        // For all readers: the server has any value that this process may still have.
        const bool own = proc_is(proc, exchange.self());
        exchange.store().remove(proc, own ? scope : PMIX_DEL_GLOBAL, key.c_str());
    });
}

}  // namespace muster
