// SPDX-License-Identifier: BSD-3-Clause
// A tool's command line: see command_line.hpp.
#include "tools/session/command_line.hpp"

#include <CLI/CLI.hpp>

#include <utility>

namespace muster::tools {
namespace {

CLI::Option& behind(void* option) {
    return *static_cast<CLI::Option*>(option);
}

}  // namespace

struct CommandLine::Parser {
    CLI::App app;
};

CommandLine::CommandLine(const std::string& description, const std::string& program)
    : parser_(new Parser{CLI::App(description, program)}) {}
CommandLine::~CommandLine() = default;

CommandLine::Option& CommandLine::Option::required() {
    behind(option_).required();
    return *this;
}

CommandLine::Option& CommandLine::Option::expected(int least, int most) {
    behind(option_).expected(least, most);
    return *this;
}

CommandLine::Option& CommandLine::Option::pairs() {
    behind(option_).type_size(2)->expected(-1);
    return *this;
}

CommandLine::Option& CommandLine::Option::type_name(const char* name) {
    behind(option_).type_name(name);
    return *this;
}

CommandLine::Option& CommandLine::Option::one_of(std::vector<std::string> words) {
    behind(option_).check(CLI::IsMember(std::move(words)));
    return *this;
}

void CommandLine::flag(const std::string& names, bool& value, const std::string& help) {
    parser_->app.add_flag(names, value, help);
}

CommandLine::Option CommandLine::option(const std::string& names, std::string& value,
                                        const std::string& help) {
    return Option(parser_->app.add_option(names, value, help));
}

CommandLine::Option CommandLine::option(const std::string& names, std::vector<std::string>& values,
                                        const std::string& help) {
    return Option(parser_->app.add_option(names, values, help));
}

CommandLine::Option CommandLine::option(const std::string& names, std::optional<uint32_t>& value,
                                        const std::string& help) {
    return Option(parser_->app.add_option(names, value, help));
}

void CommandLine::version(const std::string& text) {
    parser_->app.set_version_flag("-V,--version", text);
}

void CommandLine::allow_extras() {
    parser_->app.allow_extras();
}

std::optional<int> CommandLine::parse(int argc, char** argv) {
    try {
        parser_->app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return parser_->app.exit(error) == 0 ? 0 : 1;
    }
    return std::nullopt;
}

std::vector<std::string> CommandLine::remaining() const {
    return parser_->app.remaining();
}

}  // namespace muster::tools
