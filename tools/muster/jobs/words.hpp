// SPDX-License-Identifier: BSD-3-Clause
// Reading texts that users write: options, policies, commands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::launcher {

std::string lower(std::string text);
/// The parts between separators; empty ones count.
std::vector<std::string> split(std::string_view text, char separator);
/// A number; throws std::runtime_error with a message about `what` if it is not a number from `least` to
/// `most`.
unsigned read_number(std::string_view text, std::string_view what, unsigned least, unsigned most);
/// The words of an agent's command: one if it is a file's name, otherwise separated by blanks.
std::vector<std::string> words_of(const std::string& command);

inline constexpr unsigned kMostRanks = 1u << 20;

}  // namespace muster::launcher
