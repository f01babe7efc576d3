// SPDX-License-Identifier: BSD-3-Clause
// Copying files to a job's directory. Paths are resolved here, part by part, so that no unchecked link is
// followed.
#include "tools/muster/nodes/preload.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <deque>

#include "framework/base/unique_fd.hpp"
#include "tools/muster/jobs/words.hpp"

namespace muster::launcher {
namespace {

constexpr int kMostLinks = 40;  // as the kernel has it

std::string last_part(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

/// Resolves an absolute path. The file, opened with O_PATH; on failure errno is set.
UniqueFd resolve(const std::string& path) {
    std::deque<std::string> parts;
    const auto put_in_front = [&parts](const std::string& more) {
        const std::vector<std::string> words = split(more, '/');
        parts.insert(parts.begin(), words.begin(), words.end());
    };
    put_in_front(path);
    UniqueFd root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    UniqueFd here(fcntl(root.get(), F_DUPFD_CLOEXEC, 0));
    for (int links = 0; here && !parts.empty();) {
        const std::string part = parts.front();
        parts.pop_front();
        if (part.empty() || part == ".") continue;
        UniqueFd next(openat(here.get(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        struct stat status {};
        if (!next || fstat(next.get(), &status) != 0) return {};
        if (!S_ISLNK(status.st_mode)) {
            here = std::move(next);
            continue;
        }
        if (geteuid() == 0 && status.st_uid != 0) {
            errno = EPERM;
            return {};
        }
        char target[PATH_MAX];
        const ssize_t size = readlinkat(next.get(), "", target, sizeof target);
        if (size <= 0) return {};
        if (++links > kMostLinks || size == sizeof target) {
            errno = ELOOP;
            return {};
        }
        if (target[0] == '/') here = UniqueFd(fcntl(root.get(), F_DUPFD_CLOEXEC, 0));
        put_in_front(std::string(target, static_cast<size_t>(size)));
    }
    return here;
}

bool copy(int from, int to) {
    while (true) {
        const ssize_t sent = sendfile(to, from, nullptr, 1 << 20);
        if (sent == 0) return true;
        if (sent < 0 && errno != EINTR) return false;
    }
}

std::string refused(const std::string& source, const std::string& why) {
    return fmt::format("the file '{}' cannot be preloaded: {}", source, why);
}

}  // namespace

std::string preload(const std::string& source, const std::string& dir) {
    const UniqueFd path = resolve(source);
    if (!path) {
        return refused(source, errno == EPERM ? "it is reached by a symbolic link of another user than root"
                                              : strerror(errno));
    }
    struct stat status {};
    if (fstat(path.get(), &status) != 0) return refused(source, strerror(errno));
    if (!S_ISREG(status.st_mode)) return refused(source, "it is not a regular file");
    // The file itself, which cannot be exchanged for another any more.
    const UniqueFd from(open(fmt::format("/proc/self/fd/{}", path.get()).c_str(), O_RDONLY | O_CLOEXEC));
    if (!from) return refused(source, strerror(errno));
    const std::string target = dir + "/" + last_part(source);
    const mode_t mode = (status.st_mode & S_IRWXU) | S_IRUSR;
    const UniqueFd to(open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!to) return refused(source, errno == EEXIST ? "another file has its name" : strerror(errno));
    if (fchmod(to.get(), mode) == 0 && copy(from.get(), to.get())) return {};
    const std::string why = strerror(errno);
    unlink(target.c_str());
    return refused(source, why);
}

std::string share_file(const std::string& dir, const std::string& name, const std::string& other) {
    const std::string file = dir + "/" + name, copy = other + "/" + name;
    if (link(file.c_str(), copy.c_str()) == 0 || symlink(file.c_str(), copy.c_str()) == 0) return {};
    return fmt::format("cannot make '{}': {}", copy, strerror(errno));
}

}  // namespace muster::launcher
