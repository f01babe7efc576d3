// SPDX-License-Identifier: BSD-3-Clause
// gds/shmem: a store that shares a server's data with the processes of its node, in front of another store
// (gds/hash), which has all data that is not shared. A server also writes segments; a client reads its job's
// segment and asks the other store for the rest.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "components/gds/shmem/finder.hpp"
#include "components/gds/shmem/key_list.hpp"
#include "components/gds/shmem/writer.hpp"
#include "framework/base/keyed_hash.hpp"
#include "framework/base/mutex.hpp"

namespace muster::gds::shmem {

class ShmemStore : public Gds {
  public:
    using LogLine = std::function<void(int level, const std::string& line)>;

    /// `limit`: how large a segment may become.
    ShmemStore(uint64_t limit, LogLine log) : limit_(limit), log_(std::move(log)) {}
    ~ShmemStore() override;

    const char* name() const override { return "shmem"; }
    const char* behind() const override { return "hash"; }
    void stand_before(Gds& other) override { other_ = &other; }
    std::string shared_form() const override { return "muster-shmem-" + std::to_string(kLayout); }
    void set_context(StoreContext context) override;

    Result<void> register_job(const char* nspace, int32_t nlocalprocs, InfoView info) override;
    Result<void> register_resources(InfoView info) override;
    bool deregister_resources(InfoView info) override;
    void forget_resources(InfoView info) override;
    Result<void> register_session(uint32_t id, InfoView info) override;
    void deregister_session(uint32_t id) override;
    pmix_status_t post(const pmix_proc_t& proc, pmix_scope_t scope, const char* key,
                       const pmix_value_t& value) override;
    pmix_status_t post_remote(const pmix_proc_t& proc, const char* key, const pmix_value_t& value) override;
    bool remove(const pmix_proc_t& proc, pmix_scope_t scope, const char* key) override;
    void deregister(const char* nspace) override;
    void forget(const pmix_proc_t& proc) override;

    pmix_status_t find(const Lookup& lookup, const Visitor& visit) const override;
    pmix_status_t find_posted(const pmix_proc_t& proc, View view, const Visitor& visit) const override;
    bool knows(const char* nspace) const override;
    std::optional<uint32_t> job_size(const char* nspace) const override;
    std::optional<uint32_t> node_of(const char* nspace, pmix_rank_t rank) const override;
    std::vector<pmix_rank_t> local_ranks(const char* nspace) const override;
    pmix_status_t peers_on(const char* node, const char* nspace,
                           std::vector<pmix_proc_t>& out) const override;
    pmix_status_t node_list_of(const char* nspace, std::string& list) const override;
    std::vector<std::string> namespaces() const override;

    pmix_status_t pack_job(const char* nspace, Packer& out, bool compact) const override;
    Result<void> unpack_job(const char* nspace, Unpacker& in) override;
    pmix_status_t describe_job(const char* nspace,
                               const std::function<void(const JobMap&, uint32_t own_node)>& with_map,
                               const JobFactVisitor& visit) const override;

    Result<int> share(const char* nspace) override;
    Result<void> attach(SegmentOffer offer) override;

  private:
    /// A fact that the host may take back: its key as in Writer::key_name.
    struct Lent {
        Kind kind;
        uint32_t of;
        uint64_t key;
    };
    /// A namespace that this server shares.
    struct Shared {
        std::unique_ptr<Segment> segment;
        std::unique_ptr<Writer> writer;
        std::unique_ptr<Reader> reader;  ///< of the server itself
        /// The keys (Writer::key_name) of remote processes' values, which may be many and are only in the
        /// segment. Excludes qualified and reserved keys, and values without space.
        std::unordered_map<pmix_rank_t, KeyList> remote;
        /// Likewise global values posted by processes of this node, as long as such a process posts nothing
        /// else.
        std::unordered_map<pmix_rank_t, KeyList> own;
        std::unordered_set<pmix_rank_t> mixed;  ///< those that do: all of theirs is in the other store, too
        bool full = false;                      ///< that was reported
        bool refused = false;                   ///< it could not be made; that was reported
        /// Processes that posted before there was a segment, and whether they are of this node.
        std::unordered_map<pmix_rank_t, bool> earlier;
        /// The resources in the segment, and whether others were registered or deregistered since.
        std::vector<Lent> lent;
        bool more_resources = false, fewer_resources = false;
    };
    /// The segment that this process reads. Made once, before others may look.
    struct Attached {
        std::unique_ptr<Segment> segment;
        std::unique_ptr<Reader> reader;
        pmix_proc_t self{};
        std::string nspace;
    };

    Result<void> write_job(const char* nspace, Shared& shared, bool map_too);
    Result<void> write_fact(const JobFact& fact, Shared& shared);
    static void take_back(Shared& shared);
    void take_back_all() MUSTER_REQUIRES(fill_guard_);
    void renew(const char* nspace, Shared& shared);
    void write_earlier(const char* nspace, Shared& shared);
    void write_posted(const pmix_proc_t& proc, bool local, const char* key, const pmix_value_t& value)
        MUSTER_REQUIRES(fill_guard_);
    void report_full(const char* nspace, Shared& shared, const Error& why);
    Shared* shared_by(const pmix_proc_t& proc) MUSTER_REQUIRES(fill_guard_);
    const Shared* with_keys(const char* nspace) const MUSTER_REQUIRES(fill_guard_);
    Result<void> put_alone(KeyList& keys, pmix_rank_t rank, const char* key, const pmix_value_t& value,
                           Shared& shared);
    bool keep_own(const pmix_proc_t& proc, pmix_scope_t scope, const char* key, const pmix_value_t& value,
                  Shared& shared);
    pmix_status_t mix(const pmix_proc_t& proc, Shared& shared);
    void keep_remote(const pmix_proc_t& proc, const char* key, const pmix_value_t& value, Shared& shared);
    bool find_alone(const Lookup& lookup, const Visitor& visit, pmix_status_t& status) const;
    template <class Visit>
    static void visit_alone(const Shared& shared, pmix_rank_t rank, Visit&& visit);

    const Attached* attached_to(const char* nspace) const {
        const Attached* attached = attached_.load(std::memory_order_acquire);
        return attached != nullptr && nspace != nullptr && nspace_is(nspace, attached->nspace.c_str())
                   ? attached
                   : nullptr;
    }
    void take_over(const Attached& attached) const;
    void take_over_own(const char* nspace) const;
    void pin(const Lookup& lookup, Kind kind, uint32_t of, const pmix_value_t& value,
             const Visitor& visit) const;

    const uint64_t limit_;
    const LogLine log_;
    Gds* other_ = nullptr;
    WireFormat format_;

    /// Held while the other store is filled, which several threads may do here.
    mutable Mutex fill_guard_;
    TextMap<Shared> shared_ MUSTER_GUARDED_BY(fill_guard_);  ///< a server's
    std::atomic<bool> sharing_{false};                       ///< there is something in shared_

    // The client's.
    std::unique_ptr<const Attached> own_attached_;
    std::atomic<const Attached*> attached_{nullptr};
    /// The address of the job data that the other store has copied.
    mutable std::atomic<const char*> taken_over_{nullptr};
    mutable Mutex pins_guard_;
    mutable TextMap<const Value*> pinned_ MUSTER_GUARDED_BY(pins_guard_);
    mutable std::deque<Value> pins_
        MUSTER_GUARDED_BY(pins_guard_);  ///< also those that are not the latest any more
};

}  // namespace muster::gds::shmem
