# SPDX-License-Identifier: MIT
# What the library can do without. carom_dependencies carries the definitions and headers to
# objects and tests; carom_optional_libraries is what both libraries link.
option(CAROM_ZLIB "Read and write .gz meshes (needs zlib)" ON)
option(CAROM_ASSIMP "Read other formats through assimp (needs its headers)" ON)

add_library(carom_dependencies INTERFACE)
set(carom_optional_libraries "") # as targets
set(carom_pc_libraries "")       # as carom.pc names them
set(carom_has_zlib FALSE)

if(CAROM_ZLIB)
    find_package(ZLIB QUIET)
    if(ZLIB_FOUND)
        target_compile_definitions(carom_dependencies INTERFACE CAROM_HAVE_ZLIB)
        target_include_directories(carom_dependencies SYSTEM INTERFACE ${ZLIB_INCLUDE_DIRS})
        list(APPEND carom_optional_libraries ZLIB::ZLIB)
        string(APPEND carom_pc_libraries " -lz")
        set(carom_has_zlib TRUE)
    else()
        message(STATUS "zlib is not there: .gz meshes will not be read")
    endif()
endif()

# Only the headers are used here: the library is opened at run time, by the name it has now.
if(CAROM_ASSIMP)
    find_path(ASSIMP_INCLUDE assimp/cimport.h)
    find_library(ASSIMP_LIBRARY assimp)
    if(ASSIMP_INCLUDE AND ASSIMP_LIBRARY AND NOT ASSIMP_LIBRARY MATCHES "\\.a$")
        set(assimp_soname ${ASSIMP_LIBRARY})
        if(IS_SYMLINK ${ASSIMP_LIBRARY})
            file(READ_SYMLINK ${ASSIMP_LIBRARY} assimp_soname) # libassimp.so -> libassimp.so.5
        endif()
        get_filename_component(assimp_soname ${assimp_soname} NAME)
        target_compile_definitions(carom_dependencies INTERFACE CAROM_HAVE_ASSIMP
                                   CAROM_ASSIMP_LIBRARY="${assimp_soname}")
        target_include_directories(carom_dependencies SYSTEM INTERFACE ${ASSIMP_INCLUDE})
    else()
        message(STATUS "assimp is not there: meshes are read from OBJ, PLY, STL and OFF alone")
    endif()
endif()
