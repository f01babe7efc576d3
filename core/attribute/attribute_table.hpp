// SPDX-License-Identifier: BSD-3-Clause
// The columns of the table of attributes: the current ones in the order of their names, then former ones.
#pragma once

#include <pmix/muster.h>

#include <array>
#include <span>

#include "core/attribute/attributes_a_to_i.hpp"
#include "core/attribute/attributes_j_to_z.hpp"
#include "core/attribute/former_attributes.hpp"
#include "framework/base/text_table.hpp"

namespace muster {

/// The attributes of this library (pmix/muster.h) that callers pass to functions.
inline constexpr AttributeRow kOwnAttributes[] = {
    MUSTER_ATTRIBUTE(MUSTER_CHECK_PARAMETERS, PMIX_STRING, kMuster),
    MUSTER_ATTRIBUTE(MUSTER_ERROR_TEXT, PMIX_POINTER, kMuster),
};

inline constexpr std::array<std::span<const AttributeRow>, 4> kAttributeLists = {
    {kAttributesAToI, kAttributesJToZ, kFormerAttributes, kOwnAttributes}};

constexpr size_t kAttributes = [] {
    size_t count = 0;
    for (const auto rows : kAttributeLists)
        count += rows.size();
    return count;
}();

/// One column of all lists.
template <class T>
consteval std::array<T, kAttributes> attribute_column(T AttributeRow::*member) {
    std::array<T, kAttributes> values{};
    size_t at = 0;
    for (const auto rows : kAttributeLists) {
        for (const AttributeRow& row : rows)
            values[at++] = row.*member;
    }
    return values;
}

inline constexpr auto kAttributeNames = make_text_table([] { return attribute_column(&AttributeRow::name); });
inline constexpr auto kAttributeKeys = make_text_table([] { return attribute_column(&AttributeRow::key); });
inline constexpr auto kAttributeTypes = attribute_column(&AttributeRow::type);
inline constexpr auto kAttributeSince = attribute_column(&AttributeRow::since);

}  // namespace muster
