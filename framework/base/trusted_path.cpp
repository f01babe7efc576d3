// SPDX-License-Identifier: BSD-3-Clause
// Trusted files and folders: see trusted_path.hpp.
#include "framework/base/trusted_path.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "framework/base/install.hpp"
#include "framework/base/unique_fd.hpp"

namespace muster {
namespace {

/// The owner of the running library's file and the owner of the root folder already control the code of this
/// process. A user namespace that does not map root shows root's files under another owner.
bool trusted_owner(uid_t user) {
    if (user == 0 || user == ::geteuid()) return true;
    struct stat status {};
    if (::stat(install_paths().image.c_str(), &status) == 0 && status.st_uid == user) return true;
    return ::stat("/", &status) == 0 && status.st_uid == user;
}

/// A user may share own files with a group; root's processes do not trust such a group.
bool trusted_group(const struct stat& status) {
    const uid_t user = ::geteuid();
    if (user != 0 && status.st_uid == user) return true;
    struct stat library {};
    return ::stat(install_paths().image.c_str(), &library) == 0 && library.st_gid == status.st_gid &&
           (library.st_mode & S_IWGRP) != 0;
}

Error io_error(const std::string& path) {
    return {errno == ENOENT ? PMIX_ERR_NOT_FOUND : PMIX_ERROR, path + ": " + std::strerror(errno)};
}

}  // namespace

std::string why_not_trusted(const struct stat& status) {
    if (!trusted_owner(status.st_uid))
        return "belongs to user " + std::to_string(status.st_uid) +
               ", and this process trusts files of root and of its own user (" + std::to_string(::geteuid()) +
               ")";
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", status.st_mode & 07777U);
    if ((status.st_mode & S_IWOTH) != 0)
        return std::string("can be changed by every user (mode ") + mode + ")";
    if ((status.st_mode & S_IWGRP) != 0 && !trusted_group(status))
        return "can be changed by group " + std::to_string(status.st_gid) + " (mode " + mode + ")";
    return {};
}

Result<std::string> trusted_path(const std::string& path, Trust trust) {
    char* resolved = ::realpath(path.c_str(), nullptr);
    if (resolved == nullptr) return io_error(path);
    const std::string real(resolved);
    std::free(resolved);
    struct stat end_of_path {};
    if (::stat(real.c_str(), &end_of_path) != 0) return io_error(path);
    const bool is_folder = S_ISDIR(end_of_path.st_mode);
    // Down from the root by descriptor, so that nothing can be exchanged under way; the real path has no
    // links.
    UniqueFd at(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    size_t begin = 1;
    for (;;) {
        struct stat status {};
        if (!at || ::fstat(at.get(), &status) != 0) return io_error(path);
        const bool last = begin > real.size();
        const std::string here = last ? real : real.substr(0, std::max<size_t>(begin - 1, 1));
        const bool holds_the_file = !is_folder && !last && real.find('/', begin) == std::string::npos;
        // In a sticky folder others cannot replace files that they do not own.
        const bool sticky =
            !last && (status.st_mode & S_ISVTX) != 0 && S_ISDIR(status.st_mode) && !holds_the_file;
        if (sticky) status.st_mode &= ~static_cast<mode_t>(S_IWGRP | S_IWOTH);
        if (trust == Trust::RootOnly) {
            if (status.st_uid != 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
                return Error{PMIX_ERR_NO_PERMISSIONS,
                             path + " is refused in a process with raised privileges: " + here +
                                 " must belong to root and not be writable by others"};
        } else if (const std::string why = why_not_trusted(status); !why.empty()) {
            return Error{PMIX_ERR_NO_PERMISSIONS, path + " is passed over: " + here + " " + why};
        }
        if (last) return real;
        const size_t end = std::min(real.find('/', begin), real.size());
        const std::string part = real.substr(begin, end - begin);
        at.reset(::openat(at.get(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        begin = end + 1;
    }
}

}  // namespace muster
