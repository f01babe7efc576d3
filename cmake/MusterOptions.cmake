# SPDX-License-Identifier: BSD-3-Clause
# Options of the build, and the compiler flags that follow from them.

# The library directory is lib on every system, unless the builder names another, such as lib/x86_64-linux-gnu.
set(CMAKE_INSTALL_LIBDIR lib CACHE STRING "Folder of libraries, below the prefix or absolute")
include(GNUInstallDirs)
set(MUSTER_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/muster CACHE STRING "Folder of the CMake package, below the prefix or absolute")

option(MUSTER_BUILD_TOOLS "Build the command line programs" ON)
option(MUSTER_BUILD_EXAMPLES "Build the examples" ON)
option(MUSTER_BUILD_TESTS "Build the tests" ON)
option(MUSTER_BUILD_BENCH "Build the benchmarks" ON)
option(MUSTER_WERROR "Treat compiler warnings as errors" OFF)
option(MUSTER_RPATH
    "Programs that are installed, and those that are built with pmix.pc, look for the library in its folder" ON)
option(MUSTER_UNITY "Compile the sources of a folder as one: faster, with worse messages (cmake/MusterUnity.cmake)" OFF)
option(MUSTER_COVERAGE "Instrument for line coverage" OFF)
option(MUSTER_FUZZ "Instrument for libFuzzer (clang only) and link the fuzz targets with it" OFF)
set(MUSTER_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")
option(MUSTER_STATIC_RUNTIME
    "Link the C++ runtime (libstdc++) into the library and its components (docs/decisions/0020); not with sanitizers" ON)
set(MUSTER_LINKED_COMPONENTS "bfrops/v41;gds/hash;gds/shmem;psec/native;ptl/tcp;ptl/usock" CACHE STRING
    "Components linked into the library rather than opened: a list, 'all' or 'none' (docs/decisions/0021)")

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The build tree has the layout of the installed one, so that components are found beside the library.
# MUSTER_LIBDIR: the folder of libraries as seen from the prefix.
file(RELATIVE_PATH MUSTER_LIBDIR ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} AND NOT CMAKE_INSTALL_LIBDIR MATCHES "^\\.\\.")
    set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
endif()
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/archive)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(MUSTER_COMPONENT_DIR pmix)

# muster_rpath_from(<folder>): programs added below this call find the library from where they are installed. No path of the
# build folder is in them at any time, so that the same sources give the same bytes anywhere.
macro(muster_rpath_from folder)
    set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
    if(MUSTER_RPATH)
        file(RELATIVE_PATH way ${folder} ${CMAKE_INSTALL_FULL_LIBDIR})
        set(CMAKE_INSTALL_RPATH "$ORIGIN/${way}")
    endif()
endmacro()

find_program(MUSTER_CCACHE ccache)
if(MUSTER_CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER ${MUSTER_CCACHE})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${MUSTER_CCACHE})
endif()

set(CMAKE_C_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")

add_library(muster_flags INTERFACE)
target_compile_options(muster_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wcast-qual -Wvla
    "$<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual;-Wnon-virtual-dtor>"
    -fstack-protector-strong
    # Paths in messages and debug information are relative to the source tree.
    -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
target_compile_definitions(muster_flags INTERFACE _GNU_SOURCE MUSTER_VERSION="${PROJECT_VERSION}")
# Code that each process loads has type information of thrown types only: std::function brings that of each
# lambda, and the linker would have to relocate it at each start.
add_library(muster_lean INTERFACE)
if(NOT MUSTER_SANITIZE)
    target_compile_options(muster_lean INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()
# So that the linker can leave out what is not used.
if(NOT CMAKE_BUILD_TYPE STREQUAL Debug)
    target_compile_options(muster_lean INTERFACE -ffunction-sections -fdata-sections)
endif()
if(MUSTER_WERROR)
    target_compile_options(muster_flags INTERFACE -Werror)
endif()
if(NOT CMAKE_BUILD_TYPE STREQUAL Debug)
    target_compile_definitions(muster_flags INTERFACE _FORTIFY_SOURCE=2)
endif()
if(MUSTER_SANITIZE)
    set(MUSTER_STATIC_RUNTIME OFF) # a sanitizer's own runtime belongs to the whole process
    # vptr opens a pipe to look at memory: it would find fault with tests that leave no descriptors.
    add_compile_options(-fsanitize=${MUSTER_SANITIZE} -fno-sanitize=vptr -fno-omit-frame-pointer
                        -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${MUSTER_SANITIZE})
    # gcc takes a third of its time for these. A null pointer ends the process all the same, and the fuzz targets, built by
    # clang, have all of them.
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fno-sanitize=null,alignment,object-size>)
    # Instrumented code looks to gcc as if a std::optional were read before it is set.
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    set(CMAKE_C_FLAGS_DEBUG "-O1 -g1")
    set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
endif()
if(MUSTER_UNITY)
    # The sources look like headers then, whose types everybody shares.
    add_compile_options($<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
endif()
# Objects and exceptions of the interfaces in C++ cross the border of such a component: one runtime has to serve both sides.
if(MUSTER_STATIC_RUNTIME AND NOT MUSTER_LINKED_COMPONENTS STREQUAL "all")
    foreach(component bfrops/v41 gds/hash gds/shmem ptl/tcp ptl/usock)
        if(NOT component IN_LIST MUSTER_LINKED_COMPONENTS)
            message(STATUS "${component} is opened, not linked in: libstdc++ is shared (MUSTER_STATIC_RUNTIME has no effect)")
            set(MUSTER_STATIC_RUNTIME OFF)
            break()
        endif()
    endforeach()
endif()
if(MUSTER_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(MUSTER_COVERAGE)
    add_compile_options(--coverage)
    add_link_options(--coverage)
endif()
