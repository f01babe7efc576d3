// SPDX-License-Identifier: BSD-3-Clause
// Removing files after the end: see cleanup.hpp. A server may run as root and users supply the paths, so all
// steps use that user's rights, each step is relative to an open directory, no symbolic link is followed at
// the last step, and only the user's own files are removed.
#include "core/control/cleanup.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <unordered_set>

#include "core/control/file_rights.hpp"
#include "core/control/file_worker.hpp"
#include "core/runtime/keys.hpp"
#include "framework/base/unique_fd.hpp"

namespace muster {
namespace {

constexpr int kMaxDepth = 100;  // of directories: deeper ones stay
/// Paths that one user may register for one end.
constexpr size_t kMaxPaths = 65536;

/// Calls `visit` for each path of a comma list; false when one is not absolute.
template <class Visit>
bool each_path(const char* list, Visit visit) {
    std::string_view rest(list);
    while (!rest.empty()) {
        const size_t comma = rest.find(',');
        std::string_view path = rest.substr(0, comma);
        rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
        while (path.size() > 1 && path.back() == '/')
            path.remove_suffix(1);
        if (path.empty()) continue;
        if (path.front() != '/') return false;
        visit(std::string(path));
    }
    return true;
}

/// The directory that holds `path`, open, and the last part of the path.
UniqueFd open_parent(const std::string& path, std::string& name) {
    const size_t slash = path.rfind('/');
    name = path.substr(slash + 1);
    const std::string parent = slash == 0 ? "/" : path.substr(0, slash);
    return UniqueFd(::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

bool belongs_to(int directory, const char* name, uint32_t uid, mode_t& mode) {
    struct stat status {};
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
    mode = status.st_mode;
    return status.st_uid == uid;
}

struct Sweep {
    uint32_t uid;
    bool recursive;
    bool only_empty;
    const ViewSet& ignored;

    /// Empties the directory `name` in `parent`, whose path is `path`.
    void empty(int parent, const char* name, const std::string& path, int depth) const {
        if (depth > kMaxDepth) return;
        UniqueFd fd(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        struct stat status {};
        if (!fd || fstat(fd.get(), &status) != 0 || status.st_uid != uid) return;
        const int copy = fcntl(fd.get(), F_DUPFD_CLOEXEC, 0);
        const std::unique_ptr<DIR, int (*)(DIR*)> listing(copy < 0 ? nullptr : fdopendir(copy), closedir);
        if (!listing) {
            if (copy >= 0) ::close(copy);
            return;
        }
        while (const dirent* entry = readdir(listing.get())) {
            if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
            const std::string entry_path = path + "/" + entry->d_name;
            mode_t mode = 0;
            if (ignored.contains(entry_path) || !belongs_to(fd.get(), entry->d_name, uid, mode)) continue;
            if (S_ISDIR(mode)) {
                if (!recursive) continue;
                empty(fd.get(), entry->d_name, entry_path, depth + 1);
                unlinkat(fd.get(), entry->d_name, AT_REMOVEDIR);  // fails where something was left
            } else if (!only_empty) {
                unlinkat(fd.get(), entry->d_name, 0);
            }
        }
    }
};

}  // namespace

bool Cleanups::is_directive(const pmix_info_t& info) {
    return key_is_any(info.key, {PMIX_REGISTER_CLEANUP, PMIX_REGISTER_CLEANUP_DIR, PMIX_CLEANUP_RECURSIVE,
                                 PMIX_CLEANUP_EMPTY, PMIX_CLEANUP_IGNORE, PMIX_CLEANUP_LEAVE_TOPDIR});
}

pmix_status_t Cleanups::Wish::read(InfoView infos) {
    Directory options;
    options.recursive = infos.is_true(PMIX_CLEANUP_RECURSIVE);
    options.only_empty = infos.is_true(PMIX_CLEANUP_EMPTY);
    options.leave_top = infos.is_true(PMIX_CLEANUP_LEAVE_TOPDIR);
    for (const pmix_info_t& info : infos) {
        const bool file = key_is(info.key, PMIX_REGISTER_CLEANUP);
        const bool directory = key_is(info.key, PMIX_REGISTER_CLEANUP_DIR);
        if (!file && !directory && !key_is(info.key, PMIX_CLEANUP_IGNORE)) continue;
        const char* list = value_as_string(&info.value);
        if (list == nullptr) return PMIX_ERR_BAD_PARAM;
        const bool absolute = each_path(list, [&](std::string path) {
            if (file) {
                files.push_back(std::move(path));
            } else if (directory) {
                options.path = std::move(path);
                directories.push_back(options);
            } else {
                ignored.insert(std::move(path));
            }
        });
        if (!absolute) return PMIX_ERR_BAD_PARAM;
    }
    return PMIX_SUCCESS;
}

bool Cleanups::Wish::removes_any(const TextSet& ignored, const ViewSet& removed) {
    // Either may be long, and the other short.
    if (ignored.size() <= removed.size()) {
        return std::ranges::any_of(ignored, [&](const std::string& path) { return removed.contains(path); });
    }
    return std::ranges::any_of(removed, [&](std::string_view path) { return ignored.contains(path); });
}

pmix_status_t Cleanups::add(const std::vector<Proc>& targets, uint32_t uid, uint32_t gid,
                            InfoView directives) {
    const auto wish = std::make_shared<Wish>();
    if (const pmix_status_t status = wish->read(directives); status != PMIX_SUCCESS) return status;
    const size_t paths = wish->paths();
    if (paths > kMaxPaths) return PMIX_ERR_OUT_OF_RESOURCE;
    ViewSet removed(wish->files.begin(), wish->files.end());
    for (const Directory& directory : wish->directories)
        removed.insert(directory.path);
    if (Wish::removes_any(wish->ignored, removed)) return PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES;
    if (paths == 0) return PMIX_SUCCESS;
    // An earlier request may be registered for several of the targets; it is checked once.
    std::unordered_set<const Wish*> checked;
    const auto conflicts = [&](const WishPtr& earlier) {
        return checked.insert(earlier.get()).second && Wish::removes_any(earlier->ignored, removed);
    };
    for (const Proc& target : targets) {
        std::vector<Epilog>& registered = epilogs_[target];
        auto own = std::ranges::find_if(registered,
                                        [&](const Epilog& one) { return one.uid == uid && one.gid == gid; });
        if (own != registered.end() && paths > kMaxPaths - own->paths) return PMIX_ERR_OUT_OF_RESOURCE;
        for (const Epilog& earlier : registered) {
            if (earlier.uid == uid && std::ranges::any_of(earlier.ignoring, conflicts)) {
                return PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES;
            }
        }
        if (own == registered.end()) {
            own = registered.insert(own, Epilog());
            own->uid = uid;
            own->gid = gid;
        }
        own->paths += paths;
        own->wishes.push_back(wish);
        if (!wish->ignored.empty()) own->ignoring.push_back(wish);
    }
    return PMIX_SUCCESS;
}

void Cleanups::Epilog::run() const {
    const FileRights rights(uid, gid);
    if (!rights.good()) return;
    ViewSet ignored;
    for (const WishPtr& wish : ignoring)
        ignored.insert(wish->ignored.begin(), wish->ignored.end());
    std::string name;
    mode_t mode = 0;
    for (const WishPtr& wish : wishes) {
        for (const std::string& path : wish->files) {
            const UniqueFd parent = open_parent(path, name);
            if (!parent || ignored.contains(path) || !belongs_to(parent.get(), name.c_str(), uid, mode))
                continue;
            if (!S_ISDIR(mode)) unlinkat(parent.get(), name.c_str(), 0);
        }
    }
    for (const WishPtr& wish : wishes) {
        for (const Directory& directory : wish->directories) {
            const UniqueFd parent = open_parent(directory.path, name);
            if (!parent || name.empty() || !belongs_to(parent.get(), name.c_str(), uid, mode) ||
                !S_ISDIR(mode))
                continue;
            Sweep{uid, directory.recursive, directory.only_empty, ignored}.empty(parent.get(), name.c_str(),
                                                                                 directory.path, 0);
            if (!directory.leave_top) unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR);
        }
    }
}

void Cleanups::ended(const pmix_proc_t& proc) {
    auto node = epilogs_.extract(Proc(proc));
    if (node.empty()) return;
    run(std::move(node.mapped()));
}

void Cleanups::run(std::vector<Epilog>&& epilogs) {
    worker_.run([all = std::make_shared<std::vector<Epilog>>(std::move(epilogs))] {
        for (const Epilog& epilog : *all)
            epilog.run();
    });
}

void Cleanups::ended(const char* nspace) {
    for (auto it = epilogs_.begin(); it != epilogs_.end();) {
        if (it->first.nspace() != nspace) {
            ++it;
            continue;
        }
        run(std::move(it->second));
        it = epilogs_.erase(it);
    }
}

Cleanups::~Cleanups() {
    for (auto& [proc, epilogs] : epilogs_)
        run(std::move(epilogs));
}

}  // namespace muster
