# SPDX-License-Identifier: BSD-3-Clause
# Outside libraries, all from the distribution's packages (README names them).

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(LIBEVENT REQUIRED IMPORTED_TARGET libevent_core libevent_pthreads)
pkg_check_modules(LIBDEFLATE REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
find_package(fmt REQUIRED)

# hwloc is opened at its first use (framework/base/hwloc_functions.cpp): Muster::hwloc_headers links nothing, and the linker's name
# for the library is in MUSTER_HWLOC_NAME.
add_library(Muster::hwloc_headers INTERFACE IMPORTED GLOBAL)
target_include_directories(Muster::hwloc_headers SYSTEM INTERFACE ${HWLOC_INCLUDE_DIRS})
list(GET HWLOC_LINK_LIBRARIES 0 library)
execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${library} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
if(NOT headers MATCHES "SONAME +([^ \n]+)")
    message(FATAL_ERROR "${library} is not a shared library")
endif()
set(MUSTER_HWLOC_NAME ${CMAKE_MATCH_1})

# libltdl has no pkg-config file.
find_path(LTDL_INCLUDE_DIR ltdl.h REQUIRED)
find_library(LTDL_LIBRARY ltdl REQUIRED)
add_library(Muster::ltdl INTERFACE IMPORTED GLOBAL)
target_include_directories(Muster::ltdl SYSTEM INTERFACE ${LTDL_INCLUDE_DIR})
target_link_libraries(Muster::ltdl INTERFACE ${LTDL_LIBRARY})
