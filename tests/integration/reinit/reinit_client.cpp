// SPDX-License-Identifier: BSD-3-Clause
// A process of a job that initialises again and again:
//   cycles COUNT [SEED]   COUNT times Init, a fence over the job, Finalize, with delays by chance in between
//   leaves                Init and a fence; rank 0 finalizes and ends, the others fence again and say how
//   that ended
#include <unistd.h>

#include <cstdlib>
#include <random>
#include <string>

#include "tests/integration/says.hpp"

namespace {

using namespace integration;

pmix_proc_t self;

void init() {
    expect("PMIx_Init", PMIx_Init(&self, nullptr, 0));
}

void pause(std::mt19937& random) {
    if (random() % 4 == 0) usleep(random() % 500);
}

int cycles(int count, unsigned seed) {
    std::mt19937 random;
    for (int cycle = 0; cycle < count; ++cycle) {
        init();
        if (cycle == 0) random.seed(seed + self.rank);
        pause(random);
        expect("fence of cycle " + std::to_string(cycle), PMIx_Fence(nullptr, 0, nullptr, 0));
        pause(random);
        expect("PMIx_Finalize", PMIx_Finalize(nullptr, 0));
        pause(random);
    }
    say("cycles: " + std::to_string(count));
    return 0;
}

int leaves() {
    init();
    expect("fence", PMIx_Fence(nullptr, 0, nullptr, 0));
    if (self.rank != 0) say(PMIx_Error_string(PMIx_Fence(nullptr, 0, nullptr, 0)));
    expect("PMIx_Finalize", PMIx_Finalize(nullptr, 0));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "cycles" && argc > 2)
        return cycles(std::atoi(argv[2]), argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 1);
    if (what == "leaves") return leaves();
    fail("unknown behaviour '" + what + "'");
}
