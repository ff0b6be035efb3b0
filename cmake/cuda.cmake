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
add_library(carom_cuda SHARED ${cuda_sources}
    ${PROJECT_SOURCE_DIR}/src/base/assert.c) # of its own, since it links nothing of the core
target_link_libraries(carom_cuda PRIVATE carom_internal)
target_compile_options(carom_cuda PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;-Xcompiler=-Wall,-Wextra,-Werror,-ffp-contract=off>")
set_target_properties(carom_cuda PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    C_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden CUDA_RUNTIME_LIBRARY Static)
