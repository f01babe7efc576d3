// SPDX-License-Identifier: BSD-3-Clause
// ptl/usock: see usock.hpp. A socket's address holds 107 characters, less than many session directories:
// longer paths go through /proc/self/fd and a descriptor of the directory.
#include "components/ptl/usock/usock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "framework/base/own_component.hpp"
#include "framework/ptl/sockets.hpp"

namespace muster::usock {
namespace {

constexpr std::string_view kScheme = "usock://";
// Names tried before giving up; those taken belong to listeners of this process, or to a dead one of the same
// number.
constexpr int kNames = 1000;

/// A root server has clients of other users: a process that can access the session directory may connect, and
/// the kernel reports its user. Any other server has clients of its own user.
Result<mode_t> file_mode(const std::string& wanted) {
    if (wanted.empty()) return geteuid() == 0 ? 0666 : 0600;
    unsigned mode = 0;
    const bool octal = wanted.front() == '0';
    const char* const end = wanted.data() + wanted.size();
    const auto read = std::from_chars(wanted.data(), end, mode, octal ? 8 : 10);
    if (read.ec == std::errc() && read.ptr == end && mode <= 0777) return mode;
    return Error{PMIX_ERR_BAD_PARAM,
                 "ptl_usock_mode, '" + wanted + "', is no mode of a file: give one such as 0660"};
}

std::optional<PeerCredentials> credentials_of(int fd) {
    ucred kernel{};
    socklen_t size = sizeof kernel;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &kernel, &size) != 0) return std::nullopt;
    // -1 is no user: the peer was not connected by a process.
    if (kernel.uid == static_cast<uid_t>(-1)) return std::nullopt;
    return PeerCredentials{kernel.uid, kernel.gid, kernel.pid};
}

/// The directory and the name in it.
struct Place {
    std::string directory;
    std::string name;
    std::string path() const { return (directory == "/" ? "" : directory) + "/" + name; }
};

/// An address for the place: its path where that fits, else through `directory_fd`.
Result<sockaddr_un> address_of(const Place& place, int directory_fd) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::string path = place.path();
    if (path.size() >= sizeof address.sun_path) {
        path = "/proc/self/fd/" + std::to_string(directory_fd) + "/" + place.name;
    }
    if (path.size() >= sizeof address.sun_path) {
        return Error{PMIX_ERR_BAD_PARAM, "the name of the socket " + place.path() + " is too long"};
    }
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

