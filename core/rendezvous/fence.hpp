// SPDX-License-Identifier: BSD-3-Clause
// Fence as a collective operation (Standard: PMIx_Fence): data is exchanged through the host where other
// nodes take part.
#pragma once

#include "core/collective/collectives.hpp"

namespace muster {

class Barriers;
class CommandTable;
class Exchange;
class Host;
class Modex;

/// A participant's call.
struct FenceCall : ArrivalData {
    bool maps_barrier = false;  ///< it could have used its job's barrier in memory
};

class FenceOperation : public CollectiveOperation {
  public:
    FenceOperation(Host& host, Collectives& collectives, Modex& modex, Barriers& barriers)
        : host_(host), collectives_(collectives), modex_(modex), barriers_(barriers) {}
    void all_local_in(const std::shared_ptr<Collective>& collective) override;
    void joined(const Collective& collective) override;
    void ended(const Collective& collective, const Outcome& outcome) override;
    pmix_status_t status_of_stranger(const std::vector<pmix_proc_t>& participants,
                                     const pmix_proc_t& caller) const override;
    bool tolerates_departure(const Collective& collective, const pmix_proc_t& proc) override;

  private:
    Host& host_;
    Collectives& collectives_;
    Modex& modex_;
    Barriers& barriers_;
};

/// Enters the requests of clients about fences: Fence, AllArrived.
void serve_fences(CommandTable& commands, Exchange& exchange, Collectives& collectives, Barriers& barriers);

}  // namespace muster
