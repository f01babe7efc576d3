// SPDX-License-Identifier: BSD-3-Clause
// The private directory of a run.
#include "tools/muster/nodes/session_dir.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "tools/muster/jobs/job.hpp"

namespace muster::launcher {

std::string make_session_dir() {
    const char* parent = getenv("TMPDIR");
    std::string path =
        std::string(parent != nullptr && parent[0] != '\0' ? parent : "/tmp") + "/muster-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) {
        throw JobError(fmt::format("cannot make a directory '{}': {}; set TMPDIR to one that can be written",
                                   path, strerror(errno)));
    }
    std::error_code error;
    const std::filesystem::path full = std::filesystem::absolute(path, error);
    return error ? path : full.string();
}

bool make_dir(const std::string& path) {
    return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

void remove_session_dir(const std::string& path) {
    std::error_code error;
    std::filesystem::remove_all(path, error);
}

}  // namespace muster::launcher
