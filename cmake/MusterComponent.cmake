# SPDX-License-Identifier: BSD-3-Clause
# muster_add_component(FRAMEWORK <framework> NAME <name> SOURCES <file>... [LIBRARIES <target>...])
#
# Builds one component, either as lib/pmix/mca_<framework>_<name>.so or, when MUSTER_LINKED_COMPONENTS
# names it (or is "all"), as an object library that is linked into libpmix.so.2.
#
# Those that MUSTER_BUNDLED_COMPONENTS names share the library's own file, lib/libpmix.so.2, to which their
# names are links (docs/decisions/0021).
#
# The sources are compiled once, as mca_<framework>_<name>_objects. Tests and fuzz targets link that and call
# muster_component_<framework>_<name>().

set_property(GLOBAL PROPERTY MUSTER_LINKED "")
set_property(GLOBAL PROPERTY MUSTER_BUNDLED "")
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
    elseif("${ARG_FRAMEWORK}/${ARG_NAME}" IN_LIST MUSTER_BUNDLED_COMPONENTS)
        set_property(GLOBAL APPEND PROPERTY MUSTER_COMPONENT_FILES ${target})
        set_property(GLOBAL APPEND PROPERTY MUSTER_BUNDLED ${target})
        set_property(GLOBAL APPEND PROPERTY MUSTER_BUNDLED_LIBRARIES ${ARG_LIBRARIES})
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

# How a file of components is linked. What it uses of the framework is linked into it; nothing is left undefined, and all
# is bound when it is opened, and it is mapped in as few pieces as can be.
function(muster_component_file target folder)
    set_target_properties(${target} PROPERTIES PREFIX ""
        LIBRARY_OUTPUT_DIRECTORY ${folder}
        LINK_DEPENDS ${MUSTER_COMPONENT_MAP})
    target_link_options(${target} PRIVATE -Wl,--no-undefined -Wl,-z,now -Wl,--as-needed -Wl,-z,noseparate-code
        -Wl,--version-script=${MUSTER_COMPONENT_MAP})
endfunction()

# muster_bundle_components(<library>)
#
# Gives the library those that are bundled, and makes their names, links in the folder of components beside it. To be called
# after all components were added.
function(muster_bundle_components library)
    get_property(bundled GLOBAL PROPERTY MUSTER_BUNDLED)
    get_property(libraries GLOBAL PROPERTY MUSTER_BUNDLED_LIBRARIES)
    target_link_libraries(${library} PRIVATE ${libraries})
    set(folder ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${MUSTER_COMPONENT_DIR})
    set(file ../$<TARGET_SONAME_FILE_NAME:${library}>)
    foreach(component ${bundled})
        target_sources(${library} PRIVATE $<TARGET_OBJECTS:${component}_objects>)
        add_custom_command(TARGET ${library} POST_BUILD
            COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
            COMMAND ${CMAKE_COMMAND} -E create_symlink ${file} ${folder}/${component}.so)
        install(FILES ${folder}/${component}.so DESTINATION ${CMAKE_INSTALL_LIBDIR}/${MUSTER_COMPONENT_DIR})
    endforeach()
endfunction()

# muster_component_table(<target> [<framework>/<name>...])
#
# Gives a target a linked_components() with these components, whose code it has to link itself.
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
    target_sources(${target} PRIVATE ${table})
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
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:mca_${symbol}_objects>)
    endforeach()
    target_link_libraries(${target} PRIVATE ${libraries})
endfunction()
