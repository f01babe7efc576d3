// SPDX-License-Identifier: BSD-3-Clause
// When the page of a job is made, shut and forgotten: see rendezvous_pages.hpp.
#include "core/rendezvous/rendezvous_pages.hpp"

#include <utility>

#include "core/exchange/namespaces.hpp"
#include "core/runtime/runtime.hpp"

namespace muster {

uint32_t RendezvousPages::size_of(const Namespace& nspace) const {
    if (!nspace.registered || nspace.synthetic) return 0;
    const auto size = runtime_.store().job_size(nspace.name.c_str());
    return size && *size > 1 && *size <= most_ && *size == nspace.local_count() ? *size : 0;
}

RendezvousPages::Shared* RendezvousPages::offer(const Namespace& nspace, bool& made) {
    made = false;
    if (!runtime_.parameters().boolean("pmix_shared_barrier")) return nullptr;
    if (const auto found = shared_.find(nspace.name); found != shared_.end())
        return found->second.page ? &found->second : nullptr;
    const uint32_t size = size_of(nspace);
    if (size == 0) return nullptr;
    Shared& shared = shared_[nspace.name];
    auto page = RendezvousPage::create(std::string("pmix:") + purpose_ + ":" + nspace.name);
    if (!page) {
        MUSTER_LOG(runtime_.log(), Error, "namespace %s has no %s in memory (%s); its %s go by this server",
                   nspace.name.c_str(), purpose_, page.error().text.c_str(), users_);
        return nullptr;
    }
    shared.page = std::move(*page);
    shared.size = size;
    made = true;
    return &shared;
}

RendezvousPages::Shared* RendezvousPages::find(const char* nspace) {
    const auto found = shared_.find(nspace);
    return found == shared_.end() || !found->second.page ? nullptr : &found->second;
}

void RendezvousPages::open(Shared& shared) {
    shared.page->open();
    shared.open = true;
    ++shared.openings;
}

void RendezvousPages::call_in(Shared& shared) {
    if (!std::exchange(shared.open, false)) return;
    shared.page->shut(static_cast<int>(shared.size));
}

void RendezvousPages::call_in(const char* nspace) {
    if (Shared* shared = find(nspace)) call_in(*shared);
}

void RendezvousPages::call_in_all() {
    for (auto& [name, shared] : shared_)
        call_in(shared);
}

void RendezvousPages::registered(const char* name) {
    Shared* const shared = find(name);
    if (shared == nullptr) return;
    const Namespace* nspace = namespaces_.find(name);
    if (nspace != nullptr && size_of(*nspace) == shared->size) return;
    // Processes count on the size that it had.
    call_in(*shared);
    shared->page.reset();
}

void RendezvousPages::deregistered(const char* nspace) {
    const auto found = shared_.find(nspace);
    if (found == shared_.end()) return;
    if (found->second.open) found->second.page->end(static_cast<int>(found->second.size));
    shared_.erase(found);
}

}  // namespace muster
