# SPDX-License-Identifier: MIT
# make install: libraries, headers, tool, man page, the CMake package and carom.pc.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/carom)
set_target_properties(carom_static PROPERTIES EXPORT_NAME static)
set_target_properties(carom_shared PROPERTIES EXPORT_NAME shared)
install(TARGETS carom_static carom_shared EXPORT carom_targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET carom_cuda)
    install(TARGETS carom_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(CAROM_TOOL)
    install(TARGETS carom_tool carom_bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(FILES ${PROJECT_BINARY_DIR}/carom.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/carom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT carom_targets NAMESPACE carom:: DESTINATION ${package_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/carom-config.cmake.in
    ${PROJECT_BINARY_DIR}/carom-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/carom-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/carom-config.cmake
    ${PROJECT_BINARY_DIR}/carom-config-version.cmake DESTINATION ${package_dir})

# The prefix is known only when installing (cmake --install --prefix), so carom.pc finds it from its
# own place.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/carom.pc.in ${PROJECT_BINARY_DIR}/carom.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/carom.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
