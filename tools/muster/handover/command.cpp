// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the translations for srun and prterun.
#include "tools/muster/handover/command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace muster::launcher {
namespace {

using Change = std::pair<std::string, std::optional<std::string>>;

/// The value of a variable after the changes so far.
std::string value_of(const std::string& name, const std::vector<Change>& changes) {
    for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
        if (change->first == name) return change->second.value_or("");
    }
    const char* value = getenv(name.c_str());
    return value == nullptr ? "" : value;
}

void unset(const std::string& name, std::vector<Change>& changes) {
    if (!name.ends_with('*')) {
        changes.emplace_back(name, std::nullopt);
        return;
    }
    const std::string_view begin = std::string_view(name).substr(0, name.size() - 1);
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        if (text.starts_with(begin)) changes.emplace_back(text.substr(0, text.find('=')), std::nullopt);
    }
}

}  // namespace

std::string quoted(const std::string& word, std::string_view plain) {
    const std::string all =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" + std::string(plain);
    if (!word.empty() && word.find_first_not_of(all) == std::string::npos) return word;
    std::string text = "'";
    for (const char c : word)
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

std::string Command::text() const {
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : " ") + quoted(word);
    return text;
}

void Command::execute() const {
    for (const auto& [name, value] : environment) {
        if (value) {
            setenv(name.c_str(), value->c_str(), 1);
        } else {
            unsetenv(name.c_str());
        }
    }
    std::vector<char*> argv;
    for (const std::string& word : words)
        argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    throw std::runtime_error(fmt::format("{} cannot be executed: {}", words[0], strerror(errno)));
}

UsageError untranslatable(std::string_view option, std::string_view launcher, std::string_view cure) {
    return UsageError(
        fmt::format("{}: {} has no such option; {} (--launcher muster keeps the job on this machine)", option,
                    launcher, cure));
}

std::string nameless_file(const std::string& text) {
    const int fd = memfd_create("muster", 0);
    if (fd < 0) throw std::runtime_error(fmt::format("no file in memory can be made: {}", strerror(errno)));
    for (size_t at = 0; at < text.size();) {
        const ssize_t written = write(fd, text.data() + at, text.size() - at);
        if (written < 0)
            throw std::runtime_error(fmt::format("a file in memory is full: {}", strerror(errno)));
        at += static_cast<size_t>(written);
    }
    lseek(fd, 0, SEEK_SET);
    return fmt::format("/proc/self/fd/{}", fd);
}

std::vector<Change> environment_of(const Options& options, size_t program) {
    const App& app = options.job.apps[program];
    std::vector<Change> changes;
    for (const auto& [name, value] : app.env)
        changes.emplace_back(name, value);
    for (const EnvChange& change : app.env_changes) {
        if (change.kind == EnvChange::Kind::Unset) {
            unset(change.name, changes);
            continue;
        }
        const std::string now = value_of(change.name, changes);
        const bool append = change.kind == EnvChange::Kind::Append;
        changes.emplace_back(change.name, now.empty() ? change.value
                                          : append    ? now + change.separator + change.value
                                                      : change.value + change.separator + now);
    }
    return changes;
}

}  // namespace muster::launcher
