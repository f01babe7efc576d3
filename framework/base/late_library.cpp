// SPDX-License-Identifier: BSD-3-Clause
// Libraries that are opened late: see late_library.hpp.
#include "framework/base/late_library.hpp"

#include <dlfcn.h>

namespace muster {

void* LateLibrary::find(const char* function) {
    // Opening it again only counts.
    void* library = dlopen(name_, RTLD_LAZY | (seen_ == Seen::ByAll ? RTLD_GLOBAL : RTLD_LOCAL));
    return library == nullptr ? nullptr : dlsym(library, function);
}

}  // namespace muster
