// SPDX-License-Identifier: BSD-3-Clause
// Lists and numbers as text, such as the values of parameters.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace muster {

/// The whole text as a number; nothing if it is not a number or does not fit the type.
template <class Number>
std::optional<Number> number_of(std::string_view text) {
    Number number{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

/// The words of a list, without the blanks around them and without empty ones; they are part of `text`.
inline std::vector<std::string_view> words_of(std::string_view text, char separator) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const size_t end = text.find(separator);
        std::string_view word = text.substr(0, end);
        while (!word.empty() && word.front() == ' ')
            word.remove_prefix(1);
        while (!word.empty() && word.back() == ' ')
            word.remove_suffix(1);
        if (!word.empty()) words.push_back(word);
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
    return words;
}

/// Whether a name is on a comma list, where a word that ends in '*' matches all names with that prefix.
inline bool on_list(std::string_view list, std::string_view name) {
    return std::ranges::any_of(words_of(list, ','), [&](std::string_view word) {
        if (!word.ends_with('*')) return name == word;
        word.remove_suffix(1);
        return name.starts_with(word);
    });
}

}  // namespace muster
