// SPDX-License-Identifier: BSD-3-Clause
// PMIx_generate_regex and PMIx_generate_ppn of large lists. Public API only, and only functions that every
// libpmix.so.2 since 4.2 has, so the same binary runs on Muster and on OpenPMIx (bench/performance).
//
//   regex [-n NODES]
//
// NODES names (100000) with a suffix, names whose suffix changes (two ports a node) and names with gaps; a
// process map of as many nodes, with runs of ranks, with ranks that are dealt out in turn, and with irregular
// counts. Prints one line: milliseconds, and the bytes of what comes out.
#include "bench/host.hpp"

namespace {

using namespace bench;

/// The bytes of a map; the compressed forms have NULs in them, and say how long they are.
size_t length_of(const char* text) {
    size_t length = strlen(text);
    if (strncmp(text, "blob", 4) != 0) return length;
    const char* component = text + length + 1;
    const char* size = component + strlen(component) + 1;
    length = static_cast<size_t>(size - text) + strlen(size) + 1;
    return strncmp(size, "size", 4) == 0 ? length + strtoul(size + 5, nullptr, 10) : length;
}

void measure(const char* name, const std::string& list, pmix_status_t (*generate)(const char*, char**)) {
    char* text = nullptr;
    const int64_t begin = nanoseconds();
    check(name, generate(list.c_str(), &text));
    const int64_t end = nanoseconds();
    printf(" %s_ms=%.3f %s_bytes=%zu", name, static_cast<double>(end - begin) / 1e6, name, length_of(text));
    if (getenv("BENCH_REGEX_SHOW") != nullptr) fprintf(stderr, "%s: %.70s\n", name, text);
    free(text);
}

/// The same in each run, without an order.
uint32_t scattered(uint32_t number) {
    uint64_t mixed = (uint64_t{number} + 1) * 0x9e3779b97f4a7c15U;
    mixed ^= mixed >> 29;
    mixed *= 0xbf58476d1ce4e5b9U;
    return static_cast<uint32_t>(mixed >> 32);
}

std::string padded(uint32_t number) {
    char text[16];
    snprintf(text, sizeof text, "%06u", number);
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    program = "regex";
    uint32_t nodes = 100000;
    if (argc == 3 && strcmp(argv[1], "-n") == 0) nodes = static_cast<uint32_t>(strtoul(argv[2], nullptr, 10));
    if (nodes == 0) return 2;
    static pmix_server_module_t module;
    check("PMIx_server_init", PMIx_server_init(&module, nullptr, 0));
    std::string names, ports, gaps, runs, dealt, irregular;
    uint32_t rank = 0;
    for (uint32_t node = 0; node < nodes; ++node) {
        const char* comma = node > 0 ? "," : "";
        const char* semicolon = node > 0 ? ";" : "";
        names += comma + std::string("node") + std::to_string(node) + "-ib";
        runs += semicolon + std::to_string(node * 4) + "-" + std::to_string(node * 4 + 3);
        ports += comma + std::string("cn") + padded(node / 2) + (node % 2 == 0 ? "-ib0" : "-ib1");
        // A node in twenty is down.
        if (scattered(node) % 20 != 0) gaps += (gaps.empty() ? "" : ",") + std::string("cn") + padded(node);
        const uint32_t count = 1 + scattered(node) % 8;
        irregular += semicolon + std::to_string(rank);
        if (count > 1) irregular += "-" + std::to_string(rank + count - 1);
        rank += count;
        dealt += semicolon + std::to_string(node) + "," + std::to_string(nodes + node);
    }
    printf("regex n=%u", nodes);
    measure("names", names, PMIx_generate_regex);
    measure("runs", runs, PMIx_generate_ppn);
    measure("dealt", dealt, PMIx_generate_ppn);
    measure("ports", ports, PMIx_generate_regex);
    measure("gaps", gaps, PMIx_generate_regex);
    measure("irregular", irregular, PMIx_generate_ppn);
    printf("\n");
    check("PMIx_server_finalize", PMIx_server_finalize());
    return 0;
}
