// SPDX-License-Identifier: BSD-3-Clause
// A tool's command line: CLI11 behind few functions, so that only one source file of all tools compiles it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace muster::tools {

/// Options refer to the caller's variables, which parse() fills: they must live until then.
class CommandLine {
  public:
    CommandLine(const std::string& description, const std::string& program);
    ~CommandLine();
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    /// Further settings of a defined option; valid as long as the command line.
    class Option {
      public:
        explicit Option(void* option) : option_(option) {}
        Option& required();
        /// That many words follow it.
        Option& expected(int least, int most);
        /// Two words follow it, and it may be given again.
        Option& pairs();
        /// The placeholder of the value in the help.
        Option& type_name(const char* name);
        Option& one_of(std::vector<std::string> words);

      private:
        void* option_;
    };

    /// `names` as CLI11 takes them: "-v,--verbose"; without a dash it is a positional argument.
    void flag(const std::string& names, bool& value, const std::string& help);
    Option option(const std::string& names, std::string& value, const std::string& help);
    Option option(const std::string& names, std::vector<std::string>& values, const std::string& help);
    Option option(const std::string& names, std::optional<uint32_t>& value, const std::string& help);
    /// Prints it and ends.
    void version(const std::string& text);
    /// Keeps unknown words in remaining() instead of refusing them.
    void allow_extras();

    /// Prints help, version or the complaint. Nothing: go on; else the exit status.
    std::optional<int> parse(int argc, char** argv);
    std::vector<std::string> remaining() const;

  private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
};

}  // namespace muster::tools
