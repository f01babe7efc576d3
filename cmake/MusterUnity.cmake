# SPDX-License-Identifier: BSD-3-Clause
# muster_unity(<target>... [ALONE <file>...])
#
# With MUSTER_UNITY the sources of a target that stand in one folder are compiled as one unit, which takes a third of the
# processor time: most of it is the reading of headers. All presets but `debug` and `coverage` do that. Without it the
# sources are compiled one by one: an edited source is rebuilt sooner, and a forgotten include is found.
# Missing includes of the standard library are found in either case (tests/structure/own_includes).
#
# Files that give names of their own to what others in their folder have, too, are named behind ALONE.
function(muster_unity)
    if(NOT MUSTER_UNITY)
        return()
    endif()
    cmake_parse_arguments(ARG "" "" "ALONE" ${ARGN})
    foreach(target ${ARG_UNPARSED_ARGUMENTS})
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
        get_target_property(sources ${target} SOURCES)
        foreach(source ${sources})
            cmake_path(ABSOLUTE_PATH source)
            cmake_path(GET source PARENT_PATH folder)
            cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE group)
            string(MAKE_C_IDENTIFIER "${group}" group)
            file(RELATIVE_PATH short ${CMAKE_CURRENT_SOURCE_DIR} ${source})
            if(NOT short IN_LIST ARG_ALONE)
                set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
            endif()
        endforeach()
    endforeach()
endfunction()
