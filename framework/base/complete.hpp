// SPDX-License-Identifier: BSD-3-Clause
// Whether a caller's values can be sent to another process. A value may name a type and have no object of it;
// such a value can be copied, but no encoding has a form for it, and a message that contains it cannot be
// sent.
#pragma once

#include "framework/base/info.hpp"

namespace muster {

/// PMIX_SUCCESS; PMIX_ERR_BAD_PARAM if the value, or one inside of it, has no object (an empty data array
/// is one), is a regular expression without its terminator, or is nested too deeply; PMIX_ERR_NOT_SUPPORTED
/// for a type that no value can hold. Any thread.
pmix_status_t value_complete(const pmix_value_t& value);

/// The same for elements of any type.
pmix_status_t elements_complete(const void* elements, std::size_t n, pmix_data_type_t type);

}  // namespace muster
