// SPDX-License-Identifier: BSD-3-Clause
// The search for rendezvous files: see rendezvous_search.hpp.
#include "core/discovery/rendezvous_search.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <set>
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

Value facts_of(const Rendezvous& rendezvous) {
    pmix_proc_t server{};
    std::string transport;
    const std::string& uri = rendezvous.uris.back();  // the one that tools of any library understand
    split_server_uri(uri, server, transport);
    Info facts;
    facts.add(PMIX_NSPACE, server.nspace);
    facts.add(PMIX_RANK, Value::rank(server.rank));
    facts.add(PMIX_SERVER_NSPACE, server.nspace);
    facts.add(PMIX_SERVER_RANK, Value::rank(server.rank));
    facts.add(PMIX_SERVER_URI, uri.c_str());
    facts.add(PMIX_VERSION_INFO, rendezvous.version.c_str());
    if (rendezvous.pid > 0) facts.add(PMIX_SERVER_PIDINFO, Value::pid(rendezvous.pid));
    if (rendezvous.user) facts.add(PMIX_USERID, *rendezvous.user);
    if (rendezvous.group) facts.add(PMIX_GRPID, *rendezvous.group);
    if (!rendezvous.started.empty()) facts.add(PMIX_SERVER_START_TIME, rendezvous.started.c_str());
    return std::move(facts).to_value();
}

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

bool answer_available_servers(Runtime& runtime, const char* key, Info& found) {
    if (!key_is(key, PMIX_QUERY_AVAIL_SERVERS)) return false;
    const bool foreign = runtime.parameters().boolean("tool_base_trust_foreign_files");
    const auto hosts = rendezvous_hosts(runtime.hostname());
    const auto is_server = [&](const std::string& name) {
        return is_session_rendezvous(name, hosts) || std::ranges::any_of(hosts, [&](const std::string& host) {
                   return name == system_rendezvous_name(host);
               });
    };
    Info servers;
    std::set<std::string> seen;  // a server has several files
    for (const std::string& folder :
         std::set<std::string>{runtime.session_directory(), runtime.system_directory()}) {
        for (const std::string& path : search_rendezvous(folder, is_server)) {
            const auto file = read_rendezvous_file(path, foreign);
            if (file && seen.insert(file->uris.back()).second)
                servers.add(PMIX_SERVER_INFO_ARRAY, facts_of(*file));
        }
    }
    if (servers.empty()) return false;
    found.add(key, std::move(servers).to_value());
    return true;
}

}  // namespace muster
