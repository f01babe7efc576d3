// SPDX-License-Identifier: BSD-3-Clause
// Lists of processes as runs of ranks: see proc_list.hpp.
#include "core/exchange/proc_list.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace muster {
namespace {

/// A list of runs has few of them: a run takes a quarter of the bytes of a separate process.
constexpr size_t kProcsPerRun = 4;

}  // namespace

ProcList::ProcList(const pmix_proc_t* procs, size_t size) {
    if (size > 0) nspace_ = nspace_view(procs[0].nspace);
    for (size_t i = 0; i < size && !nspace_.empty(); ++i) {
        const pmix_proc_t& proc = procs[i];
        const bool follows = !runs_.empty() && proc.rank - runs_.back().first == runs_.back().count;
        if (proc.rank > PMIX_RANK_VALID || !nspace_is(proc.nspace, procs[0].nspace) ||
            (!follows && (runs_.size() + 1) * kProcsPerRun > size + kProcsPerRun)) {
            nspace_.clear();
        } else if (follows) {
            ++runs_.back().count;
        } else {
            runs_.push_back({proc.rank, 1});
        }
    }
    if (!nspace_.empty()) {
        size_ = size;
        return;
    }
    runs_.clear();
    procs_.assign(procs, procs + size);
}

ProcList::ProcList(std::string nspace, std::vector<RankRun> runs)
    : nspace_(std::move(nspace)), runs_(std::move(runs)) {
    for (const RankRun& run : runs_)
        size_ += run.count;
}

void ProcList::write(pmix_proc_t* out) const {
    for (const RankRun& run : runs_) {
        for (uint32_t i = 0; i < run.count; ++i, ++out) {
            std::memset(out->nspace, 0, sizeof out->nspace);
            std::memcpy(out->nspace, nspace_.data(), nspace_.size());
            out->rank = run.first + i;
        }
    }
}

std::vector<pmix_proc_t> ProcList::procs() const {
    if (runs_.empty()) return procs_;
    std::vector<pmix_proc_t> all(size_);
    write(all.data());
    return all;
}

Value ProcList::to_value() const {
    if (runs_.empty()) return Value::array(procs_.data(), procs_.size(), PMIX_PROC);
    auto* all = static_cast<pmix_proc_t*>(std::malloc(size_ * sizeof(pmix_proc_t)));
    if (all == nullptr) throw std::bad_alloc();
    write(all);
    return Value::adopt_array(all, size_, PMIX_PROC);
}

void ProcList::pack(Packer& out) const {
    if (runs_.empty()) {
        out.procs(procs_.data(), procs_.size());
    } else {
        const std::vector<pmix_proc_t> all = procs();
        out.procs(all.data(), all.size());
    }
}

void ProcList::pack_runs(Packer& out) const {
    std::vector<uint32_t> numbers;
    numbers.reserve(2 * runs_.size());
    for (const RankRun& run : runs_) {
        numbers.push_back(run.first);
        numbers.push_back(run.count);
    }
    out.counted(numbers.data(), numbers.size(), PMIX_UINT32);
}

bool unpack_runs(Unpacker& in, uint32_t end, std::vector<RankRun>& runs) {
    void* items = nullptr;
    size_t n = 0;
    if (!in.counted(&items, n, PMIX_UINT32)) return false;
    const std::unique_ptr<void, decltype(&std::free)> owner(items, &std::free);
    const auto* numbers = static_cast<const uint32_t*>(items);
    if (n == 0 || n % 2 != 0) return false;
    uint64_t all = 0;
    runs.clear();
    runs.reserve(n / 2);
    for (size_t i = 0; i < n; i += 2) {
        const RankRun run{numbers[i], numbers[i + 1]};
        all += run.count;
        if (run.count == 0 || all > end || uint64_t{run.first} + run.count > end) return false;
        runs.push_back(run);
    }
    return true;
}

bool append_procs(const pmix_value_t& value, std::vector<pmix_proc_t>& procs) {
    if (value.type == PMIX_PROC && value.data.proc != nullptr) {
        procs.push_back(*value.data.proc);
        return true;
    }
    if (value.type != PMIX_DATA_ARRAY || value.data.darray == nullptr) return false;
    const pmix_data_array_t& array = *value.data.darray;
    if (array.type != PMIX_PROC || array.array == nullptr || array.size == 0) return false;
    const auto* first = static_cast<const pmix_proc_t*>(array.array);
    procs.insert(procs.end(), first, first + array.size);
    return true;
}

}  // namespace muster
