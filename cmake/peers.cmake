# SPDX-License-Identifier: MIT
# Other libraries' answers to the benchmarks, in a module that `carom bench` loads when it is there.
# Each adapter is compiled where its library is found. Peers get what their users would give them:
# all optimisation, this very machine's instructions, and none of our rules for floating point.
# They take half a minute to compile, so only `make bench` does.
if(CMAKE_CROSSCOMPILING)
    add_custom_target(carom_peers)
    return()
endif()
include(CheckLanguage)
if(CMAKE_CXX_COMPILER STREQUAL "NOTFOUND") # it may have been installed since
    unset(CMAKE_CXX_COMPILER CACHE)
endif()
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER OR CAROM_SANITIZE)
    add_custom_target(carom_peers)
    return()
endif()
enable_language(CXX)

set(peers_dir ${PROJECT_SOURCE_DIR}/bench/peers)
add_library(carom_peers MODULE EXCLUDE_FROM_ALL ${peers_dir}/std_sort.cpp
    ${peers_dir}/manifold.cpp)
target_compile_features(carom_peers PRIVATE cxx_std_17)
target_include_directories(carom_peers PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(carom_peers PRIVATE -O3 -march=native -Wall -Wextra)
set_target_properties(carom_peers PROPERTIES CXX_VISIBILITY_PRESET hidden)

# carom_add_peer(NAME HEADERS ... LIBRARIES ... [OPTIONS ...] [FOLDERS of headers ...]):
# bench/peers/NAME.cpp, if all headers and libraries are there.
function(carom_add_peer name)
    cmake_parse_arguments(PARSE_ARGV 1 peer "" "" "HEADERS;LIBRARIES;OPTIONS;FOLDERS")
    set(folders "")
    set(libraries "")
    foreach(header IN LISTS peer_HEADERS)
        string(MAKE_C_IDENTIFIER PEER_${header} variable)
        find_path(${variable} ${header} PATH_SUFFIXES ${peer_FOLDERS})
        mark_as_advanced(${variable})
        list(APPEND folders ${${variable}})
    endforeach()
    foreach(library IN LISTS peer_LIBRARIES)
        string(MAKE_C_IDENTIFIER PEER_lib${library} variable)
        find_library(${variable} ${library})
        mark_as_advanced(${variable})
        list(APPEND libraries ${${variable}})
    endforeach()
    if("${folders};${libraries}" MATCHES "-NOTFOUND")
        message(STATUS "bench/peers: no ${name}; scripts/setup.sh bench installs it")
        return()
    endif()
    list(REMOVE_DUPLICATES folders)
    target_sources(carom_peers PRIVATE ${peers_dir}/${name}.cpp)
    set_source_files_properties(${peers_dir}/${name}.cpp PROPERTIES
        COMPILE_OPTIONS "${peer_OPTIONS}" INCLUDE_DIRECTORIES "${folders}")
    target_link_libraries(carom_peers PRIVATE ${libraries})
endfunction()

# Its interval arithmetic needs the rounding mode respected.
carom_add_peer(cgal HEADERS CGAL/version.h boost/version.hpp LIBRARIES mpfr gmp
    OPTIONS -frounding-math)
carom_add_peer(cgal_solid HEADERS CGAL/version.h boost/version.hpp LIBRARIES mpfr gmp
    OPTIONS -frounding-math)
carom_add_peer(embree HEADERS embree3/rtcore.h tbb/global_control.h LIBRARIES embree3 tbb)
# The packaged library was compiled with Eigen's alignment for SSE2: ours must be the same.
carom_add_peer(fcl HEADERS fcl/config.h Eigen/Core ccd/ccd.h LIBRARIES fcl ccd
    FOLDERS eigen3 OPTIONS -DEIGEN_MAX_ALIGN_BYTES=16)

# Convex hulls.
carom_add_peer(ccd_convex HEADERS ccd/ccd.h LIBRARIES ccd)
carom_add_peer(fcl_convex HEADERS fcl/config.h Eigen/Core ccd/ccd.h LIBRARIES fcl ccd
    FOLDERS eigen3 OPTIONS -DEIGEN_MAX_ALIGN_BYTES=16)
carom_add_peer(bullet_world HEADERS BulletCollision/btBulletCollisionCommon.h
    LIBRARIES BulletCollision LinearMath FOLDERS bullet)
carom_add_peer(bullet_convex HEADERS BulletCollision/btBulletCollisionCommon.h
    LIBRARIES BulletCollision LinearMath FOLDERS bullet)

# Times of impact.
carom_add_peer(fcl_toi HEADERS fcl/config.h Eigen/Core ccd/ccd.h LIBRARIES fcl ccd
    FOLDERS eigen3 OPTIONS -DEIGEN_MAX_ALIGN_BYTES=16)
carom_add_peer(bullet_toi HEADERS BulletCollision/btBulletCollisionCommon.h
    LIBRARIES BulletCollision LinearMath FOLDERS bullet)

# Robots.
carom_add_peer(fcl_robot HEADERS fcl/config.h Eigen/Core ccd/ccd.h LIBRARIES fcl ccd
    FOLDERS eigen3 OPTIONS -DEIGEN_MAX_ALIGN_BYTES=16)

# Many boxes.
carom_add_peer(boxes_cgal HEADERS CGAL/version.h boost/version.hpp LIBRARIES mpfr gmp
    OPTIONS -frounding-math)
carom_add_peer(boxes_embree HEADERS embree3/rtcore.h tbb/global_control.h LIBRARIES embree3 tbb)
carom_add_peer(boxes_fcl HEADERS fcl/config.h Eigen/Core ccd/ccd.h LIBRARIES fcl ccd
    FOLDERS eigen3 OPTIONS -DEIGEN_MAX_ALIGN_BYTES=16)
carom_add_peer(boxes_bullet HEADERS btBulletCollisionCommon.h LIBRARIES BulletCollision LinearMath
    FOLDERS bullet)
