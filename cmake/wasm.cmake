# SPDX-License-Identifier: MIT
# Toolchain: WebAssembly, by Debian's clang, lld, wasi-libc and libclang-rt-dev-wasm32. docs/javascript.md says why these.
set(CMAKE_SYSTEM_NAME WASI)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_C_FLAGS_RELEASE "" CACHE STRING "cmake/wasm_module.cmake has them")
find_program(CMAKE_AR NAMES llvm-ar llvm-ar-14 ar)
find_program(CMAKE_RANLIB NAMES llvm-ranlib llvm-ranlib-14 ranlib)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # nothing is linked to find out what there is
set(CMAKE_FIND_ROOT_PATH /nowhere)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
