// SPDX-License-Identifier: BSD-3-Clause
// Connect and disconnect over the nodes. All nodes know all jobs, so nothing but the word has to travel; what
// is kept is which jobs are connected, since one fails with the other.
#pragma once

#include "tools/muster/services/gather.hpp"
#include "tools/muster/services/service.hpp"

namespace muster::launcher {

class Connections final : public Service {
  public:
    enum class Request : uint32_t { Connect, Disconnect };

    explicit Connections(Hub& hub);
    void asked(Asker asker, Reader& in) override;
    void proc_ended(JobRecord& job, uint32_t rank) override;
    void node_gone(uint32_t node) override;

  private:
    void done(int32_t status, const Gather::Operation& operation);

    Hub& hub_;
    Gather gather_;
};

}  // namespace muster::launcher
