# SPDX-License-Identifier: BSD-3-Clause
# muster_add_component(FRAMEWORK <framework> NAME <name> SOURCES <file>... [LIBRARIES <target>...])
#
# Builds one component, either as lib/pmix/mca_<framework>_<name>.so or, when MUSTER_LINKED_COMPONENTS
# names it (or is "all"), as an object library that is linked into libpmix.so.2.
#
# The sources are compiled once, as mca_<framework>_<name>_objects. Tests and fuzz targets link that and call
# muster_component_<framework>_<name>().

set_property(GLOBAL PROPERTY MUSTER_LINKED "")
set_property(GLOBAL PROPERTY MUSTER_COMPONENTS "") # all, linked in or not
set(MUSTER_COMPONENT_MAP ${CMAKE_CURRENT_LIST_DIR}/component.map)

function(muster_add_component)
    cmake_parse_arguments(ARG "" "FRAMEWORK;NAME" "SOURCES;LIBRARIES" ${ARGN})
    set(target mca_${ARG_FRAMEWORK}_${ARG_NAME})
    set_property(GLOBAL APPEND PROPERTY MUSTER_COMPONENTS ${ARG_FRAMEWORK}/${ARG_NAME})
    add_library(${target}_objects OBJECT ${ARG_SOURCES})
    target_link_libraries(${target}_objects PUBLIC muster_framework ${ARG_LIBRARIES} PRIVATE muster_flags muster_lean)
    muster_unity(${target}_objects)
    if(MUSTER_LINKED_COMPONENTS STREQUAL "all" OR
       "${ARG_FRAMEWORK}/${ARG_NAME}" IN_LIST MUSTER_LINKED_COMPONENTS)
        set_property(GLOBAL APPEND PROPERTY MUSTER_LINKED ${ARG_FRAMEWORK}/${ARG_NAME})
        set_property(GLOBAL APPEND PROPERTY MUSTER_LINKED_LIBRARIES ${ARG_LIBRARIES})
    else()
        add_library(${target} MODULE)
        set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
        target_link_libraries(${target} PRIVATE ${target}_objects muster_runtime)
        set_property(GLOBAL APPEND PROPERTY MUSTER_COMPONENT_FILES ${target})
        muster_component_file(${target} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${MUSTER_COMPONENT_DIR})
        set_property(GLOBAL APPEND PROPERTY MUSTER_LOADED_COMPONENTS ${target})
        install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/${MUSTER_COMPONENT_DIR})
    endif()
endfunction()

# How a component's file is linked: nothing is left undefined, and all symbols are bound when it is opened.
function(muster_component_file target folder)
    set_target_properties(${target} PROPERTIES PREFIX ""
        LIBRARY_OUTPUT_DIRECTORY ${folder}
        LINK_DEPENDS ${MUSTER_COMPONENT_MAP})
    target_link_options(${target} PRIVATE -Wl,--no-undefined -Wl,-z,now -Wl,--version-script=${MUSTER_COMPONENT_MAP})
endfunction()

# muster_component_table(<target> [<framework>/<name>...])
#
# Gives a target a linked_components() with these components, whose code it has to link itself: as an object library of its
# own, <target>_components.
function(muster_component_table target)
    set(declarations "")
    set(entries "")
    foreach(component ${ARGN})
        string(REPLACE "/" "_" symbol ${component})
        string(APPEND declarations "extern \"C\" const muster_component_t* muster_component_${symbol}(void);\n")
        string(APPEND entries "    muster_component_${symbol},\n")
    endforeach()
    set(table ${CMAKE_BINARY_DIR}/generated/${target}_components.cpp)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/linked_components.cpp.in ${table} @ONLY)
    add_library(${target}_components OBJECT ${table})
    target_link_libraries(${target}_components PRIVATE muster_flags muster_lean muster_framework)
    target_link_libraries(${target} PRIVATE ${target}_components)
endfunction()

# muster_link_components(<target>)
#
# Gives a library or program the components that MUSTER_LINKED_COMPONENTS asks for, and linked_components() with them.
# To be called after all components were added.
function(muster_link_components target)
    get_property(linked GLOBAL PROPERTY MUSTER_LINKED)
    get_property(libraries GLOBAL PROPERTY MUSTER_LINKED_LIBRARIES)
    muster_component_table(${target} ${linked})
    foreach(component ${linked})
        string(REPLACE "/" "_" symbol ${component})
        target_link_libraries(${target} PRIVATE mca_${symbol}_objects)
    endforeach()
    target_link_libraries(${target} PRIVATE ${libraries})
endfunction()
