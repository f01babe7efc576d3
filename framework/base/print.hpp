// SPDX-License-Identifier: BSD-3-Clause
// Data of any type as text for people: PMIx_Data_print, and traces.
#pragma once

#include <pmix_common.h>

#include <string>

namespace muster {

/// One element: "<prefix>Data type: PMIX_X\tValue: ..." with nested elements on lines of their own, indented
/// behind the prefix. A PMIX_STRING element is given by the char* itself, a PMIX_REGEX by its text, a
/// PMIX_POINTER by the pointer; every other by its address.
/// @return PMIX_SUCCESS, PMIX_ERR_UNKNOWN_DATA_TYPE. Throws std::bad_alloc.
pmix_status_t print_element(std::string& out, const std::string& prefix, const void* element,
                            pmix_data_type_t type);

/// A value with its type; "UNDEF" if there is none.
std::string value_text(const pmix_value_t* value);

/// Only the content of a value, without the type: `3`, `"text"`, `[3 x PMIX_INFO]`; for messages.
std::string value_brief(const pmix_value_t* value);

}  // namespace muster
