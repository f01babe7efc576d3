// SPDX-License-Identifier: BSD-3-Clause
// failing_calls ROLE CALL FIRST STEP once|later - one call repeatedly, in which the FIRST-th allocation
// fails, then the (FIRST + STEP)-th, and so on until no allocation is left. Prints a line before each call,
// and its outcome; "end" is the last line. A hanging call ends the process by SIGALRM.
#include <pmix.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/integration/memory/calls.hpp"
#include "tests/integration/memory/failing_malloc.hpp"

using namespace failing;

namespace {

constexpr unsigned kPatience = 8;  // seconds

const Call* find(const std::vector<Call>& calls, const char* name) {
    for (const Call& call : calls) {
        if (call.name == name) return &call;
    }
    return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2) {
        for (const Call& call : calls_of(argv[1]))
            std::puts(call.name.c_str());
        return 0;
    }
    if (argc != 6) return 2;
    const std::vector<Call> calls = calls_of(argv[1]);
    const Call* call = find(calls, argv[2]);
    if (call == nullptr) return 2;
    const bool of_life = call->name == "init" || call->name == "finalize";
    const How how = std::strcmp(argv[5], "later") == 0 ? How::AndAllLater : How::Once;
    alarm(kPatience);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    if (!of_life && find(calls, "init")->run() != PMIX_SUCCESS) return 3;
    // A first run does the work that happens only once.
    call->before();
    const pmix_status_t usual = call->run();
    std::printf("usually %s\n", PMIx_Error_string(usual));
    if (usual == PMIX_SUCCESS) call->after();
    for (long number = std::atol(argv[3]);; number += std::atol(argv[4])) {
        alarm(kPatience);
        std::printf("%s %ld", call->name.c_str(), number);
        std::fflush(stdout);
        call->before();
        arm(number, how);
        const pmix_status_t status = call->run();
        const long made = disarm();
        std::printf(" %s\n", PMIx_Error_string(status));
        if (status == PMIX_SUCCESS) call->after();
        if (made < number) break;
        // The process continues normally.
        call->before();
        const pmix_status_t again = call->run();
        if (again == PMIX_SUCCESS) call->after();
        if (again == usual) continue;
        std::printf("%s %ld then %s instead of %s\n", call->name.c_str(), number, PMIx_Error_string(again),
                    PMIx_Error_string(usual));
        _exit(4);
    }
    if (!callbacks_are_right()) {
        std::printf("%s callbacks\n", call->name.c_str());
        _exit(5);
    }
    std::puts("end");
    _exit(0);
}
