# SPDX-License-Identifier: MIT
# The command-line tool, build/carom. It is linked statically, so that one file is the whole tool.
# carom_cli_parts is everything but main(): tests and fuzzers use it too.
file(GLOB cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.c ${PROJECT_SOURCE_DIR}/bench/*.c
     ${PROJECT_SOURCE_DIR}/scenes/*.c)
list(FILTER cli_sources EXCLUDE REGEX "/main\\.c$")

# The commands, the sections of the demo and the benchmarks, each defined in a file of its own.
include(cmake/lists.cmake)
carom_list_definitions(cli_commands cli_command ${cli_sources})
carom_list_definitions(demo_parts demo_part ${cli_sources})
carom_list_definitions(bench_groups bench_group ${cli_sources})
carom_list_definitions(papers_all papers_paper ${cli_sources})

# What the last run on a GPU has measured, one string per line.
set(papers_device ${PROJECT_SOURCE_DIR}/bench/papers_device.csv)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${papers_device})
file(STRINGS ${papers_device} lines REGEX "^[a-z]")
list(TRANSFORM lines REPLACE "(.+)" "    \"\\1\",\n")
list(JOIN lines "" lines)
file(CONFIGURE OUTPUT ${generated}/papers_device.h @ONLY CONTENT
"/* Made by cmake/tool.cmake from bench/papers_device.csv. */
static const char *const papers_device[] = {
@lines@    NULL,
};
")

# The man page: one section per command, docs/man/X.1, in the order of `carom --help`.
set(man_sections "")
foreach(command IN LISTS cli_commands)
    string(REGEX REPLACE "^cli_" "" command ${command})
    set(section ${PROJECT_SOURCE_DIR}/docs/man/${command}.1)
    if(NOT EXISTS ${section})
        message(FATAL_ERROR "carom ${command} is not described: write docs/man/${command}.1")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${section})
    file(READ ${section} text)
    string(APPEND man_sections "${text}")
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/docs/man/carom.1.in ${PROJECT_BINARY_DIR}/carom.1 @ONLY)

add_library(carom_cli_parts STATIC ${cli_sources})
target_link_libraries(carom_cli_parts PUBLIC carom_internal carom::static m)
target_include_directories(carom_cli_parts PUBLIC ${PROJECT_SOURCE_DIR} PRIVATE ${generated})

add_executable(carom_tool ${PROJECT_SOURCE_DIR}/cli/main.c)
target_link_libraries(carom_tool PRIVATE carom_cli_parts)
set_target_properties(carom_tool PROPERTIES OUTPUT_NAME carom
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    BUILD_RPATH "$ORIGIN/lib" INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

include(cmake/peers.cmake)
