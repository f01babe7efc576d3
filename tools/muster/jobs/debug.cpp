// SPDX-License-Identifier: BSD-3-Clause
// Commands of agents.
#include "tools/muster/jobs/debug.hpp"

#include <unistd.h>

#include <sstream>

namespace muster::launcher {

std::vector<std::string> words_of(const std::string& command) {
    if (access(command.c_str(), F_OK) == 0) return {command};
    std::istringstream text(command);
    std::vector<std::string> words;
    for (std::string word; text >> word;)
        words.push_back(word);
    return words;
}

}  // namespace muster::launcher
