// SPDX-License-Identifier: BSD-3-Clause
// pmixcc: runs the C compiler with the flags that a PMIx program needs. The flags come from pmix.pc of this
// program's own tree, so a moved or copied tree works.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tools/session/standard_descriptors.hpp"

namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kHelp =
    "Usage: pmixcc [--showme[:WHAT]] [ARGUMENTS OF THE COMPILER]...\n"
    "Compiles and links PMIx programs written in C.\n"
    "\n"
    "  --showme                print the command instead of running it\n"
    "  --showme:command        the compiler\n"
    "  --showme:compile        the flags added for compiling\n"
    "  --showme:link           the flags added for linking\n"
    "  --showme:incdirs        the folders of headers\n"
    "  --showme:libdirs        the folders of libraries\n"
    "  --showme:libs           the names of the libraries\n"
    "  --showme:version        the version\n"
    "  --showme:help, --help   this text\n"
    "\n"
    "All else is the compiler's. Environment variables take the place of what pmixcc would use: PMIX_CC "
    "(cc),\n"
    "PMIX_CPPFLAGS and PMIX_CFLAGS for compiling, PMIX_LDFLAGS and PMIX_LIBS for linking.\n";

/// The words of a text, at white space.
Words words_of(const std::string& text) {
    Words words;
    size_t at = 0;
    while ((at = text.find_first_not_of(" \t\n", at)) != std::string::npos) {
        const size_t end = std::min(text.find_first_of(" \t\n", at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end;
    }
    return words;
}

/// The flags of a pkg-config file. A folder may hold blanks, so variables are put in word by word.
class PackageFile {
  public:
    explicit PackageFile(const std::filesystem::path& path) {
        variables_["pcfiledir"] = path.parent_path();
        std::ifstream file(path);
        if (!file)
            throw std::runtime_error(fmt::format("{}: {}; pmixcc has to stand in an installed tree",
                                                 path.string(), strerror(errno)));
        for (std::string line; std::getline(file, line);) {
            const size_t mark = line.find_first_of(":=");
            if (mark == std::string::npos) continue;
            const std::string name = line.substr(0, mark), value = line.substr(mark + 1);
            if (line[mark] == '=') {
                variables_[name] = plain(std::filesystem::path(expanded(value)));
            } else {
                fields_[name] = value;
            }
        }
    }
    Words field(const std::string& name) const {
        Words words = words_of(fields_.count(name) != 0 ? fields_.at(name) : "");
        for (std::string& word : words)
            word = expanded(word);
        return words;
    }

  private:
    static std::string plain(const std::filesystem::path& path) {
        const std::filesystem::path normal = path.lexically_normal();
        return (normal.has_filename() ? normal : normal.parent_path()).string();
    }
    std::string expanded(std::string text) const {
        for (size_t at = 0; (at = text.find("${", at)) != std::string::npos;) {
            const size_t end = text.find('}', at);
            if (end == std::string::npos) break;
            const auto variable = variables_.find(text.substr(at + 2, end - at - 2));
            const std::string value = variable == variables_.end() ? "" : variable->second;
            text.replace(at, end + 1 - at, value);
            at += value.size();
        }
        return text;
    }
    std::map<std::string, std::string> variables_, fields_;
};

/// The arguments that pmixcc adds to the user's.
struct Flags {
    Words compile, link;
    std::string version;
};

std::optional<Words> from_environment(const char* name) {
    const char* value = getenv(name);
    if (value == nullptr) return std::nullopt;
    return words_of(value);
}

void append(Words& to, const Words& more) {
    to.insert(to.end(), more.begin(), more.end());
}

Flags read_flags() {
    const auto program = std::filesystem::read_symlink("/proc/self/exe");
    const auto prefix = program.parent_path().parent_path();
    const PackageFile package(prefix / MUSTER_LIBDIR / "pkgconfig" / "pmix.pc");
    Flags flags;
    flags.compile = from_environment("PMIX_CPPFLAGS").value_or(package.field("Cflags"));
    append(flags.compile, from_environment("PMIX_CFLAGS").value_or(Words()));
    Words folders, libraries;
    for (const std::string& word : package.field("Libs")) {
        (word.compare(0, 2, "-l") == 0 ? libraries : folders).push_back(word);
    }
    flags.link = from_environment("PMIX_LDFLAGS").value_or(folders);
    append(flags.link, from_environment("PMIX_LIBS").value_or(libraries));
    const Words version = package.field("Version");
    if (!version.empty()) flags.version = version[0];
    return flags;
}

/// The words that begin with an option's letter, without it.
Words after(const Words& words, std::string_view option) {
    Words found;
    for (const std::string& word : words) {
        if (word.compare(0, option.size(), option) == 0) found.push_back(word.substr(option.size()));
    }
    return found;
}

bool links(const Words& arguments) {
    return std::ranges::none_of(arguments, [](const std::string& word) {
        return word == "-c" || word == "-S" || word == "-E" || word == "-M" || word == "-MM" ||
               word == "-fsyntax-only";
    });
}

int show(const Words& words) {
    fmt::print("{}\n", fmt::join(words, " "));
    return 0;
}

int run(Words arguments) {
    std::optional<std::string> showme;
    for (auto it = arguments.begin(); it != arguments.end();) {
        const std::string word = it->compare(0, 2, "--") == 0 ? it->substr(1) : *it;
        if (word == "-help" || word == "-showme:help") {
            fmt::print("{}", kHelp);
            return 0;
        }
        if (word != "-showme" && word.compare(0, 8, "-showme:") != 0) {
            ++it;
            continue;
        }
        showme = word.size() > 8 ? word.substr(8) : "";
        it = arguments.erase(it);
    }
    const Flags flags = read_flags();
    const Words compiler = from_environment("PMIX_CC").value_or(Words{"cc"});
    if (compiler.empty()) throw std::runtime_error("PMIX_CC is set, and empty");
    if (showme && !showme->empty()) {
        if (*showme == "command") return show(compiler);
        if (*showme == "compile") return show(flags.compile);
        if (*showme == "link") return show(flags.link);
        if (*showme == "incdirs") return show(after(flags.compile, "-I"));
        if (*showme == "libdirs") return show(after(flags.link, "-L"));
        if (*showme == "libs") return show(after(flags.link, "-l"));
        if (*showme == "version")
            return show({"pmixcc", "(Muster " MUSTER_VERSION ")", flags.version, "(Language: C)"});
        if (*showme == "libs_static" || *showme == "libdirs_static")
            throw std::runtime_error("there is no static library");
        throw std::runtime_error(fmt::format("--showme:{} is not known (see pmixcc --help)", *showme));
    }
    // "pmixcc -v" only queries the compiler; flags are added only if there is something to compile.
    const bool works = showme.has_value() || std::ranges::any_of(arguments, [](const auto& word) {
                           return word.empty() || word[0] != '-';
                       });
    Words command = compiler;
    if (works) append(command, flags.compile);
    append(command, arguments);
    if (works && links(arguments)) append(command, flags.link);
    if (showme) return show(command);
    std::vector<char*> words;
    words.reserve(command.size() + 1);
    for (std::string& word : command)
        words.push_back(word.data());
    words.push_back(nullptr);
    execvp(words[0], words.data());
    throw std::runtime_error(fmt::format("{} cannot be run: {}", command[0], strerror(errno)));
}

}  // namespace

int main(int argc, char** argv) {
    muster::open_standard_descriptors();
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "pmixcc: {}\n", error.what());
        return 1;
    }
}
