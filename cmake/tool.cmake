# SPDX-License-Identifier: MIT
# The command-line tool, build/carom. It is linked statically, so that one file is the whole tool.
# carom_cli_parts is everything but main(): tests and fuzzers use it too.
file(GLOB cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.c ${PROJECT_SOURCE_DIR}/bench/*.c
     ${PROJECT_SOURCE_DIR}/scenes/*.c)
list(FILTER cli_sources EXCLUDE REGEX "/main\\.c$")

add_library(carom_cli_parts STATIC ${cli_sources})
target_link_libraries(carom_cli_parts PUBLIC carom_internal carom::static m)
target_include_directories(carom_cli_parts PUBLIC ${PROJECT_SOURCE_DIR})

add_executable(carom_tool ${PROJECT_SOURCE_DIR}/cli/main.c)
target_link_libraries(carom_tool PRIVATE carom_cli_parts)
set_target_properties(carom_tool PROPERTIES OUTPUT_NAME carom
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    BUILD_RPATH "$ORIGIN/lib" INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

include(cmake/peers.cmake)
