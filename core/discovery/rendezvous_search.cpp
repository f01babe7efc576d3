// SPDX-License-Identifier: BSD-3-Clause
// The search for rendezvous files: see rendezvous_search.hpp.
#include "core/discovery/rendezvous_search.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <tuple>

namespace muster {
namespace {

// Session folders lie two or three levels below the temporary folder. The bounds keep a tool from reading a
// whole file system that was mounted or copied there.
constexpr int kMaxDepth = 8;
constexpr size_t kMaxEntries = 200000;

struct Search {
    const std::function<bool(const std::string&)>& matches;
    const RendezvousDepth wanted;
    struct Hit {
        timespec written;
        std::string path;
    };
    const int deepest = wanted == RendezvousDepth::Here ? 0 : kMaxDepth;
    std::vector<Hit> hits = {};
    size_t entries = 0;

    void look(int parent, const std::string& name, const std::string& path, int depth) {
        const int fd = ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0) return;
        const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd), ::closedir);
        if (!folder) {
            ::close(fd);
            return;
        }
        std::vector<std::string> below;
        while (const dirent* entry = ::readdir(folder.get())) {
            if (++entries > kMaxEntries) return;
            const std::string one = entry->d_name;
            if (one == "." || one == "..") continue;
            unsigned char type = entry->d_type;
            const bool candidate = (wanted != RendezvousDepth::Further || depth > 0) && matches(one);
            if (type == DT_UNKNOWN || (candidate && type == DT_REG)) {
                struct stat facts {};
                if (::fstatat(fd, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
                type = S_ISDIR(facts.st_mode) ? DT_DIR : S_ISREG(facts.st_mode) ? DT_REG : DT_UNKNOWN;
                if (candidate && type == DT_REG) hits.push_back({facts.st_mtim, path + "/" + one});
            }
            if (type == DT_DIR && depth < deepest) below.push_back(one);
        }
        for (const std::string& one : below)
            look(fd, one, path + "/" + one, depth + 1);
    }
};

}  // namespace

std::string system_rendezvous_name(const std::string& host) {
    return "pmix.sys." + host;
}
std::string session_rendezvous_name(const std::string& host) {
    return "pmix." + host + ".tool";
}
std::string session_rendezvous_name(const std::string& host, const std::string& nspace_or_pid) {
    return session_rendezvous_name(host) + "." + nspace_or_pid;
}

bool is_session_rendezvous(const std::string& name, const std::vector<std::string>& hosts) {
    return std::ranges::any_of(hosts, [&](const std::string& host) {
        const std::string plain = session_rendezvous_name(host);
        return name.compare(0, plain.size(), plain) == 0 &&
               (name.size() == plain.size() || name[plain.size()] == '.');
    });
}

std::vector<std::string> search_rendezvous(const std::string& folder,
                                           const std::function<bool(const std::string&)>& matches,
                                           RendezvousDepth depth) {
    Search search{matches, depth};
    // The folder itself may be a link (/tmp often is); what is below it may not.
    struct stat facts {};
    if (::stat(folder.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) return {};
    search.look(AT_FDCWD, folder + "/.", folder, 0);
    std::ranges::sort(search.hits, [](const Search::Hit& a, const Search::Hit& b) {
        return std::tie(b.written.tv_sec, b.written.tv_nsec, a.path) <
               std::tie(a.written.tv_sec, a.written.tv_nsec, b.path);
    });
    std::vector<std::string> paths;
    for (Search::Hit& hit : search.hits)
        paths.push_back(std::move(hit.path));
    return paths;
}

}  // namespace muster
