// SPDX-License-Identifier: BSD-3-Clause
// Files of parameters: whatever stands in one, the entries keep the limits and the values fit their types.
#include "framework/parameter_file.hpp"

#include "framework/parameters.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using muster::require;

muster::ParameterDefinition definition(const char* name, muster::ParameterType type, const char* value) {
    return {
        .framework = "a", .name = name, .type = type, .default_value = value, .choices = {"red", "green"}};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using muster::ParameterType;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const muster::ParameterFile file = muster::parse_parameter_file(text, "f");
    muster::Parameters::Sources sources;
    sources.environment = false;
    size_t line = 0;
    for (const auto& entry : file.entries) {
        require(!entry.name.empty() && entry.name.size() <= muster::kMaxParameterName);
        require(entry.value.size() <= muster::kMaxParameterValue);
        require(entry.line > line);
        line = entry.line;
        // The search for the nearest name looks at all pairs; a few are enough here.
        if (sources.program.size() < 64) sources.program.emplace_back(entry.name, entry.value);
    }
    muster::Parameters parameters(std::move(sources));
    (void)parameters.define(definition("int", ParameterType::Int, "1"));
    (void)parameters.define(definition("size", ParameterType::Size, "1k"));
    (void)parameters.define(definition("bool", ParameterType::Bool, "no"));
    (void)parameters.define(definition("seconds", ParameterType::Seconds, "0.5"));
    (void)parameters.define(definition("choice", ParameterType::Choice, "red"));
    (void)parameters.integer("a_int");
    (void)parameters.size("a_size");
    const std::string truth = parameters.text("a_bool");
    require(truth == "true" || truth == "false");
    require(parameters.seconds("a_seconds") >= 0);
    const std::string choice = parameters.text("a_choice");
    require(choice == "red" || choice == "green");
    for (const auto& unknown : parameters.unknown())
        require(!unknown.name.empty());
    return 0;
}
