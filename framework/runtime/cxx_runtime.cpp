// SPDX-License-Identifier: BSD-3-Clause
// What we replace of the C++ runtime that is linked into the library and into each component
// (MUSTER_STATIC_RUNTIME; docs/decisions/0020). Part of no library: the linker takes these in place of the
// archive's.
#include <cstdlib>
#include <exception>

namespace __gnu_cxx {

/// Frees what the runtime keeps for exceptions when there is no memory (73 KB, a part of each copy of the
/// runtime).
void __freeres();

/// What std::terminate() calls: the archive's would print, and bring a demangler and its tables with it. No
/// exception reaches it, since none leaves a layer; a debugger shows more than the message did.
void __verbose_terminate_handler() {
    std::abort();
}

}  // namespace __gnu_cxx

namespace {

/// A component that is closed takes its copy of the runtime with it, which would leave that memory behind.
__attribute__((destructor)) void free_runtime() {
    __gnu_cxx::__freeres();
}

}  // namespace
