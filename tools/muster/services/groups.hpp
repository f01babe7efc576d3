// SPDX-License-Identifier: BSD-3-Clause
// Construction and destruction of process groups over the nodes: gathers the servers' messages, determines
// the awaited processes when processes end, and assigns context ids, which are unique in all jobs of this
// launcher.
#pragma once

#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

/// The question of a server.
struct GroupRequest {
    enum class Operation : uint32_t { Construct, Destruct };
    enum Flag : uint32_t {
        AssignId = 1,   ///< a context id is wanted
        Tolerant = 2,   ///< go on without processes that have ended
        Optional = 4,   ///< at the time limit, continue with the processes that have called
        Bootstrap = 8,  ///< from a leader that knows only itself and the processes that it adds
        Added = 16,     ///< from a process that a leader adds
    };
    Operation operation = Operation::Construct;
    std::string id;
    std::vector<ProcName> procs;  ///< members; of a bootstrap: the caller
    uint32_t flags = 0;
    uint32_t seconds = 0;         ///< time limit; 0: none
    uint32_t leaders = 0;         ///< of a bootstrap: how many
    std::vector<ProcName> added;  ///< of a bootstrap: members that this leader adds
    std::string data;             ///< the server's, for the others
    int32_t local_status = 0;     ///< not PMIX_SUCCESS: it has failed at this node, and so for all
    static auto fields(auto& self) {
        return std::tie(self.operation, self.id, self.procs, self.flags, self.seconds, self.leaders,
                        self.added, self.data, self.local_status);
    }
};

/// The notice of a node that a process has left a group.
struct GroupDeparture {
    std::string id;
    ProcName proc;
    static auto fields(auto& self) { return std::tie(self.id, self.proc); }
};

/// The answer to all nodes that took part.
struct GroupAnswer {
    uint64_t context_id = 0;  ///< 0: none was requested
    std::vector<ProcName> members;
    std::string data;  ///< all messages of the servers, one after the other
    static auto fields(auto& self) { return std::tie(self.context_id, self.members, self.data); }
};

class Groups final : public Service {
  public:
    explicit Groups(Hub& hub) : Service(hub) {}
    void asked(Asker asker, Buffer& in) override;
    /// A GroupDeparture.
    void told(uint32_t node, Buffer& in) override;
    void proc_ended(JobRecord& job, uint32_t rank) override;
    void node_gone(uint32_t node) override;

  private:
    struct Operation {
        GroupRequest::Operation kind{};
        std::string id;
        std::set<ProcName> procs;  ///< without wildcards
        uint32_t flags = 0;
        std::vector<std::pair<Asker, std::string>> parts;
        std::set<uint32_t> nodes_in;
        uint32_t leaders = 0;         ///< of a bootstrap: how many are expected
        std::set<ProcName> lead;      ///< and its caller
        std::set<ProcName> added;     ///< and the processes that they add
        std::set<ProcName> added_in;  ///< and those of these that have called
        Watch timer;
    };
    using Place = std::list<Operation>::iterator;

    int32_t expand(const std::vector<ProcName>& names, std::set<ProcName>& procs) const;
    bool ended(const ProcName& proc) const;
    bool left(const ProcName& proc) const;
    uint32_t node_of(const ProcName& proc) const;
    int32_t add(Asker asker, GroupRequest& request);
    int32_t add_bootstrap(Asker asker, GroupRequest& request);
    Place find(GroupRequest::Operation kind, const std::string& id);
    Place start(GroupRequest& request);
    void fail(Asker asker, const GroupRequest& request);
    std::optional<int32_t> too_late(uint32_t node, GroupRequest::Operation kind, const std::string& id,
                                    const std::set<ProcName>& procs);
    void miss(const Operation& operation, int32_t status);
    void check(Place operation);
    void check_bootstrap(Place operation);
    void expire(Place operation);
    void finish(Place operation, int32_t status);
    void check_all();

    std::list<Operation> operations_;
    std::set<uint32_t> gone_;  ///< nodes
    /// Operations that were completed, failed or abandoned without some nodes: late nodes get this status.
    struct Missed {
        std::set<uint32_t> nodes;
        int32_t status = 0;
        /// The members whose construction failed, since the same name may be tried again; empty: any.
        std::set<ProcName> procs;
    };
    using Kind = GroupRequest::Operation;
    std::map<std::pair<Kind, std::string>, Missed> missed_;
    uint64_t next_context_id_ = 1;
};

/// A group, as a node's server knows it.
struct KnownGroup {
    std::string id;
    std::vector<ProcName> members;  ///< by rank
    static auto fields(auto& self) { return std::tie(self.id, self.members); }
};

/// The question has no body, and is asked of each node in turn. The answer: a KnownGroup of each.
class KnownGroups final : public Service {
  public:
    explicit KnownGroups(Hub& hub) : Service(hub) {}
    void asked(Asker asker, Buffer& in) override;
};

}  // namespace muster::launcher
