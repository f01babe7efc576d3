// SPDX-License-Identifier: BSD-3-Clause
// The one table of which function acts upon which attribute, and the checks of a call's directives that are
// made from it (docs/decisions/0042-attributes-are-data.md). Any thread.
#pragma once

#include <cstddef>
#include <functional>

#include "core/attribute/attribute.hpp"
#include "core/attribute/function.hpp"
#include "framework/base/info.hpp"
#include "framework/base/log.hpp"
#include "framework/base/result.hpp"

namespace muster {

/// The sides that act upon an attribute; bits of a set.
enum Actor : uint8_t {
    kClient = 1,  ///< the library in the process that calls
    kServer = 2,  ///< the library in the server
    kTool = 4,    ///< the library in a tool that calls
    kHost = 8,    ///< the host, to which the library passes the attribute
};
constexpr uint8_t kLibrary = kClient | kServer | kTool;

/// Checks the directives of a call. `others`: whether another process sees them.
/// @return PMIX_ERR_BAD_PARAM if the library cannot read a value as its attribute's type;
/// PMIX_ERR_NOT_SUPPORTED for a required directive on which no part acts. One that is not required is
/// logged as a warning.
Result<void> check_directives(Function function, InfoView directives, bool others, const Log& log);

/// Whether a directive is required that the library does not act upon.
bool is_unmet(Function function, const pmix_info_t& directive);
/// Whether any is unmet: only the host can answer the call.
bool needs_host(Function function, InfoView directives);

/// Marks the required directives of an upcall that the library acts upon (PMIX_INFO_REQD_PROCESSED): a host
/// has nothing to refuse there.
void mark_processed(std::string_view upcall, Info& directives);

/// Calls `visit` with each attribute of a function that one of `actors` acts upon.
void for_each_use(Function function, uint8_t actors, const std::function<void(const Attribute&)>& visit);

}  // namespace muster
