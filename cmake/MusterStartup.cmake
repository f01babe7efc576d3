# SPDX-License-Identifier: BSD-3-Clause
# muster_order_functions(<target>...)
#
# Links a library so that it costs a process little at its start (docs/decisions/0024): it is mapped in as few pieces as can be, and
# the functions that every process runs through (startup_functions.txt) stand next to each other. A name in the list that there is
# no more is passed over, and a function that is not in it stands where it stood; scripts/startup_functions makes the list anew.
#
# The linker gets its own script with the list at the beginning of .text. One that has no such script orders nothing.
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
list(JOIN names "\n" names)
if(NOT CMAKE_BUILD_TYPE STREQUAL Debug AND
   script MATCHES "\n=+\n(.*\n  \\.text +:\n  {\n)(.*)\n=+\n")
    file(CONFIGURE OUTPUT ${MUSTER_STARTUP_SCRIPT} @ONLY CONTENT "@CMAKE_MATCH_1@@names@\n@CMAKE_MATCH_2@\n")
    check_linker_flag(CXX "-Wl,-T,${MUSTER_STARTUP_SCRIPT}" MUSTER_FUNCTIONS_CAN_BE_ORDERED)
endif()

function(muster_order_functions)
    foreach(target ${ARGN})
        target_link_options(${target} PRIVATE ${MUSTER_FEW_PIECES})
        if(MUSTER_FUNCTIONS_CAN_BE_ORDERED)
            target_link_options(${target} PRIVATE -Wl,-T,${MUSTER_STARTUP_SCRIPT})
            set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${MUSTER_STARTUP_SCRIPT})
        endif()
    endforeach()
endfunction()
