// SPDX-License-Identifier: BSD-3-Clause
// refusing CALL ERROR PROGRAM... - runs a program whose system call CALL fails with ERROR, as in a container.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tests/integration/restricted.hpp"

int main(int argc, char** argv) {
    if (argc < 4) return 99;
    const struct {
        const char* name;
        long number;
    } kCalls[] = {{"accept", SYS_accept},
                  {"accept4", SYS_accept4},
                  {"clone3", SYS_clone3},
                  {"signalfd4", SYS_signalfd4}};
    for (const char* name = strtok(argv[1], ","); name != nullptr; name = strtok(nullptr, ",")) {
        for (const auto& call : kCalls) {
            if (strcmp(call.name, name) == 0)
                integration::refuse(call.number, strcmp(argv[2], "ENOSYS") == 0 ? ENOSYS : EPERM);
        }
    }
    execvp(argv[3], argv + 3);
    perror(argv[3]);
    return 98;
}
