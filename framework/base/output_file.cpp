// SPDX-License-Identifier: BSD-3-Clause
// Down to a file by descriptors, so that nothing can be exchanged under way: see output_file.hpp.
#include "framework/base/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <vector>

namespace muster {
namespace {

constexpr int kMostLinks = 40;  // as the kernel's
constexpr mode_t kFolderMode = 0777;
constexpr mode_t kFileMode = 0666;

UniqueFd fail(int error) {
    errno = error;
    return {};
}

/// The parts of a path that are still to be gone down, the next one last.
class Way {
  public:
    explicit Way(const std::string& path) { go(path); }

    bool at_end() const { return parts_.empty(); }
    std::string next() {
        std::string part = std::move(parts_.back());
        parts_.pop_back();
        return part;
    }
    /// A path, or what a link stands for, comes before the rest.
    void go(const std::string& path) {
        if (path.starts_with('/')) {
            at.reset(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
        } else if (!at) {
            at.reset(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
        }
        size_t end = path.size();
        while (end > 0) {
            const size_t slash = path.rfind('/', end - 1);
            const size_t begin = slash == std::string::npos ? 0 : slash + 1;
            if (begin < end) parts_.push_back(path.substr(begin, end - begin));
            end = slash == std::string::npos ? 0 : slash;
        }
    }

    UniqueFd at;  ///< the folder that has been reached

  private:
    std::vector<std::string> parts_;
};

/// Reads a link that may be followed; empty, with errno, for others.
std::string target_of(const UniqueFd& link, const struct stat& status) {
    if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
        errno = ELOOP;
        return {};
    }
    char text[PATH_MAX];
    const ssize_t size = ::readlinkat(link.get(), "", text, sizeof text);
    return size <= 0 ? std::string() : std::string(text, static_cast<size_t>(size));
}

bool may_write(const struct stat& status) {
    if (::geteuid() != 0) return true;  // the kernel knows
    return S_ISREG(status.st_mode) && status.st_uid == 0 && status.st_nlink == 1;
}

UniqueFd open_existing(const UniqueFd& folder, const std::string& name, bool empty) {
    // What root writes to is no pipe that nobody reads.
    const int wait = ::geteuid() == 0 ? O_NONBLOCK : 0;
    UniqueFd file(
        ::openat(folder.get(), name.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC | wait));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) return {};
    if (!may_write(status)) return fail(EPERM);
    if (empty && S_ISREG(status.st_mode) && ::ftruncate(file.get(), 0) != 0) return {};
    return file;
}

}  // namespace

UniqueFd open_output_file(const std::string& path, bool empty) {
    Way way(path);
    int links = 0;
    while (way.at && !way.at_end()) {
        const std::string name = way.next();
        const bool last = way.at_end();
        UniqueFd next(::openat(way.at.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        if (!next && errno == ENOENT) {
            if (last) {
                next.reset(::openat(way.at.get(), name.c_str(),
                                    O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                    kFileMode));
                if (next || errno != EEXIST) return next;
            } else if (::mkdirat(way.at.get(), name.c_str(), kFolderMode) != 0 && errno != EEXIST) {
                return {};
            }
            next.reset(::openat(way.at.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        }
        struct stat status {};
        if (!next || ::fstat(next.get(), &status) != 0) return {};
        if (S_ISLNK(status.st_mode)) {
            const std::string target = target_of(next, status);
            if (target.empty()) return {};
            if (++links > kMostLinks) return fail(ELOOP);
            way.go(target);
        } else if (last) {
            return may_write(status) ? open_existing(way.at, name, empty) : fail(EPERM);
        } else if (!S_ISDIR(status.st_mode)) {
            return fail(ENOTDIR);
        } else {
            way.at = std::move(next);
        }
    }
    return way.at ? fail(EISDIR) : UniqueFd();
}

}  // namespace muster
