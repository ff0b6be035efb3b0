# SPDX-License-Identifier: MIT
# carom_wasm: the module of js/, build-wasm*/carom.wasm, from the library in one file, so that each function of a header is
# in it once. It exports the public functions but those of files by path and of CUDA, as scripts/api_js.py lists them.
find_program(PYTHON python3 REQUIRED)
set(CAROM_WASM_EXPORTS all CACHE STRING "all, core or soup-solid (scripts/api_js.py), for measuring sizes")
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.c ${PROJECT_SOURCE_DIR}/src/*.h
     ${PROJECT_SOURCE_DIR}/include/*.h)
set(one_file ${PROJECT_BINARY_DIR}/amalgamation/carom.c)
set(exports ${PROJECT_BINARY_DIR}/exports.txt)
add_custom_command(OUTPUT ${one_file}
    COMMAND scripts/amalgamation.sh ${PROJECT_BINARY_DIR}/amalgamation
    DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/scripts/amalgamate.py WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
add_custom_command(OUTPUT ${exports}
    COMMAND ${PYTHON} scripts/api.py json ${PROJECT_BINARY_DIR}/api.json
    COMMAND ${PYTHON} scripts/api_js.py exports ${PROJECT_BINARY_DIR}/api.json ${exports} ${CAROM_WASM_EXPORTS}
    DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/scripts/api_js.py WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
add_custom_target(carom_wasm_exports DEPENDS ${exports})

# Every engine that has SIMD128 also has these.
set(features -mbulk-memory -mnontrapping-fptoint -msign-ext -mmutable-globals)
set(memory -Wl,--max-memory=4294967296)
set(compressed -Wl,--compress-relocations)
set(optimized_features --enable-bulk-memory --enable-nontrapping-float-to-int --enable-sign-ext --enable-mutable-globals)
if(CAROM_WASM STREQUAL "simd")
    # One module serves one thread and many: js/loader.js gives it memory of its own or memory that is shared.
    # wasi-libc was compiled without atomics: what threads share of it is under a lock of ours (src/base/platform_wasm.c).
    list(APPEND features -msimd128 -matomics -ftls-model=local-exec)
    list(APPEND optimized_features --enable-simd --enable-threads)
    list(APPEND memory -Wl,--shared-memory -Wl,--import-memory -Wl,--no-check-features
         -Wl,--export=__wasm_init_tls -Wl,--export=__tls_size -Wl,--export=__tls_align)
    set(compressed "") # lld 14 crashes
endif()

add_library(carom_wasm_errno OBJECT ${PROJECT_SOURCE_DIR}/js/libc_errno.c)
add_executable(carom_wasm ${one_file} ${PROJECT_SOURCE_DIR}/js/module.c $<TARGET_OBJECTS:carom_wasm_errno>)
add_dependencies(carom_wasm carom_wasm_exports)
target_compile_definitions(carom_wasm PRIVATE CAROM_SMALL NDEBUG)
target_include_directories(carom_wasm BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/js/include)
set_property(SOURCE ${PROJECT_SOURCE_DIR}/js/module.c APPEND PROPERTY INCLUDE_DIRECTORIES
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_options(carom_wasm PRIVATE -std=c11 -Os ${features} -fvisibility=hidden -fno-math-errno -fno-trapping-math
    -Xclang -fmerge-functions -Wall -Wextra $<$<BOOL:${CAROM_WERROR}>:-Werror>)
# The stack comes first in memory: recursion that is too deep ends in a trap, not in other data. clang would call
# binaryen's wasm-opt where that is installed, without saying which features are used: -O0 keeps it from that.
target_link_options(carom_wasm PRIVATE -mexec-model=reactor -O0 ${memory} -Wl,--stack-first -Wl,-z,stack-size=1048576
    -Wl,-O2 ${compressed} -Wl,--strip-all -Wl,--gc-sections -Wl,--export=__stack_pointer @${exports})
set_target_properties(carom_wasm PROPERTIES SUFFIX .wasm OUTPUT_NAME carom LINK_DEPENDS ${exports})

# binaryen makes the module smaller by a twentieth. Below 1024 there is nothing but the end of the stack, so that no address
# is made by adding a small offset to a negative one. It inlines nothing: src/base/platform_wasm.c says of what.
find_program(WASM_OPT wasm-opt)
if(WASM_OPT)
    add_custom_command(TARGET carom_wasm POST_BUILD COMMAND ${WASM_OPT} -Oz --converge --low-memory-unused
        --one-caller-inline-max-function-size 0 ${optimized_features} $<TARGET_FILE:carom_wasm> -o $<TARGET_FILE:carom_wasm>)
else()
    message(STATUS "wasm-opt of binaryen is missing: the module is larger by a twentieth")
endif()
