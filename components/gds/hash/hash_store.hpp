// SPDX-License-Identifier: BSD-3-Clause
// gds/hash: the store in this process's memory.
#pragma once

#include <shared_mutex>

#include "components/gds/hash/job.hpp"
#include "components/gds/hash/resources.hpp"
#include "framework/base/mutex.hpp"
#include "framework/gds/realm.hpp"

namespace muster::gds {

class Registration;

class HashStore : public Gds {
  public:
    const char* name() const override { return "hash"; }
    void set_context(StoreContext context) override;

    Result<void> register_job(const char* nspace, int32_t nlocalprocs, InfoView info) override;
    Result<void> register_resources(InfoView info) override;
    bool deregister_resources(InfoView info) override;
    void forget_resources(InfoView info) override;
    Result<void> register_session(uint32_t id, InfoView info) override;
    void deregister_session(uint32_t id) override;
    pmix_status_t post(const pmix_proc_t& proc, pmix_scope_t scope, const char* key,
                       const pmix_value_t& value) override;
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

  private:
    friend class Registration;
    friend class Finder;
    friend class JobPacker;
    friend class JobDescriber;

    const Job* job(std::string_view nspace) const;
    /// Index of this process's node in the job's map; JobMap::kNone when it has no part in the job.
    uint32_t own_node(const JobMap& map) const;
    uint32_t node_by_name(const JobMap& map, std::string_view host) const;
    bool is_own_host(std::string_view host) const;
    std::optional<uint32_t> size_of(const Job& job) const;
    /// Returns the node's data from register_session, or null.
    const ResourceNode* session_node(std::optional<uint32_t> session, std::string_view host,
                                     std::optional<uint32_t> id) const;

    /// Guards all members below: readers hold it shared, the one thread that fills the store holds it
    /// exclusively, and only to insert prepared data.
    mutable SharedLock content_guard_;
    mutable Mutex pins_guard_;  ///< of Job::pins; taken after the other
    StoreContext context_;
    NameIndex<std::unique_ptr<Job>> jobs_;          ///< by namespaces, which no peer chooses
    std::unordered_map<uint32_t, Table> sessions_;  ///< by session id, shared by the jobs of a session
    std::unordered_map<uint32_t, Resources> session_nodes_;  ///< of register_session, by session id
    Resources resources_;
};

}  // namespace muster::gds
