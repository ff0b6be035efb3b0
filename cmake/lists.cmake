# SPDX-License-Identifier: MIT
# Lists that every engine enters, made from the sources, so that engines written side by side share no
# line. carom_list_definitions(NAME TYPE FILES...) finds each
#     const TYPE X = {NUMBER, ...        or        const TYPE X = {
#                                                      .order = NUMBER,
# in the files, sorts by the number, then by the name, and writes NAME.h in the folder `generated`:
# the array NAME of pointers to them, ended by NULL. One file includes it. The names are left in
# NAME as well, in their order.
function(carom_list_definitions name type)
    set(found "")
    foreach(file IN LISTS ARGN)
        file(READ ${file} text)
        if(NOT text MATCHES "\nconst ${type} ([a-z0-9_]+) = {")
            continue()
        endif()
        set(symbol ${CMAKE_MATCH_1})
        if(NOT text MATCHES "\nconst ${type} ${symbol} = {[ \n]*(\\.order = )?([0-9]+),")
            message(FATAL_ERROR "${file}: ${symbol} does not begin with its order, a number")
        endif()
        set(order "0000${CMAKE_MATCH_2}") # as text, all of one length
        string(REGEX MATCH "....$" order ${order})
        list(APPEND found ${order}:${symbol})
    endforeach()
    list(SORT found)
    list(TRANSFORM found REPLACE "^[0-9]+:" "")
    list(JOIN found ";\nextern const ${type} " externs)
    list(JOIN found ",\n    &" entries)
    file(CONFIGURE OUTPUT ${generated}/${name}.h @ONLY CONTENT
"/* Made by cmake/lists.cmake. */
extern const ${type} ${externs};

const ${type} *const ${name}[] = {
    &${entries},
    NULL,
};
")
    set(${name} ${found} PARENT_SCOPE)
endfunction()
