// SPDX-License-Identifier: BSD-3-Clause
// The engine of collective operations: see collectives.hpp.
#include "core/collective/collectives.hpp"

#include <algorithm>
#include <cstring>

#include "core/attribute/directives.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/runtime/get_directives.hpp"
#include "framework/base/keyed_hash.hpp"

namespace muster {
namespace {

/// Extra time after its time limit for a host to report that an operation has ended.
constexpr std::chrono::milliseconds kHostGrace{1000};

bool proc_less(const pmix_proc_t& a, const pmix_proc_t& b) {
    const int order = std::strncmp(a.nspace, b.nspace, PMIX_MAX_NSLEN);
    return order != 0 ? order < 0 : a.rank < b.rank;
}

/// Removes processes that a wildcard of the same namespace covers. The list is sorted.
void drop_covered(std::vector<pmix_proc_t>& procs) {
    if (std::ranges::none_of(procs, [](const pmix_proc_t& proc) { return proc.rank == PMIX_RANK_WILDCARD; }))
        return;
    std::vector<pmix_proc_t> kept;
    for (auto first = procs.begin(); first != procs.end();) {
        const auto end = std::find_if(first, procs.end(), [&](const pmix_proc_t& proc) {
            return !nspace_is(proc.nspace, first->nspace);
        });
        const auto wild =
            std::find_if(first, end, [](const pmix_proc_t& proc) { return proc.rank == PMIX_RANK_WILDCARD; });
        kept.insert(kept.end(), wild == end ? first : wild, wild == end ? end : wild + 1);
        first = end;
    }
    procs = std::move(kept);
}

bool includes(const std::vector<pmix_proc_t>& participants, const pmix_proc_t& proc) {
    return std::ranges::any_of(participants, [&](const pmix_proc_t& one) {
        return (one.rank == proc.rank || one.rank == PMIX_RANK_WILDCARD) &&
               nspace_is(one.nspace, proc.nspace);
    });
}

/// A hash of the common data of the calls of one collective.
size_t hash_of(CollectiveKind kind, const std::string& id, const std::vector<pmix_proc_t>& participants) {
    constexpr uint64_t kRank = uint64_t{1} << 63;  // which no length of a name is
    KeyedHash hash;
    hash.add(static_cast<uint64_t>(kind)).add(id);
    const pmix_proc_t* before = nullptr;
    for (const pmix_proc_t& proc : participants) {
        if (before == nullptr || !nspace_is(before->nspace, proc.nspace)) hash.add(nspace_view(proc.nspace));
        before = &proc;
        hash.add(kRank | proc.rank);
    }
    return hash.end();
}

std::string name_of(CollectiveKind kind, const std::string& id) {
    return static_cast<char>(kind) + id;
}

}  // namespace

bool same_procs(const std::vector<pmix_proc_t>& a, const std::vector<pmix_proc_t>& b) {
    return std::ranges::equal(a, b, proc_is);
}

const char* collective_name(CollectiveKind kind) {
    switch (kind) {
        case CollectiveKind::Fence:
            return "fence";
        case CollectiveKind::Connect:
            return "connect";
        case CollectiveKind::Disconnect:
            return "disconnect";
        case CollectiveKind::GroupConstruct:
            return "group construct";
        case CollectiveKind::GroupDestruct:
            return "group destruct";
    }
    return "collective";
}

bool Collective::any_true(const char* key) const {
    return std::ranges::any_of(arrivals_,
                               [&](const Arrival& arrival) { return arrival.info.view().is_true(key); });
}

bool Collective::needs_host(Function function) const {
    return std::ranges::any_of(
        arrivals_, [&](const Arrival& arrival) { return muster::needs_host(function, arrival.info); });
}

pmix_status_t Collective::add_unmet(Function function, Info& directives) const {
    for (const Arrival& arrival : arrivals_) {
        for (const pmix_info_t& one : arrival.info) {
            const auto is_same = [&](const pmix_info_t& other) {
                return key_is(other.key, one.key) && is_unmet(function, other);
            };
            if (!is_unmet(function, one) || std::ranges::any_of(directives, is_same)) continue;
            if (const pmix_status_t status = directives.add_copy(one); status != PMIX_SUCCESS) return status;
        }
    }
    return PMIX_SUCCESS;
}

std::vector<pmix_proc_t> Collective::missing(size_t* unnamed) const {
    std::vector<pmix_proc_t> result;
    const auto called = [this](const pmix_proc_t& proc) {
        return std::ranges::any_of(arrivals_,
                                   [&](const Arrival& arrival) { return proc_is(arrival.proc, proc); });
    };
    for (const pmix_proc_t& participant : participants_) {
        const Namespace* nspace = namespaces_->find(participant.nspace);
        if (nspace == nullptr) continue;
        if (participant.rank != PMIX_RANK_WILDCARD) {
            if (nspace->is_local(participant.rank) && !called(participant)) result.push_back(participant);
            continue;
        }
        for (const pmix_rank_t rank : nspace->local_ranks()) {
            const pmix_proc_t proc = make_proc(participant.nspace, rank);
            if (!called(proc)) result.push_back(proc);
        }
    }
    if (unnamed != nullptr) {
        const size_t named = arrivals_.size() + result.size();
        *unnamed = expected_ > named ? expected_ - named : 0;
    }
    return result;
}

Collectives::Collectives(EventLoop& loop, Namespaces& namespaces, JobSize job_size, const Log& log)
    : loop_(loop), namespaces_(namespaces), job_size_(std::move(job_size)), log_(log) {}
Collectives::~Collectives() = default;

void Collectives::set_operation(CollectiveKind kind, std::unique_ptr<CollectiveOperation> operation) {
    operations_[static_cast<size_t>(kind)] = std::move(operation);
}

void Collectives::compute_expected(Collective& collective) {
    size_t expected = 0;
    bool all_local = true;
    bool settled = true;
    for (const pmix_proc_t& participant : collective.participants_) {
        const Namespace* nspace = namespaces_.find(participant.nspace);
        if (nspace == nullptr) {
            all_local = false;
        } else if (participant.rank == PMIX_RANK_WILDCARD) {
            expected += nspace->local_count();
            const auto size = job_size_(participant.nspace);
            if (!size || *size > nspace->local_count()) all_local = false;
        } else if (nspace->is_local(participant.rank)) {
            ++expected;
        } else {
            all_local = false;
            // A host may start clients before it has registered the last: this one may be among those.
            if (!nspace->knows_local_ranks()) settled = false;
        }
    }
    collective.settled_ = settled;
    collective.expected_ = expected;
    collective.all_local_ = all_local;
}

void Collectives::arrive(CollectiveKind kind, const std::string& id, std::vector<pmix_proc_t> participants,
                         Arrival arrival) {
    loop_.assert_on_loop();
    if (!operations_[static_cast<size_t>(kind)]) return arrival.reply({PMIX_ERR_NOT_SUPPORTED, {}});
    if (closed_) return arrival.reply({PMIX_ERR_LOST_CONNECTION, {}});
    std::vector<pmix_proc_t> given;
    if (!id.empty()) {
        // Most calls have the same list: its checks apply to all.
        const auto named = find(kind, id);
        if (named && same_procs(named->given_, participants) && arrive_too(named, arrival)) return;
        given = participants;
    }
    if (!std::is_sorted(participants.begin(), participants.end(), proc_less))
        std::ranges::sort(participants, proc_less);
    participants.erase(std::unique(participants.begin(), participants.end(), proc_is), participants.end());
    drop_covered(participants);
    if (!includes(participants, arrival.proc)) {
        const auto& operation = operations_[static_cast<size_t>(kind)];
        return arrival.reply({operation->status_of_stranger(participants, arrival.proc), {}});
    }

    if (!id.empty()) {
        if (const auto named = find(kind, id)) {
            const bool in_already =
                named->handed_over_ || std::ranges::any_of(named->arrivals_, [&](const Arrival& other) {
                    return proc_is(other.proc, arrival.proc);
                });
            if (in_already) return arrival.reply({PMIX_ERR_EXISTS, {}});
            if (!same_procs(named->participants_, participants))
                return arrival.reply({PMIX_ERR_BAD_PARAM, {}});
        }
    }

    std::shared_ptr<Collective> collective;
    if (const auto open = find_open(kind, id, participants); open != open_.end()) {
        // A process that is in already means the next operation over the same participants.
        const auto in_already = [&](const std::shared_ptr<Collective>& one) {
            return std::ranges::any_of(
                one->arrivals_, [&](const Arrival& other) { return proc_is(other.proc, arrival.proc); });
        };
        const auto next = std::partition_point(open->second.begin(), open->second.end(), in_already);
        if (next != open->second.end()) collective = *next;
    }
    if (!collective) {
        collective = std::make_shared<Collective>();
        collective->kind_ = kind;
        collective->id_ = id;
        collective->participants_ = std::move(participants);
        collective->given_ = std::move(given);
        collective->namespaces_ = &namespaces_;
        compute_expected(*collective);
        // Participants that have departed will not call.
        for (const pmix_proc_t& participant : collective->participants_) {
            const Namespace* nspace = namespaces_.find(participant.nspace);
            if (nspace == nullptr) continue;
            // A list may name as many processes as a message has room for.
            if (participant.rank != PMIX_RANK_WILDCARD) {
                const auto client = nspace->clients.find(participant.rank);
                if ((client != nspace->clients.end() && client->second.lost) ||
                    nspace->removed.contains(participant.rank))
                    collective->departed_.push_back(participant);
                continue;
            }
            for (const auto& [rank, client] : nspace->clients) {
                if (client.lost) collective->departed_.push_back(client.proc);
            }
            for (const pmix_rank_t rank : nspace->removed)
                collective->departed_.push_back(make_proc(participant.nspace, rank));
        }
        collective->arrivals_.reserve(1);  // those that are found have one
        try {
            add(collective);
        } catch (const std::bad_alloc&) {
            finish(collective, {PMIX_ERR_NOMEM, {}});
            throw;
        }
    }
    join(collective, std::move(arrival));
}

void Collectives::add(const std::shared_ptr<Collective>& collective) {
    if (!collective->id_.empty()) collective->name_ = name_of(collective->kind_, collective->id_);
    collective->place_ = active_.insert(active_.end(), collective);
    if (!collective->id_.empty()) named_.emplace(collective->name_, collective);
    add_open(collective);
}

Collectives::Open::iterator Collectives::find_open(CollectiveKind kind, const std::string& id,
                                                   const std::vector<pmix_proc_t>& participants) {
    const auto [first, last] = open_.equal_range(hash_of(kind, id, participants));
    const auto found = std::find_if(first, last, [&](const auto& entry) {
        const Collective& one = *entry.second.front();
        return one.kind_ == kind && one.id_ == id && same_procs(one.participants_, participants);
    });
    return found == last ? open_.end() : found;
}

void Collectives::add_open(const std::shared_ptr<Collective>& collective) {
    const CollectiveKind kind = collective->kind_;
    auto open = find_open(kind, collective->id_, collective->participants_);
    if (open == open_.end()) {
        open = open_.emplace(hash_of(kind, collective->id_, collective->participants_), Generations());
    }
    open->second.push_back(collective);
}

/// No arrival can join it any more.
void Collectives::remove_open(const std::shared_ptr<Collective>& collective) {
    const auto open = find_open(collective->kind_, collective->id_, collective->participants_);
    if (open == open_.end()) return;
    Generations& all = open->second;
    if (const auto found = std::ranges::find(all, collective); found != all.end()) all.erase(found);
    if (all.empty()) open_.erase(open);
}

bool Collectives::arrive_too(const std::shared_ptr<Collective>& collective, Arrival& arrival) {
    loop_.assert_on_loop();
    if (closed_ || collective->handed_over_ || !includes(collective->participants_, arrival.proc))
        return false;
    const bool in_already = std::ranges::any_of(collective->arrivals_, [&](const Arrival& other) {
        return other.proc.rank == arrival.proc.rank && proc_is(other.proc, arrival.proc);
    });
    if (in_already) {
        arrival.reply({PMIX_ERR_EXISTS, {}});
    } else {
        join(collective, std::move(arrival));
    }
    return true;
}

bool Collectives::answer_instead(const std::shared_ptr<Collective>& collective, const pmix_proc_t& proc,
                                 std::function<void(const Outcome&)> reply) {
    for (Arrival& arrival : collective->arrivals_) {
        if (!proc_is(arrival.proc, proc)) continue;
        arrival.reply = std::move(reply);
        return true;
    }
    return false;
}

void Collectives::join(const std::shared_ptr<Collective>& collective, Arrival arrival) {
    const auto timeout = read_timeout(arrival.info);
    const auto kept = collective;  // it may end, and leave the list
    kept->arrivals_.push_back(std::move(arrival));
    try {
        operations_[static_cast<size_t>(kept->kind_)]->joined(*kept);
        if (timeout && !kept->time_limit_) {
            kept->limit_ = *timeout;
            kept->time_limit_ = loop_.after(*timeout, [this, ref = CollectiveRef(kept)] {
                if (const auto expired = ref.lock()) expire(expired);
            });
        }
        check(kept);
    } catch (const std::bad_alloc&) {
        // There may be no later arrival that completes it.
        finish(kept, {PMIX_ERR_NOMEM, {}});
    }
}

void Collectives::check(const std::shared_ptr<Collective>& collective) {
    if (collective->handed_over_) return;
    CollectiveOperation& operation = *operations_[static_cast<size_t>(collective->kind_)];
    for (const pmix_proc_t& proc : collective->departed_) {
        if (operation.tolerates_departure(*collective, proc)) continue;
        MUSTER_LOG(log_, Info, "%s fails: %s has gone without taking part",
                   collective_name(collective->kind_), proc_text(proc).c_str());
        finish(collective, {operation.departure_status(), {}});
        return;
    }
    while (collective->noticed_ < collective->departed_.size())
        operation.goes_on_without(*collective, collective->departed_[collective->noticed_++]);
    if (!collective->departed_.empty()) collective->local_status_ = PMIX_ERR_PARTIAL_SUCCESS;
    if (!collective->settled_) return;
    if (collective->arrivals_.size() + collective->departed_.size() < collective->expected_) return;
    proceed(collective);
}

void Collectives::proceed(const std::shared_ptr<Collective>& collective) {
    loop_.assert_on_loop();
    const auto kept = collective;  // it may end, and leave the list
    kept->handed_over_ = true;
    remove_open(kept);
    CollectiveOperation& operation = *operations_[static_cast<size_t>(kept->kind_)];
    operation.all_local_in(kept);
    if (!kept->time_limit_ || operation.limits_host() || !is_active(kept)) return;
    // The host knows the limit and ends the collective on all nodes. A node that times out alone would begin
    // the next one while the host still counts the others in this one.
    kept->time_limit_ = loop_.after(kept->limit_ + kHostGrace, [this, ref = CollectiveRef(kept)] {
        if (const auto expired = ref.lock()) expire(expired);
    });
}

void Collectives::extend(const std::shared_ptr<Collective>& collective, std::chrono::milliseconds time) {
    loop_.assert_on_loop();
    collective->extended_ = true;
    collective->time_limit_ = loop_.after(time, [this, ref = CollectiveRef(collective)] {
        if (const auto expired = ref.lock()) expire(expired);
    });
}

bool Collectives::is_active(const std::shared_ptr<Collective>& collective) const {
    return collective->place_.has_value();
}

std::shared_ptr<Collective> Collectives::find(CollectiveKind kind, const std::string& id) const {
    const auto found = named_.find(name_of(kind, id));
    return found == named_.end() ? nullptr : found->second;
}

void Collectives::expire(const std::shared_ptr<Collective>& collective) {
    if (operations_[static_cast<size_t>(collective->kind_)]->expired(collective)) return;
    if (log_.enabled(LogLevel::Error)) {
        size_t unnamed = 0;
        std::string names;
        for (const pmix_proc_t& proc : collective->missing(&unnamed)) {
            if (names.size() > 200) {
                names += " ...";
                break;
            }
            names += (names.empty() ? "" : ", ") + proc_text(proc);
        }
        if (unnamed > 0)
            names += (names.empty() ? "" : " and ") + std::to_string(unnamed) + " more of this node";
        if (names.empty())
            names = collective->all_local() ? "no process" : "other nodes (the host has not answered)";
        MUSTER_LOG(log_, Error, "%s %s reached its time limit waiting for %s",
                   collective_name(collective->kind_), collective->id_.c_str(), names.c_str());
    }
    finish(collective, {PMIX_ERR_TIMEOUT, {}});
}

void Collectives::finish(const std::shared_ptr<Collective>& collective, const Outcome& outcome) {
    loop_.assert_on_loop();
    if (!is_active(collective)) return;  // ended already, by its time limit or a death
    const auto keep = collective;        // the reference given may be the one in the list
    active_.erase(*keep->place_);
    keep->place_.reset();
    if (!keep->id_.empty()) named_.erase(keep->name_);
    if (!keep->handed_over_) remove_open(keep);
    keep->time_limit_.reset();
    const auto contained = [](const auto& tell) {
        try {
            tell();
        } catch (const std::bad_alloc&) {
            return;  // an unanswered request logs this itself
        }
    };
    contained([&] { operations_[static_cast<size_t>(keep->kind_)]->ended(*keep, outcome); });
    for (const Arrival& arrival : keep->arrivals_)
        contained([&] { arrival.reply(outcome); });
}

/// Allocates nothing. An end changes the list, so that the iteration starts again.
template <class Do>
void Collectives::for_each_active(const Do& what) {
    const uint64_t round = ++round_;
    for (auto at = active_.begin(); at != active_.end();) {
        const auto collective = *at;
        if (std::exchange(collective->round_, round) == round) {
            ++at;
            continue;
        }
        try {
            what(collective);
        } catch (const std::bad_alloc&) {
            finish(collective, {PMIX_ERR_NOMEM, {}});
        }
        at = is_active(collective) ? std::next(*collective->place_) : active_.begin();
    }
}

void Collectives::finalized(const pmix_proc_t& proc) {
    loop_.assert_on_loop();
    for_each_active([&](const auto& collective) {
        if (collective->handed_over_ || !operation(*collective).forgets_departed()) return;
        // The next call begins another collective.
        if (withdraw(*collective, proc) && collective->arrivals_.empty()) finish(collective, {});
    });
}

std::optional<Arrival> Collectives::withdraw(Collective& collective, const pmix_proc_t& proc) {
    std::vector<Arrival>& arrivals = collective.arrivals_;
    const auto called =
        std::ranges::find_if(arrivals, [&](const Arrival& arrival) { return proc_is(arrival.proc, proc); });
    if (called == arrivals.end()) return std::nullopt;
    std::optional<Arrival> withdrawn = std::move(*called);
    arrivals.erase(called);
    return withdrawn;
}

void Collectives::departed(const pmix_proc_t& proc) {
    loop_.assert_on_loop();
    for_each_active([&](const auto& collective) { depart(collective, proc); });
}

void Collectives::depart(const std::shared_ptr<Collective>& collective, const pmix_proc_t& proc) {
    if (collective->handed_over_ || !includes(collective->participants_, proc)) return;
    const auto is_it = [&](const pmix_proc_t& one) { return proc_is(one, proc); };
    if (operation(*collective).forgets_departed()) {
        if (auto withdrawn = withdraw(*collective, proc)) {
            collective->withdrawn_.push_back(std::move(*withdrawn));
            // The next call begins another collective.
            if (collective->arrivals_.empty()) return finish(collective, {});
        }
    } else if (std::ranges::any_of(collective->arrivals_,
                                   [&](const Arrival& arrival) { return is_it(arrival.proc); })) {
        return;
    }
    std::vector<pmix_proc_t>& departed = collective->departed_;
    if (std::ranges::none_of(departed, is_it)) departed.push_back(proc);
    check(collective);
}

void Collectives::left(CollectiveKind kind, const std::string& id, const pmix_proc_t& proc) {
    loop_.assert_on_loop();
    const auto collective = find(kind, id);
    if (!collective || collective->handed_over_) return;
    const auto is_it = [&](const pmix_proc_t& one) { return proc_is(one, proc); };
    const bool called = std::ranges::any_of(collective->arrivals_,
                                            [&](const Arrival& arrival) { return is_it(arrival.proc); });
    if (called || std::ranges::any_of(collective->departed_, is_it)) return;
    std::erase_if(collective->given_, is_it);
    if (std::ranges::none_of(collective->participants_, is_it)) return;
    remove_open(collective);
    std::erase_if(collective->participants_, is_it);
    add_open(collective);
    compute_expected(*collective);
    check(collective);
}

void Collectives::deregistered(const char* nspace) {
    loop_.assert_on_loop();
    for_each_active([&](const auto& collective) {
        const bool involved = std::ranges::any_of(collective->participants_, [&](const pmix_proc_t& proc) {
            return nspace_is(proc.nspace, nspace);
        });
        if (involved) finish(collective, {PMIX_ERR_INVALID_NAMESPACE, {}});
    });
}

void Collectives::close() {
    loop_.assert_on_loop();
    closed_ = true;
    for_each_active([&](const auto& collective) { finish(collective, {PMIX_ERR_LOST_CONNECTION, {}}); });
}

void Collectives::registered(const char* nspace) {
    loop_.assert_on_loop();
    for_each_active([&](const auto& collective) {
        if (collective->handed_over_) return;
        const bool involved = std::ranges::any_of(collective->participants_, [&](const pmix_proc_t& proc) {
            return nspace_is(proc.nspace, nspace);
        });
        if (!involved) return;
        compute_expected(*collective);
        check(collective);
    });
}

}  // namespace muster
