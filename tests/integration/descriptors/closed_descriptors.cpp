// SPDX-License-Identifier: BSD-3-Clause
// closed_descriptors ROLE MASK: closes its standard descriptors whose bits are in MASK, plays the role
// (client, server, or tool, which attaches to the server in PMIX_SERVER_URI41 and similar variables) and
// checks that none of the closed numbers is in use afterwards. Status 0 if none is; otherwise the number of
// the step that used one.
#include <fcntl.h>
#include <pmix_server.h>
#include <pmix_tool.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

int mask = 0;
int step = 0;

bool is_closed(int fd) {
    errno = 0;
    return fcntl(fd, F_GETFD) < 0 && errno == EBADF;
}

/// Whether the number is free again within a second: the library's thread may just read a file.
bool stays_closed(int fd) {
    for (int looks = 0; looks < 1000; ++looks) {
        if (is_closed(fd)) return true;
        usleep(1000);
    }
    return false;
}

/// Ends the process if the call has failed, or if a closed number is in use.
void expect(pmix_status_t status) {
    ++step;
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) _exit(100 + step);
    for (int fd = 0; fd < 3; ++fd) {
        if ((mask & 1 << fd) != 0 && !stays_closed(fd)) {
            char target[256] = "";
            [[maybe_unused]] const ssize_t length =
                readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), target, sizeof target - 1);
            for (int to = 1; to < 3; ++to) {
                if ((mask & 1 << to) == 0) dprintf(to, "step %d: descriptor %d is %s\n", step, fd, target);
            }
            _exit(step);
        }
    }
    // A program's output to a closed descriptor.
    [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, "", 0);
}

int client() {
    pmix_proc_t self;
    expect(PMIx_Init(&self, nullptr, 0));
    pmix_value_t value;
    PMIX_VALUE_CONSTRUCT(&value);
    value.type = PMIX_UINT32;
    value.data.uint32 = self.rank;
    expect(PMIx_Put(PMIX_GLOBAL, "number", &value));
    expect(PMIx_Commit());
    bool collect = true;
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    expect(PMIx_Fence(nullptr, 0, &info, 1));
    expect(PMIx_Publish(nullptr, 0) == PMIX_ERR_BAD_PARAM ? PMIX_SUCCESS : PMIX_ERROR);
    // With a thread.
    expect(PMIx_Fence_nb(
        nullptr, 0, nullptr, 0, [](pmix_status_t, void* done) { *static_cast<volatile bool*>(done) = true; },
        &collect));
    expect(PMIx_Fence(nullptr, 0, nullptr, 0));
    expect(PMIx_Finalize(nullptr, 0));
    return 0;
}

int server() {
    pmix_server_module_t module;
    memset(&module, 0, sizeof module);
    expect(PMIx_server_init(&module, nullptr, 0));
    expect(PMIx_server_finalize());
    bool external = true;
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_EXTERNAL_PROGRESS, &external, PMIX_BOOL);
    expect(PMIx_server_init(&module, &info, 1));
    expect(PMIx_server_finalize());
    return 0;
}

int tool() {
    pmix_proc_t self;
    expect(PMIx_tool_init(&self, nullptr, 0));
    expect(PMIx_tool_finalize());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return 99;
    mask = std::atoi(argv[2]);
    for (int fd = 0; fd < 3; ++fd) {
        if ((mask & 1 << fd) != 0) close(fd);
    }
    const std::string role = argv[1];
    if (role == "client") return client();
    if (role == "server") return server();
    if (role == "tool") return tool();
    return 98;
}
