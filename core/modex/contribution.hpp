// SPDX-License-Identifier: BSD-3-Clause
// A server's contribution to a modex: the posted values of its processes, in the forms of OpenPMIx
// (docs/reference/wire.md, 7.3). All are read; one is written. Independent of a server, so that it can be
// tested and fuzzed alone.
#pragma once

#include <pmix_common.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/bytes.hpp"
#include "framework/packer.hpp"

namespace muster {

enum class ContributionForm : uint8_t {
    Older,  ///< of OpenPMIx 4.2 and 5.0: flags, and processes by their number
    Newer,  ///< of OpenPMIx since 6.0: may be compressed, and names processes
    Marked  ///< the newer one after an empty object: servers of OpenPMIx stop reading there, without an
            ///< error
};

/// The servers on OpenPMIx that have contributed.
struct ContributorsSeen {
    bool older = false;  ///< one wrote the older form
    bool newer = false;  ///< one wrote the newer form, not marked
    bool operator==(const ContributorsSeen&) const = default;
};

/// The processes of several jobs, counted through in the order of their namespaces' names: the numbers that
/// the older form has.
class CountedProcesses {
  public:
    CountedProcesses() = default;
    /// Adds a namespace with ranks 0 to size - 1, in any order.
    void add(const std::string& nspace, uint32_t size);
    /// PMIX_RANK_INVALID for a process of none of them.
    pmix_rank_t number_of(const pmix_proc_t& proc) const;
    /// False for an invalid number.
    bool find(pmix_rank_t number, pmix_proc_t& proc) const;

  private:
    std::vector<std::pair<std::string, uint32_t>> jobs_;  ///< sorted by name
};

/// One process with its values, packed one after the other in the format of the contribution.
struct PostedValues {
    pmix_proc_t proc;
    Bytes values;
};

/// @param collected  whether data was to be collected; without, `posted` is empty
/// @param counted    the participants; in the older form a process that is none of them is left out
Bytes write_contribution(ContributionForm form, WireFormat format, bool collected,
                         const std::vector<PostedValues>& posted, const CountedProcesses& counted);

/// Expands a compressed block to at most `limit` bytes; nothing for other blocks.
using Expand = std::function<std::optional<Bytes>(ByteView block, size_t limit)>;

using VisitPosted =
    std::function<pmix_status_t(const pmix_proc_t& proc, const char* key, const pmix_value_t& value)>;

/// Reads the contributions of any number of servers, each in any form. The bytes are untrusted.
/// @param counted  the participants; needed for the older form
/// @param expand   for what is compressed, in whatever way
/// @param visit    is called for each value in order; what it returns ends the reading unless it is
/// PMIX_SUCCESS
/// @param[out] seen  what is seen is set
/// @return PMIX_SUCCESS; PMIX_ERR_UNPACK_FAILURE and its like for bytes that are none of the forms
pmix_status_t read_contributions(WireFormat format, ByteView data, const CountedProcesses& counted,
                                 const Expand& expand, const VisitPosted& visit, ContributorsSeen& seen);

}  // namespace muster
