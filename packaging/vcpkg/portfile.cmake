# SPDX-License-Identifier: MIT
# A recipe for vcpkg, as an overlay port: vcpkg install carom --overlay-ports=packaging/vcpkg
# packaging/README.md says what of it was tried. CAROM_ARCHIVE in the environment names the archive of `make dist`.
if(NOT DEFINED ENV{CAROM_ARCHIVE})
    message(FATAL_ERROR "set CAROM_ARCHIVE to build/dist/carom-${VERSION}.tar.gz (make dist)")
endif()
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "$ENV{CAROM_ARCHIVE}")
vcpkg_check_features(OUT_FEATURE_OPTIONS options FEATURES zlib CAROM_ZLIB tool CAROM_TOOL)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS ${options} -DCAROM_TESTS=OFF -DCAROM_EXAMPLES=OFF -DCAROM_CUDA=OFF -DCAROM_ASSIMP=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME carom CONFIG_PATH lib/cmake/carom)
vcpkg_fixup_pkgconfig()
if("tool" IN_LIST FEATURES)
    vcpkg_copy_tools(TOOL_NAMES carom carom-bench AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
