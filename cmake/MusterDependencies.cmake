# SPDX-License-Identifier: BSD-3-Clause
# Outside libraries, all from the distribution's packages (README names them).

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(LIBEVENT REQUIRED IMPORTED_TARGET libevent_core libevent_pthreads)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
find_package(fmt REQUIRED)

# libltdl has no pkg-config file.
find_path(LTDL_INCLUDE_DIR ltdl.h REQUIRED)
find_library(LTDL_LIBRARY ltdl REQUIRED)
add_library(Ltdl::Ltdl UNKNOWN IMPORTED)
set_target_properties(Ltdl::Ltdl PROPERTIES
    IMPORTED_LOCATION ${LTDL_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${LTDL_INCLUDE_DIR})
