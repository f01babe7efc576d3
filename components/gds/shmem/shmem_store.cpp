// SPDX-License-Identifier: BSD-3-Clause
// The store of a server: writing and finding. attached.cpp has the store of a client.
#include "components/gds/shmem/shmem_store.hpp"

#include <unistd.h>

#include <algorithm>

#include "framework/base/keyed_hash.hpp"

namespace muster::gds::shmem {
namespace {

/// Bytes that a process posts, by guess.
constexpr uint64_t kExpected = 8192;

/// The kinds of the host's values, by realm; Auto means the job.
constexpr Kind kKinds[] = {Kind::Job, Kind::Session, Kind::Job, Kind::App, Kind::Node, Kind::Proc};

}  // namespace

ShmemStore::~ShmemStore() = default;

void ShmemStore::set_context(StoreContext context) {
    format_ = {context.format.bfrops, BufferType::NonDescribed};
    other_->set_context(std::move(context));
}

// --- server ---

Result<void> ShmemStore::register_job(const char* nspace, int32_t nlocalprocs, InfoView info) {
    const MutexLock lock(fill_guard_);
    if (auto stored = other_->register_job(nspace, nlocalprocs, info); !stored) return stored;
    const auto shared = shared_.find(nspace);
    if (shared == shared_.end() || !shared->second.writer) return {};
    // Clients that have mapped the segment see the changes.
    try {
        if (auto written = write_job(nspace, shared->second, true); !written)
            report_full(nspace, shared->second, written.error());
    } catch (const std::bad_alloc&) {
        log_(1, "no memory to share what was registered anew for namespace " + std::string(nspace));
    }
    return {};
}

Result<void> ShmemStore::register_resources(InfoView info) {
    const MutexLock lock(fill_guard_);
    auto stored = other_->register_resources(info);
    for (auto& [nspace, shared] : shared_)
        shared.more_resources = true;
    return stored;
}

bool ShmemStore::deregister_resources(InfoView info) {
    const MutexLock lock(fill_guard_);
    if (!other_->deregister_resources(info)) return false;
    take_back_all();
    return true;
}

/// Running jobs must not find data that the host has deregistered.
void ShmemStore::take_back_all() {
    for (auto& [nspace, shared] : shared_) {
        shared.fewer_resources = true;
        if (shared.writer) renew(nspace.c_str(), shared);
    }
}

void ShmemStore::forget_resources(InfoView info) {
    const MutexLock lock(fill_guard_);
    other_->forget_resources(info);
}

Result<void> ShmemStore::register_session(uint32_t id, InfoView info) {
    const MutexLock lock(fill_guard_);
    return other_->register_session(id, info);
}

void ShmemStore::deregister_session(uint32_t id) {
    const MutexLock lock(fill_guard_);
    other_->deregister_session(id);
    take_back_all();
}

bool ShmemStore::remove(const pmix_proc_t& proc, pmix_scope_t scope, const char* key) {
    const MutexLock lock(fill_guard_);
    Shared* shared = attached_to(proc.nspace) == nullptr ? shared_by(proc) : nullptr;
    if (shared == nullptr || key == nullptr || proc.rank >= PMIX_RANK_VALID)
        return other_->remove(proc, scope, key);
    const std::string_view name = key_view(key);
    const uint64_t known = shared->writer->find_key(name);
    const auto take_from = [&](auto& ranks) {
        const auto keys = ranks.find(proc.rank);
        if (known == 0 || keys == ranks.end() || !keys->second.has(known)) return false;
        keys->second.remove(known);
        shared->writer->remove(Kind::Posted, proc.rank, name);
        return true;
    };
    bool any = false;
    if (shared->own.contains(proc.rank)) {
        if (scope == PMIX_DEL_GLOBAL) return take_from(shared->own);
        // The part that is left has another scope. Without memory the deletion is as wide as it can be.
        try {
            if (mix(proc, *shared) != PMIX_SUCCESS) return take_from(shared->own);
        } catch (const std::bad_alloc&) {
            return take_from(shared->own);
        }
    }
    if (scope == PMIX_DEL_REMOTE || scope == PMIX_DEL_GLOBAL) any = take_from(shared->remote);
    if (other_->remove(proc, scope, key)) {
        any = true;
        if (scope == PMIX_DEL_LOCAL || scope == PMIX_DEL_GLOBAL)
            shared->writer->remove(Kind::Posted, proc.rank, name);
    }
    return any;
}

void ShmemStore::deregister(const char* nspace) {
    const MutexLock lock(fill_guard_);
    shared_.erase(nspace);
    other_->deregister(nspace);
}

void ShmemStore::forget(const pmix_proc_t& proc) {
    const MutexLock lock(fill_guard_);
    const auto at = shared_.find(proc.nspace);
    if (at != shared_.end() && proc.rank < PMIX_RANK_VALID) {
        Shared& shared = at->second;
        shared.earlier.erase(proc.rank);
        shared.remote.erase(proc.rank);
        shared.own.erase(proc.rank);
        shared.mixed.erase(proc.rank);
        if (shared.writer) {
            shared.writer->remove_all(Kind::Posted, proc.rank);
            shared.writer->remove_all(Kind::Proc, proc.rank);
        } else if (shared.earlier.empty() && !shared.refused) {
            shared_.erase(at);  // any process can ask for processes of any namespace
        }
    }
    other_->forget(proc);
}

void ShmemStore::report_full(const char* nspace, Shared& shared, const Error& why) {
    if (why.code == PMIX_ERR_NOT_SUPPORTED || std::exchange(shared.full, true)) return;
    log_(
        1,
        "the segment of namespace " + std::string(nspace) + " has no more room (" + why.text +
            "): its processes ask this server for what it does not hold; gds_shmem_limit is how large it may "
            "become, " +
            std::to_string(limit_) + " bytes");
}

/// Does not throw: the other store has the value, and serves readers that do not find it here.
void ShmemStore::write_posted(const pmix_proc_t& proc, bool local, const char* key,
                              const pmix_value_t& value) {
    // Values with qualifiers are looked for in the other store.
    if (proc.rank >= PMIX_RANK_VALID || key == nullptr || key_is(key, PMIX_QUALIFIED_VALUE)) return;
    Writer* writer = nullptr;
    try {
        Shared& shared = shared_[proc.nspace];
        writer = shared.writer.get();
        if (writer == nullptr) {
            shared.earlier[proc.rank] = local;
        } else if (auto written = writer->put(Kind::Posted, proc.rank, key_view(key), value); !written) {
            report_full(proc.nspace, shared, written.error());
        }
    } catch (const std::bad_alloc&) {
        if (writer != nullptr) writer->remove(Kind::Posted, proc.rank, key_view(key));
        log_(1, "no memory to share what a process posted");
    }
}

pmix_status_t ShmemStore::post(const pmix_proc_t& proc, pmix_scope_t scope, const char* key,
                               const pmix_value_t& value) {
    if (const Attached* attached = attached_to(proc.nspace)) {
        // A server's answer that is in the segment, too, is not kept twice.
        if (!proc_is(proc, attached->self) && key != nullptr && proc.rank < PMIX_RANK_VALID) {
            Item item;
            if (attached->reader->find(Kind::Posted, proc.rank, key_view(key), item) &&
                value_compare(&item.value, &value) == PMIX_EQUAL) {
                return PMIX_SUCCESS;
            }
        }
        const MutexLock lock(fill_guard_);
        return other_->post(proc, scope, key, value);
    }
    const MutexLock lock(fill_guard_);
    Shared* shared = shared_by(proc);
    if (shared != nullptr && proc.rank < PMIX_RANK_VALID) {
        try {
            if (keep_own(proc, scope, key, value, *shared)) return PMIX_SUCCESS;
            if (const pmix_status_t status = mix(proc, *shared); status != PMIX_SUCCESS) return status;
        } catch (const std::bad_alloc&) {
            return PMIX_ERR_NOMEM;
        }
    }
    const pmix_status_t status = other_->post(proc, scope, key, value);
    if (shared != nullptr && !shared->remote.empty() && key != nullptr) {
        // From now on a process of this node posts it.
        const auto remote = shared->remote.find(proc.rank);
        if (remote != shared->remote.end()) remote->second.remove(shared->writer->find_key(key_view(key)));
    }
    // Processes of this node must not see values for other nodes only.
    if (status == PMIX_SUCCESS && scope != PMIX_INTERNAL && scope != PMIX_REMOTE)
        write_posted(proc, true, key, value);
    return status;
}

ShmemStore::Shared* ShmemStore::shared_by(const pmix_proc_t& proc) {
    const auto found = shared_.find(nspace_view(proc.nspace));
    return found != shared_.end() && found->second.writer ? &found->second : nullptr;
}

/// Into the segment alone. After an error the key is not there any more.
Result<void> ShmemStore::put_alone(KeyList& keys, pmix_rank_t rank, const char* key,
                                   const pmix_value_t& value, Shared& shared) {
    Writer::Put done;
    Result<void> written = shared.writer->put(Kind::Posted, rank, key_view(key), value, &done);
    if (!written) {
        if (const uint64_t known = shared.writer->find_key(key_view(key)); known != 0) keys.remove(known);
    } else if (done.fresh) {
        try {
            keys.add(done.key);
        } catch (const std::bad_alloc&) {
            shared.writer->remove(Kind::Posted, rank, key_view(key));
            throw;
        }
    }
    return written;
}

/// Keeps a global value of a local process in the segment alone, if the segment can hold it and the other
/// store has no data of that process. Returns whether it did.
bool ShmemStore::keep_own(const pmix_proc_t& proc, pmix_scope_t scope, const char* key,
                          const pmix_value_t& value, Shared& shared) {
    if (scope != PMIX_GLOBAL || key == nullptr || *key == '\0' || key_is_reserved(key)) return false;
    if (shared.mixed.count(proc.rank) != 0 || shared.remote.count(proc.rank) != 0) return false;
    auto own = shared.own.find(proc.rank);
    if (own == shared.own.end()) {
        if (other_->find_posted(proc, View::All, [](const Found&) {}) == PMIX_SUCCESS) return false;
        own = shared.own.try_emplace(proc.rank).first;
    }
    const Result<void> written = put_alone(own->second, proc.rank, key, value, shared);
    if (!written) report_full(proc.nspace, shared, written.error());
    return written.ok();
}

/// From now on all that this process posts is in the other store, too.
pmix_status_t ShmemStore::mix(const pmix_proc_t& proc, Shared& shared) {
    if (!shared.mixed.insert(proc.rank).second) return PMIX_SUCCESS;
    pmix_status_t status = PMIX_SUCCESS;
    if (shared.own.count(proc.rank) != 0) {
        visit_alone(shared, proc.rank, [&](const std::string& key, const pmix_value_t& value) {
            if (status == PMIX_SUCCESS) status = other_->post(proc, PMIX_GLOBAL, key.c_str(), value);
        });
    }
    if (status == PMIX_SUCCESS) {
        shared.own.erase(proc.rank);
    } else {
        shared.mixed.erase(proc.rank);
    }
    return status;
}

/// Into the segment, and only there if there is space.
void ShmemStore::keep_remote(const pmix_proc_t& proc, const char* key, const pmix_value_t& value,
                             Shared& shared) {
    const Result<void> written = put_alone(shared.remote[proc.rank], proc.rank, key, value, shared);
    if (written) return;
    report_full(proc.nspace, shared, written.error());
    if (other_->post_remote(proc, key, value) == PMIX_ERR_NOMEM) throw std::bad_alloc();
}

pmix_status_t ShmemStore::post_remote(const pmix_proc_t& proc, const char* key, const pmix_value_t& value) {
    const MutexLock lock(fill_guard_);
    Shared* shared = shared_by(proc);
    if (shared != nullptr && proc.rank < PMIX_RANK_VALID && key != nullptr && *key != '\0' &&
        !key_is_reserved(key)) {
        try {
            if (shared->own.count(proc.rank) != 0) {
                if (const pmix_status_t status = mix(proc, *shared); status != PMIX_SUCCESS) return status;
            }
            keep_remote(proc, key, value, *shared);
            return PMIX_SUCCESS;
        } catch (const std::bad_alloc&) {
            return PMIX_ERR_NOMEM;
        }
    }
    const pmix_status_t status = other_->post_remote(proc, key, value);
    if (status == PMIX_SUCCESS) write_posted(proc, false, key, value);
    return status;
}

Result<void> ShmemStore::write_fact(const JobFact& fact, Shared& shared) {
    const Kind kind = kKinds[static_cast<size_t>(fact.realm)];
    Writer::Put done;
    const Result<void> written =
        shared.writer->put(kind, fact.of, key_view(fact.key), fact.value, fact.resource ? &done : nullptr);
    if (written && fact.resource) shared.lent.push_back({kind, fact.of, done.key});
    // Clients request values that cannot be shared.
    return written.status() == PMIX_ERR_OUT_OF_RESOURCE ? written : Result<void>();
}

/// Resources that may have been deregistered; clients ask this server for them until they are registered
/// again.
void ShmemStore::take_back(Shared& shared) {
    if (!shared.fewer_resources) return;
    for (const Lent& one : shared.lent)
        shared.writer->remove(one.kind, one.of, shared.writer->key_name(one.key));
    shared.lent.clear();
    shared.fewer_resources = false;
    shared.more_resources = true;  // the remaining data must be put again
}

/// Adds and replaces; the map, which uses new space each time, only if it may have changed.
Result<void> ShmemStore::write_job(const char* nspace, Shared& shared, bool map_too) {
    take_back(shared);
    Writer& writer = *shared.writer;
    Result<void> result;
    const auto with_map = [&](const JobMap& map, uint32_t own_node) {
        if (!map_too) return;
        result = writer.put_map(map, own_node);
        if (!result || own_node == JobMap::kNone) return;
        // Many processes request it; it would have to be assembled each time.
        const std::string peers = map.peers(own_node);
        if (!peers.empty())
            result = writer.put(Kind::Node, own_node, PMIX_LOCAL_PEERS, *Value::from(peers.c_str()));
    };
    shared.lent.clear();
    // Also without space: an older value must not stay, and lent values must be tracked.
    const auto visit = [&](const JobFact& fact) {
        if (auto written = write_fact(fact, shared); !written) result = written;
    };
    const pmix_status_t described = other_->describe_job(nspace, with_map, visit);
    if (described != PMIX_SUCCESS) return Error{described, "the data of the namespace cannot be read"};
    if (!result) return result;
    Packer packed(format_);
    if (format_.bfrops == nullptr) return Error{PMIX_ERR_NOT_SUPPORTED, "there is no encoding"};
    const pmix_status_t status = other_->pack_job(nspace, packed, true);
    if (status != PMIX_SUCCESS || packed.error() != PMIX_SUCCESS)
        return Error{PMIX_ERR_PACK_FAILURE, "the data of the namespace cannot be packed"};
    shared.more_resources = false;
    return writer.put_bytes(Kind::Packed, "job", packed.view());
}

/// Rewrites the resources for clients that connect from now on, if they have changed. Not done at each
/// change, since a host may register the resources of thousands of nodes one by one.
void ShmemStore::renew(const char* nspace, Shared& shared) {
    if (!shared.more_resources && !shared.fewer_resources) return;
    try {
        if (auto written = write_job(nspace, shared, false); !written)
            report_full(nspace, shared, written.error());
        shared.more_resources = false;  // if there was no space, there will be none for the next client
    } catch (const std::bad_alloc&) {
        take_back(shared);
        log_(1, "no memory to share the resources of namespace " + std::string(nspace));
    }
}

void ShmemStore::write_earlier(const char* nspace, Shared& shared) {
    for (const auto& entry : shared.earlier) {
        const pmix_rank_t rank = entry.first;
        other_->find_posted(
            make_proc(nspace, rank), entry.second ? View::Local : View::All, [&](const Found& found) {
                if (key_is(found.key, PMIX_QUALIFIED_VALUE)) return;
                Writer::Put done;
                if (auto written =
                        shared.writer->put(Kind::Posted, rank, key_view(found.key), found.value, &done);
                    !written) {
                    report_full(nspace, shared, written.error());
                } else if (!entry.second && !key_is_reserved(found.key)) {
                    // The segment's is the newer one from now on.
                    shared.remote[rank].add(done.key);
                }
            });
    }
    shared.earlier.clear();
}

Result<int> ShmemStore::share(const char* nspace) {
    const MutexLock lock(fill_guard_);
    try {
        if (!other_->knows(nspace)) return Error{PMIX_ERR_NOT_FOUND, "the namespace is not registered"};
        Shared& shared = shared_[nspace];
        sharing_.store(true, std::memory_order_relaxed);
        if (shared.refused) return Error{PMIX_ERR_OUT_OF_RESOURCE, "it could not be made before"};
        if (shared.writer) {
            renew(nspace, shared);
            return shared.segment->descriptor();
        }
        const auto failed = [&](const Error& why) {
            shared.refused = true;
            shared.writer.reset();
            shared.reader.reset();
            shared.segment.reset();
            log_(1, "no segment for namespace " + std::string(nspace) + ": " + why.text +
                        "; its processes are sent their job data");
            return why;
        };
        auto segment = Segment::create(limit_, "pmix:" + std::string(nspace));
        if (!segment) return failed(segment.error());
        shared.segment = std::move(*segment);
        shared.writer = std::make_unique<Writer>(*shared.segment, format_);
        shared.reader = std::make_unique<Reader>(*shared.segment, format_);
        if (auto begun = shared.writer->begin(nspace); !begun) return failed(begun.error());
        if (auto written = write_job(nspace, shared, true); !written) return failed(written.error());
        write_earlier(nspace, shared);
        // Reserves memory for values to come, so that posting does not wait for it.
        shared.writer->expect(kExpected * other_->local_ranks(nspace).size());
        log_(5, "the segment of namespace " + std::string(nspace) + " holds " +
                    std::to_string(shared.writer->used()) + " bytes");
        return shared.segment->descriptor();
    } catch (const std::bad_alloc&) {
        // Later callers find the values that were posted before.
        if (const auto shared = shared_.find(nspace_view(nspace)); shared != shared_.end()) {
            Shared begun = std::exchange(shared->second, Shared());
            shared->second.earlier = std::move(begun.earlier);
        }
        return Error{PMIX_ERR_NOMEM, "no memory for a segment"};
    }
}

// --- server: values only in the segment ---

/// The namespace, if there is any.
const ShmemStore::Shared* ShmemStore::with_keys(const char* nspace) const {
    const auto found = nspace != nullptr ? shared_.find(nspace_view(nspace)) : shared_.end();
    if (found == shared_.end()) return nullptr;
    const Shared& shared = found->second;
    return shared.remote.empty() && shared.own.empty() ? nullptr : &shared;
}

template <class Visit>
void ShmemStore::visit_alone(const Shared& shared, pmix_rank_t rank, Visit&& visit) {
    Item item;
    for (const auto* ranks : {&shared.own, &shared.remote}) {
        const auto keys = ranks->find(rank);
        if (keys == ranks->end()) continue;
        for (const uint64_t key : keys->second) {
            const std::string name(shared.writer->key_name(key));
            if (shared.reader->find(Kind::Posted, rank, name, item)) visit(name, item.value);
        }
    }
}

pmix_status_t ShmemStore::find_posted(const pmix_proc_t& proc, View view, const Visitor& visit) const {
    try {
        const MutexLock lock(fill_guard_);
        const Shared* shared = with_keys(proc.nspace);
        const bool own = shared != nullptr && shared->own.count(proc.rank) != 0;
        if (shared == nullptr || (view == View::Local && !own)) return other_->find_posted(proc, view, visit);
        TextSet seen;
        bool any = false;
        visit_alone(*shared, proc.rank, [&](const std::string& key, const pmix_value_t& value) {
            any = true;
            if (!own) seen.insert(key);
            visit({key.c_str(), value, false});
        });
        if (own) return any ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
        const pmix_status_t status = other_->find_posted(proc, view, [&](const Found& found) {
            if (seen.count(found.key) == 0) visit(found);
        });
        return any ? PMIX_SUCCESS : status;
    } catch (const std::bad_alloc&) {
        return PMIX_ERR_NOMEM;
    }
}

/// Whether the answer is `status`; else the other store has it.
bool ShmemStore::find_alone(const Lookup& lookup, const Visitor& visit, pmix_status_t& status) const {
    if (!sharing_.load(std::memory_order_relaxed)) return false;
    if (lookup.rank >= PMIX_RANK_VALID && lookup.rank != PMIX_RANK_UNDEF) return false;
    if (lookup.key != nullptr && key_is_reserved(lookup.key)) return false;
    if (!lookup.qualifiers.empty() ||
        (lookup.realm != Lookup::Realm::Auto && lookup.realm != Lookup::Realm::Proc))
        return false;
    const MutexLock lock(fill_guard_);
    const Shared* shared = with_keys(lookup.nspace);
    if (shared == nullptr) return false;
    const auto visible = [&](bool own) {
        return lookup.scope != PMIX_INTERNAL && (own || lookup.scope != PMIX_LOCAL);
    };
    if (lookup.key == nullptr) {
        if (lookup.rank == PMIX_RANK_UNDEF || !visible(shared->own.count(lookup.rank) != 0)) return false;
        TextSet seen;
        visit_alone(*shared, lookup.rank, [&](const std::string& key, const pmix_value_t& value) {
            seen.insert(key);
            visit({key.c_str(), value, false});
        });
        status = other_->find(lookup, [&](const Found& found) {
            if (seen.count(found.key) == 0) visit(found);
        });
        if (!seen.empty()) status = PMIX_SUCCESS;
        return true;
    }
    const std::string_view name = key_view(lookup.key);
    const uint64_t key = shared->writer->find_key(name);
    if (key == 0) return false;
    Item item;
    const auto give = [&](pmix_rank_t rank) {
        if (!shared->reader->find(Kind::Posted, rank, name, item)) return false;
        status = PMIX_SUCCESS;
        if (lookup.pin) {
            pin(lookup, Kind::Posted, rank, item.value, visit);
        } else {
            visit({lookup.key, item.value, false, item.copy()});
        }
        return true;
    };
    bool known = false;
    for (const auto* ranks : {&shared->own, &shared->remote}) {
        const bool seen = visible(ranks == &shared->own);
        if (lookup.rank == PMIX_RANK_UNDEF) {
            // The key alone decides, whichever process posted it.
            for (const auto& [rank, keys] : *ranks) {
                if (!keys.has(key)) continue;
                known = true;
                if (seen && give(rank)) return true;
            }
        } else if (const auto keys = ranks->find(lookup.rank);
                   keys != ranks->end() && keys->second.has(key)) {
            if (seen) return give(lookup.rank);
            known = true;
        }
    }
    if (!known) return false;
    status = other_->find(lookup, visit);
    if (status == PMIX_ERR_NOT_FOUND) status = PMIX_ERR_EXISTS_OUTSIDE_SCOPE;
    return true;
}

bool ShmemStore::knows(const char* nspace) const {
    return attached_to(nspace) != nullptr || other_->knows(nspace);
}

std::optional<uint32_t> ShmemStore::job_size(const char* nspace) const {
    const Attached* attached = attached_to(nspace);
    if (attached == nullptr) return other_->job_size(nspace);
    Item item;
    const bool found = attached->reader->find(Kind::Job, 0, PMIX_JOB_SIZE, item);
    return found ? value_as_number<uint32_t>(&item.value) : std::nullopt;
}

std::optional<uint32_t> ShmemStore::node_of(const char* nspace, pmix_rank_t rank) const {
    const Attached* attached = attached_to(nspace);
    if (attached == nullptr) return other_->node_of(nspace, rank);
    Map map;
    const uint32_t node = attached->reader->map(map) ? attached->reader->node_of(map, rank) : kNone;
    return node != kNone ? std::optional(node) : std::nullopt;
}

std::vector<pmix_rank_t> ShmemStore::local_ranks(const char* nspace) const {
    const Attached* attached = attached_to(nspace);
    if (attached == nullptr) return other_->local_ranks(nspace);
    std::vector<pmix_rank_t> ranks;
    Map map;
    if (!attached->reader->map(map)) return ranks;
    const uint32_t count = attached->reader->ranks_on(map, map.own_node);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t rank = attached->reader->rank_on(map, map.own_node, i);
        if (rank == kNone) break;
        ranks.push_back(rank);
    }
    return ranks;
}

pmix_status_t ShmemStore::peers_on(const char* node, const char* nspace,
                                   std::vector<pmix_proc_t>& out) const {
    take_over_own(nspace);
    return other_->peers_on(node, nspace, out);
}

pmix_status_t ShmemStore::node_list_of(const char* nspace, std::string& list) const {
    take_over_own(nspace);
    return other_->node_list_of(nspace, list);
}

std::vector<std::string> ShmemStore::namespaces() const {
    take_over_own(nullptr);
    return other_->namespaces();
}

pmix_status_t ShmemStore::pack_job(const char* nspace, Packer& out, bool compact) const {
    take_over_own(nspace);
    return other_->pack_job(nspace, out, compact);
}

Result<void> ShmemStore::unpack_job(const char* nspace, Unpacker& in) {
    const MutexLock lock(fill_guard_);
    return other_->unpack_job(nspace, in);
}

pmix_status_t ShmemStore::describe_job(const char* nspace,
                                       const std::function<void(const JobMap&, uint32_t own_node)>& with_map,
                                       const JobFactVisitor& visit) const {
    return other_->describe_job(nspace, with_map, visit);
}

}  // namespace muster::gds::shmem
