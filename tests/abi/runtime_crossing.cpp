// SPDX-License-Identifier: BSD-3-Clause
// usage: runtime_crossing LIBRARY [FOREIGN] - what one copy of the C++ runtime throws another one catches,
// also where there is no memory left: the library of components may run short in the middle of a call of ours
// (docs/decisions/0020). FOREIGN throws with a host's runtime. Without it nothing is thrown before there is
// no memory left, not even to open the unwinder.
#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace {

using Thrower = void (*)();

bool caught(Thrower thrower) {
    try {
        thrower();
    } catch (const std::bad_alloc&) {
        return true;
    }
    return false;
}

int end(const char* text, int code) {
    return write(1, text, strlen(text)) < 0 ? 1 : code;
}

template <class Function>
Function find(void* library, const char* name) {
    void* const address = library == nullptr ? nullptr : dlsym(library, name);
    Function function = nullptr;
    memcpy(&function, &address, sizeof function);
    return function;
}

Thrower thrower_of(const char* path) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const auto prepare = find<int (*)()>(library, "prepare");
    if (prepare == nullptr || prepare() != 0) return nullptr;
    return find<Thrower>(library, "throw_bad_alloc");
}

}  // namespace

int main(int argc, char** argv) {
    const Thrower thrower = thrower_of(argv[1]);
    if (thrower == nullptr) return end("the library cannot be opened\n", 1);
    if (argc > 2) {
        const Thrower foreign = thrower_of(argv[2]);
        if (foreign == nullptr) return end("the foreign library cannot be opened\n", 1);
        for (int i = 0; i < 100; ++i) {
            if (!caught(thrower)) return end("nothing is caught\n", 1);
            if (!caught(foreign)) return end("nothing foreign is caught\n", 1);
        }
    }

    const rlimit none{1 << 20, 1 << 20};
    if (setrlimit(RLIMIT_AS, &none) != 0) return end("no limit can be set\n", 1);
    for (std::size_t size = std::size_t{1} << 20; size >= 16; size /= 2) {
        while (malloc(size) != nullptr) {
        }
    }
    if (malloc(16) != nullptr) return end("there is memory left\n", 1);
    for (int i = 0; i < 1000; ++i) {
        if (!caught(thrower)) return end("nothing is caught without memory\n", 1);
    }
    return end("caught\n", 0);
}
