// SPDX-License-Identifier: BSD-3-Clause
// PMIx_generate_regex and PMIx_generate_ppn of large lists. Public API only, and only functions that every
// libpmix.so.2 since 4.2 has, so the same binary runs on Muster and on OpenPMIx (bench/performance).
//
//   regex [-n NODES]
//
// NODES names (100000) with a suffix; a process map of as many nodes, with runs of ranks and with ranks that
// are dealt out in turn. Prints one line: milliseconds, and the bytes of what comes out.
#include "bench/host.hpp"

namespace {

using namespace bench;

void measure(const char* name, const std::string& list, pmix_status_t (*generate)(const char*, char**)) {
    char* text = nullptr;
    const int64_t begin = nanoseconds();
    check(name, generate(list.c_str(), &text));
    const int64_t end = nanoseconds();
    // The compressed forms have a NUL behind their name; what is counted is what stands before it.
    printf(" %s_ms=%.3f %s_bytes=%zu", name, static_cast<double>(end - begin) / 1e6, name, strlen(text));
    free(text);
}

}  // namespace

int main(int argc, char** argv) {
    program = "regex";
    uint32_t nodes = 100000;
    if (argc == 3 && strcmp(argv[1], "-n") == 0) nodes = static_cast<uint32_t>(strtoul(argv[2], nullptr, 10));
    if (nodes == 0) return 2;
    static pmix_server_module_t module;
    check("PMIx_server_init", PMIx_server_init(&module, nullptr, 0));
    std::string names, runs, dealt;
    for (uint32_t node = 0; node < nodes; ++node) {
        const char* comma = node > 0 ? "," : "";
        const char* semicolon = node > 0 ? ";" : "";
        names += comma + std::string("node") + std::to_string(node) + "-ib";
        runs += semicolon + std::to_string(node * 4) + "-" + std::to_string(node * 4 + 3);
        dealt += semicolon + std::to_string(node) + "," + std::to_string(nodes + node);
    }
    printf("regex n=%u", nodes);
    measure("names", names, PMIx_generate_regex);
    measure("runs", runs, PMIx_generate_ppn);
    measure("dealt", dealt, PMIx_generate_ppn);
    printf("\n");
    check("PMIx_server_finalize", PMIx_server_finalize());
    return 0;
}
