# SPDX-License-Identifier: MIT
# carom_wasm: the module of js/, build-wasm*/carom.wasm. It exports the public functions but those of files by path and
# of CUDA (scripts/api_js.py makes the list from the description of the API), memory for its callers, and callbacks.
set(module_features "")
if(CAROM_WASM STREQUAL "simd" OR CAROM_WASM STREQUAL "threads")
    list(APPEND module_features -msimd128)
endif()
# wasi-libc was compiled without atomics: what threads share of it is under a lock of ours (src/base/platform_wasm.c).
set(module_memory -Wl,--max-memory=4294967296)
if(CAROM_WASM STREQUAL "threads")
    list(APPEND module_features -matomics)
    list(APPEND module_memory -Wl,--shared-memory -Wl,--import-memory -Wl,--no-check-features
         -Wl,--export=__wasm_init_tls -Wl,--export=__tls_size -Wl,--export=__tls_align)
endif()
target_compile_options(carom_flags INTERFACE ${module_features})

set(CAROM_WASM_EXPORTS ${PROJECT_BINARY_DIR}/exports.txt CACHE FILEPATH "Options of the linker, one per line")
add_executable(carom_wasm EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/js/module.c)
target_link_libraries(carom_wasm PRIVATE carom_internal carom_static)
# Deep recursion ends in a trap, not in other data: the stack comes first in memory. 1 MiB, of which the deepest call so
# far uses a tenth.
target_link_options(carom_wasm PRIVATE -mexec-model=reactor ${module_memory} -Wl,--stack-first -Wl,-z,stack-size=1048576
    -Wl,--strip-all -Wl,--gc-sections -Wl,--export=__stack_pointer @${CAROM_WASM_EXPORTS})
set_target_properties(carom_wasm PROPERTIES SUFFIX .wasm OUTPUT_NAME carom LINK_DEPENDS ${CAROM_WASM_EXPORTS}
    POSITION_INDEPENDENT_CODE OFF C_VISIBILITY_PRESET hidden)
