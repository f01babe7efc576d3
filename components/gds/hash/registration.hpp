// SPDX-License-Identifier: BSD-3-Clause
// Registration of job data: all attributes are read and checked outside of the store, which is changed only
// if all are valid, by moves that cannot fail.
#pragma once

#include <map>

#include "components/gds/hash/hash_store.hpp"

namespace muster::gds {

/// The map of a job in the form of JobMap::encode, from server to client where both are this library.
inline constexpr char kJobMapKey[] = "muster.job.map";

/// The source of the data: contradictions of a host are errors; later data of a server replace earlier data.
enum class Source : bool { Host, Peer };

class Registration {
  public:
    /// An attribute, and the meaning of its key: looked up once, because a large job has many.
    struct Entry {
        const pmix_info_t* info;
        Fact fact;
    };
    using Entries = std::vector<Entry>;

    Registration(HashStore& store, Source source) : store_(store), source_(source) {}

    /// Reads the attributes of a job. May be called for several.
    Result<void> read(std::string_view nspace, InfoView info, std::optional<uint32_t> local_procs = {});
    /// The input is the answer to a request for single values.
    void is_answer() { answer_ = true; }
    /// Puts all into the store. std::bad_alloc only before anything was changed.
    Result<void> commit();

  private:
    struct Staged {
        std::unique_ptr<Job> job = std::make_unique<Job>();       ///< only what is new
        const Job* known = nullptr;                               ///< its entry in the store, if any
        std::optional<JobMapBuilder> builder;                     ///< if data of the map is registered
        std::map<pmix_rank_t, std::vector<Qualified>> qualified;  ///< of single processes
    };
    Staged& stage(std::string_view nspace);
    JobMapBuilder& builder(Staged& staged);
    bool strict() const { return source_ == Source::Host; }

    Result<void> flatten(std::string_view nspace, InfoView info, int depth, Entries& out);
    Result<void> read_job(std::string_view nspace, const Entries& entries);
    Result<void> read_maps(Staged& staged, const Entries& entries);
    Result<void> read_session(std::string_view nspace, const pmix_info_t& array, int depth);
    /// `app`: the application in whose array this one is.
    Result<void> read_node(Staged& staged, const pmix_info_t& array, std::optional<uint32_t> app);
    Result<void> read_app(Staged& staged, const pmix_info_t& array);
    Result<void> read_proc(Staged& staged, const pmix_info_t& array, std::optional<uint32_t> app);
    Result<void> read_proc_entry(Staged& staged, pmix_rank_t rank, const pmix_info_t& entry, Fact fact);
    Result<void> keep_qualified(std::vector<Qualified>& into, const pmix_info_t& entry) const;
    Result<void> read_single(Staged& staged, const pmix_info_t& entry);
    Result<void> read_session_id(Staged& staged, const pmix_info_t& entry);
    Result<void> place_on(Staged& staged, pmix_rank_t rank, const pmix_info_t& entry);
    Result<void> place_on_id(Staged& staged, pmix_rank_t rank, const pmix_info_t& entry);
    /// `app`: their application, if given.
    Result<void> place_peers(Staged& staged, uint32_t node, const pmix_info_t& entry,
                             std::optional<uint32_t> app = {});
    Result<void> place_own_peers(Staged& staged, const pmix_info_t& entry);

    void count_node_ranks(JobMapBuilder& map);
    Result<void> finish(std::string_view nspace, Staged& staged);
    Result<void> settle_node(const JobMap& map, uint32_t node, Table& facts);

    static void merge(Job& into, Job& from);

    HashStore& store_;
    Source source_;
    bool answer_ = false;
    std::string nspace_;  ///< being read, for messages
    /// The infos of the keys in a process's array; initially those of the previous process, which are mostly
    /// the same.
    std::vector<const KeyInfo*> keys_;
    std::map<std::string, Staged, std::less<>> jobs_;
    std::unordered_map<uint32_t, Table> sessions_;
};

/// Adds or replaces.
void put(Table& table, std::string_view key, Value value);

/// For messages.
inline std::string in_quotes(std::string_view name) {
    return "\"" + std::string(name) + "\"";
}

/// Reads PMIX_QUALIFIED_VALUE: an array of the entry and its qualifiers.
Result<Qualified> read_qualified(const pmix_value_t& value);

/// Adds or replaces a copy of an attribute, or returns the reason why it cannot be kept; `where` is for the
/// message.
Result<void> keep(Table& table, const pmix_info_t& info, std::string_view where);

/// The infos of a data array attribute; an error for anything else.
Result<InfoView> infos_of(const pmix_info_t& info, std::string_view where);

Error attribute_error(pmix_status_t code, const pmix_info_t& info, std::string_view where,
                      const std::string& what);

}  // namespace muster::gds
