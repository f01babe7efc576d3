# SPDX-License-Identifier: BSD-3-Clause
# Outside libraries, all from the distribution's packages (README names them).

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(LIBEVENT REQUIRED IMPORTED_TARGET libevent_core libevent_pthreads)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
find_package(fmt REQUIRED)

# Libraries that are opened at their first use (framework/base/late_library.hpp): with Muster::<name>_headers nothing is
# linked, and the linker's name for the library is in MUSTER_<NAME>_NAME.
function(muster_late_library name library includes)
    string(TOUPPER ${name} upper)
    add_library(Muster::${name}_headers INTERFACE IMPORTED GLOBAL)
    target_include_directories(Muster::${name}_headers SYSTEM INTERFACE ${includes})
    execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${library} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
    if(NOT headers MATCHES "SONAME +([^ \n]+)")
        message(FATAL_ERROR "${library} is not a shared library")
    endif()
    set(MUSTER_${upper}_NAME ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()
list(GET HWLOC_LINK_LIBRARIES 0 MUSTER_HWLOC_LIBRARY)
muster_late_library(hwloc ${MUSTER_HWLOC_LIBRARY} "${HWLOC_INCLUDE_DIRS}")
list(GET LIBEVENT_LINK_LIBRARIES 0 MUSTER_LIBEVENT_LIBRARY)
muster_late_library(libevent ${MUSTER_LIBEVENT_LIBRARY} "${LIBEVENT_INCLUDE_DIRS}")
list(GET ZLIB_LIBRARIES 0 MUSTER_ZLIB_LIBRARY)
muster_late_library(zlib ${MUSTER_ZLIB_LIBRARY} "${ZLIB_INCLUDE_DIRS}")

# libltdl has no pkg-config file.
find_path(LTDL_INCLUDE_DIR ltdl.h REQUIRED)
find_library(LTDL_LIBRARY ltdl REQUIRED)
muster_late_library(ltdl ${LTDL_LIBRARY} "${LTDL_INCLUDE_DIR}")
