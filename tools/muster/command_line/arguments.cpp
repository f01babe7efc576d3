// SPDX-License-Identifier: BSD-3-Clause
// Splitting the command line.
#include "tools/muster/command_line/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>

namespace muster::launcher {
namespace {

bool all_digits(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Reads the options of one program.
class Reader {
  public:
    explicit Reader(const std::vector<std::string>& words) : words_(words) {}

    GivenProgram read() {
        while (next_ < words_.size()) {
            const std::string& word = words_[next_];
            if (word.size() < 2 || word[0] != '-') break;
            ++next_;
            if (word == "--") break;
            program_.options.push_back(option(word));
        }
        program_.argv.assign(words_.begin() + static_cast<std::ptrdiff_t>(next_), words_.end());
        return std::move(program_);
    }

  private:
    Given option(const std::string& word) {
        const size_t equals = word.find('=');
        Given given{nullptr, word.substr(0, equals), {}};
        const std::string name = given.written.substr(word[1] == '-' ? 2 : 1);
        given.spelling = find_option(name);
        std::vector<std::string> attached;
        if (given.spelling != nullptr && equals != std::string::npos)
            attached.push_back(word.substr(equals + 1));
        if (given.spelling == nullptr && word[1] != '-' && all_digits(std::string_view(name).substr(1))) {
            given.spelling = find_option(name.substr(0, 1));
            given.written = word.substr(0, 2);
            attached.push_back(name.substr(1));
        }
        if (given.spelling == nullptr) {
            throw UsageError(fmt::format("{} is not an option of muster (see muster --help)", given.written));
        }
        if (given.setting() == Setting::Refused)
            throw UsageError(
                fmt::format("{} is not an option of muster; {}", given.written, given.spelling->text));
        const size_t wanted = words_in(given.spelling->takes).size();
        if (wanted == 0) {
            if (!attached.empty() && given.setting() != Setting::Accepted)
                throw UsageError(fmt::format("{} takes no value, but has '{}'", given.written, attached[0]));
            return given;
        }
        given.words = std::move(attached);
        while (given.words.size() < wanted) {
            if (next_ >= words_.size())
                throw UsageError(fmt::format("{} needs a value: {} {}", given.written, given.written,
                                             given.spelling->takes));
            given.words.push_back(words_[next_++]);
        }
        return given;
    }

    const std::vector<std::string>& words_;
    size_t next_ = 0;
    GivenProgram program_;
};

}  // namespace

std::string Given::value() const {
    if (spelling->as.empty()) return words.empty() ? "" : words[0];
    std::string text;
    size_t word = 0;
    for (const char c : spelling->as) {
        if (c == '%') {
            text += words.at(word++);
        } else {
            text += c;
        }
    }
    return text;
}

std::vector<GivenProgram> split_arguments(const std::vector<std::string>& arguments) {
    std::vector<GivenProgram> programs;
    std::vector<std::string> words;
    for (size_t i = 0; i <= arguments.size(); ++i) {
        if (i < arguments.size() && arguments[i] != ":") {
            words.push_back(arguments[i]);
            continue;
        }
        programs.push_back(Reader(words).read());
        words.clear();
    }
    return programs;
}

}  // namespace muster::launcher
