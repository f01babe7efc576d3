// SPDX-License-Identifier: BSD-3-Clause
// Direct modex: a node asks for the data of a process, and the launcher asks the node of that process.
#pragma once

#include <map>

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

/// The question: a process, and a time limit in seconds (0: none), which a node is asked without. The answer:
/// the data.
class Modexes final : public Service {
  public:
    explicit Modexes(Hub& hub) : Service(hub) {}
    void asked(Asker asker, Buffer& in) override;

  private:
    struct Modex {
        Asker asker;
        Watch timer;
    };
    void answer(uint64_t number, int32_t status, const Buffer& body = {});

    std::map<uint64_t, Modex> modexes_;
    uint64_t next_ = 1;
};

}  // namespace muster::launcher
