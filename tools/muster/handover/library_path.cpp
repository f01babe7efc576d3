// SPDX-License-Identifier: BSD-3-Clause
// The library path of PRRTE's own programs.
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pmix.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "tools/muster/handover/command.hpp"
#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {
namespace {

/// Whether the folder holds the library that this process uses, under the name by which programs load it.
bool holds_our_library(const std::string& folder) {
    Dl_info here{};
    if (folder.empty() || dladdr(reinterpret_cast<const void*>(&PMIx_Get_version), &here) == 0) return false;
    std::error_code error;
    return std::filesystem::equivalent(folder + "/libpmix.so.2", here.dli_fname, error) && !error;
}

}  // namespace

std::optional<std::string> library_path_of_prrte() {
    const char* path = getenv("LD_LIBRARY_PATH");
    if (path == nullptr) return std::nullopt;
    std::vector<std::string> folders = split(path, ':');
    if (std::erase_if(folders, holds_our_library) == 0) return std::nullopt;
    return fmt::format("{}", fmt::join(folders, ":"));
}

}  // namespace muster::launcher
