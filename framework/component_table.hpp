// SPDX-License-Identifier: BSD-3-Clause
// What the facades over the SDK's C tables share: is a member there at all, and a failure as an Error.
#pragma once

#include <pmix/sdk/component.h>

#include <cstring>
#include <string>

#include "framework/base/result.hpp"

namespace muster {

/// Whether the table, by its own size, has the member, and it is not null.
#define MUSTER_HAS(table, member)                                                                      \
    ((table)->struct_size >= static_cast<size_t>(reinterpret_cast<const char*>(&(table)->member + 1) - \
                                                 reinterpret_cast<const char*>(table)) &&              \
     (table)->member != nullptr)

/// The array in which a component leaves its sentence.
struct Reason {
    static constexpr size_t kSize = 256;
    char text[kSize] = {};

    /// What is there, also when the component did not end it.
    std::string str() const { return {text, strnlen(text, kSize)}; }
};

inline Error failed(const char* framework, const std::string& component, pmix_status_t status,
                    const Reason& reason) {
    const std::string why = reason.str();
    return {status, std::string(framework) + "/" + component + ": " +
                        (why.empty() ? "failed with status " + std::to_string(status) : why)};
}

inline Error unsupported(const std::string& component, const char* operation) {
    return {PMIX_ERR_NOT_SUPPORTED, "component " + component + " does not offer " + operation};
}

}  // namespace muster
