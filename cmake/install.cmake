# SPDX-License-Identifier: MIT
# make install: libraries, headers, tool, man page, completion, the CMake package and carom.pc. Components, for those who
# make packages: runtime, development, tool, bench.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/carom)
set_target_properties(carom_static PROPERTIES EXPORT_NAME static)
set_target_properties(carom_shared PROPERTIES EXPORT_NAME shared)
install(TARGETS ${carom_libraries} EXPORT carom_targets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
if(TARGET carom_cuda AND NOT CAROM_CUDA_PTX) # which no one should run
    install(TARGETS carom_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
endif()
if(CAROM_TOOL)
    foreach(part tool bench)
        set(program carom)
        if(part STREQUAL "bench")
            set(program carom-bench)
        endif()
        install(TARGETS carom_${part} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${part})
        install(FILES ${PROJECT_BINARY_DIR}/${program}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${part})
        if(completions)
            install(FILES ${completion_dir}/${program} COMPONENT ${part}
                DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
            install(FILES ${completion_dir}/_${program} COMPONENT ${part}
                DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
            install(FILES ${completion_dir}/${program}.fish COMPONENT ${part}
                DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
        endif()
    endforeach()
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/carom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT carom_targets NAMESPACE carom:: DESTINATION ${package_dir} COMPONENT development)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/carom-config.cmake.in
    ${PROJECT_BINARY_DIR}/carom-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/carom-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/carom-config.cmake
    ${PROJECT_BINARY_DIR}/carom-config-version.cmake DESTINATION ${package_dir} COMPONENT development)

# The prefix is known only when installing (cmake --install --prefix), so carom.pc finds it from its
# own place; folders that are given as absolute ones are taken as they are.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(pc_prefix ${CMAKE_INSTALL_PREFIX})
    set(pc_libdir ${CMAKE_INSTALL_LIBDIR})
else()
    file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${pc_prefix}")
    set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(pc_includedir ${CMAKE_INSTALL_INCLUDEDIR})
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/carom.pc.in ${PROJECT_BINARY_DIR}/carom.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/carom.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

if(NOT TARGET uninstall AND PROJECT_IS_TOP_LEVEL)
    add_custom_target(uninstall COMMENT "Removing what was installed last"
        COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
                -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake)
endif()
