// SPDX-License-Identifier: BSD-3-Clause
// Rendezvous files: see rendezvous_file.hpp. All operations use descriptors, so that no other file can take
// the place of the one that was checked.
#include "core/discovery/rendezvous_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>
#include <string_view>

#include "framework/base/output_file.hpp"
#include "framework/base/proc.hpp"

namespace muster {
namespace {

constexpr size_t kMaxFile = 64 * 1024;
/// Before each further URI, after the lines that OpenPMIx's tools read.
constexpr std::string_view kFurther = "muster-uri: ";
/// Before the names of the psec components that the server takes.
constexpr std::string_view kSecurity = "muster-psec: ";

Error refused(pmix_status_t status, const std::string& path, const std::string& why) {
    return {status, "the rendezvous file " + path + " " + why};
}

std::string trimmed(std::string_view line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
        line.remove_suffix(1);
    return std::string(line);
}

bool is_printable(std::string_view text) {
    return std::ranges::all_of(text, [](unsigned char c) { return c >= ' ' && c != 0x7f; });
}

bool has_ended(pid_t pid) {
    return ::kill(pid, 0) != 0 && errno == ESRCH;
}

/// Start of the process, seconds since the epoch; 0 if it cannot be had.
time_t start_of(pid_t pid) {
    // One line that is shorter than this in any kernel.
    char stat[4096] = "";
    const UniqueFd fd(::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
    const ssize_t got = fd ? ::read(fd.get(), stat, sizeof stat) : 0;
    const std::string_view line(stat, static_cast<size_t>(std::max<ssize_t>(got, 0)));
    // The name of the program may contain any character; the fields begin after its closing bracket.
    size_t at = line.rfind(')');
    for (int field = 2; field < 22 && at != std::string_view::npos; ++field)
        at = line.find(' ', at + 1);
    if (at == std::string_view::npos) return 0;
    unsigned long ticks = 0;
    std::from_chars(line.data() + at + 1, line.data() + line.size(), ticks);
    const long per_second = sysconf(_SC_CLK_TCK);
    timespec now{}, up{};  // /proc/stat has the kernel's start, but takes it longer than all the rest
    if (per_second <= 0 || ::clock_gettime(CLOCK_REALTIME, &now) != 0 ||
        ::clock_gettime(CLOCK_BOOTTIME, &up) != 0)
        return 0;
    return now.tv_sec - up.tv_sec + static_cast<time_t>(ticks / static_cast<unsigned long>(per_second));
}

/// Opens the folder, and creates missing parents. A folder of root must not be writable by other users.
Result<UniqueFd> open_folder(const std::string& path) {
    UniqueFd folder = open_output_folder(path, 0700);
    struct stat facts {};
    if (!folder || ::fstat(folder.get(), &facts) != 0) {
        const int error = errno;
        const std::string why = error == ELOOP
                                    ? "a link of another user leads there, which root does not follow"
                                    : std::strerror(error);
        const bool short_of = error == EMFILE || error == ENFILE || error == ENOMEM;
        return Error{short_of ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_ERR_NO_PERMISSIONS,
                     "the folder " + path + " cannot be used: " + why};
    }
    if (geteuid() != 0) return folder;
    const std::string consequence =
        ": root announces no server there (PMIX_SERVER_TMPDIR, PMIX_SYSTEM_TMPDIR)";
    if (facts.st_uid != 0) {
        return Error{PMIX_ERR_NO_PERMISSIONS,
                     "the folder " + path + " belongs to user " + std::to_string(facts.st_uid) + consequence};
    }
    if ((facts.st_mode & S_IWOTH) != 0 && (facts.st_mode & S_ISVTX) == 0) {
        return Error{PMIX_ERR_NO_PERMISSIONS,
                     "in the folder " + path + " all users can exchange files" + consequence};
    }
    return folder;
}

/// Gives the file a name that nothing has; false with errno. Not all file systems, and not all filters of
/// system calls, have links.
bool put_in_place(int folder, const std::string& draft, const std::string& name) {
    if (::linkat(folder, draft.c_str(), folder, name.c_str(), 0) == 0) return true;
    if (errno != EPERM && errno != ENOSYS && errno != EOPNOTSUPP) return false;
    return ::renameat2(folder, draft.c_str(), folder, name.c_str(), RENAME_NOREPLACE) == 0;
}

}  // namespace

Result<Rendezvous> parse_rendezvous(const std::string& text, const std::string& path) {
    std::vector<std::string> lines;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = text.find('\n', begin);
        if (end == std::string::npos) break;  // not ended: not written to its end
        lines.push_back(trimmed(std::string_view(text).substr(begin, end - begin)));
        begin = end + 1;
    }
    if (lines.size() < 2 || lines[0].empty())
        return refused(PMIX_ERR_FILE_READ_FAILURE, path, "is cut short");
    Rendezvous found;
    const auto add_uri = [&](const std::string& uri) {
        pmix_proc_t server{};
        std::string transport;
        if (!is_printable(uri) || !split_server_uri(uri, server, transport)) return false;
        found.uris.push_back(uri);
        return true;
    };
    if (!add_uri(lines[0]))
        return refused(PMIX_ERR_NO_PERMISSIONS, path, "does not begin with the URI of a server");
    found.version = lines[1];
    if (!found.version.empty() && found.version.front() == 'v') found.version.erase(0, 1);
    if (found.version.empty() || found.version.front() < '0' || found.version.front() > '9' ||
        found.version.size() > 64 || !is_printable(found.version))
        return refused(PMIX_ERR_NO_PERMISSIONS, path, "names no version in its second line");
    if (lines.size() > 2) {
        const std::string& pid = lines[2];
        std::from_chars(pid.data(), pid.data() + pid.size(), found.pid);
    }
    if (lines.size() > 3) {
        const char* const end = lines[3].data() + lines[3].size();
        uint32_t user = 0, group = 0;
        const auto first = std::from_chars(lines[3].data(), end, user);
        if (first.ec == std::errc() && first.ptr != end && *first.ptr == ':' &&
            std::from_chars(first.ptr + 1, end, group).ec == std::errc()) {
            found.user = user;
            found.group = group;
        }
    }
    if (lines.size() > 4 && lines[4].size() <= 64 && is_printable(lines[4])) found.started = lines[4];
    // The further addresses, which tools of this library prefer.
    std::vector<std::string> plain = std::move(found.uris);
    found.uris.clear();
    for (size_t i = 3; i < lines.size() && found.uris.size() < 8; ++i) {
        if (lines[i].compare(0, kFurther.size(), kFurther) == 0) add_uri(lines[i].substr(kFurther.size()));
        if (lines[i].compare(0, kSecurity.size(), kSecurity) == 0) {
            const std::string names = lines[i].substr(kSecurity.size());
            if (names.size() <= 64 &&
                names.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_,") == std::string::npos)
                found.security = names;
        }
    }
    found.uris.insert(found.uris.end(), plain.begin(), plain.end());
    return found;
}

Error stale_rendezvous(const std::string& path, pid_t pid) {
    return refused(PMIX_ERR_UNREACH, path,
                   "is of a server that has ended (process " + std::to_string(pid) + ")");
}

Result<Rendezvous> read_rendezvous_file(const std::string& path, bool foreign, bool sure) {
    // Non-blocking: a FIFO in its place must not block this process.
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (!fd) {
        if (errno == ENOENT || errno == ENOTDIR) return refused(PMIX_ERR_NOT_FOUND, path, "is not there");
        if (errno == ELOOP)
            return refused(PMIX_ERR_NO_PERMISSIONS, path, "is a symbolic link, and is not followed");
        return refused(PMIX_ERR_NO_PERMISSIONS, path, std::string("cannot be read: ") + std::strerror(errno));
    }
    struct stat facts {};
    if (::fstat(fd.get(), &facts) != 0 || !S_ISREG(facts.st_mode))
        return refused(PMIX_ERR_NO_PERMISSIONS, path, "is no regular file");
    if (!foreign && facts.st_uid != geteuid() && facts.st_uid != 0)
        return refused(PMIX_ERR_NO_PERMISSIONS, path,
                       "belongs to user " + std::to_string(facts.st_uid) +
                           ", who is neither root nor you (parameter tool_base_trust_foreign_files)");
    if ((facts.st_mode & S_IWOTH) != 0)
        return refused(PMIX_ERR_NO_PERMISSIONS, path, "can be written by all users");
    if (facts.st_size > static_cast<off_t>(kMaxFile))
        return refused(PMIX_ERR_NO_PERMISSIONS, path,
                       "is larger than any such file (" + std::to_string(facts.st_size) + " bytes)");
    std::string text;
    char chunk[4096];
    for (;;) {
        const ssize_t got = ::read(fd.get(), chunk, sizeof chunk);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return refused(PMIX_ERR_FILE_READ_FAILURE, path,
                           std::string("cannot be read: ") + std::strerror(errno));
        text.append(chunk, static_cast<size_t>(got));
        if (static_cast<size_t>(got) < sizeof chunk) break;
        if (text.size() > kMaxFile)
            return refused(PMIX_ERR_NO_PERMISSIONS, path, "is larger than any such file");
    }
    auto found = parse_rendezvous(text, path);
    if (!found) return found;
    found->written = facts.st_mtime;
    if (found->pid > 0 && (sure ? is_stale(found->pid, found->written) : has_ended(found->pid)))
        return stale_rendezvous(path, found->pid);
    return found;
}

bool is_stale(pid_t pid, time_t written) {
    if (pid <= 0) return false;
    if (has_ended(pid)) return true;
    // The number may have been given to another process since. Two seconds for clocks that are read in steps.
    return start_of(pid) > written + 2;
}

std::vector<std::string> rendezvous_hosts(const std::string& hostname) {
    std::vector<std::string> hosts;
    const auto add = [&](const std::string& name) {
        if (!name.empty() && std::ranges::find(hosts, name) == hosts.end()) hosts.push_back(name);
    };
    const size_t dot = hostname.find('.');
    const bool is_address = hostname.find_first_not_of("0123456789.") == std::string::npos;
    if (!is_address && dot != 0) add(hostname.substr(0, dot));
    add(hostname);
    return hosts;
}

std::string rendezvous_text(const std::vector<std::string>& uris, const std::string& version,
                            const std::string& security) {
    char date[32] = "\n";
    const time_t now = ::time(nullptr);
    ::ctime_r(&now, date);  // ends in a newline
    std::string text = uris.front() + "\n" + version + "\n" + std::to_string(getpid()) + "\n" +
                       std::to_string(geteuid()) + ":" + std::to_string(getegid()) + "\n" + date + "\n";
    if (!security.empty()) text += std::string(kSecurity) + security + "\n";
    for (size_t i = 1; i < uris.size(); ++i)
        text += std::string(kFurther) + uris[i] + "\n";
    return text;
}

Result<void> RendezvousFiles::add(const std::string& path) {
    const size_t slash = path.rfind('/');
    const std::string folder_path = slash == std::string::npos ? "."
                                    : slash == 0               ? "/"
                                                               : path.substr(0, slash);
    Made made;
    made.name = slash == std::string::npos ? path : path.substr(slash + 1);
    if (made.name.empty() || made.name.size() > 255)
        return Error{PMIX_ERR_BAD_PARAM, "'" + path + "' is no name for a rendezvous file"};
    auto folder = open_folder(folder_path);
    if (!folder) return folder.error();
    made.folder = std::move(*folder);
    const auto failed = [&](const char* what) {
        return Error{PMIX_ERR_FILE_WRITE_FAILURE,
                     "the rendezvous file " + path + " cannot be " + what + ": " + std::strerror(errno)};
    };

    // Written under an unpredictable name, and linked when it is complete: no tool ever sees half of
    // it.
    std::string draft;
    UniqueFd file;
    std::random_device random;
    for (int attempt = 0; !file && attempt < 16; ++attempt) {
        draft = ".muster." + std::to_string(getpid()) + "." + std::to_string(random());
        file = UniqueFd(::openat(made.folder.get(), draft.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!file && errno != EEXIST) break;
    }
    if (!file) return failed("made");
    Result<void> outcome;
    for (size_t at = 0; at < text_.size() && outcome;) {
        const ssize_t wrote = ::write(file.get(), text_.data() + at, text_.size() - at);
        if (wrote > 0) at += static_cast<size_t>(wrote);
        if (wrote < 0 && errno != EINTR) outcome = failed("written");
    }
    struct stat facts {};
    if (outcome && (::fchmod(file.get(), reach_ == Reach::Everyone ? 0644 : 0600) != 0 ||
                    ::fstat(file.get(), &facts) != 0))
        outcome = failed("made readable");
    made.inode = facts.st_ino;
    for (int attempt = 0; outcome; ++attempt) {
        if (put_in_place(made.folder.get(), draft, made.name)) break;
        if (errno != EEXIST || attempt > 8) {
            outcome = failed("made");
            break;
        }
        // A file of that name exists. Foreign ones and those of living servers stay.
        struct stat other {};
        if (::fstatat(made.folder.get(), made.name.c_str(), &other, AT_SYMLINK_NOFOLLOW) != 0) continue;
        auto said = read_rendezvous_file(path, false);
        const bool ours = said && said->pid == getpid();
        const bool living = said && !ours && said->pid > 0;
        if (living) {
            outcome = Error{PMIX_ERR_EXISTS, "the rendezvous file " + path + " belongs to process " +
                                                 std::to_string(said->pid) + ", which is alive"};
        } else if (!said && said.status() == PMIX_ERR_NO_PERMISSIONS && other.st_uid != geteuid()) {
            outcome = said.error();
        } else if (::unlinkat(made.folder.get(), made.name.c_str(), 0) != 0 && errno != ENOENT) {
            outcome = failed("put in the place of an old one");
        }
    }
    ::unlinkat(made.folder.get(), draft.c_str(), 0);
    if (outcome) made_.push_back(std::move(made));
    return outcome;
}

RendezvousFiles::~RendezvousFiles() {
    if (owner_ != ::getpid()) return;
    for (const Made& made : made_) {
        struct stat facts {};
        if (::fstatat(made.folder.get(), made.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
            facts.st_ino == made.inode)
            ::unlinkat(made.folder.get(), made.name.c_str(), 0);
    }
}

bool split_server_uri(const std::string& uri, pmix_proc_t& server, std::string& transport) {
    const size_t semicolon = uri.find(';');
    if (semicolon == std::string::npos) return false;
    const size_t dot = uri.rfind('.', semicolon);
    if (dot == std::string::npos || dot == 0 || dot > PMIX_MAX_NSLEN) return false;
    uint32_t rank = 0;
    const char* end = uri.data() + semicolon;
    const auto parsed = std::from_chars(uri.data() + dot + 1, end, rank);
    if (parsed.ec != std::errc() || parsed.ptr != end) return false;
    server = make_proc(std::string_view(uri).substr(0, dot), rank);
    transport = uri.substr(semicolon + 1);
    return !transport.empty();
}

}  // namespace muster
