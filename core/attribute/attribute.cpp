// SPDX-License-Identifier: BSD-3-Clause
// Every attribute of the API: its name, its key, and the type of its value. If several names share a key,
// lookups by key return the first; former names are at the end.

#include "core/attribute/attribute.hpp"

#include <strings.h>

#include "core/attribute/attribute_table.hpp"

namespace muster {
namespace {

template <class Texts>
std::optional<Attribute> find(const Texts& texts, const char* wanted) {
    for (size_t i = 0; i < kAttributes; ++i) {
        if (strcasecmp(texts[i], wanted) == 0)
            return Attribute{kAttributeNames[i], kAttributeKeys[i], kAttributeTypes[i], kAttributeSince[i]};
    }
    return std::nullopt;
}

}  // namespace

std::optional<Attribute> find_attribute_by_name(const char* name) {
    return find(kAttributeNames, name);
}

std::optional<Attribute> find_attribute_by_key(const char* key) {
    return find(kAttributeKeys, key);
}

}  // namespace muster
