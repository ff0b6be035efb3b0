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

# Tests are compiled in less than half of the time with few optimisations, and run about as fast: the work
# is in the library, and in the oracles of tests/support. It comes after the -O3 of the build type. The
# address sanitizer's build looks for undefined behaviour in the library and its oracles, not in the
# programs that call them, unless all cases are to be run.
set(test_options "")
set(support_options "")
if(NOT CAROM_SANITIZE)
    set(test_options $<$<COMPILE_LANGUAGE:C>:-O1>)
    set(support_options $<$<COMPILE_LANGUAGE:C>:-O2>)
elseif(CAROM_SANITIZE MATCHES "undefined" AND CAROM_TEST_SHARE GREATER 1)
    set(test_options -fno-sanitize=undefined)
endif()

if(CAROM_EXAMPLES AND NOT threads_only)
    file(GLOB examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.c)
    foreach(source IN LISTS examples)
        get_filename_component(name ${source} NAME_WE)
        file(STRINGS ${source} lacking REGEX "aligned_alloc|mkstemps")
        if(WIN32 AND lacking)
            continue()
        endif()
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
    # A planner's checker: where OMPL is (scripts/setup.sh ompl), which no target needs.
    find_path(OMPL_INCLUDE ompl/geometric/SimpleSetup.h PATH_SUFFIXES ompl-1.5 ompl-1.6 ompl-1.7)
    find_path(OMPL_EIGEN Eigen/Core PATH_SUFFIXES eigen3)
    find_path(OMPL_BOOST boost/version.hpp)
    find_library(OMPL_LIBRARY ompl)
    if("CXX" IN_LIST languages AND OMPL_INCLUDE AND OMPL_EIGEN AND OMPL_BOOST AND OMPL_LIBRARY AND NOT CAROM_SANITIZE
       AND NOT CMAKE_CROSSCOMPILING)
        add_executable(example_ompl ${PROJECT_SOURCE_DIR}/examples/ompl.cpp)
        target_include_directories(example_ompl SYSTEM PRIVATE ${OMPL_INCLUDE} ${OMPL_EIGEN} ${OMPL_BOOST})
        target_link_libraries(example_ompl PRIVATE carom::static ${OMPL_LIBRARY})
        target_compile_features(example_ompl PRIVATE cxx_std_17)
        target_compile_options(example_ompl PRIVATE -O1 -Wall -Wextra $<$<BOOL:${CAROM_WERROR}>:-Werror>)
        set_target_properties(example_ompl PROPERTIES OUTPUT_NAME ompl
            RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
        add_test(NAME example.ompl COMMAND example_ompl)
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

option(CAROM_OWN_CMOCKA "Use tests/cmocka, for systems without cmocka" ${CMAKE_CROSSCOMPILING})
if(CAROM_OWN_CMOCKA)
    set(CMOCKA_LIBRARY "")
    set(CMOCKA_INCLUDE ${PROJECT_SOURCE_DIR}/tests/cmocka)
else()
    find_library(CMOCKA_LIBRARY cmocka)
    find_path(CMOCKA_INCLUDE cmocka.h)
endif()
if(NOT CAROM_OWN_CMOCKA AND (NOT CMOCKA_LIBRARY OR NOT CMOCKA_INCLUDE))
    message(STATUS "cmocka is missing, so no tests; scripts/setup.sh test installs it")
    return()
endif()

file(GLOB support CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.c)
if(CAROM_OWN_CMOCKA)
    list(APPEND support ${PROJECT_SOURCE_DIR}/tests/cmocka/cmocka.c)
endif()
# Programs that are made of what Windows lacks: shells, signals, forks, limits of resources, POSIX threads. Static
# programs lack less.
set(left_out "")
set(wrapped malloc calloc realloc aligned_alloc posix_memalign)
if(WIN32)
    list(REMOVE_ITEM support ${PROJECT_SOURCE_DIR}/tests/support/cli_run.c)
    set(left_out "cli_run\\.h|<(sys/wait|sys/resource|pthread|poll|dlfcn|sched|sys/ioctl)\\.h>|aligned_alloc|mkdtemp|mkstemps|mkfifo|symlink|setenv")
    set(wrapped malloc calloc realloc)
elseif(CMAKE_EXE_LINKER_FLAGS MATCHES "-static")
    set(left_out "<dlfcn\\.h>") # a static program opens no library
endif()
list(TRANSFORM wrapped PREPEND -Wl,--wrap= OUTPUT_VARIABLE wrap_options)
if(APPLE)
    set(wrapped "") # its linker cannot: the tests then count nothing
    set(wrap_options "")
endif()
add_library(carom_test_support OBJECT ${support})
target_link_libraries(carom_test_support PUBLIC carom_bench_parts carom_internal carom::static carom_cli_parts
                      ${CMOCKA_LIBRARY})
target_include_directories(carom_test_support PUBLIC ${PROJECT_SOURCE_DIR} ${CMOCKA_INCLUDE})
target_compile_definitions(carom_test_support PUBLIC
    CAROM_SOURCE_DIR="${PROJECT_SOURCE_DIR}" CAROM_BINARY_DIR="${PROJECT_BINARY_DIR}"
    CAROM_TEST_SHARE=${CAROM_TEST_SHARE})
# The shared models are for this machine: they need zlib, a shell and, in emulators, hours.
target_compile_definitions(carom_test_support PRIVATE TEST_CROSS=$<BOOL:${CMAKE_CROSSCOMPILING}>)
if(wrapped)
    target_compile_definitions(carom_test_support PRIVATE TEST_WRAPS $<$<NOT:$<BOOL:${WIN32}>>:TEST_WRAPS_ALIGNED>)
endif()
target_compile_options(carom_test_support PRIVATE ${support_options})

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
    target_compile_options(${name} PRIVATE ${test_options})
    # Counts the C library's allocations, whoever makes them (tests/support/memory.c).
    target_link_options(${name} PRIVATE ${wrap_options})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    if(wrapped AND ${name} MATCHES "_device$") # has a stand-in for the GPU library
        target_link_options(${name} PRIVATE -Wl,--wrap=carom_os_library_open -Wl,--wrap=carom_os_library_find)
    endif()
endfunction()

# Those that take longest start first, after the checks, so that the last to end are short.
set(long_tests papers balls cli cli_interrupt cli_outer convex cover pack scene_steps solid_exact solid_limits
               solid_truth soup soup_cross soup_failures soup_grid soup_within tree tree_surface triangle)
# Minutes under the thread sanitizer, for threads that other programs have, too (test_cover, test_robot, and those of
# each engine): left to the tests with every case.
set(same_threads cli_outer papers robot_campaign robot_files urdf)
set(longest_test 900) # seconds; emulators, and sanitizers with every case, take some ten times as long
if(CMAKE_CROSSCOMPILING OR (CAROM_SANITIZE AND CAROM_TEST_SHARE EQUAL 1))
    set(longest_test 7200)
endif()
file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/test_*.c)
foreach(source IN LISTS tests)
    get_filename_component(name ${source} NAME_WE)
    string(REPLACE "test_" "" short ${name})
    file(STRINGS ${source} one_thread REGEX "One thread\\.")
    if(threads_only AND (one_thread OR short IN_LIST same_threads))
        continue()
    endif()
    if(left_out)
        file(STRINGS ${source} lacking REGEX "${left_out}")
        if(lacking)
            list(APPEND left_out_programs ${short})
            continue()
        endif()
    endif()
    carom_add_test_program(${name} ${source})
    add_test(NAME ${short} COMMAND ${name})
    set_tests_properties(${short} PROPERTIES TIMEOUT ${longest_test})
    if(short IN_LIST long_tests)
        set_tests_properties(${short} PROPERTIES COST 50)
    endif()
