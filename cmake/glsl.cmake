# SPDX-License-Identifier: Apache-2.0
# Whether weft::glsl is built.
if(NOT WEFT_GLSL MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "WEFT_GLSL: unknown value (got '${WEFT_GLSL}', need AUTO, ON or OFF)")
endif()
if(WEFT_GLSL STREQUAL "OFF")
    return()
endif()
include(shaderc)
if(weft_shaderc_found)
    add_subdirectory("${PROJECT_SOURCE_DIR}/src/glsl" "${PROJECT_BINARY_DIR}/src/glsl")
elseif(WEFT_GLSL STREQUAL "ON")
    message(FATAL_ERROR "libshaderc not found, or nothing links with it (Debian: libshaderc-dev, spirv-tools)")
else()
    message(STATUS "weft::glsl is left out: libshaderc not found, or nothing links with it "
                   "(Debian: libshaderc-dev, spirv-tools)")
endif()
