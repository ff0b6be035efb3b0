# SPDX-License-Identifier: MIT
# The command-line tool, build/carom, and the benchmarks, build/carom-bench. Each is linked statically, so
# that one file is the whole program. carom_cli_parts and carom_bench_parts are everything but main(): tests
# and fuzzers use them too.
file(GLOB cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.c ${PROJECT_SOURCE_DIR}/scenes/*.c)
file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.c)
list(FILTER cli_sources EXCLUDE REGEX "/main\\.c$")
list(FILTER bench_sources EXCLUDE REGEX "/main\\.c$")

# The commands, the sections of the demo and the benchmarks, each defined in a file of its own.
include(cmake/lists.cmake)
carom_list_definitions(cli_commands cli_command ${cli_sources})
carom_list_definitions(demo_parts demo_part ${cli_sources})
carom_list_definitions(bench_groups bench_group ${bench_sources})
carom_list_definitions(papers_all papers_paper ${bench_sources})

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
configure_file(${PROJECT_SOURCE_DIR}/docs/man/carom-bench.1.in ${PROJECT_BINARY_DIR}/carom-bench.1 @ONLY)

add_library(carom_cli_parts STATIC ${cli_sources} ${viewer_bytes})
add_dependencies(carom_cli_parts carom_viewer)
target_link_libraries(carom_cli_parts PUBLIC carom_internal carom::static m)
target_include_directories(carom_cli_parts PUBLIC ${PROJECT_SOURCE_DIR} PRIVATE ${generated})
target_compile_options(carom_cli_parts PRIVATE $<$<CONFIG:Release>:-O2>) # the time is spent in the library

add_library(carom_bench_parts STATIC ${bench_sources})
target_link_libraries(carom_bench_parts PUBLIC carom_cli_parts)
target_include_directories(carom_bench_parts PRIVATE ${generated})

function(carom_add_program target name main parts)
    add_executable(${target} ${PROJECT_SOURCE_DIR}/${main})
    target_link_libraries(${target} PRIVATE ${parts})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
        BUILD_RPATH "$ORIGIN/lib" INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endfunction()
carom_add_program(carom_tool carom cli/main.c carom_cli_parts)
carom_add_program(carom_bench carom-bench bench/main.c carom_bench_parts)
add_dependencies(carom_tool carom_bench) # `carom bench` starts it

# Completion in shells, printed by the programs themselves; a tool for another machine cannot be asked.
set(completions "")
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
    set(completion_dir ${PROJECT_BINARY_DIR}/completions)
    file(MAKE_DIRECTORY ${completion_dir})
    foreach(target carom_tool carom_bench)
        get_target_property(program ${target} OUTPUT_NAME)
        foreach(rule bash:${program} zsh:_${program} fish:${program}.fish)
            string(REGEX MATCH "^[a-z]+" shell ${rule})
            string(REGEX REPLACE "^[a-z]+:" "" file ${rule})
            add_custom_command(OUTPUT ${completion_dir}/${file} DEPENDS ${target} VERBATIM
                COMMAND ${target} completion ${shell} > ${completion_dir}/${file})
            list(APPEND completions ${completion_dir}/${file})
        endforeach()
    endforeach()
endif()
add_custom_target(carom_completions ALL DEPENDS ${completions})

include(cmake/peers.cmake)
if(NOT CMAKE_CROSSCOMPILING AND NOT CAROM_SANITIZE)
    include(cmake/mpi.cmake)
endif()
