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

# Other libraries' answers to the benchmarks, in a module that `carom bench` loads when it is there.
include(CheckLanguage)
if(CMAKE_CXX_COMPILER STREQUAL "NOTFOUND") # it may have been installed since
    unset(CMAKE_CXX_COMPILER CACHE)
endif()
check_language(CXX)
if(CMAKE_CXX_COMPILER AND NOT CAROM_SANITIZE)
    enable_language(CXX)
    file(GLOB peers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/peers/*.cpp)
    add_library(carom_peers MODULE ${peers})
    target_link_libraries(carom_peers PRIVATE carom_flags)
    target_compile_features(carom_peers PRIVATE cxx_std_17)
    target_include_directories(carom_peers PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
    target_compile_options(carom_peers PRIVATE -march=native)
endif()
