// SPDX-License-Identifier: BSD-3-Clause
// Keys, namespaces, ranks and processes: loading, checking, and namespaces that name their cluster.

#include <pmix.h>

#include <algorithm>
#include <cstring>

#include "framework/base/proc.hpp"

using namespace muster;

void PMIx_Load_key(pmix_key_t key, const char* src) {
    if (key != nullptr) key_load(key, key_view(src));
}

bool PMIx_Check_key(const char* key, const char* str) {
    return key_is(key, str);
}

bool PMIx_Check_reserved_key(const char* key) {
    return key_is_reserved(key);
}

void PMIx_Load_nspace(pmix_nspace_t nspace, const char* str) {
    if (nspace != nullptr) nspace_load(nspace, nspace_view(str));
}

bool PMIx_Check_nspace(const char* key1, const char* key2) {
    return key1 != nullptr && key2 != nullptr && nspace_view(key1) == nspace_view(key2);
}

bool PMIx_Check_nspace_strict(const char* key1, const char* key2) {
    return !PMIx_Nspace_invalid(key1) && !PMIx_Nspace_invalid(key2) && nspace_view(key1) == nspace_view(key2);
}

bool PMIx_Nspace_invalid(const char* nspace) {
    return nspace_view(nspace).empty();
}

void PMIx_Load_procid(pmix_proc_t* p, const char* ns, pmix_rank_t rk) {
    if (p == nullptr) return;
    nspace_load(p->nspace, nspace_view(ns));
    p->rank = rk;
}

void PMIx_Proc_load(pmix_proc_t* p, const char* nspace, pmix_rank_t rank) {
    PMIx_Load_procid(p, nspace, rank);
}

void PMIx_Xfer_procid(pmix_proc_t* dst, const pmix_proc_t* src) {
    if (dst != nullptr && src != nullptr && dst != src) std::memcpy(dst, src, sizeof *dst);
}

bool PMIx_Check_procid(const pmix_proc_t* a, const pmix_proc_t* b) {
    if (a == nullptr || b == nullptr) return a == b;
    return PMIx_Check_nspace(a->nspace, b->nspace) && PMIx_Check_rank(a->rank, b->rank);
}

bool PMIx_Check_procid_strict(const pmix_proc_t* a, const pmix_proc_t* b) {
    return a != nullptr && b != nullptr && PMIx_Check_nspace_strict(a->nspace, b->nspace) &&
           a->rank == b->rank;
}

bool PMIx_Procid_invalid(const pmix_proc_t* p) {
    return p == nullptr || PMIx_Nspace_invalid(p->nspace) || p->rank == PMIX_RANK_INVALID;
}

bool PMIx_Check_rank(pmix_rank_t a, pmix_rank_t b) {
    return a == b || a == PMIX_RANK_WILDCARD || b == PMIX_RANK_WILDCARD;
}

bool PMIx_Rank_valid(pmix_rank_t a) {
    return a < PMIX_RANK_VALID;
}

void PMIx_Multicluster_nspace_construct(pmix_nspace_t target, pmix_nspace_t cluster, pmix_nspace_t nspace) {
    if (target == nullptr) return;
    // A name that does not fit leaves the target empty: a truncated name could be another namespace.
    char combined[2 * (PMIX_MAX_NSLEN + 1)];
    const std::string_view left = nspace_view(cluster);
    const std::string_view right = nspace_view(nspace);
    const size_t length = left.size() + 1 + right.size();
    char* const colon = std::ranges::copy(left, combined).out;
    *colon = ':';
    std::ranges::copy(right, colon + 1);
    nspace_load(target, length <= PMIX_MAX_NSLEN ? std::string_view(combined, length) : std::string_view());
}

void PMIx_Multicluster_nspace_parse(pmix_nspace_t target, pmix_nspace_t cluster, pmix_nspace_t nspace) {
    const std::string_view whole = nspace_view(target);
    const size_t colon = whole.find(':');
    const bool found = colon != std::string_view::npos;
    if (cluster != nullptr) nspace_load(cluster, whole.substr(0, colon));
    if (nspace != nullptr) nspace_load(nspace, found ? whole.substr(colon + 1) : std::string_view());
}
