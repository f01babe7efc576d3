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

/// The remaining parts of a path, the next one last.
class Way {
  public:
    explicit Way(const std::string& path) { go(path); }

    bool at_end() const { return parts_.empty(); }
    std::string next() {
        std::string part = std::move(parts_.back());
        parts_.pop_back();
        return part;
    }
    /// A path, or the target of a link, precedes the rest.
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

    bool at_last() const { return parts_.size() == 1; }

    /// Continues at the target of a link; nowhere (with errno) if it may not be followed.
    void follow(const UniqueFd& link, const struct stat& status) {
        char target[PATH_MAX];
        ssize_t size = -1;
        if ((::geteuid() == 0 && status.st_uid != 0) || ++links_ > kMostLinks) {
            errno = ELOOP;
        } else {
            size = ::readlinkat(link.get(), "", target, sizeof target);
        }
        if (size > 0) return go(std::string(target, static_cast<size_t>(size)));
        stop(errno);
    }

    /// Opens the next folder, and creates it if it is missing.
    void step(mode_t mode) {
        const std::string name = next();
        const auto open = [&] { return ::openat(at.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC); };
        UniqueFd folder(open());
        if (!folder && errno == ENOENT && (::mkdirat(at.get(), name.c_str(), mode) == 0 || errno == EEXIST))
            folder.reset(open());
        struct stat status {};
        if (!folder || ::fstat(folder.get(), &status) != 0) return stop(errno);
        if (S_ISLNK(status.st_mode)) return follow(folder, status);
        if (!S_ISDIR(status.st_mode)) return stop(ENOTDIR);
        at = std::move(folder);
    }

    UniqueFd at;  ///< the folder that has been reached; none after a failure

  private:
    void stop(int error) {
        at.reset();
        errno = error;
    }

    int links_ = 0;
    std::vector<std::string> parts_;
};

bool may_write(const struct stat& status) {
    if (::geteuid() != 0) return true;  // the kernel knows
    return S_ISREG(status.st_mode) && status.st_uid == 0 && status.st_nlink == 1;
}

UniqueFd open_existing(const UniqueFd& folder, const std::string& name, bool empty) {
    // Root must not block on a pipe without a reader.
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

UniqueFd open_output_folder(const std::string& path, mode_t mode) {
    Way way(path);
    while (way.at && !way.at_end())
        way.step(mode);
    return std::move(way.at);
}

UniqueFd open_output_file(const std::string& path, bool empty) {
    Way way(path);
    while (way.at && !way.at_end()) {
        if (!way.at_last()) {
            way.step(kFolderMode);
            continue;
        }
        const std::string name = way.next();
        // A new file, or the existing one: a link is followed, a file is opened.
        UniqueFd file(::openat(way.at.get(), name.c_str(),
                               O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
        if (file || errno != EEXIST) return file;
        UniqueFd there(::openat(way.at.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        struct stat status {};
        if (!there || ::fstat(there.get(), &status) != 0) return {};
        if (S_ISLNK(status.st_mode)) {
            way.follow(there, status);
        } else {
            return may_write(status) ? open_existing(way.at, name, empty) : fail(EPERM);
        }
    }
    return way.at ? fail(EISDIR) : UniqueFd();
}

}  // namespace muster
