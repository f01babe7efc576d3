// SPDX-License-Identifier: BSD-3-Clause
// Checks of directives: see directives.hpp.
#include "core/attribute/directives.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <string>

#include "core/attribute/attribute_table.hpp"
#include "core/attribute/functions.hpp"
#include "core/attribute/uses.hpp"
#include "framework/base/data_type.hpp"
#include "framework/base/text_table.hpp"

namespace muster {
namespace {

struct Use {
    uint32_t hash;  ///< of the key
    uint16_t attribute;
    uint8_t actors;
};

/// FNV-1a: a Get with directives compares numbers, not keys.
constexpr uint32_t hash_of(std::string_view key) {
    uint32_t hash = 2166136261U;
    for (const char letter : key)
        hash = (hash ^ static_cast<uint8_t>(letter)) * 16777619U;
    return hash;
}

constexpr size_t kUses = [] {
    size_t count = 0;
    for (const UseRow& row : kUseRows)
        count += 1 + static_cast<size_t>(std::ranges::count(row.attributes, ' '));
    return count;
}();

/// In few steps, which compilers count.
constexpr bool precedes(const AttributeRow& row, std::string_view name) {
    const int order = __builtin_memcmp(row.name.data(), name.data(), std::min(row.name.size(), name.size()));
    return order != 0 ? order < 0 : row.name.size() < name.size();
}

/// By the attribute's place in its table and the hash of its key.
constexpr Use use_of(std::string_view name, uint8_t actors) {
    size_t before = 0;
    for (const std::span<const AttributeRow> rows : kAttributeLists) {
        const auto found = std::lower_bound(rows.begin(), rows.end(), name, precedes);
        if (found != rows.end() && found->name == name)
            return {hash_of(found->key),
                    static_cast<uint16_t>(before + static_cast<size_t>(found - rows.begin())), actors};
        before += rows.size();
    }
    throw std::invalid_argument("uses.hpp names no attribute");
}

/// The uses of all functions, those of one function next to each other, and where each function's begin.
struct Uses {
    std::array<Use, kUses> all{};
    std::array<uint16_t, kFunctions + 1> begins{};
};
constexpr Uses kTable = [] {
    Uses uses;
    size_t at = 0;
    for (size_t function = 0; function < kFunctions; ++function) {
        uses.begins[function] = static_cast<uint16_t>(at);
        for (const UseRow& row : kUseRows) {
            if (static_cast<size_t>(row.function) != function) continue;
            std::string_view left = row.attributes;
            while (!left.empty()) {
                const std::string_view name = left.substr(0, left.find(' '));
                left.remove_prefix(std::min(left.size(), name.size() + 1));
                uses.all[at++] = use_of(name, row.actors);
            }
        }
    }
    uses.begins[kFunctions] = static_cast<uint16_t>(at);
    return uses;
}();

constexpr auto kFunctionNames = make_text_table([] {
    std::array<std::string_view, kFunctions> names{};
    for (size_t i = 0; i < kFunctions; ++i)
        names[i] = kFunctionRows[i].name;
    return names;
});
constexpr auto kUpcallNames = make_text_table([] {
    std::array<std::string_view, kFunctions> names{};
    for (size_t i = 0; i < kFunctions; ++i)
        names[i] = kFunctionRows[i].upcall;
    return names;
});

constexpr auto kTakes = [] {
    std::array<Takes, kFunctions> takes{};
    for (size_t i = 0; i < kFunctions; ++i)
        takes[i] = kFunctionRows[i].takes;
    return takes;
}();

constexpr size_t index(Function function) {
    return static_cast<size_t>(function);
}

std::span<const Use> uses_of(Function function) {
    const size_t begin = kTable.begins[index(function)];
    return std::span(kTable.all).subspan(begin, kTable.begins[index(function) + 1] - begin);
}

const Use* find_use(Function function, const char* key) {
    const uint32_t hash = hash_of(key_view(key));
    for (const Use& use : uses_of(function)) {
        if (use.hash == hash && key_is(key, kAttributeKeys[use.attribute])) return &use;
    }
    return nullptr;
}

bool is_number(TypeForm form) {
    return form == TypeForm::kSigned || form == TypeForm::kUnsigned || form == TypeForm::kFloat;
}

/// Whether a value is acceptable for the type. As lenient as the readers of values: programs pass any integer
/// type for another, and flags without a type.
bool readable(const pmix_value_t& value, pmix_data_type_t type) {
    const DataType* wanted = find_data_type(type);
    if (type == PMIX_UNDEF || value.type == type || wanted == nullptr) return true;
    const DataType* given = find_data_type(value.type);
    if (given == nullptr) return false;
    if (wanted->form == TypeForm::kBool) return value_as_bool(&value) || is_number(given->form);
    if (is_number(wanted->form)) {
        uint64_t number = 0;
        const pmix_status_t status = value_get_number(&value, &number, type);
        return status == PMIX_SUCCESS || status == PMIX_ERR_LOST_PRECISION;
    }
    // Texts come compressed, as bytes, as regular expressions and as names of namespaces.
    if (wanted->form == TypeForm::kString)
        return given->form == TypeForm::kString || given->form == TypeForm::kNspace ||
               value.type == PMIX_BYTE_OBJECT || value.type == PMIX_REGEX || value.type == PMIX_REGEX2 ||
               value.type == PMIX_COMPRESSED_STRING;
    // One process is accepted as a list of one, and no value as a list that leaves the choice to the reader.
    return type == PMIX_DATA_ARRAY && (value.type == PMIX_PROC || value.type == PMIX_UNDEF);
}

bool is_required(const pmix_info_t& info) {
    return (flags_of(info) & PMIX_INFO_REQD) != 0;
}

/// Whether the library acts upon the directive.
bool is_met(const Use* use) {
    return use != nullptr && (use->actors & kLibrary) != 0;
}

/// Whether the entry is data, and no directive. A program's own keys are: the Python module of
/// OpenPMIx leaves their flags undefined.
bool is_data(Function function, const Use* use, const pmix_info_t& info) {
    const Takes takes = kTakes[index(function)];
    if (takes != Takes::Mixed) return takes == Takes::HostData;
    const bool of_library = key_is_reserved(info.key) || key_view(info.key).starts_with("muster.");
    return use == nullptr && (!is_required(info) || !of_library || find_attribute_by_key(info.key));
}

}  // namespace

const char* function_name(Function function) {
    return kFunctionNames[index(function)];
}

std::optional<Function> function_of_upcall(std::string_view upcall) {
    for (size_t i = 0; i < kFunctions; ++i) {
        // "log2" is "log" with more arguments.
        const std::string_view name = kUpcallNames[i];
        if (!name.empty() && upcall.starts_with(name) &&
            (upcall == name || upcall.substr(name.size()) == "2"))
            return static_cast<Function>(i);
    }
    return std::nullopt;
}

Result<void> check_directives(Function function, InfoView directives, bool others, const Log& log) {
    constexpr size_t kAhead = 16;  // entries that are prefetched
    const Takes takes = kTakes[index(function)];
    const Use* use = nullptr;
    for (size_t i = 0; i < directives.size; ++i) {
        const pmix_info_t& one = directives[i];
        // The host's registration of 100,000 processes has 50 MB of entries, none of which is in the caches.
        if (directives.size - i > kAhead) {
            __builtin_prefetch(directives[i + kAhead].key);
            __builtin_prefetch(&directives[i + kAhead].value);
        }
        if (i == 0 || !key_is(one.key, directives[i - 1].key)) use = find_use(function, one.key);
        // The host checks the values of attributes that only the host acts upon: their types have changed
        // between versions.
        if (is_met(use) && takes != Takes::Parameters &&
            !readable(one.value, kAttributeTypes[use->attribute])) {
            const DataType* wanted = find_data_type(kAttributeTypes[use->attribute]);
            const DataType* given = find_data_type(one.value.type);
            return Error{PMIX_ERR_BAD_PARAM, std::string(function_name(function)) + ": the value of " +
                                                 kAttributeNames[use->attribute] + " is a " +
                                                 (given == nullptr ? "type of its own" : given->name) +
                                                 "; it cannot be read as " + wanted->name};
        }
        if (is_met(use)) continue;
        if (is_data(function, use, one)) continue;
        // In an array that also holds data, the host would take an unknown key for data.
        const bool can_ask = takes == Takes::Directives || (takes == Takes::Mixed && use != nullptr);
        if (others && can_ask) continue;
        const std::string_view key = key_view(one.key);
        if (is_required(one))
            return Error{PMIX_ERR_NOT_SUPPORTED, std::string(function_name(function)) + ": the directive '" +
                                                     std::string(key) +
                                                     "' is required and not supported here"};
        MUSTER_LOG(log, Warning, "%s: the directive '%.*s' is not supported here; it is ignored",
                   function_name(function), static_cast<int>(key.size()), key.data());
    }
    return {};
}

bool is_unmet(Function function, const pmix_info_t& directive) {
    if (!is_required(directive) || (flags_of(directive) & PMIX_INFO_REQD_PROCESSED) != 0) return false;
    const Use* use = find_use(function, directive.key);
    return !is_met(use) && !is_data(function, use, directive);
}

bool needs_host(Function function, InfoView directives) {
    return std::ranges::any_of(directives, [&](const pmix_info_t& one) { return is_unmet(function, one); });
}

void mark_processed(std::string_view upcall, Info& directives) {
    const std::optional<Function> function = function_of_upcall(upcall);
    // The library logs only entries that the host does not log.
    if (!function || *function == Function::Log) return;
    for (size_t i = 0; i < directives.size(); ++i) {
        pmix_info_t& one = directives[i];
        if (!is_required(one)) continue;
        const Use* use = find_use(*function, one.key);
        // The host also acts upon directives that a tool acts upon (forwarded output).
        if (use != nullptr && (use->actors & (kClient | kServer)) != 0) one.flags |= PMIX_INFO_REQD_PROCESSED;
    }
}

void for_each_use(Function function, uint8_t actors, const std::function<void(const Attribute&)>& visit) {
    for (const Use& use : uses_of(function)) {
        if ((use.actors & actors) != 0)
            visit({kAttributeNames[use.attribute], kAttributeKeys[use.attribute],
                   kAttributeTypes[use.attribute], kAttributeSince[use.attribute]});
    }
}

}  // namespace muster
