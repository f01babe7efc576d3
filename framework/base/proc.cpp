// SPDX-License-Identifier: BSD-3-Clause
// Names of processes, namespaces and keys.

#include "framework/base/proc.hpp"

#include <algorithm>
#include <cstring>

namespace muster {
namespace {

void load_text(char* field, std::size_t capacity, std::string_view text) {
    const std::size_t length = std::min(text.size(), capacity);
    std::memset(field, 0, capacity + 1);
    if (length > 0) std::memcpy(field, text.data(), length);
}

}  // namespace

bool key_is(const char* a, const char* b) {
    return a != nullptr && b != nullptr && strncmp(a, b, PMIX_MAX_KEYLEN) == 0;
}

void key_load(char* key, std::string_view text) {
    load_text(key, PMIX_MAX_KEYLEN, text);
}

std::string_view key_view(const char* key) {
    return key == nullptr ? std::string_view() : std::string_view(key, strnlen(key, PMIX_MAX_KEYLEN));
}

bool key_is_reserved(const char* key) {
    return key != nullptr && strncmp(key, "pmix", 4) == 0;
}

bool nspace_is(const char* a, const char* b) {
    return a != nullptr && b != nullptr && a[0] != '\0' && strncmp(a, b, PMIX_MAX_NSLEN) == 0;
}

void nspace_load(char* nspace, std::string_view text) {
    load_text(nspace, PMIX_MAX_NSLEN, text);
}

std::string_view nspace_view(const char* nspace) {
    return nspace == nullptr ? std::string_view() : std::string_view(nspace, strnlen(nspace, PMIX_MAX_NSLEN));
}

bool proc_is(const pmix_proc_t& a, const pmix_proc_t& b) {
    return a.rank == b.rank && nspace_is(a.nspace, b.nspace);
}

pmix_proc_t make_proc(std::string_view nspace, pmix_rank_t rank) {
    pmix_proc_t proc;
    nspace_load(proc.nspace, nspace);
    proc.rank = rank;
    return proc;
}

std::string Proc::text() const {
    std::string text = nspace_;
    text += ':';
    switch (rank_) {
        case PMIX_RANK_WILDCARD:
            return text + "*";
        case PMIX_RANK_UNDEF:
            return text + "undef";
        default:
            return text + std::to_string(rank_);
    }
}

std::string proc_text(const pmix_proc_t& proc) {
    return Proc(proc).text();
}

}  // namespace muster
