# SPDX-License-Identifier: MIT
# Tests, examples and fuzz targets. Each tests/test_X.c is one cmocka program; each check_X.sh in
# scripts/ is one more test.
#
# The sanitizers' builds leave out what the release build tests and they cannot add to: the checks of
# the sources and of the installed library, meshes without optional libraries, the GPU. The thread
# sanitizer's build also leaves out programs that say they have one thread, the replays of fuzz
# inputs and the examples, unless all cases are to be run (CAROM_TEST_SHARE is 1).
enable_testing()
set(threads_only FALSE)
if(CAROM_SANITIZE MATCHES "thread" AND CAROM_TEST_SHARE GREATER 1)
    set(threads_only TRUE)
endif()

# Tests are compiled in two thirds of the time with fewer optimisations, and run as fast: the work is in
# the library. It comes after the -O3 of the build type.
set(test_options "")
if(NOT CAROM_SANITIZE)
    set(test_options $<$<COMPILE_LANGUAGE:C>:-O2>)
endif()

if(CAROM_EXAMPLES AND NOT threads_only)
    file(GLOB examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.c)
    foreach(source IN LISTS examples)
        get_filename_component(name ${source} NAME_WE)
        add_executable(example_${name} ${source})
        target_link_libraries(example_${name} PRIVATE carom_flags carom::static)
        set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name}
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
        add_test(NAME example.${name} COMMAND example_${name})
    endforeach()
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if("CXX" IN_LIST languages) # carom.hpp, as the strictest of its users compile it
        add_executable(example_hello_cpp ${PROJECT_SOURCE_DIR}/examples/hello.cpp)
        target_link_libraries(example_hello_cpp PRIVATE carom::static)
        target_compile_features(example_hello_cpp PRIVATE cxx_std_17)
        target_compile_options(example_hello_cpp PRIVATE -fno-exceptions -fno-rtti -Wall -Wextra -Wpedantic
            $<$<BOOL:${CAROM_WERROR}>:-Werror>)
        set_target_properties(example_hello_cpp PROPERTIES OUTPUT_NAME hello_cpp CXX_EXTENSIONS OFF
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
        add_test(NAME example.hello_cpp COMMAND example_hello_cpp)
    endif()
endif()

if(CAROM_FUZZERS)
    file(GLOB fuzzers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/fuzz_*.c)
    foreach(source IN LISTS fuzzers)
        get_filename_component(name ${source} NAME_WE)
        add_executable(${name} ${source})
        target_link_libraries(${name} PRIVATE carom_internal carom::static carom_cli_parts)
        target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
        set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
    endforeach()
endif()

if(NOT CAROM_TESTS)
    return()
endif()

find_library(CMOCKA_LIBRARY cmocka)
find_path(CMOCKA_INCLUDE cmocka.h)
if(NOT CMOCKA_LIBRARY OR NOT CMOCKA_INCLUDE)
    message(STATUS "cmocka is missing, so no tests; scripts/setup.sh test installs it")
    return()
endif()

file(GLOB support CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.c)
add_library(carom_test_support OBJECT ${support})
target_link_libraries(carom_test_support PUBLIC carom_bench_parts carom_internal carom::static carom_cli_parts
                      ${CMOCKA_LIBRARY})
target_include_directories(carom_test_support PUBLIC ${PROJECT_SOURCE_DIR} ${CMOCKA_INCLUDE})
target_compile_definitions(carom_test_support PUBLIC
    CAROM_SOURCE_DIR="${PROJECT_SOURCE_DIR}" CAROM_BINARY_DIR="${PROJECT_BINARY_DIR}"
    CAROM_TEST_SHARE=${CAROM_TEST_SHARE})
target_compile_options(carom_test_support PUBLIC ${test_options})

# Loops compiled once per instruction set, as in the library.
file(GLOB isa_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/isa/*_cpu.c)
foreach(isa IN LISTS isas)
    add_library(carom_test_${isa} OBJECT ${isa_sources})
    target_link_libraries(carom_test_${isa} PRIVATE carom_internal)
    target_include_directories(carom_test_${isa} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_definitions(carom_test_${isa} PRIVATE CAROM_ISA_SUFFIX=${isa})
    target_compile_options(carom_test_${isa} PRIVATE ${flags_of_${isa}})
    target_link_libraries(carom_test_support PUBLIC $<TARGET_OBJECTS:carom_test_${isa}>)
endforeach()

function(carom_add_test_program name source)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE carom_test_support)
    # Counts the C library's allocations, whoever makes them (tests/support/memory.c).
    target_link_options(${name} PRIVATE
        -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=posix_memalign)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endfunction()

file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/test_*.c)
foreach(source IN LISTS tests)
    get_filename_component(name ${source} NAME_WE)
    string(REPLACE "test_" "" short ${name})
    file(STRINGS ${source} one_thread REGEX "One thread\\.")
    if(threads_only AND one_thread)
        continue()
    endif()
    carom_add_test_program(${name} ${source})
    add_test(NAME ${short} COMMAND ${name})
    set_tests_properties(${short} PROPERTIES TIMEOUT 900)
endforeach()

# Names in every file that the tool writes, read by parsers of Python.
if(NOT threads_only)
    set(lists 8)
    if(CAROM_SANITIZE AND CAROM_TEST_SHARE GREATER 1)
        set(lists 2)
    endif()
    add_test(NAME names_in_files COMMAND bash -c
        "command -v python3 >/dev/null || { echo 'skipped: python3 is not installed'; exit 77; }; exec python3 '${PROJECT_SOURCE_DIR}/tests/names.py' '$<TARGET_FILE:carom_tool>' ${lists}")
    set_tests_properties(names_in_files PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
endif()

if(TARGET test_by_name)
    add_dependencies(test_by_name carom_shared) # which it opens
endif()

# Programs that prove results from their files alone. Tests call what they consist of.
file(GLOB tools CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/tools/*.c)
foreach(source IN LISTS tools)
    get_filename_component(name ${source} NAME_WE)
    carom_add_test_program(${name} ${source})
endforeach()

# Meshes without zlib and assimp: the files that know them and the tests of meshes, compiled again.
# They are linked in front of the library, so that its own versions of these files are not taken.
execute_process(COMMAND grep -lE "CAROM_HAVE_(ZLIB|ASSIMP)" -r ${PROJECT_SOURCE_DIR}/src --include=*.c
                OUTPUT_VARIABLE optional_sources OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REPLACE "\n" ";" optional_sources "${optional_sources}")
set(bare mesh_read mesh_write mesh_models)
if(CAROM_SANITIZE)
    set(bare "")
endif()
foreach(short IN LISTS bare)
    carom_add_test_program(bare_${short} ${PROJECT_SOURCE_DIR}/tests/test_${short}.c)
    target_sources(bare_${short} PRIVATE ${optional_sources})
    target_compile_options(bare_${short} PRIVATE -UCAROM_HAVE_ZLIB -UCAROM_HAVE_ASSIMP)
    add_test(NAME bare.${short} COMMAND bare_${short})
    set_tests_properties(bare.${short} PROPERTIES TIMEOUT 900)
endforeach()

# The shared items on the GPU, where there is a compiler for it; without a device they are skipped, so
# that they need to compile, but not to machine code, which takes longest.
include(CheckLanguage)
if(NOT CAROM_SANITIZE)
    check_language(CUDA)
endif()
if(CMAKE_CUDA_COMPILER AND NOT CAROM_SANITIZE)
    enable_language(CUDA)
    set(cuda_architecture 90-virtual)
    if(EXISTS /dev/nvidia0)
        set(cuda_architecture 90)
    endif()
    file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/cuda/test_*.cu)
    foreach(source IN LISTS tests)
        get_filename_component(name ${source} NAME_WE)
        string(REPLACE "test_" "" short ${name})
        carom_add_test_program(${name}_cuda ${source})
        target_compile_options(${name}_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false>)
        set_target_properties(${name}_cuda PROPERTIES CUDA_STANDARD 17 CUDA_ARCHITECTURES ${cuda_architecture}
            CUDA_RUNTIME_LIBRARY Static)
        add_test(NAME cuda.${short} COMMAND ${name}_cuda)
        set_tests_properties(cuda.${short} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
    endforeach()
endif()

# Fuzz targets replay their corpora as ordinary tests.
file(GLOB fuzzers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/fuzz_*.c)
if(threads_only)
    set(fuzzers "")
endif()
foreach(source IN LISTS fuzzers)
    get_filename_component(name ${source} NAME_WE)
    string(REPLACE "fuzz_" "" short ${name})
    add_executable(replay_${short} ${source} ${PROJECT_SOURCE_DIR}/fuzz/replay.c)
    target_link_libraries(replay_${short} PRIVATE carom_internal carom::static carom_cli_parts)
    target_include_directories(replay_${short} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_options(replay_${short} PRIVATE ${test_options})
    set_target_properties(replay_${short} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
    add_test(NAME fuzz.${short} COMMAND replay_${short} ${PROJECT_SOURCE_DIR}/fuzz/corpus/${short})
endforeach()

# Checks of the sources and of the finished library need one build only, the plain one.
if(NOT CAROM_SANITIZE)
    file(GLOB checks CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scripts/check_*.sh)
    foreach(script IN LISTS checks)
        get_filename_component(name ${script} NAME_WE)
        string(REPLACE "check_" "" short ${name})
        add_test(NAME check.${short} COMMAND bash ${script} ${PROJECT_BINARY_DIR}
                 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
        # They start first: the longest tests are among them, and the last to end should be short.
        set_tests_properties(check.${short} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 COST 100)
    endforeach()
endif()
