# SPDX-License-Identifier: BSD-3-Clause
# pkg-config file and CMake package of the installed library.

include(CMakePackageConfigHelpers)
# The file names folders from where it stands, so that a tree may be moved.
set(pc_folder ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${pc_folder} OUTPUT_VARIABLE MUSTER_PC_PREFIX)
foreach(folder INCLUDEDIR LIBDIR)
    cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_${folder} BASE_DIRECTORY ${pc_folder} OUTPUT_VARIABLE MUSTER_PC_${folder})
    string(REGEX REPLACE "/$" "" MUSTER_PC_${folder} ${MUSTER_PC_${folder}})
endforeach()
string(REGEX REPLACE "/$" "" MUSTER_PC_PREFIX ${MUSTER_PC_PREFIX})
set(MUSTER_PC_RPATH "")
if(MUSTER_RPATH)
    set(MUSTER_PC_RPATH " -Wl,-rpath,\${libdir} -Wl,--enable-new-dtags")
endif()
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/pmix.pc.in ${CMAKE_BINARY_DIR}/pmix.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/pmix.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_package_config_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/muster-config.cmake.in
    ${CMAKE_BINARY_DIR}/muster-config.cmake
    INSTALL_DESTINATION ${MUSTER_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/muster-config-version.cmake
    COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/muster-config.cmake ${CMAKE_BINARY_DIR}/muster-config-version.cmake
    DESTINATION ${MUSTER_CMAKE_DIR})
# The folder for components is there even when all of ours are linked in: vendors' go there too.
install(DIRECTORY DESTINATION ${CMAKE_INSTALL_LIBDIR}/${MUSTER_COMPONENT_DIR})
# An installation lists files only; uninstall has to find it, too.
install(CODE "list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/${MUSTER_COMPONENT_DIR}\")")
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/cmake/MusterSdk.cmake ${CMAKE_CURRENT_SOURCE_DIR}/cmake/component.map
    DESTINATION ${MUSTER_CMAKE_DIR})
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/include/pmix/sdk/CHANGES.md DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pmix/sdk)
install(EXPORT muster NAMESPACE muster:: DESTINATION ${MUSTER_CMAKE_DIR}
    FILE muster-targets.cmake)
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
