// SPDX-License-Identifier: BSD-3-Clause
// Construction and destruction of groups as collective operations of a server (Standard: Process Groups;
// docs/groups.md has the states). On the loop.
#pragma once

#include <string>
#include <vector>

#include "core/collective/collectives.hpp"
#include "core/groups/group_part.hpp"
#include "core/groups/group_table.hpp"
#include "core/service/exchange.hpp"

namespace muster {

class GroupConstruct : public CollectiveOperation {
  public:
    explicit GroupConstruct(Server& server) : server_(server) {}
    void all_local_in(const std::shared_ptr<Collective>& collective) override;
    bool tolerates_departure(const Collective& collective, const pmix_proc_t& proc) override;
    void goes_on_without(const Collective& collective, const pmix_proc_t& proc) override;
    pmix_status_t departure_status() const override { return PMIX_GROUP_MEMBER_FAILED; }
    bool forgets_departed() const override { return true; }
    bool expired(const std::shared_ptr<Collective>& collective) override;

  private:
    GroupPart local_part(const Collective& collective) const;
    void complete(const std::shared_ptr<Collective>& collective, const HostAnswer& answer,
                  std::vector<GroupPart> parts);

    Server& server_;
};

class GroupDestruct : public CollectiveOperation {
  public:
    explicit GroupDestruct(Server& server) : server_(server) {}
    void all_local_in(const std::shared_ptr<Collective>& collective) override;
    bool tolerates_departure(const Collective& collective, const pmix_proc_t& proc) override;
    pmix_status_t departure_status() const override { return PMIX_GROUP_MEMBER_FAILED; }
    bool forgets_departed() const override { return true; }
    bool expired(const std::shared_ptr<Collective>& collective) override;

  private:
    Server& server_;
};

/// The upcall for groups. `keep` of the arguments is the call's own. NOT_SUPPORTED where the host has none.
void ask_host_for_group(Server& server, pmix_group_operation_t operation, const std::string& id,
                        std::vector<pmix_proc_t> procs, Info info, HostDone done);

/// A leader of a bootstrap (PMIX_GROUP_BOOTSTRAP) or one that it adds (no `procs`): only the host knows who
/// belongs to it, so each call goes there by itself.
void bootstrap_group(Server& server, const std::string& id, std::vector<pmix_proc_t> procs, Arrival arrival);

/// Stores PMIX_GROUP_INFO of one member ([PMIX_PROCID, then what it says]): with the context id as qualifier
/// where there is one, and, keys of applications and PMIX_GROUP_LOCAL_CID, without. Anything malformed is
/// passed over.
void store_group_info(Gds& store, const pmix_info_t& info, std::optional<size_t> context_id);

}  // namespace muster
