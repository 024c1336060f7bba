# SPDX-License-Identifier: Apache-2.0
# Finds libshaderc for weft::glsl. Sets weft_shaderc_found, weft_shaderc_libraries (names for the linker, in order),
# weft_shaderc_include_dir and weft_shaderc_identity (a fingerprint of what is linked into the program, if anything is).
#
# The contents of the library depend on the package. The shared library is complete upstream. That of Debian 12 refers
# to parts of glslang and SPIRV-Tools that it neither contains nor names, so no program links with it alone. Therefore
# links are tried in turn: the shared library, the all-in-one archive, the archive with the archives it is made of.
include(CheckCXXSourceCompiles)

set(weft_shaderc_found FALSE)
find_path(WEFT_SHADERC_INCLUDE_DIR shaderc/shaderc.h DOC "Folder of shaderc/shaderc.h")
set(weft_shaderc_include_dir "${WEFT_SHADERC_INCLUDE_DIR}")
if(NOT WEFT_SHADERC_INCLUDE_DIR)
    return()
endif()

# The archives of glslang and SPIRV-Tools that are installed, each before the archives that it uses. Their number
# depends on the version.
set(weft_shaderc_parts "")
foreach(part IN ITEMS glslang MachineIndependent GenericCodeGen OSDependent OGLCompiler SPIRV SPIRV-Tools-opt
                      SPIRV-Tools)
    find_library(WEFT_SHADERC_PART_${part} ${part})
    mark_as_advanced(WEFT_SHADERC_PART_${part})
    if(WEFT_SHADERC_PART_${part})
        list(APPEND weft_shaderc_parts ${part})
    endif()
endforeach()

foreach(candidate IN ITEMS shared archive archives)
    set(weft_shaderc_libraries shaderc)
    if(NOT candidate STREQUAL "shared")
        set(weft_shaderc_libraries shaderc_combined)
    endif()
    if(candidate STREQUAL "archives")
        list(APPEND weft_shaderc_libraries ${weft_shaderc_parts})
    endif()
    set(CMAKE_REQUIRED_INCLUDES "${WEFT_SHADERC_INCLUDE_DIR}")
    set(CMAKE_REQUIRED_LIBRARIES ${weft_shaderc_libraries} Threads::Threads)
    set(CMAKE_REQUIRED_QUIET TRUE)
    check_cxx_source_compiles("
        #include <shaderc/shaderc.h>
        int main() { return shaderc_compiler_initialize() != nullptr ? 0 : 1; }" WEFT_SHADERC_LINKS_${candidate})
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_LIBRARIES)
    unset(CMAKE_REQUIRED_QUIET)
    if(WEFT_SHADERC_LINKS_${candidate})
        set(weft_shaderc_found TRUE)
        break()
    endif()
endforeach()
if(NOT weft_shaderc_found)
    return()
endif()

set(weft_shaderc_identity "")
foreach(library IN LISTS weft_shaderc_libraries)
    find_library(WEFT_SHADERC_FILE_${library} ${library})
    mark_as_advanced(WEFT_SHADERC_FILE_${library})
    if(WEFT_SHADERC_FILE_${library})
        file(SHA256 "${WEFT_SHADERC_FILE_${library}}" sum)
        string(APPEND weft_shaderc_identity "${sum}")
    endif()
endforeach()
string(SHA256 weft_shaderc_identity "${weft_shaderc_identity}")
