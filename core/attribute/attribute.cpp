// SPDX-License-Identifier: BSD-3-Clause
// Every attribute of the API: its name, its key, and the type of its value. Where several names share a key,
// the first is the one that is told; former names stand at the end.

#include "core/attribute/attribute.hpp"

#include <strings.h>

#include "core/attribute/attributes_a_to_i.hpp"
#include "core/attribute/attributes_j_to_z.hpp"
#include "core/attribute/former_attributes.hpp"
#include "framework/base/text_table.hpp"

namespace muster {
namespace {

constexpr size_t kCount =
    std::size(kAttributesAToI) + std::size(kAttributesJToZ) + std::size(kFormerAttributes);

/// One column of all lists.
template <class T>
consteval std::array<T, kCount> column(T AttributeRow::*member) {
    std::array<T, kCount> values{};
    size_t at = 0;
    for (const AttributeRow& row : kAttributesAToI)
        values[at++] = row.*member;
    for (const AttributeRow& row : kAttributesJToZ)
        values[at++] = row.*member;
    for (const AttributeRow& row : kFormerAttributes)
        values[at++] = row.*member;
    return values;
}

constexpr auto kNames = make_text_table([] { return column(&AttributeRow::name); });
constexpr auto kKeys = make_text_table([] { return column(&AttributeRow::key); });
constexpr auto kTypes = column(&AttributeRow::type);

template <class Texts>
std::optional<Attribute> find(const Texts& texts, const char* wanted) {
    for (size_t i = 0; i < kCount; ++i) {
        if (strcasecmp(texts[i], wanted) == 0) return Attribute{kNames[i], kKeys[i], kTypes[i]};
    }
    return std::nullopt;
}

}  // namespace

std::optional<Attribute> find_attribute_by_name(const char* name) {
    return find(kNames, name);
}

std::optional<Attribute> find_attribute_by_key(const char* key) {
    return find(kKeys, key);
}

}  // namespace muster
