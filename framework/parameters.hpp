// SPDX-License-Identifier: BSD-3-Clause
// Parameters (PMIX_MCA_<framework>_<component>_<name>): defined once, in a table, with type, default and
// help; their values come, in decreasing precedence, from the program (info, command line), the environment,
// the user's file and the system's file. An object, built at init and passed down.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/result.hpp"

namespace muster {

enum class ParameterType : uint8_t { Int, Unsigned, Size, Bool, String, Seconds, Choice };

/// The source of a value, strongest last.
enum class ParameterSource : uint8_t { Default, SystemFile, UserFile, Environment, Program };

/// The one definition from which everything else is derived. Its texts stay as long as the process: literals,
/// or a component's descriptor.
struct ParameterDefinition {
    std::string_view framework{};  ///< "ptl"; empty for parameters of the library as a whole
    std::string_view component{};  ///< "tcp", or "base" for the framework itself
    std::string_view name{};       ///< "if_include"
    ParameterType type = ParameterType::String;
    std::string default_value{};                   ///< as text
    std::string_view unit{};                       ///< "seconds", "bytes", ... or empty
    std::string_view help{};                       ///< one sentence
    std::vector<std::string_view> choices{};       ///< ParameterType::Choice
    std::vector<std::string_view> former_names{};  ///< full names that mean the same
    /// "ptl_tcp_if_include": the name after PMIX_MCA_ in the environment.
    std::string full_name() const;
};

struct ParameterView {
    const ParameterDefinition* definition;
    std::string value;
    ParameterSource source;
    std::string origin;  ///< path and line of a file, name of the environment variable
};

inline bool is_file(ParameterSource source) {
    return source == ParameterSource::SystemFile || source == ParameterSource::UserFile;
}

/// "default", "system file", ...
const char* parameter_source_name(ParameterSource source);

/// Any thread; returned references and pointers are valid as long as the object.
class Parameters {
  public:
    struct Sources {
        std::vector<std::string> files{};  ///< the system's, in increasing precedence
        std::vector<std::string>
            user_files{};         ///< the user's, weakest first; ignored in a privileged process
        bool environment = true;  ///< PMIX_MCA_ variables; ignored in a privileged process
        bool privileged = false;  ///< raised privileges: `files` must belong to root
        /// From the command line or init attributes: full name and value.
        std::vector<std::pair<std::string, std::string>> program{};
        /// The usual files: <prefix>/etc/pmix-mca-params.conf beside the running library,
        /// ~/.pmix/mca-params.conf. PMIX_MCA_mca_base_param_files replaces them: a comma list in decreasing
        /// precedence, or "none".
        static Sources standard();
    };

    explicit Parameters(Sources sources);
    ~Parameters();
    Parameters(const Parameters&) = delete;
    Parameters& operator=(const Parameters&) = delete;

    /// Defines a parameter, once; a second definition of the same name is ignored. Returns an error if the
    /// external value does not fit the type (the default is used then; the sentence names the valid values).
    Result<void> define(ParameterDefinition definition);

    /// Sets a value from the program, for a parameter that is not defined yet.
    void set(const std::string& full_name, std::string value);

    /// Value as text, of a defined parameter or of a raw name that is not defined (yet).
    std::optional<std::string> raw(std::string_view full_name) const;
    /// Names that were given from outside, whether anything has defined them or not.
    std::vector<std::string> given() const;
    /// Describes a defined parameter.
    std::optional<ParameterView> view(std::string_view full_name) const;
    /// Values of defined parameters. "", 0 or false for an undefined name or another type. Booleans read as
    /// "true" or "false" in text().
    std::string text(std::string_view full_name) const;
    int64_t integer(std::string_view full_name) const;
    uint64_t size(std::string_view full_name) const;  ///< accepts k, m, g suffixes
    bool boolean(std::string_view full_name) const;
    double seconds(std::string_view full_name) const;

    std::vector<ParameterView> all() const;
    /// Names from outside without a definition, each with the nearest known name ("" if none is near).
    struct Unknown {
        std::string name, origin, nearest;
        bool in_file;  ///< given by a file
    };
    std::vector<Unknown> unknown() const;
    /// Files and lines that could not be understood, and values that did not fit their type, as sentences.
    std::vector<std::string> complaints() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster
