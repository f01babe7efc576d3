// SPDX-License-Identifier: BSD-3-Clause
// Names of processes, namespaces and keys: the fixed-size C forms, safely filled and compared, and Proc, a
// small value that can be kept in maps.
#pragma once

#include <pmix_common.h>

#include <compare>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "framework/base/keyed_hash.hpp"

namespace muster {

/// Whether two keys are the same, as far as a pmix_key_t can hold them. Null equals nothing.
bool key_is(const char* a, const char* b);

/// Fills a key, truncated to the array. The rest of the array is zero.
void key_load(char* key /* pmix_key_t */, std::string_view text);

/// The key as text, whether or not it has room for a terminator.
std::string_view key_view(const char* key);

/// Whether a key belongs to the Standard ("pmix..."), and so may not be put by applications.
bool key_is_reserved(const char* key);

/// Whether two namespaces are the same. Null and empty equal nothing, not even each other.
bool nspace_is(const char* a, const char* b);

/// Fills a namespace, truncated to the array. The rest of the array is zero.
void nspace_load(char* nspace /* pmix_nspace_t */, std::string_view text);
std::string_view nspace_view(const char* nspace);

/// Exactly the same namespace and rank, without wildcards.
bool proc_is(const pmix_proc_t& a, const pmix_proc_t& b);

pmix_proc_t make_proc(std::string_view nspace, pmix_rank_t rank);

/// A namespace and a rank, comparable and hashable; the order is by namespace, then rank.
class Proc {
  public:
    Proc() = default;
    Proc(std::string_view nspace, pmix_rank_t rank) : nspace_(nspace), rank_(rank) {}
    explicit Proc(const pmix_proc_t& proc) : nspace_(nspace_view(proc.nspace)), rank_(proc.rank) {}

    const std::string& nspace() const { return nspace_; }
    pmix_rank_t rank() const { return rank_; }
    pmix_proc_t to_c() const { return make_proc(nspace_, rank_); }
    /// "nspace:3", "nspace:*" for the wildcard: for messages.
    std::string text() const;

    bool operator==(const Proc&) const = default;
    auto operator<=>(const Proc&) const = default;

  private:
    std::string nspace_;
    pmix_rank_t rank_ = PMIX_RANK_UNDEF;
};

/// The same text for the C form.
std::string proc_text(const pmix_proc_t& proc);

}  // namespace muster

template <>
struct std::hash<muster::Proc> {
    std::size_t operator()(const muster::Proc& proc) const noexcept {
        return muster::KeyedHash().add(proc.nspace()).add(uint64_t{proc.rank()}).end();
    }
};
