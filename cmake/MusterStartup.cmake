# SPDX-License-Identifier: BSD-3-Clause
# muster_order_functions(<target>...)
#
# Links a library so that it costs a process little at its start (docs/decisions/0024): it is mapped in as few pieces as can be, and
# the functions that every process runs through (startup_functions.txt) stand next to each other. A name in the list that there is
# no more is passed over, and a function that is not in it stands where it stood; scripts/startup_functions makes the list anew.
#
# The linker gets its own script with the list at the beginning of .text, and with .bss at the end of .data: these are few bytes,
# most of them on the page of .data then, and no third piece is mapped for them. What is large and hardly ever used goes behind them (.data1).
# One that has no such script orders nothing.
#
# Functions of the C library that every process calls (startup_bindings.txt) are bound when the library is loaded, all others at their
# first call (docs/decisions/0031): where a function's address is asked for, calls of it go by that address, too. A name that the C
# library does not have is passed over.
include(CheckLinkerFlag)

# The thread sanitizer takes constants that stand among code for its own, and needs large files for that, which tests forbid.
set(MUSTER_FEW_PIECES)
if(NOT MUSTER_SANITIZE)
    set(MUSTER_FEW_PIECES -Wl,-z,noseparate-code)
endif()
set(list ${CMAKE_CURRENT_LIST_DIR}/startup_functions.txt)
set(MUSTER_STARTUP_SCRIPT ${CMAKE_BINARY_DIR}/generated/startup.ld)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
separate_arguments(flags UNIX_COMMAND "${CMAKE_SHARED_LINKER_FLAGS}")
execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -shared ${MUSTER_FEW_PIECES} ${flags} -Wl,--verbose
        -o ${CMAKE_BINARY_DIR}/CMakeFiles/startup.probe
    OUTPUT_VARIABLE script ERROR_QUIET RESULT_VARIABLE ignored)
# What a compiler makes of a function (.isra.0, .part.0) goes with it.
file(STRINGS ${list} names REGEX "^[^#]")
list(TRANSFORM names REPLACE "(.+)" "    *(.text.\\1 .text.\\1.*)")
# What the compiler and the C library add, which runs at each start.
list(PREPEND names "    *crtbegin*.o(.text)" "    *(.text.startup .text.startup.*)" "    *libc_nonshared.a:*(.text .text.*)")
list(JOIN names "\n" names)
if(NOT CMAKE_BUILD_TYPE STREQUAL Debug AND
   script MATCHES "\n=+\n(.*\n  \\.text +:\n  {\n)(.*)\n=+\n")
    set(script "${CMAKE_MATCH_1}${names}\n${CMAKE_MATCH_2}\n")
    if(NOT MUSTER_SANITIZE)
        string(REPLACE "    *(.data .data.* .gnu.linkonce.d.*)\n"
            "    *(.data .data.* .gnu.linkonce.d.*)\n    *(.dynbss .bss .bss.* .gnu.linkonce.b.* COMMON)\n" script "${script}")
    endif()
    file(CONFIGURE OUTPUT ${MUSTER_STARTUP_SCRIPT} @ONLY CONTENT "@script@")
    check_linker_flag(CXX "-Wl,-T,${MUSTER_STARTUP_SCRIPT}" MUSTER_FUNCTIONS_CAN_BE_ORDERED)
endif()

# By other names, as the compiler knows what these functions are.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/startup_bindings.txt names REGEX "^[^#]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/startup_bindings.txt)
set(declared)
set(asked)
foreach(name ${names})
    string(APPEND declared "[[gnu::weak]] void muster_bound_${name}() __asm__(\"${name}\");\n")
    string(APPEND asked "    *to++ = reinterpret_cast<void*>(&muster_bound_${name});\n")
endforeach()
set(MUSTER_STARTUP_BINDINGS ${CMAKE_BINARY_DIR}/generated/startup_bindings.cpp)
file(CONFIGURE OUTPUT ${MUSTER_STARTUP_BINDINGS} @ONLY CONTENT [=[
// Made by cmake/MusterStartup.cmake. Nobody calls this: that it is there makes the linker bind these functions at load.
extern "C" {
@declared@
[[gnu::used, gnu::retain]] void muster_bound_at_load(void** to) {
@asked@}
}
]=])

function(muster_order_functions)
    foreach(target ${ARGN})
        target_link_options(${target} PRIVATE ${MUSTER_FEW_PIECES})
        if(MUSTER_FUNCTIONS_CAN_BE_ORDERED)
            target_link_options(${target} PRIVATE -Wl,-T,${MUSTER_STARTUP_SCRIPT})
            set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${MUSTER_STARTUP_SCRIPT})
        endif()
        if(NOT CMAKE_BUILD_TYPE STREQUAL Debug AND NOT MUSTER_SANITIZE)
            target_sources(${target} PRIVATE ${MUSTER_STARTUP_BINDINGS})
        endif()
    endforeach()
endfunction()
