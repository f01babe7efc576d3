// SPDX-License-Identifier: BSD-3-Clause
// The functions of libltdl that the loader uses: they open it at the first call (late_library.hpp), since a
// client mostly needs no other components than those in the library itself, and these need none of it.
#include <ltdl.h>

#include "framework/base/late_library.hpp"

namespace {
constinit muster::LateLibrary ltdl(MUSTER_LTDL_NAME);
}  // namespace

MUSTER_LATE_FUNCTION(ltdl, int, lt_dlinit, (void), (), 1)
MUSTER_LATE_FUNCTION(ltdl, int, lt_dladvise_init, (lt_dladvise * advise), (advise), 1)
MUSTER_LATE_FUNCTION(ltdl, int, lt_dladvise_destroy, (lt_dladvise * advise), (advise), 1)
MUSTER_LATE_FUNCTION(ltdl, int, lt_dladvise_local, (lt_dladvise * advise), (advise), 1)
MUSTER_LATE_FUNCTION(ltdl, int, lt_dladvise_resident, (lt_dladvise * advise), (advise), 1)
MUSTER_LATE_FUNCTION(ltdl, lt_dlhandle, lt_dlopenadvise, (const char* path, lt_dladvise advise),
                     (path, advise), nullptr)
MUSTER_LATE_FUNCTION(ltdl, void*, lt_dlsym, (lt_dlhandle handle, const char* name), (handle, name), nullptr)
