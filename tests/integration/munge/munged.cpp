// SPDX-License-Identifier: BSD-3-Clause
// A munged for tests: see munged.hpp.
#include "tests/integration/munge/munged.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <system_error>
#include <thread>

namespace integration {
namespace {

bool answers(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return false;
    std::strcpy(address.sun_path, path.c_str());
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool there =
        fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    if (fd >= 0) close(fd);
    return there;
}

std::string text_of(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

bool Munged::installed() {
    return MUNGED[0] != '\0' && access(MUNGED, X_OK) == 0;
}

Munged::Munged() {
    const char* parent = std::getenv("TMPDIR");
    folder_ = std::string(parent == nullptr ? "/tmp" : parent) + "/munged.XXXXXX";
    if (mkdtemp(folder_.data()) == nullptr) {
        error_ = "no folder can be made: " + std::string(std::strerror(errno));
        return;
    }
    socket_ = folder_ + "/socket";
    const std::string key = folder_ + "/key";
    {
        std::ofstream out(key, std::ios::binary);
        std::random_device random;
        for (int i = 0; i < 256; ++i)
            out.put(static_cast<char>(random()));
    }
    chmod(key.c_str(), 0600);
    const std::string log = folder_ + "/log";
    const std::string words[] = {MUNGED,
                                 "--foreground",
                                 "--force",
                                 "--num-threads=2",
                                 "--key-file=" + key,
                                 "--socket=" + socket_,
                                 "--pid-file=" + folder_ + "/pid",
                                 "--log-file=" + folder_ + "/munged.log",
                                 "--seed-file=" + folder_ + "/seed"};
    pid_ = fork();
    if (pid_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        dup2(out, STDOUT_FILENO);
        dup2(out, STDERR_FILENO);
        const char* arguments[std::size(words) + 1] = {};
        for (size_t i = 0; i < std::size(words); ++i)
            arguments[i] = words[i].c_str();
        execv(MUNGED, const_cast<char**>(arguments));
        _exit(127);
    }
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!answers(socket_)) {
        int status = 0;
        if (waitpid(pid_, &status, WNOHANG) == pid_) {
            pid_ = -1;
            error_ = "munged ended: " + text_of(log) + text_of(folder_ + "/munged.log");
            return;
        }
        if (std::chrono::steady_clock::now() > limit) {
            error_ = "munged does not answer: " + text_of(log);
            return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

void Munged::kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

Munged::~Munged() {
    kill();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

}  // namespace integration
