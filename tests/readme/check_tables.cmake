# SPDX-License-Identifier: Apache-2.0
# cmake -DROOT=<repository> -P check_tables.cmake
# Fails unless the README's tables name exactly the variables that Config::from_env reads and the build's options.
cmake_policy(VERSION 3.25)
file(READ "${ROOT}/README.md" readme)

# rows_under(<heading> <variable>): names in the first column of the table under a heading.
function(rows_under heading variable)
    string(FIND "${readme}" "\n${heading}\n" begin)
    if(begin EQUAL -1)
        message(FATAL_ERROR "README.md has no heading '${heading}'")
    endif()
    string(SUBSTRING "${readme}" ${begin} -1 section)
    string(SUBSTRING "${section}" 2 -1 section)
    string(FIND "${section}" "\n#" end)
    string(SUBSTRING "${section}" 0 ${end} section)
    string(REGEX MATCHALL "\n\\| `[A-Z_]+`" rows "${section}")
    list(TRANSFORM rows REPLACE "[^A-Z_]" "")
    set(${variable} "${rows}" PARENT_SCOPE)
endfunction()

function(require_same what written real)
    if(NOT real)
        message(FATAL_ERROR "${what}: none found in the sources")
    endif()
    list(SORT written)
    list(SORT real)
    if(NOT written STREQUAL real)
        message(FATAL_ERROR "${what}: README.md has\n  ${written}\nand the sources have\n  ${real}")
    endif()
endfunction()

rows_under("## Environment" variables)
file(READ "${ROOT}/src/base/config.cpp" config)
string(REGEX MATCHALL "\"(WEFT|GPU)_[A-Z_]+\"" read "${config}")
list(TRANSFORM read REPLACE "\"" "")
list(REMOVE_DUPLICATES read)
require_same("environment" "${variables}" "${read}")

rows_under("### Build options" options)
file(STRINGS "${ROOT}/CMakeLists.txt" declared REGEX "^(option|set)\\((WEFT|SHADER|BUILD)_[A-Z_]+ ")
list(TRANSFORM declared REPLACE "^[a-z]+\\(([A-Z_]+) .*" "\\1")
require_same("build options" "${options}" "${declared}")
