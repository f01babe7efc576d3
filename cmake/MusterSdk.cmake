# SPDX-License-Identifier: BSD-3-Clause
# For vendors: part of the installed package (find_package(muster)).
#
# muster_add_component(FRAMEWORK <framework> NAME <name> SOURCES <file>... [LIBRARIES <target>...])
#
# Builds mca_<framework>_<name>.so, which is installed below CMAKE_INSTALL_PREFIX as Muster's own are below its prefix (lib/pmix). The component is found there
# when that is Muster's prefix, and in any other folder by PMIX_MCA_mca_base_component_path. Written in C, or in C++20
# with pmix/sdk/component.hpp.

set(MUSTER_COMPONENT_MAP ${CMAKE_CURRENT_LIST_DIR}/component.map)

function(muster_add_component)
    cmake_parse_arguments(ARG "" "FRAMEWORK;NAME" "SOURCES;LIBRARIES" ${ARGN})
    foreach(required FRAMEWORK NAME SOURCES)
        if(NOT ARG_${required})
            message(FATAL_ERROR "muster_add_component: ${required} is missing")
        endif()
    endforeach()
    if(NOT ARG_NAME MATCHES "^[a-z0-9]+$")
        message(FATAL_ERROR "muster_add_component: NAME \"${ARG_NAME}\" is not made of lower case letters and digits")
    endif()
    set(target mca_${ARG_FRAMEWORK}_${ARG_NAME})
    add_library(${target} MODULE ${ARG_SOURCES})
    set_target_properties(${target} PROPERTIES
        PREFIX ""
        CXX_STANDARD 20
        CXX_STANDARD_REQUIRED ON
        C_VISIBILITY_PRESET hidden
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON
        LINK_DEPENDS ${MUSTER_COMPONENT_MAP})
    # Nothing is left undefined, all is bound when it is opened, one function is exported.
    target_link_options(${target} PRIVATE -Wl,--no-undefined -Wl,-z,now
        -Wl,--version-script=${MUSTER_COMPONENT_MAP})
    target_link_libraries(${target} PRIVATE muster::muster_headers ${ARG_LIBRARIES})
    install(TARGETS ${target} LIBRARY DESTINATION ${MUSTER_COMPONENTS_DESTINATION})
endfunction()
