# SPDX-License-Identifier: MIT
# Joins ES modules, a style and a template into one page that opens from disk, where browsers load no
# modules. Run by cmake -P, so that the build needs nothing else:
#     cmake -DENTRY=main.js -DSTYLE=viewer.css [-DMORE_STYLE=MORE.css] -DTEMPLATE=template.html
#           -DPAGE=OUT.html [-DBYTES=OUT.c -DSYMBOL=NAME] -P join.cmake
# All modules share one scope, each after those that it imports, so that what they define at the top has
# different names; that is checked. They keep to these forms:
#     import { a, b } from "./x.js";      export function a(      export const b =      export class C
# Comments (a line, or after " // ", which no string has), indentation and spaces around signs are left out. So
# that strings are found, none holds a quote of its own kind, no template another one, and no comment or regular
# expression a single one. Names of constants with an underline (MOST_X) stand in no string and for no property of ours.
# The template holds @STYLE@, @SCRIPT@ and
# @SCRIPT_HASH@, the hash by which the page's Content-Security-Policy allows this script and no other. All
# other markers (@CAROM_...@) are left for who writes the page.
cmake_minimum_required(VERSION 3.21)

# "[", "]" and ";" mean something in lists of CMake; where text is split into a list, these stand for them.
string(ASCII 1 semicolon)
string(ASCII 2 open)
string(ASCII 3 close)

# squeeze(VARIABLE): leaves out spaces around signs, ends of lines after them, last commas and the 0 of 0.5, but
# not in strings. Templates are programs of the GPU where they have a main function; of those, lines stay.
function(squeeze variable)
    set(text "${${variable}}")
    string(REPLACE ";" "${semicolon}" text "${text}")
    string(REPLACE "[" "${open}" text "${text}")
    string(REPLACE "]" "${close}" text "${text}")
    string(REGEX MATCHALL "\"[^\"\n]*\"|`[^`]*`|[^\"`]+" pieces "${text}")
    set(signs "=+*<>?:%!&|(){},/${semicolon}${open}${close}-")
    set(text "")
    foreach(piece IN LISTS pieces)
        if(NOT piece MATCHES "^[\"`]" OR piece MATCHES "void main|vec3 ")
            string(REGEX REPLACE " ?([${signs}]) ?" "\\1" piece "${piece}")
            string(REGEX REPLACE "([^A-Za-z0-9_.])0([.][0-9])" "\\1\\2" piece "${piece}")
        endif()
        if(NOT piece MATCHES "^[\"`]")
            string(REGEX REPLACE "([{},${semicolon}])\n" "\\1" piece "${piece}")
            string(REGEX REPLACE ",([)}${close}])" "\\1" piece "${piece}")
        endif()
        string(APPEND text "${piece}")
    endforeach()
    string(REPLACE "${semicolon}" ";" text "${text}")
    string(REPLACE "${open}" "[" text "${text}")
    string(REPLACE "${close}" "]" text "${text}")
    set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# read_text(FILE VARIABLE): the file without comments and indentation.
function(read_text file variable)
    file(READ ${file} text)
    string(REGEX REPLACE "(^|\n)/\\*[^*]*\\*/" "" text "${text}")
    string(REGEX REPLACE "\n[ \t]+" "\n" text "\n${text}")
    string(REGEX REPLACE "\n//[^\n]*" "" text "${text}")
    string(REGEX REPLACE " // [^\n]*" "" text "${text}")
    string(REGEX REPLACE "\n\n+" "\n" text "${text}")
    set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# join_module(FILE): appends the module to `script`, after its imports; `joined` lists those that are in, `names`
