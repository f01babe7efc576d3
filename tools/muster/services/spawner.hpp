// SPDX-License-Identifier: BSD-3-Clause
// Spawn: lays the new job out over the nodes, has it launched, answers when it runs.
#pragma once

#include <map>

#include "tools/muster/services/service.hpp"
#include "tools/muster/services/spawn_request.hpp"

namespace muster {

class Spawner final : public Service {
  public:
    explicit Spawner(Hub& hub) : hub_(hub) {}
    void asked(Asker asker, Reader& in) override;
    void job_ended(JobRecord& job) override;

  private:
    Job lay_out(const SpawnRequest& request);
    std::vector<uint32_t> nodes_of(const SpawnRequest& request, const AppSpec& app);

    Hub& hub_;
    std::map<uint32_t, Watch> limits_;        ///< of jobs that may only run for a time
    std::map<uint32_t, Watch> spawn_limits_;  ///< of spawns
};

}  // namespace muster
