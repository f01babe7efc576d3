// SPDX-License-Identifier: BSD-3-Clause
// Libraries that are opened late: see late_library.hpp.
#include "framework/base/late_library.hpp"

#include <dlfcn.h>

namespace muster {

void* LateLibrary::find(const char* function) {
    // Opening it again only counts. Its plugins look for its functions among those that all see, as they
    // would find them had it been linked.
    void* library = dlopen(name_, RTLD_LAZY | RTLD_GLOBAL);
    return library == nullptr ? nullptr : dlsym(library, function);
}

}  // namespace muster
