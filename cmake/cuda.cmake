# SPDX-License-Identifier: MIT
# libcarom_cuda: everything in X_cuda.cu files, a library that the core loads when it is there.
# One architecture, that of this machine's GPU or the newest data centre one; the cuda preset names more.
if(EXISTS /dev/nvidia0)
    set(CMAKE_CUDA_ARCHITECTURES native CACHE STRING "GPU architectures")
else()
    set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "GPU architectures")
endif()
set(CMAKE_CUDA_STANDARD 17)
enable_language(CUDA)

file(GLOB cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/*_cuda.cu)
if(CAROM_CUDA_PTX)
    # Two thirds of the time go to headers that all files include, and most of the rest to machine code.
    # Names at file scope are unique over src/ (scripts/check_names.sh), macros too where this compiles.
    list(TRANSFORM cuda_sources REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE includes)
    list(JOIN includes "" includes)
    file(CONFIGURE OUTPUT ${generated}/carom_cuda.cu CONTENT "/* Made by cmake/cuda.cmake. */\n@includes@" @ONLY)
    set(cuda_sources ${generated}/carom_cuda.cu)
    set(CMAKE_CUDA_ARCHITECTURES 90-virtual)
endif()
add_library(carom_cuda SHARED ${cuda_sources}
    ${PROJECT_SOURCE_DIR}/src/base/assert.c) # of its own, since it links nothing of the core
target_link_libraries(carom_cuda PRIVATE carom_internal)
target_compile_options(carom_cuda PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;-Xcompiler=-Wall,-Wextra,-ffp-contract=off>"
    "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${CAROM_WERROR}>>:-Xcompiler=-Werror>")
if(CAROM_CUDA_PTX)
    target_compile_options(carom_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-O0;-Xcicc=-O0>)
endif()
set_target_properties(carom_cuda PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    C_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden CUDA_RUNTIME_LIBRARY Static)