# what they define.
function(join_module file)
    get_filename_component(name ${file} NAME_WE)
    get_filename_component(folder ${file} DIRECTORY)
    if(name IN_LIST joined)
        return()
    endif()
    list(APPEND joined ${name})
    read_text(${file} text)
    set(import "\nimport {[^}]*} from \"([^\"]*)\"")
    string(REGEX MATCHALL "${import}" imports "${text}")
    foreach(line IN LISTS imports)
        string(REGEX REPLACE "${import}" "\\1" path "${line}")
        join_module(${folder}/${path})
    endforeach()
    string(REGEX REPLACE "${import};" "" text "${text}")
    string(REGEX REPLACE "\nexport " "\n" text "${text}")
    if(text MATCHES "\n(import|export)[ {]")
        message(FATAL_ERROR "${file}: an import or export that join.cmake does not know")
    endif()
    file(READ ${file} raw)
    set(definition "\n(export )?(async )?(function|const|class)[* ]+([A-Za-z0-9_]+)")
    string(REGEX MATCHALL "${definition}" lines "\n${raw}")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "${definition}" "\\4" defined "${line}")
        if(defined IN_LIST names)
            message(FATAL_ERROR "${file}: ${defined} is defined in another module too")
        endif()
        list(APPEND names ${defined})
    endforeach()
    set(script "${script}${text}" PARENT_SCOPE)
    set(joined ${joined} PARENT_SCOPE)
    set(names ${names} PARENT_SCOPE)
endfunction()

# base64_of_hex(HEX VARIABLE)
function(base64_of_hex hex variable)
    set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
    string(LENGTH ${hex} length)
    math(EXPR last "${length} - 1")
    set(text "")
    foreach(at RANGE 0 ${last} 6) # three bytes become four letters
        string(SUBSTRING "${hex}0000" ${at} 6 bytes)
        foreach(shift 18 12 6 0)
            math(EXPR digit "(0x${bytes} >> ${shift}) & 63")
            string(SUBSTRING ${alphabet} ${digit} 1 letter)
            string(APPEND text ${letter})
        endforeach()
    endforeach()
    math(EXPR letters "(${length} * 4 + 5) / 6")
    string(SUBSTRING ${text} 0 ${letters} text)
    math(EXPR missing "(4 - ${letters} % 4) % 4")
    string(REPEAT "=" ${missing} padding)
    set(${variable} ${text}${padding} PARENT_SCOPE)
endfunction()

set(joined "")
set(names "")
set(script "")
join_module(${ENTRY})
squeeze(script)
# Constants get short names; twice, as neighbours share the sign between them.
set(number 0)
foreach(name IN LISTS names)
    if(name MATCHES "^[A-Z]+_[A-Z_]+$")
        foreach(again 1 2)
            string(REGEX REPLACE "([^A-Za-z0-9_.]|[.][.][.])${name}([^A-Za-z0-9_])" "\\1K${number}\\2" script "${script}")
        endforeach()
        if(script MATCHES "[^A-Za-z0-9_]${name}[^A-Za-z0-9_]")
            message(FATAL_ERROR "${name}, a constant, is also the name of a property")
        endif()
        math(EXPR number "${number} + 1")
    endif()
endforeach()
set(script "\"use strict\";\n(() => {\n${script}})();\n")
if(script MATCHES "</|<!--")
    message(FATAL_ERROR "the joined script contains ${CMAKE_MATCH_0}, which would end it in a page")
endif()
string(SHA256 hash "${script}")
base64_of_hex(${hash} hash)
read_text(${STYLE} style)
if(MORE_STYLE)
    read_text(${MORE_STYLE} more)
    string(APPEND style "${more}")
endif()
string(REGEX REPLACE " ?([:;,{}])[ \n]" "\\1" style "${style}")
string(REGEX REPLACE " {" "{" style "${style}")
string(REPLACE ";}" "}" style "${style}")
string(REGEX REPLACE "([ (,:])0([.][0-9])" "\\1\\2" style "${style}")
file(READ ${TEMPLATE} page)
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT_HASH@" "sha256-${hash}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
file(WRITE ${PAGE} "${page}")

if(BYTES)
    file(READ ${PAGE} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    set(line "")
    foreach(digit RANGE 1 100)
        string(APPEND line ".")
    endforeach()
    string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
    get_filename_component(folder ${BYTES} DIRECTORY)
    file(WRITE ${BYTES} "/* Made by viewer/join.cmake. */
#include <stddef.h>
extern const unsigned char ${SYMBOL}[];
extern const size_t ${SYMBOL}_size; /* without the 0 that ends it */
const unsigned char ${SYMBOL}[] = {\n${bytes}\n0};
const size_t ${SYMBOL}_size = sizeof ${SYMBOL} - 1;\n")
endif()
