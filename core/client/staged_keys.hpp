// SPDX-License-Identifier: BSD-3-Clause
// The keys that a process has put since its last commit, in order and once a scope. The values are in the
// store. The caller provides the locking.
#pragma once

#include <pmix.h>

#include <string>
#include <string_view>
#include <vector>

#include "framework/base/keyed_hash.hpp"

namespace muster {

class StagedKeys {
  public:
    struct Staged {
        pmix_scope_t scope;
        std::string key;
    };

    /// std::bad_alloc; then it is not among them.
    void add(pmix_scope_t scope, std::string_view key) {
        if (has(scope, key)) return;
        keys_.push_back({scope, std::string(key)});
        if (keys_.size() <= kFew) return;
        try {
            for (size_t i = index_.empty() ? 0 : keys_.size() - 1; i < keys_.size(); ++i)
                index_.insert(name_of(keys_[i].scope, keys_[i].key));
        } catch (...) {
            keys_.pop_back();
            index_.clear();
            throw;
        }
    }
    /// PMIX_DEL_LOCAL or PMIX_DEL_REMOTE of a key that was put for all: the other half stays staged.
    void halve(std::string_view key, pmix_scope_t deletion) {
        for (Staged& staged : keys_) {
            if (staged.scope != PMIX_GLOBAL || staged.key != key) continue;
            staged.scope = deletion == PMIX_DEL_LOCAL ? PMIX_REMOTE : PMIX_LOCAL;
            index_.clear();
            if (keys_.size() <= kFew) return;
            for (const Staged& each : keys_)
                index_.insert(name_of(each.scope, each.key));
            return;
        }
    }
    bool empty() const { return keys_.empty(); }
    void clear() {
        keys_.clear();
        index_.clear();
    }
    auto begin() const { return keys_.begin(); }
    auto end() const { return keys_.end(); }

  private:
    /// Most processes put a few, among which to look costs less than a set does.
    static constexpr size_t kFew = 32;

    static std::string name_of(pmix_scope_t scope, std::string_view key) {
        return static_cast<char>(scope) + std::string(key);
    }
    bool has(pmix_scope_t scope, std::string_view key) const {
        if (!index_.empty()) return index_.contains(name_of(scope, key));
        for (const Staged& staged : keys_) {
            if (staged.scope == scope && staged.key == key) return true;
        }
        return false;
    }

    std::vector<Staged> keys_;
    TextSet index_;  ///< of all, where they are more than a few
};

}  // namespace muster