UniqueFd open_directory(const std::string& directory) {
    return UniqueFd(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

const sockaddr* generic(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

class UsockListener : public StreamListener {
  public:
    UsockListener(UniqueFd fd, UniqueFd directory, const Place& place, const struct stat& made)
        : StreamListener(std::move(fd), std::string(kScheme) + place.path()),
          directory_(std::move(directory)),
          name_(place.name),
          device_(made.st_dev),
          inode_(made.st_ino),
          owner_(getpid()) {}

    ~UsockListener() override {
        // Not in a forked child, and not a file that another process has created there since.
        struct stat now {};
        if (getpid() != owner_ || fstatat(directory_.get(), name_.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0 ||
            now.st_dev != device_ || now.st_ino != inode_) {
            return;
        }
        unlinkat(directory_.get(), name_.c_str(), 0);
    }

    Result<Socket> accept() override {
        auto fd = next();
        if (!fd) return fd.error();
        Socket socket;
        socket.fd = std::move(*fd);
        socket.credentials = credentials_of(socket.fd.get());
        socket.peer = socket.credentials && socket.credentials->pid > 0
                          ? "pid " + std::to_string(socket.credentials->pid)
                          : "a local process";
        return socket;
    }

  private:
    UniqueFd directory_;
    std::string name_;
    dev_t device_;
    ino_t inode_;
    pid_t owner_;
};

}  // namespace

bool Usock::accepts(std::string_view uri) const {
    return uri.starts_with(kScheme);
}

Result<std::unique_ptr<Listener>> Usock::listen(const ListenOptions& options) {
    if (settings_.disabled) return Error{PMIX_ERR_NOT_AVAILABLE, "ptl_usock_disable is set"};
    const auto mode = file_mode(settings_.mode);
    if (!mode) return mode.error();
    std::string directory = options.directory;
    while (directory.size() > 1 && directory.back() == '/')
        directory.pop_back();
    if (directory.empty() || directory.front() != '/') {
        return Error{PMIX_ERR_BAD_PARAM,
                     "a local socket needs a session directory with an absolute path, not \"" +
                         options.directory + "\""};
    }
    UniqueFd directory_fd = open_directory(directory);
    if (!directory_fd) return system_error("cannot use the session directory " + directory, errno);
    auto fd = stream_socket(AF_UNIX);
    if (!fd) return fd.error();

    static std::atomic<unsigned> counter{0};
    Place place;
    place.directory = directory;
    for (int attempt = 0;; ++attempt) {
        place.name = "pmix." + std::to_string(getpid()) + "." + std::to_string(counter++) + ".sock";
        auto address = address_of(place, directory_fd.get());
        if (!address) return address.error();
        if (::bind(fd->get(), generic(*address), sizeof *address) == 0) break;
        if (errno != EADDRINUSE || attempt == kNames) {
            return system_error("cannot make the socket " + place.path(), errno);
        }
    }
    // The mode is changed through a descriptor of the file, so that no other file can take its place. No
    // client can connect before listen(); without /proc the mode stays as the process's mask left it.
    const UniqueFd file(::openat(directory_fd.get(), place.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat made {};
    if (!file || fstat(file.get(), &made) != 0 || !S_ISSOCK(made.st_mode)) {
        return Error{PMIX_ERROR, "the socket " + place.path() +
                                     " has gone: is the session directory writable by others?"};
    }
    ::chmod(("/proc/self/fd/" + std::to_string(file.get())).c_str(), *mode);
    auto listener = std::make_unique<UsockListener>(std::move(*fd), std::move(directory_fd), place, made);
    if (::listen(listener->fd(), SOMAXCONN) != 0) {
        return system_error("cannot listen on " + place.path(), errno);
    }
    return std::unique_ptr<Listener>(std::move(listener));
}

Result<Socket> Usock::connect(std::string_view uri, std::chrono::milliseconds limit) {
    const std::string path(accepts(uri) ? uri.substr(kScheme.size()) : std::string_view());
    const size_t slash = path.rfind('/');
    if (path.empty() || path.front() != '/' || slash + 1 == path.size()) {
        return Error{PMIX_ERR_BAD_PARAM,
                     "\"" + std::string(uri) + "\" is no address: expected usock:///path"};
    }
    const Place place{slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
    UniqueFd directory;
    if (path.size() >= sizeof sockaddr_un{}.sun_path) {
        directory = open_directory(place.directory);
        if (!directory) return system_error("cannot connect to " + path, errno);
    }
    auto address = address_of(place, directory.get());
    if (!address) return address.error();
    auto socket = connect_stream(generic(*address), sizeof *address, limit, path);
    if (socket) socket->credentials = credentials_of(socket->fd.get());
    return socket;
}

}  // namespace muster::usock

namespace {

constexpr muster_param_t kParams[] = {
    {"disable", MUSTER_PARAM_BOOL, "false", nullptr, "Do not listen on local sockets", nullptr, nullptr},
    {"mode", MUSTER_PARAM_STRING, "", nullptr,
     "Mode of the socket's file, such as 0660; empty is 0600, and 0666 where the server runs as root",
     nullptr, nullptr},
};

constexpr muster_param_attribute_t kAttributes[] = {
    {PMIX_USOCK_DISABLE, PMIX_BOOL, "disable"},
    {PMIX_SOCKET_MODE, PMIX_INT, "mode"},
};

std::unique_ptr<muster::Ptl> make(muster::sdk::Host host) {
    return std::make_unique<muster::usock::Usock>(muster::usock::Settings{
        .disabled = host.boolean("disable"), .mode = std::string(host.parameter("mode"))});
}

}  // namespace

MUSTER_COMPONENT(ptl, usock) {
    static const muster_component_t descriptor = muster::object_component<make>(
        "ptl", muster::kPtlInterface, muster::own_component("usock", 50, kParams, kAttributes));
    return &descriptor;
}
