// SPDX-License-Identifier: BSD-3-Clause
// Null-terminated arrays of strings as C programs pass them (argv, environments): one malloc'ed block, each
// string malloc'ed. If memory is short, the array is unchanged.
#pragma once

#include <pmix_common.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

/// Number of strings; 0 for null.
std::size_t argv_count(char* const* argv);

/// Adds a copy at the end (or the front). *argv may be null and then is created.
/// @return PMIX_SUCCESS, or PMIX_ERR_OUT_OF_RESOURCE.
pmix_status_t argv_append(char*** argv, std::string_view text);
pmix_status_t argv_prepend(char*** argv, std::string_view text);

/// Adds the text unless it exists already.
pmix_status_t argv_append_unique(char*** argv, std::string_view text);

/// Frees all strings and the block. Null is allowed.
void argv_free(char** argv);

/// Deep copy; null for null, and where memory is short.
char** argv_copy(char* const* argv);

/// Splits at each delimiter. Empty pieces are kept on request, except after a last delimiter. Null if there
/// is no piece, or without memory.
char** argv_split(const char* text, char delimiter, bool keep_empty);

/// The strings with the delimiter between them, malloc'ed; "" for none; null without memory.
char* argv_join(char* const* argv, char delimiter);

/// Sets NAME=VALUE in an environment array (which may be null, and then is created). A null value stores
/// "NAME=". The process's own environ is not accepted here.
/// @return PMIX_SUCCESS; PMIX_ERR_EXISTS if it is set and overwrite is false; PMIX_ERR_OUT_OF_RESOURCE.
pmix_status_t env_set(char*** env, std::string_view name, const char* value, bool overwrite);

/// Sets all of them, names and values, in their order, as env_set() with overwrite.
/// @return PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE, with some of them set; bad_alloc, with none set.
pmix_status_t env_set_all(char*** env, const std::vector<std::pair<std::string, std::string>>& variables);

}  // namespace muster
