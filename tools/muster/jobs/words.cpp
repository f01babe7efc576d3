// SPDX-License-Identifier: BSD-3-Clause
// Reading texts.
#include "tools/muster/jobs/words.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace muster::launcher {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(separator, at), text.size());
        parts.emplace_back(text.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

unsigned read_number(std::string_view text, std::string_view what, unsigned least, unsigned most) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
        throw std::runtime_error(
            fmt::format("{} takes a number from {} to {}, not '{}'", what, least, most, text));
    }
    return value;
}

std::vector<std::string> words_of(const std::string& command) {
    if (access(command.c_str(), F_OK) == 0) return {command};
    std::istringstream text(command);
    std::vector<std::string> words;
    for (std::string word; text >> word;)
        words.push_back(word);
    return words;
}

}  // namespace muster::launcher
