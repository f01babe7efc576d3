// SPDX-License-Identifier: BSD-3-Clause
// Flow control of input: see input_gate.hpp.
#include "core/iof/input_gate.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "framework/base/proc.hpp"

namespace muster {
namespace {

bool any_nspace(const pmix_proc_t& producers) {
    return nspace_view(producers.nspace).empty();
}

}  // namespace

bool InputGate::matches(const pmix_proc_t& producers, const pmix_proc_t& inner) {
    if (!any_nspace(producers) && nspace_view(producers.nspace) != nspace_view(inner.nspace)) return false;
    return producers.rank == PMIX_RANK_WILDCARD || producers.rank == inner.rank;
}

/// Takes out the steps for which `ends` holds, then runs them: a step may change the gate.
template <class Ends>
void InputGate::run(pmix_status_t status, Ends&& ends) {
    const auto first = std::stable_partition(held_.begin(), held_.end(),
                                             [&](const Held& held) { return !ends(held.producer); });
    std::vector<Held> taken(std::make_move_iterator(first), std::make_move_iterator(held_.end()));
    held_.erase(first, held_.end());
    for (const Held& held : taken)
        held.step(status);
}

void InputGate::apply(const pmix_proc_t& producers, bool suspend) {
    std::erase_if(rules_, [&](const Rule& rule) { return matches(producers, rule.producers); });
    const bool some = std::ranges::any_of(rules_, [](const Rule& rule) { return rule.suspend; });
    if (suspend || some) rules_.push_back({producers, suspend});
    if (!suspend) run(PMIX_SUCCESS, [&](const pmix_proc_t& producer) { return !suspended(producer); });
}

bool InputGate::suspended(const pmix_proc_t& producer) const {
    for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
        if (matches(rule->producers, producer)) return rule->suspend;
    }
    return false;
}

void InputGate::hold(const pmix_proc_t& producer, Step step) {
    held_.push_back({producer, std::move(step)});
}

void InputGate::forget(const pmix_proc_t& producer) {
    run(PMIX_ERR_LOST_CONNECTION, [&](const pmix_proc_t& one) { return proc_is(one, producer); });
}

void InputGate::close() {
    rules_.clear();
    run(PMIX_ERR_LOST_CONNECTION, [](const pmix_proc_t&) { return true; });
}

}  // namespace muster
