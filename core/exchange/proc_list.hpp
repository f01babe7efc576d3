// SPDX-License-Identifier: BSD-3-Clause
// A list of processes that is sent often and has many holders: compact if it names ranks of one namespace in
// order, as most groups do. A C name takes 260 bytes.
#pragma once

#include <pmix_common.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "framework/base/value.hpp"
#include "framework/packer.hpp"

namespace muster {

/// Ranks first, first + 1, ...
struct RankRun {
    pmix_rank_t first = 0;
    uint32_t count = 0;

    bool operator==(const RankRun&) const = default;
};

/// A shared list is never changed.
class ProcList {
  public:
    /// Any list. Throws std::bad_alloc.
    ProcList(const pmix_proc_t* procs, size_t size);
    explicit ProcList(std::vector<pmix_proc_t> procs) : procs_(std::move(procs)) {}
    ProcList(std::string nspace, std::vector<RankRun> runs);

    size_t size() const { return procs_.empty() ? size_ : procs_.size(); }
    bool empty() const { return size() == 0; }
    /// The namespace, if all processes are of one and form a few runs of ranks; otherwise empty.
    const std::string& nspace() const { return nspace_; }
    /// Empty where nspace() is.
    const std::vector<RankRun>& runs() const { return runs_; }

    /// One by one.
    std::vector<pmix_proc_t> procs() const;
    /// A data array of PMIX_PROC.
    Value to_value() const;

    /// `*PROC`, one by one.
    void pack(Packer& out) const;
    /// The runs of a list that has a namespace, without it: SIZE, then one item of UINT32, first and count by
    /// turns (docs/reference/wire.md, command 201).
    void pack_runs(Packer& out) const;

  private:
    void write(pmix_proc_t* out) const;

    std::string nspace_;
    std::vector<RankRun> runs_;
    size_t size_ = 0;                 // of the runs
    std::vector<pmix_proc_t> procs_;  // anything but runs
};
using ProcListPtr = std::shared_ptr<const ProcList>;

/// Reads the output of pack_runs(): ranks below `end`, and at most that many, whatever the bytes contain.
bool unpack_runs(Unpacker& in, uint32_t end, std::vector<RankRun>& runs);

/// Adds the process or the processes of a value; false when it holds neither.
bool append_procs(const pmix_value_t& value, std::vector<pmix_proc_t>& procs);

}  // namespace muster
