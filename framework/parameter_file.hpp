// SPDX-License-Identifier: BSD-3-Clause
// Files of parameters: lines `name = value`, comments with # or //. Their content is untrusted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/base/result.hpp"

namespace muster {

/// A longer file is refused as a whole.
inline constexpr size_t kMaxParameterFile = size_t{1} << 20;
/// Longer names and values are reported and skipped.
inline constexpr size_t kMaxParameterName = 256;
inline constexpr size_t kMaxParameterValue = 8192;

struct ParameterFile {
    struct Entry {
        std::string name, value;
        size_t line;
    };
    std::vector<Entry> entries;           ///< in the file's order; a name may occur more than once
    std::vector<std::string> complaints;  ///< lines that could not be understood, as sentences
};

/// Reads the text of a file; `path` is for the complaints.
ParameterFile parse_parameter_file(std::string_view text, std::string_view path);

/// Accepted owners of a file. `Trusted`: users who can change the process's code (base/trusted_path.hpp).
enum class ParameterFileOwner { Anyone, Trusted, Root };

/// Reads a file. PMIX_ERR_NOT_FOUND when there is none. A file is refused if users other than those that
/// `owner` allows can change it.
Result<ParameterFile> read_parameter_file(const std::string& path, ParameterFileOwner owner);

}  // namespace muster
