// SPDX-License-Identifier: BSD-3-Clause
// Reading the attributes that the C API gives.
#pragma once

#include <pmix_common.h>

#include <new>
#include <optional>
#include <string>
#include <vector>

#include "tools/muster/exchange/buffer.hpp"

namespace muster::launcher {

/// Runs `work` of an upcall; no exception reaches the library.
template <typename Work>
pmix_status_t guarded(Work work) noexcept {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return PMIX_ERR_NOMEM;
    } catch (...) {
        return PMIX_ERROR;
    }
}

std::vector<ProcName> names_of(const pmix_proc_t procs[], size_t count);

/// A number of any integer type that PMIx has; nothing for other types.
std::optional<int64_t> integer_of(const pmix_value_t& value);
/// A boolean attribute: true also where it has no value.
bool is_true(const pmix_info_t& info);
/// The text of a string value, "" for anything else.
std::string text_of(const pmix_value_t& value);
/// The attribute of that key, or null.
const pmix_info_t* find_info(const pmix_info_t info[], size_t count, const char* key);
/// The processes that an event is for (PMIX_EVENT_CUSTOM_RANGE); none where it does not say.
std::vector<ProcName> targets_of(const pmix_info_t info[], size_t count);
/// PMIX_TIMEOUT in seconds, 0 where there is none; nothing where it is no such number.
std::optional<uint32_t> timeout_of(const pmix_info_t info[], size_t count);

}  // namespace muster::launcher
