# SPDX-License-Identifier: MIT
# libcarom_cuda with the kernels on the CPU (tests/cuda_emulator): the same X_cuda.cu files, compiled as C++. It lies where
# the core looks for the library of nvcc, so that all tests of the GPU run; it is slow, and never installed.
enable_language(CXX)
set(emulator ${PROJECT_SOURCE_DIR}/tests/cuda_emulator)

# What the library and the programs of tests/cuda share: a CUDA header of ours and the kernels' language.
add_library(carom_emulated INTERFACE)
target_include_directories(carom_emulated INTERFACE ${emulator})
target_compile_definitions(carom_emulated INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:CAROM_CUDA_EMULATED;__CUDACC__>")
target_compile_options(carom_emulated INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include cuda_runtime.h>" "$<$<COMPILE_LANGUAGE:CXX>:-Wno-unknown-pragmas>")
target_compile_features(carom_emulated INTERFACE cxx_std_17)
target_link_libraries(carom_emulated INTERFACE ${CMAKE_DL_LIBS})

file(GLOB cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/*_cuda.cu)
file(GLOB emulator_sources CONFIGURE_DEPENDS ${emulator}/*.cpp)
set_source_files_properties(${cuda_sources} PROPERTIES LANGUAGE CXX)
add_library(carom_cuda_emulated SHARED ${cuda_sources} ${emulator_sources}
    ${PROJECT_SOURCE_DIR}/src/base/assert.c) # of its own, as libcarom_cuda has
# Warnings are those of nvcc's host compiler; few optimisations, as compiling takes longer than running. Names of
# kernels are read from the library's symbols.
target_include_directories(carom_cuda_emulated PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(carom_cuda_emulated PRIVATE carom_emulated Threads::Threads)
target_compile_definitions(carom_cuda_emulated PRIVATE
    $<$<OR:$<BOOL:${CAROM_CHECKS}>,$<BOOL:${CAROM_SANITIZE}>>:CAROM_CHECKS>)
target_compile_options(carom_cuda_emulated PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:-O1;-g1;-Wall;-Wno-maybe-uninitialized;${floats}>"
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${CAROM_WERROR}>>:-Werror>")
if(CAROM_SANITIZE MATCHES "address") # shared memory is a section of its own
    target_compile_options(carom_cuda_emulated PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize-sections=carom_shared>)
endif()
set_target_properties(carom_cuda_emulated PROPERTIES OUTPUT_NAME carom_cuda
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