endforeach()

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/left_out.txt CONTENT "${left_out_programs}\n")

# Programs that prove results from their files alone. Tests call what they consist of.
file(GLOB tools CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/tools/*.c)
foreach(source IN LISTS tools)
    get_filename_component(name ${source} NAME_WE)
    carom_add_test_program(${name} ${source})
endforeach()

# What follows runs the tool, shells and Python here, or checks sources: not for other systems.
if(CMAKE_CROSSCOMPILING)
    return()
endif()

# Names in every file that the tool writes, read by parsers of Python.
if(NOT threads_only)
    set(lists 8)
    if(CAROM_TEST_SHARE GREATER 1)
        set(lists 1)
    endif()
    add_test(NAME names_in_files COMMAND bash -c
        "command -v python3 >/dev/null || { echo 'skipped: python3 is not installed'; exit 77; }; exec python3 '${PROJECT_SOURCE_DIR}/tests/names.py' '$<TARGET_FILE:carom_tool>' ${lists}")
    set_tests_properties(names_in_files PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
endif()

# A page of every command that shows its result, in build/pages, for tests in a browser too.
if(NOT threads_only)
    add_test(NAME pages COMMAND bash ${PROJECT_SOURCE_DIR}/tests/pages.sh $<TARGET_FILE:carom_tool>
        ${PROJECT_BINARY_DIR}/pages)
    set_tests_properties(pages PROPERTIES TIMEOUT 900)
endif()

# The Python package: one test per file of python/tests, the examples of its docstrings, and python/examples. Without
# numpy and pytest they are skipped, with a message.
if(NOT CAROM_SANITIZE)
    file(GLOB tests CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python ${PROJECT_SOURCE_DIR}/python/tests/test_*.py)
    foreach(file IN LISTS tests)
        get_filename_component(name ${file} NAME_WE)
        string(REPLACE "test_" "python." name ${name})
        add_test(NAME ${name} COMMAND bash ${PROJECT_SOURCE_DIR}/scripts/test_python.sh ${PROJECT_BINARY_DIR} ${file})
        list(APPEND python_tests ${name})
    endforeach()
    add_test(NAME python.docstrings COMMAND bash ${PROJECT_SOURCE_DIR}/scripts/test_python.sh ${PROJECT_BINARY_DIR}
             --doctest-modules carom)
    set_tests_properties(${python_tests} python.docstrings PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
endif()

# The npm package in Node, where node is and `make npm` has built it.
if(NOT CAROM_SANITIZE)
    add_test(NAME js.node COMMAND bash ${PROJECT_SOURCE_DIR}/scripts/test_js.sh)
    set_tests_properties(js.node PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
endif()

# carom-mpi on several ranks, where `make test-mpi` has built it.
if(NOT CAROM_SANITIZE)
    add_test(NAME mpi COMMAND bash ${PROJECT_SOURCE_DIR}/scripts/test_mpi.sh ${PROJECT_BINARY_DIR})
    set_tests_properties(mpi PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
endif()

# The viewer's pages in a real browser. Nothing of it is compiled, so one build is enough.
if(NOT CAROM_SANITIZE)
    add_test(NAME viewer.page COMMAND bash -c
        "command -v python3 >/dev/null || { echo 'skipped: python3 is not installed'; exit 77; }; exec python3 '${PROJECT_SOURCE_DIR}/viewer/tests/test_page.py' '${viewer_page}'")
    set_tests_properties(viewer.page PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
    # Clash reports as people work with them.
    add_test(NAME viewer.report COMMAND bash -c
        "command -v python3 >/dev/null || { echo 'skipped: python3 is not installed'; exit 77; }; exec python3 '${PROJECT_SOURCE_DIR}/viewer/tests/test_report.py' '$<TARGET_FILE:carom_tool>'")
    set_tests_properties(viewer.report PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
    # The page that the test of the tool has written.
    add_test(NAME viewer.demo COMMAND bash -c
        "command -v python3 >/dev/null || { echo 'skipped: python3 is not installed'; exit 77; }; exec python3 '${PROJECT_SOURCE_DIR}/viewer/tests/test_demo.py' '${PROJECT_BINARY_DIR}/Testing/demo/index.html'")
    set_tests_properties(viewer.demo PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900 FIXTURES_REQUIRED demo_page)
    if(TEST cli)
        set_tests_properties(cli PROPERTIES FIXTURES_SETUP demo_page)
    endif()
    # What is picked there is what the library's rays meet, through the Python package.
    add_test(NAME viewer.rays COMMAND bash -c
        "python=$(scripts/python.sh numpy 2>&1) || { echo \"$python\"; exit 77; }; exec \"$python\" viewer/tests/test_scene_rays.py '$<TARGET_FILE:carom_tool>' '$<TARGET_FILE:carom_shared>'"
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(viewer.rays PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
endif()

if(TARGET test_by_name)
    add_dependencies(test_by_name carom_shared) # which it opens
endif()

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
# that they need to compile, but neither to machine code nor well, which takes longest.
include(CheckLanguage)
if(NOT CAROM_SANITIZE AND NOT CAROM_CUDA_EMULATED)
    check_language(CUDA)
endif()
if(CAROM_CUDA_EMULATED)
    file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/cuda/test_*.cu)
    set_source_files_properties(${tests} PROPERTIES LANGUAGE CXX)
    foreach(source IN LISTS tests)
        get_filename_component(name ${source} NAME_WE)
        string(REPLACE "test_" "" short ${name})
        carom_add_test_program(${name}_cuda ${source})
        target_sources(${name}_cuda PRIVATE ${emulator_sources})
        target_link_libraries(${name}_cuda PRIVATE carom_emulated)
        target_compile_options(${name}_cuda PRIVATE -w) # the warnings of C are not those of this C++
        add_test(NAME cuda.${short} COMMAND ${name}_cuda)
        set_tests_properties(cuda.${short} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
        list(APPEND emulated_tests ${name}_cuda)
    endforeach()
    # What `make test-cuda-emulated` builds: the programs that use a context of backend cuda.
    file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/test_*cuda*.c)
    foreach(source IN LISTS tests)
        get_filename_component(name ${source} NAME_WE)
        list(APPEND emulated_tests ${name})
    endforeach()
    add_custom_target(carom_emulated_tests DEPENDS carom_cuda_emulated carom_tool ${emulated_tests})
elseif(CMAKE_CUDA_COMPILER AND NOT CAROM_SANITIZE)
    enable_language(CUDA)
    set(cuda_architecture 90-virtual)
    set(cuda_options -Xcompiler=-O0 -Xcicc=-O0)
    if(EXISTS /dev/nvidia0)
        set(cuda_architecture 90)
        set(cuda_options "")
    endif()
    file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/cuda/test_*.cu)
    foreach(source IN LISTS tests)
        get_filename_component(name ${source} NAME_WE)
        string(REPLACE "test_" "" short ${name})
        carom_add_test_program(${name}_cuda ${source})
        target_compile_options(${name}_cuda PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;${cuda_options}>")
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
add_library(carom_replay OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/fuzz/replay.c)
target_link_libraries(carom_replay PRIVATE carom_internal)
target_include_directories(carom_replay PRIVATE ${PROJECT_SOURCE_DIR})
foreach(source IN LISTS fuzzers)
    get_filename_component(name ${source} NAME_WE)
    string(REPLACE "fuzz_" "" short ${name})
    add_executable(replay_${short} ${source} $<TARGET_OBJECTS:carom_replay>)
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
    set_tests_properties(check.papers PROPERTIES DEPENDS papers) # whose figures it reads
endif()
