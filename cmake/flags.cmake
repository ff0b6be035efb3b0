# SPDX-License-Identifier: MIT
# carom_flags: the language, the warnings and the floating-point rules of every target.
set(carom_system_libraries m) # Windows has threads of its own, WASI none (src/base/platform.h)
if(NOT WIN32 AND NOT CMAKE_SYSTEM_NAME STREQUAL "WASI")
    set(THREADS_PREFER_PTHREAD_FLAG ON)
    find_package(Threads REQUIRED)
    list(PREPEND carom_system_libraries Threads::Threads)
endif()
list(APPEND carom_system_libraries ${CMAKE_DL_LIBS})

add_library(carom_flags INTERFACE)
target_compile_features(carom_flags INTERFACE c_std_11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_EXTENSIONS OFF)

set(warnings -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wundef
             -Wcast-qual -Wwrite-strings -Wvla)
if(CAROM_WERROR)
    list(APPEND warnings -Werror)
endif()
set(c_warnings -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
               -Wno-psabi) # vectors are arguments of inlined functions only
if(CMAKE_C_COMPILER_ID STREQUAL "GNU") # a parameter may bear its type's name: cli *cli
    list(APPEND warnings -Wshadow=local -Wdouble-promotion)
elseif(NOT CMAKE_UNITY_BUILD) # where names at file scope of other files are seen, too
    list(APPEND warnings -Wshadow)
endif()
# The same floats everywhere: no contraction, no fast-math. errno and traps are of no use to us and
# would keep sqrt and comparisons from being vectorised; neither changes a value.
set(floats -ffp-contract=off -fno-math-errno -fno-trapping-math)
# gcc 12 with -O3 has computed two rows of a loop at a time although one depended on the other
# (scenes/cloth.c).
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND floats -fno-loop-unroll-and-jam)
endif()

if(MINGW) # C99's printf; its isnan and signbit convert doubles to floats on a branch that is not taken
    target_compile_definitions(carom_flags INTERFACE __USE_MINGW_ANSI_STDIO=1)
    list(APPEND warnings -Wno-float-conversion)
endif()

target_compile_options(carom_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:C,CXX>:${warnings};${floats}>"
    "$<$<COMPILE_LANGUAGE:C>:${c_warnings}>")

# Sanitizers find as much in code that is compiled in half the time: few optimisations, line numbers only.
set(CMAKE_C_FLAGS_SANITIZE "-O1 -g1")
if(CAROM_SANITIZE)
    add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${CAROM_SANITIZE};-fno-omit-frame-pointer;-fno-sanitize-recover=all>")
    add_link_options(-fsanitize=${CAROM_SANITIZE})
endif()
