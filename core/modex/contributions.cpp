// SPDX-License-Identifier: BSD-3-Clause
// Contributions to a fence over several nodes: creates and stores them. See modex.hpp.
#include "core/exchange/exchange.hpp"
#include "core/exchange/namespaces.hpp"
#include "core/modex/contribution.hpp"
#include "core/modex/modex.hpp"
#include "framework/pcompress.hpp"
#include "framework/registry.hpp"

namespace muster {

namespace {

CountedProcesses count(const Gds& store, const std::vector<pmix_proc_t>& participants) {
    CountedProcesses counted;
    for (const pmix_proc_t& proc : participants)
        counted.add(proc.nspace, store.job_size(proc.nspace).value_or(0));
    return counted;
}

}  // namespace

Bytes Modex::contribution(const std::vector<pmix_proc_t>& local, bool collected,
                          const std::vector<pmix_proc_t>& participants) {
    const Gds& store = exchange_.store();
    const WireFormat format = exchange_.runtime().own_format();
    const ContributionForm form =
        participants.empty() ? ContributionForm::Newer : form_for(participants, collected);
    const bool older = form == ContributionForm::Older;
    std::vector<PostedValues> posted;
    for (const pmix_proc_t& proc : local) {
        Packer values(format);
        // The exchange only adds: a deletion is sent as a value without a type. Older servers do not know it.
        if (const LocalClient* client = older ? nullptr : namespaces_.client(proc)) {
            for (const std::string& key : client->deleted)
                values.kval(key.c_str(), pmix_value_t{});
        }
        store.find_posted(proc, View::Remote,
                          [&](const Found& found) { values.kval(found.key, found.value); });
        if (values.length() == 0 || values.error() != PMIX_SUCCESS) continue;
        posted.push_back({proc, values.take()});
    }
    return write_contribution(form, format, collected, posted, count(store, participants));
}

/// Servers of OpenPMIx before 6.0 and later ones refuse each other's form. A form that one of them has used
/// is sure to be read by it; before any has, only one that ends the reading of all.
ContributionForm Modex::form_for(const std::vector<pmix_proc_t>& participants, bool collected) const {
    if (form_) return *form_;
    ContributorsSeen seen;
    for (const pmix_proc_t& proc : participants) {
        const auto known = contributors_.find(nspace_view(proc.nspace));
        if (known == contributors_.end()) continue;
        seen.older |= known->second.older;
        seen.newer |= known->second.newer;
    }
    if (seen.older != seen.newer) return seen.older ? ContributionForm::Older : ContributionForm::Newer;
    // A contribution without data cannot be refused.
    return collected ? ContributionForm::Marked : ContributionForm::Newer;
}

pmix_status_t Modex::accept_contributions(ByteView data, const std::vector<pmix_proc_t>& participants) {
    Gds& store = exchange_.store();
    const auto visit = [&](const pmix_proc_t& proc, const char* key, const pmix_value_t& value) {
        // Local processes' data is complete already, with the scopes that no form carries.
        if (namespaces_.is_local(proc)) return PMIX_SUCCESS;
        if (value.type != PMIX_UNDEF) return store.post_remote(proc, key, value);
        if (!key_is_reserved(key) && store.remove(proc, PMIX_DEL_REMOTE, key))
            tell_deleted(proc, PMIX_DEL_REMOTE, key);
        return PMIX_SUCCESS;
    };
    const auto expand_block = [&](ByteView block, size_t limit) {
        return decompress_block([&] { return exchange_.runtime().registry().pcompress(); }, block, limit);
    };
    ContributorsSeen seen;
    const pmix_status_t status = read_contributions(exchange_.runtime().own_format(), data,
                                                    count(store, participants), expand_block, visit, seen);
    if (!is_good(status) || seen == ContributorsSeen()) return status;
    for (const pmix_proc_t& proc : participants) {
        if (namespaces_.find(proc.nspace) == nullptr) continue;
        ContributorsSeen& all = contributors_[std::string(nspace_view(proc.nspace))];
        all.older |= seen.older;
        all.newer |= seen.newer;
    }
    return status;
}

}  // namespace muster
