// SPDX-License-Identifier: BSD-3-Clause
// Measures the machine, as a reference for the times of a library (bench/performance): a message of 64 bytes
// there and back over a local socket between two processes (asleep, on one processor, polling), a message
// from one process to many that sleep (how long until it is read, in the median of all), the start and end of
// a process, copying memory, and a look-up in a hash table in shared memory. Uses no PMIx. Prints one line.
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

extern char** environ;

namespace {

int64_t nanoseconds() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

template <class Call>
double median_us(int count, Call call) {
    std::vector<int64_t> times;
    for (int i = 0; i < count; ++i) {
        const int64_t begin = nanoseconds();
        call();
        times.push_back(nanoseconds() - begin);
    }
    std::sort(times.begin(), times.end());
    return static_cast<double>(times[times.size() / 2]) / 1000;
}

[[noreturn]] void die(const char* what) {
    perror(what);
    exit(1);
}

/// How the two ends of a ping-pong wait.
enum class Wait {
    Asleep,        ///< each on the processor that the system gives it
    OneProcessor,  ///< both on the same one, so that none has to be woken
    Polling        ///< looking for the message again and again
};

bool receive(int from, char* message, size_t size, Wait wait) {
    if (wait != Wait::Polling) return recv(from, message, size, MSG_WAITALL) == static_cast<ssize_t>(size);
    for (;;) {
        const ssize_t got = recv(from, message, size, MSG_DONTWAIT);
        if (got >= 0) return got == static_cast<ssize_t>(size);
        if (errno != EAGAIN) return false;
    }
}

double ping_pong_us(Wait wait) {
    cpu_set_t before;
    if (sched_getaffinity(0, sizeof before, &before) != 0) die("limits: sched_getaffinity");
    if (wait == Wait::OneProcessor) {
        cpu_set_t one;
        CPU_ZERO(&one);
        for (size_t cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
            if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
        }
        if (sched_setaffinity(0, sizeof one, &one) != 0) die("limits: sched_setaffinity");
    }
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) die("limits: socketpair");
    const pid_t child = fork();
    char message[64] = {};
    if (child == 0) {
        close(ends[0]);
        while (receive(ends[1], message, sizeof message, wait)) {
            if (send(ends[1], message, sizeof message, MSG_NOSIGNAL) != sizeof message) break;
        }
        _exit(0);
    }
    close(ends[1]);
    const double time = median_us(20000, [&] {
        if (send(ends[0], message, sizeof message, MSG_NOSIGNAL) != sizeof message ||
            !receive(ends[0], message, sizeof message, wait))
            die("limits: ping-pong");
    });
    close(ends[0]);
    waitpid(child, nullptr, 0);
    sched_setaffinity(0, sizeof before, &before);
    return time;
}

/// The state that the readers of broadcasts share.
struct Broadcast {
    std::atomic<int64_t> sent;
    std::atomic<int> read;
    int64_t times[1];
};

[[noreturn]] void read_broadcasts(int from, Broadcast& all, int64_t* times) {
    char message[64];
    for (int i = 0; receive(from, message, sizeof message, Wait::Asleep); ++i) {
        times[i] = nanoseconds() - all.sent;
        ++all.read;
    }
    _exit(0);
}

