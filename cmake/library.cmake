# SPDX-License-Identifier: MIT
# libcarom, static and shared from the same objects.

# The commit, looked up at every build, written only when it changed.
set(generated ${PROJECT_BINARY_DIR}/generated)
add_custom_target(carom_commit
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DHEADER=${generated}/carom_commit.h
            -P ${PROJECT_SOURCE_DIR}/cmake/commit.cmake
    BYPRODUCTS ${generated}/carom_commit.h)

set(cuda_library_name
    "${CMAKE_SHARED_LIBRARY_PREFIX}carom_cuda${CMAKE_SHARED_LIBRARY_SUFFIX}.${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")

add_library(carom_internal INTERFACE)
target_link_libraries(carom_internal INTERFACE carom_flags carom_dependencies)
target_include_directories(carom_internal INTERFACE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
if(CAROM_CHECKS OR CAROM_SANITIZE)
    target_compile_definitions(carom_internal INTERFACE CAROM_CHECKS)
else()
    target_compile_definitions(carom_internal INTERFACE $<$<CONFIG:Debug>:CAROM_CHECKS>)
endif()
if(CAROM_X86_ISAS AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64")
    set(isas baseline avx2 avx512)
    target_compile_definitions(carom_internal INTERFACE CAROM_HAVE_X86_ISAS)
else()
    set(isas baseline)
endif()
set(flags_of_avx2 -mavx2 -mfma -mbmi -mbmi2)
set(flags_of_avx512 ${flags_of_avx2} -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl
                    -mprefer-vector-width=512)

# gcc aligns the stack to 16 bytes on Windows, and moves vectors of 32 and 64 as if it were aligned to these (GCC bug
# 54412); the assembler makes such moves unaligned ones.
if(WIN32 AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND flags_of_avx2 -Wa,-muse-unaligned-vector-move)
    list(APPEND flags_of_avx512 -Wa,-muse-unaligned-vector-move)
endif()

function(carom_add_objects name)
    add_library(${name} OBJECT ${ARGN})
    target_link_libraries(${name} PRIVATE carom_internal)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
    if(WIN32) # only there a compiler must know whether it exports or imports
        target_compile_definitions(${name} PRIVATE CAROM_BUILDING)
    endif()
    list(APPEND carom_objects $<TARGET_OBJECTS:${name}>)
    set(carom_objects ${carom_objects} PARENT_SCOPE)
endfunction()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/*.c)
set(cpu_sources ${sources})
list(FILTER cpu_sources INCLUDE REGEX "_cpu\\.c$")
list(FILTER sources EXCLUDE REGEX "_cpu\\.c$")

# With CMAKE_UNITY_BUILD many files are compiled as one, as the names of src/ are unique. Platform files ask the C
# library for more than C11, which others must not get.
file(GLOB platform_sources ${PROJECT_SOURCE_DIR}/src/base/platform_*.c)
set_source_files_properties(${platform_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

carom_add_objects(carom_objects_core ${sources})
target_include_directories(carom_objects_core PRIVATE ${generated})
target_compile_definitions(carom_objects_core PRIVATE CAROM_CUDA_LIBRARY="${cuda_library_name}")
add_dependencies(carom_objects_core carom_commit)
foreach(isa IN LISTS isas)
    carom_add_objects(carom_objects_${isa} ${cpu_sources})
    target_compile_definitions(carom_objects_${isa} PRIVATE CAROM_ISA_SUFFIX=${isa})
    target_compile_options(carom_objects_${isa} PRIVATE ${flags_of_${isa}})
endforeach()
set(CMAKE_UNITY_BUILD OFF) # names of the tool and of tests are not unique

function(carom_add_library name type)
    add_library(${name} ${type} ${carom_objects})
    target_include_directories(${name} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${name} PRIVATE ${carom_optional_libraries} ${carom_system_libraries})
    set_target_properties(${name} PROPERTIES OUTPUT_NAME carom LINKER_LANGUAGE C)
endfunction()

carom_add_library(carom_static STATIC)
carom_add_library(carom_shared SHARED)
if(WIN32)
    target_compile_definitions(carom_shared INTERFACE CAROM_SHARED)
endif()
set_target_properties(carom_shared PROPERTIES
    VERSION ${PROJECT_VERSION}
    # Until 1.0 every minor version may change the ABI.
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    # Where dlopen looks for libcarom_cuda.
    INSTALL_RPATH "$ORIGIN")
if(NOT CAROM_SANITIZE AND NOT APPLE) # whose linker takes it for granted
    target_link_options(carom_shared PRIVATE -Wl,--no-undefined)
endif()

add_library(carom::static ALIAS carom_static)
add_library(carom::shared ALIAS carom_shared)

# BUILD_SHARED_LIBS, where it is set, says which of the two is installed and is carom::carom; else both are installed.
# Inside a larger project the other one is built only if that project links it.
set(carom_libraries carom_static carom_shared)
if(BUILD_SHARED_LIBS)
    add_library(carom::carom ALIAS carom_shared)
    set(other carom_static)
else()
    add_library(carom::carom ALIAS carom_static)
    set(other carom_shared)
endif()
if(DEFINED BUILD_SHARED_LIBS OR NOT PROJECT_IS_TOP_LEVEL)
    list(REMOVE_ITEM carom_libraries ${other})
    set_target_properties(${other} PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

# The library inside a Python wheel: the same objects, without what the machine may lack. zlib is linked in, and its
# names are hidden; libcarom_cuda is looked for beside it.
add_library(carom_wheel SHARED EXCLUDE_FROM_ALL ${carom_objects})
set(wheel_libraries ${carom_system_libraries})
if(carom_has_zlib)
    find_library(ZLIB_ARCHIVE NAMES libz.a)
    if(ZLIB_ARCHIVE)
        target_link_options(carom_wheel PRIVATE -Wl,--exclude-libs,libz.a)
        list(PREPEND wheel_libraries ${ZLIB_ARCHIVE})
    else()
        list(PREPEND wheel_libraries ZLIB::ZLIB)
    endif()
endif()
target_link_libraries(carom_wheel PRIVATE ${wheel_libraries})
if(NOT APPLE)
    target_link_options(carom_wheel PRIVATE -Wl,--no-undefined)
endif()
set_target_properties(carom_wheel PROPERTIES OUTPUT_NAME carom LINKER_LANGUAGE C BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/wheel)
