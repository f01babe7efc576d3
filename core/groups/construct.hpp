// SPDX-License-Identifier: BSD-3-Clause
// Construction and destruction of groups as collective operations of a server (Standard: Process Groups;
// docs/groups.md has the states). On the loop.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/collective/collectives.hpp"
#include "core/groups/group_part.hpp"
#include "core/groups/group_table.hpp"
#include "core/service/exchange.hpp"

namespace muster {

/// Key of our own in events about a construction under way: whoever is told answers with what its handlers
/// decided (docs/wire.md, command 25).
inline constexpr const char* kConstructKey = "muster.grp.construct";

class GroupConstruct : public CollectiveOperation {
  public:
    explicit GroupConstruct(Server& server);
    void all_local_in(const std::shared_ptr<Collective>& collective) override;
    bool tolerates_departure(const Collective& collective, const pmix_proc_t& proc) override;
    void goes_on_without(const Collective& collective, const pmix_proc_t& proc) override;
    pmix_status_t departure_status() const override { return PMIX_GROUP_MEMBER_FAILED; }
    bool forgets_departed() const override { return true; }
    bool expired(const std::shared_ptr<Collective>& collective) override;
    void ended(const Collective& collective, const Outcome& outcome) override;

    /// A participant was told that `gone` has ended, and its handlers have decided: to give up, or to lead
    /// from now on; else the others go on.
    void decided(const std::string& id, const pmix_proc_t& by, const pmix_proc_t& gone, bool abort,
                 bool lead);
    /// A process of this node has gone: it decides nothing any more.
    void departed(const pmix_proc_t& proc);

  private:
    /// A participant that has gone.
    struct Loss {
        pmix_proc_t proc{};
        bool led = false;
        bool told = false;
        std::vector<pmix_proc_t> undecided;  ///< who was told and has not answered
    };
    /// What is known of a construct beside what the engine keeps.
    struct State {
        std::vector<Loss> losses;
        std::optional<pmix_proc_t> new_leader;
        bool local_in = false;  ///< all local participants are in
        bool asked = false;     ///< the host has been asked
        bool settled = false;   ///< and has answered
    };

    void tell(const Collective& collective, Loss& loss);
    void answered(const Collective& collective, Loss& loss, const pmix_proc_t& by);
    void go_on(const std::shared_ptr<Collective>& collective);
    void announce_leader(const Collective& collective, const std::optional<pmix_proc_t>& leader);
    void hand_over(const std::shared_ptr<Collective>& collective);
    GroupPart local_part(const Collective& collective) const;
    void complete(const std::shared_ptr<Collective>& collective, const HostAnswer& answer,
                  std::vector<GroupPart> parts);

    Server& server_;
    std::map<std::string, State> states_;
};

class GroupDestruct : public CollectiveOperation {
  public:
    explicit GroupDestruct(Server& server) : server_(server) {}
    void all_local_in(const std::shared_ptr<Collective>& collective) override;
    bool tolerates_departure(const Collective& collective, const pmix_proc_t& proc) override;
    pmix_status_t departure_status() const override { return PMIX_GROUP_MEMBER_FAILED; }
    bool forgets_departed() const override { return true; }
    bool expired(const std::shared_ptr<Collective>& collective) override;
    void ended(const Collective& collective, const Outcome& outcome) override;

  private:
    Server& server_;
    std::set<std::string> settled_;  ///< destructs that the host has answered
};

/// The upcall for groups. `keep` of the arguments is the call's own. NOT_SUPPORTED where the host has none.
void ask_host_for_group(Server& server, pmix_group_operation_t operation, const std::string& id,
                        std::vector<pmix_proc_t> procs, Info info, HostDone done);

/// A leader of a bootstrap (PMIX_GROUP_BOOTSTRAP) or one that it adds (no `procs`): only the host knows who
/// belongs to it, so each call goes there by itself.
void bootstrap_group(Server& server, const std::string& id, std::vector<pmix_proc_t> procs, Arrival arrival);

/// Whether a peer's messages about groups have the members: not before OpenPMIx 4.2.4 (docs/wire.md, 6.1).
bool knows_group_members(const PeerVersion& version);

/// Stores PMIX_GROUP_INFO of one member ([PMIX_PROCID, then what it says]): with the context id as qualifier
/// where there is one, and, keys of applications and PMIX_GROUP_LOCAL_CID, without. Anything malformed is
/// passed over.
void store_group_info(Gds& store, const pmix_info_t& info, std::optional<size_t> context_id);

}  // namespace muster