/// The least that an event to a handler of each of `readers` processes takes, without a server in between.
double broadcast_us(int readers) {
    constexpr int kTimes = 200;
    const auto samples = static_cast<size_t>(readers) * kTimes;
    void* place = mmap(nullptr, sizeof(Broadcast) + samples * sizeof(int64_t), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) die("limits: mmap");
    auto& all = *static_cast<Broadcast*>(place);
    std::vector<int> ends;
    for (int i = 0; i < readers; ++i) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) die("limits: socketpair");
        if (fork() == 0) {
            for (const int other : ends)
                close(other);
            close(pair[0]);
            read_broadcasts(pair[1], all, all.times + static_cast<ptrdiff_t>(i) * kTimes);
        }
        close(pair[1]);
        ends.push_back(pair[0]);
    }
    const char message[64] = {};
    for (int i = 0; i < kTimes; ++i) {
        usleep(100);  // so that they sleep
        all.sent = nanoseconds();
        for (const int end : ends) {
            if (send(end, message, sizeof message, MSG_NOSIGNAL) != sizeof message) die("limits: send");
        }
        while (all.read < readers * (i + 1))
            usleep(100);
    }
    for (const int end : ends)
        close(end);
    while (wait(nullptr) > 0) {
    }
    std::sort(all.times, all.times + samples);
    const int64_t median = all.times[samples / 2];
    munmap(place, sizeof(Broadcast) + samples * sizeof(int64_t));
    return static_cast<double>(median) / 1000;
}

double start_us() {
    return median_us(200, [] {
        pid_t child = -1;
        char name[] = "true";
        char* const words[] = {name, nullptr};
        if (posix_spawnp(&child, "true", nullptr, nullptr, words, environ) != 0) die("limits: true");
        waitpid(child, nullptr, 0);
    });
}

double copy_gb_a_second() {
    constexpr size_t kSize = size_t{64} << 20;
    std::vector<char> from(kSize, 'x'), to(kSize, 'y');
    const double us = median_us(9, [&] { memcpy(to.data(), from.data(), kSize); });
    return static_cast<double>(kSize) / us / 1000;
}

/// Open addressing, offsets and no pointers: about as little as a look-up by rank and key can be.
double look_up_us() {
    struct Entry {
        uint64_t hash;
        uint32_t rank;
        uint32_t value;
        char key[16];
    };
    constexpr uint32_t kRanks = 65536, kSlots = 4 * kRanks;
    void* place =
        mmap(nullptr, kSlots * sizeof(Entry), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) die("limits: mmap");
    auto* table = static_cast<Entry*>(place);
    const char key[] = "bench.0";
    const auto hash_of = [&](uint32_t rank) {
        uint64_t hash = 14695981039346656037U ^ rank;
        for (const char* c = key; *c != '\0'; ++c)
            hash = (hash ^ static_cast<unsigned char>(*c)) * 1099511628211U;
        return (hash ^ (hash >> 32)) | 1;
    };
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
        const uint64_t hash = hash_of(rank);
        uint64_t slot = hash % kSlots;
        while (table[slot].hash != 0)
            slot = (slot + 1) % kSlots;
        table[slot].hash = hash;
        table[slot].rank = rank;
        table[slot].value = rank + 1;
        memcpy(table[slot].key, key, sizeof key);
    }
    constexpr int kLookups = 1000000;
    uint32_t state = 1;
    uint64_t sum = 0;
    const int64_t begin = nanoseconds();
    for (int i = 0; i < kLookups; ++i) {
        state = state * 1664525 + 1013904223;
        const uint32_t rank = state >> 16;
        const uint64_t hash = hash_of(rank);
        uint64_t slot = hash % kSlots;
        while (table[slot].hash != hash || table[slot].rank != rank || strcmp(table[slot].key, key) != 0)
            slot = (slot + 1) % kSlots;
        sum += table[slot].value;
    }
    const double us = static_cast<double>(nanoseconds() - begin) / kLookups / 1000;
    munmap(place, kSlots * sizeof(Entry));
    return sum == 0 ? 0 : us;
}

}  // namespace

int main() {
    printf(
        "limits n=1 ping_pong=%.2f ping_pong_one=%.2f ping_pong_poll=%.2f start=%.1f copy_gb=%.2f "
        "look_up=%.4f broadcast_16=%.1f broadcast_64=%.1f\n",
        ping_pong_us(Wait::Asleep), ping_pong_us(Wait::OneProcessor), ping_pong_us(Wait::Polling), start_us(),
        copy_gb_a_second(), look_up_us(), broadcast_us(16), broadcast_us(64));
    return 0;
}
