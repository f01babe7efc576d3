// SPDX-License-Identifier: BSD-3-Clause
// Null-terminated arrays of strings.

#include "framework/base/argv.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace muster {
namespace {

char* duplicate(std::string_view text) {
    char* copy = static_cast<char*>(malloc(text.size() + 1));
    if (copy == nullptr) return nullptr;
    if (!text.empty()) std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
    return copy;
}

char* new_entry(std::string_view name, std::string_view value) {
    char* entry = static_cast<char*>(malloc(name.size() + value.size() + 2));
    if (entry == nullptr) return nullptr;
    std::memcpy(entry, name.data(), name.size());
    entry[name.size()] = '=';
    if (!value.empty()) std::memcpy(entry + name.size() + 1, value.data(), value.size());
    entry[name.size() + 1 + value.size()] = '\0';
    return entry;
}

// Puts an owned string at `position` of an array of `count`; frees it on failure.
pmix_status_t insert(char*** argv, std::size_t count, std::size_t position, char* text) {
    if (text == nullptr) return PMIX_ERR_OUT_OF_RESOURCE;
    auto* grown = static_cast<char**>(realloc(*argv, (count + 2) * sizeof(char*)));
    if (grown == nullptr) {
        free(text);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    std::memmove(grown + position + 1, grown + position, (count - position) * sizeof(char*));
    grown[position] = text;
    grown[count + 1] = nullptr;
    *argv = grown;
    return PMIX_SUCCESS;
}

}  // namespace

std::size_t argv_count(char* const* argv) {
    std::size_t count = 0;
    while (argv != nullptr && argv[count] != nullptr)
        ++count;
    return count;
}

pmix_status_t argv_append(char*** argv, std::string_view text) {
    const std::size_t count = argv_count(*argv);
    return insert(argv, count, count, duplicate(text));
}

pmix_status_t argv_prepend(char*** argv, std::string_view text) {
    return insert(argv, argv_count(*argv), 0, duplicate(text));
}

pmix_status_t argv_append_unique(char*** argv, std::string_view text) {
    for (char** each = *argv; each != nullptr && *each != nullptr; ++each) {
        if (text == *each) return PMIX_SUCCESS;
    }
    return argv_append(argv, text);
}

void argv_free(char** argv) {
    for (char** each = argv; each != nullptr && *each != nullptr; ++each)
        free(*each);
    free(argv);
}

char** argv_copy(char* const* argv) {
    if (argv == nullptr) return nullptr;
    const std::size_t count = argv_count(argv);
    auto** copy = static_cast<char**>(calloc(count + 1, sizeof(char*)));
    for (std::size_t i = 0; copy != nullptr && i < count; ++i) {
        copy[i] = strdup(argv[i]);
        if (copy[i] == nullptr) {
            argv_free(copy);
            return nullptr;
        }
    }
    return copy;
}

char** argv_split(const char* text, char delimiter, bool keep_empty) {
    if (text == nullptr) return nullptr;
    char** argv = nullptr;
    std::size_t count = 0;
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t end = rest.find(delimiter);
        const std::string_view piece = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        if (piece.empty() && !keep_empty) continue;
        if (insert(&argv, count, count, duplicate(piece)) != PMIX_SUCCESS) {
            argv_free(argv);
            return nullptr;
        }
        ++count;
    }
    return argv;
}

char* argv_join(char* const* argv, char delimiter) {
    std::size_t size = 0;
    for (char* const* each = argv; each != nullptr && *each != nullptr; ++each)
        size += strlen(*each) + 1;
    if (size == 0) return strdup("");
    char* joined = static_cast<char*>(malloc(size));
    if (joined == nullptr) return nullptr;
    char* end = joined;
    for (char* const* each = argv; *each != nullptr; ++each) {
        const std::size_t length = strlen(*each);
        std::memcpy(end, *each, length);
        end += length;
        *end++ = delimiter;
    }
    end[-1] = '\0';
    return joined;
}

pmix_status_t env_set(char*** env, std::string_view name, const char* value, bool overwrite) {
    const std::string_view text = value == nullptr ? std::string_view() : std::string_view(value);
    char** found = nullptr;
    for (char** each = *env; each != nullptr && *each != nullptr && found == nullptr; ++each) {
        if (strncmp(*each, name.data(), name.size()) == 0 && (*each)[name.size()] == '=') found = each;
    }
    if (found != nullptr && !overwrite) return PMIX_ERR_EXISTS;
    char* entry = new_entry(name, text);
    if (entry == nullptr) return PMIX_ERR_OUT_OF_RESOURCE;
    if (found == nullptr) {
        const std::size_t count = argv_count(*env);
        return insert(env, count, count, entry);
    }
    free(*found);
    *found = entry;
    return PMIX_SUCCESS;
}

// A server does this for each process that it starts: names are compared where they are as long.
pmix_status_t env_set_all(char*** env, const std::vector<std::pair<std::string, std::string>>& variables) {
    std::size_t count = argv_count(*env);
    std::vector<std::string_view> names;
    names.reserve(count + variables.size());
    for (std::size_t i = 0; i < count; ++i) {
        const char* entry = (*env)[i];
        const std::size_t end = strcspn(entry, "=");
        names.emplace_back(entry, entry[end] == '=' ? end : 0);
    }
    auto** grown = static_cast<char**>(realloc(*env, (count + variables.size() + 1) * sizeof(char*)));
    if (grown == nullptr) return PMIX_ERR_OUT_OF_RESOURCE;
    *env = grown;
    grown[count] = nullptr;
    for (const auto& [name, value] : variables) {
        char* entry = new_entry(name, value);
        if (entry == nullptr) return PMIX_ERR_OUT_OF_RESOURCE;
        const auto place =
            static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
        if (place < count) {
            free(grown[place]);
        } else {
            names.emplace_back();
            grown[++count] = nullptr;
        }
        grown[place] = entry;
        names[place] = {entry, name.size()};
    }
    return PMIX_SUCCESS;
}

}  // namespace muster
