// SPDX-License-Identifier: BSD-3-Clause
// Spawn: lays the new job out over the nodes, has it launched, answers when it runs.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

class Spawner final : public Service {
  public:
    explicit Spawner(Hub& hub) : Service(hub) {}
    /// The first node is asked, for the scheduler: which of these, and the attributes of the allocation or
    /// its name. The answer: the allocation's name and its nodes.
    enum class Request : uint32_t { Allocate = 1, Release };

    void asked(Asker asker, Buffer& in) override;
    /// The name of a tool that has disconnected.
    void told(uint32_t node, Buffer& in) override;
    void job_ended(JobRecord& job) override;

  private:
    /// A spawn under way: the application, the disconnected programs, and then the debugger daemons.
    struct Spawn {
        Asker asker;
        Job job;                                ///< as described: of all programs
        std::vector<std::vector<App>> parts{};  ///< the programs of each of its jobs
        std::vector<uint32_t> numbers{};        ///< of the jobs that were launched
        std::string nspace;                     ///< of the first job
        Allocation* request = nullptr;          ///< to the scheduler, until it has answered
        std::string allocation;                 ///< the scheduler's name of the allocation
        bool abandoned = false;                 ///< its tool has ended, and with it the job
    };
    void begin(const std::shared_ptr<Spawn>& spawn);
    void allocated(const std::shared_ptr<Spawn>& spawn, int32_t status, Buffer& in);
    void release(const std::string& allocation);
    void start(const std::shared_ptr<Spawn>& spawn, size_t part);
    void end_late(JobRecord& record);
    void refuse(const std::shared_ptr<Spawn>& spawn, int32_t status, const std::string& why);
    void finish(const std::shared_ptr<Spawn>& spawn, int32_t status);
    Job part_of(const Job& request, const std::vector<App>& programs, const Job* started);
    std::vector<uint32_t> daemon_nodes(const App& app, const Job* target) const;

    std::set<std::shared_ptr<Spawn>> waiting_;  ///< for the scheduler
    std::map<uint32_t, Watch> limits_;          ///< of jobs that may only run for a time
    std::map<uint32_t, Watch> spawn_limits_;    ///< of spawns
};

}  // namespace muster::launcher
