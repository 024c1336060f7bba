# SPDX-License-Identifier: Apache-2.0
# weft_add_shader(<target> SOURCE <file.comp> NAME <name> [DEFINES A=1 ...] [FLAGS -g ...]
#                 [NOT_OPTIMIZED | UNROLLED] [SPV_VARIABLE <variable>])
#
# Compiles GLSL to SPIR-V at build time, in the build tree:
#   shaders/<name>.spv.inc   words for   constexpr std::uint32_t k[] = {
#                                        #include "shaders/<name>.spv.inc"
#                                        };
#   shaders/<name>.spv       the same module as a file; its path goes to SPV_VARIABLE
# <target> depends on both and can include the first. Includes are looked up next to the source, in the root of the
# repository ("shaders/field/..") and in shaders/shared ("weft.glsl"). A change of an included file rebuilds exactly the
# shaders that include it. If spirv-val is installed, it checks each module. WEFT_GLSL is 1 in every shader.

find_program(WEFT_GLSLC glslc REQUIRED DOC "GLSL to SPIR-V compiler")
find_program(WEFT_SPIRV_OPT spirv-opt DOC "SPIR-V optimizer, used when found")
find_program(WEFT_SPIRV_VAL spirv-val DOC "SPIR-V validator, used when found")
if(SHADER_STRICT AND NOT WEFT_SPIRV_VAL)
    message(FATAL_ERROR "SHADER_STRICT needs spirv-val (Debian: spirv-tools)")
endif()

set(weft_shader_flags --target-env=vulkan1.2 -O0 -DWEFT_GLSL=1 "-I${PROJECT_SOURCE_DIR}"
    "-I${PROJECT_SOURCE_DIR}/shaders/shared")
# The passes of spirv-opt -O except loop-unroll. Its copies of a loop's body lose the decoration NoContraction: from the
# second iteration on, spirv-opt itself (mul and add become Fma) or the driver would do what `precise` forbids. Drivers
# unroll the loops that are marked [[unroll]]. UNROLLED is for shaders whose results stay within their bounds with any
# contraction, and whose arrays a driver might otherwise not keep in registers.
set(weft_spirv_passes
    --wrap-opkill --eliminate-dead-branches --merge-return --inline-entry-points-exhaustive --eliminate-dead-functions
    --eliminate-dead-code-aggressive --private-to-local --eliminate-local-single-block --eliminate-local-single-store
    --eliminate-dead-code-aggressive --scalar-replacement=100 --convert-local-access-chains
    --eliminate-local-single-block --eliminate-local-single-store --eliminate-dead-code-aggressive --ssa-rewrite
    --eliminate-dead-code-aggressive --ccp --eliminate-dead-code-aggressive --eliminate-dead-branches
    --redundancy-elimination --combine-access-chains --simplify-instructions --scalar-replacement=100
    --convert-local-access-chains --eliminate-local-single-block --eliminate-local-single-store
    --eliminate-dead-code-aggressive --ssa-rewrite --eliminate-dead-code-aggressive --vector-dce
    --eliminate-dead-inserts --eliminate-dead-branches --simplify-instructions --if-conversion
    --copy-propagate-arrays --reduce-load-size --eliminate-dead-code-aggressive --merge-blocks
    --redundancy-elimination --eliminate-dead-branches --merge-blocks --simplify-instructions)
if(NOT SHADER_OPT MATCHES "^(zero|performance)$")
    message(FATAL_ERROR "SHADER_OPT: unknown value (got '${SHADER_OPT}', need zero or performance)")
elseif(SHADER_OPT STREQUAL "zero" OR NOT WEFT_SPIRV_OPT)
    set(weft_spirv_passes "")
endif()
if(SHADER_STRICT)
    list(APPEND weft_shader_flags -Werror)
endif()
# Global properties, so that a parent project that calls the function from another folder can read them.
set_property(GLOBAL PROPERTY WEFT_SHADER_FLAGS "${weft_shader_flags}")
set_property(GLOBAL PROPERTY WEFT_SPIRV_PASSES "${weft_spirv_passes}")
string(REPLACE "--ccp;--eliminate-dead-code-aggressive" "--ccp;--eliminate-dead-code-aggressive;--loop-unroll"
       weft_spirv_passes "${weft_spirv_passes}")
set_property(GLOBAL PROPERTY WEFT_SPIRV_UNROLLING_PASSES "${weft_spirv_passes}")
set_property(GLOBAL PROPERTY WEFT_SPIRV_WORDS "${CMAKE_CURRENT_LIST_DIR}/spirv_words.cmake")

function(weft_add_shader target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "NOT_OPTIMIZED;UNROLLED" "SOURCE;NAME;SPV_VARIABLE" "DEFINES;FLAGS")
    if(NOT arg_SOURCE OR NOT arg_NAME OR arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "weft_add_shader: need <target> SOURCE <file> NAME <name>, got ${ARGV}")
    endif()
    cmake_path(ABSOLUTE_PATH arg_SOURCE BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    get_property(flags GLOBAL PROPERTY WEFT_SHADER_FLAGS)
    if(arg_UNROLLED)
        get_property(passes GLOBAL PROPERTY WEFT_SPIRV_UNROLLING_PASSES)
    else()
        get_property(passes GLOBAL PROPERTY WEFT_SPIRV_PASSES)
    endif()
    get_property(words GLOBAL PROPERTY WEFT_SPIRV_WORDS)
    list(TRANSFORM arg_DEFINES PREPEND -D)
    list(APPEND flags ${arg_DEFINES} ${arg_FLAGS})

    set(include_dir "${CMAKE_CURRENT_BINARY_DIR}/generated")
    set(spv "${include_dir}/shaders/${arg_NAME}.spv")
    file(MAKE_DIRECTORY "${include_dir}/shaders")
    set(validate "")
    if(WEFT_SPIRV_VAL)
        set(validate COMMAND "${WEFT_SPIRV_VAL}" --target-env vulkan1.2 "${spv}")
    endif()
    set(optimize "")
    if(passes AND NOT arg_NOT_OPTIMIZED)
        set(optimize COMMAND "${WEFT_SPIRV_OPT}" ${passes} "${spv}" -o "${spv}")
    endif()
    add_custom_command(
        OUTPUT "${spv}" "${spv}.inc"
        COMMAND "${WEFT_GLSLC}" ${flags} -MD -MF "${spv}.d" -MT "${spv}" -o "${spv}" "${arg_SOURCE}"
        ${optimize}
        ${validate}
        COMMAND "${CMAKE_COMMAND}" "-DSPV=${spv}" "-DOUTPUT=${spv}.inc" -P "${words}"
        DEPENDS "${arg_SOURCE}" "${words}"
        DEPFILE "${spv}.d"
        COMMENT "Compiling shader ${arg_NAME}"
        COMMAND_EXPAND_LISTS VERBATIM)
    add_custom_target(${target}_shader_${arg_NAME} DEPENDS "${spv}" "${spv}.inc")
    add_dependencies(${target} ${target}_shader_${arg_NAME})
    set_property(TARGET ${target} APPEND PROPERTY WEFT_SHADERS ${arg_NAME})
    target_include_directories(${target} PRIVATE "$<BUILD_INTERFACE:${include_dir}>")
    if(arg_SPV_VARIABLE)
        set(${arg_SPV_VARIABLE} "${spv}" PARENT_SCOPE)
    endif()
endfunction()

# weft_embed_spirv(<target> FILE <file.spv> NAME <name>)
#
# Makes the same .spv.inc from a module in the source tree. Such modules need a newer compiler than the build does
# (tools/build-spirv.sh).
function(weft_embed_spirv target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "FILE;NAME" "")
    cmake_path(ABSOLUTE_PATH arg_FILE BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    get_property(words GLOBAL PROPERTY WEFT_SPIRV_WORDS)
    set(include_dir "${CMAKE_CURRENT_BINARY_DIR}/generated")
    set(inc "${include_dir}/shaders/${arg_NAME}.spv.inc")
    file(MAKE_DIRECTORY "${include_dir}/shaders")
    add_custom_command(
        OUTPUT "${inc}"
        COMMAND "${CMAKE_COMMAND}" "-DSPV=${arg_FILE}" "-DOUTPUT=${inc}" -P "${words}"
        DEPENDS "${arg_FILE}" "${words}"
        VERBATIM)
    add_custom_target(${target}_shader_${arg_NAME} DEPENDS "${inc}")
    add_dependencies(${target} ${target}_shader_${arg_NAME})
    set_property(TARGET ${target} APPEND PROPERTY WEFT_SHADERS ${arg_NAME})
    target_include_directories(${target} PRIVATE "$<BUILD_INTERFACE:${include_dir}>")
endfunction()

# weft_write_shader_headers(<target> FAMILIES <prefix ...>)
#
# Writes a header shaders/<prefix>.spv.hpp for each prefix. It declares the words of every shader that <target> has so
# far and whose name begins with <prefix>_, as the array weft::spirv::<name>.
function(weft_write_shader_headers target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FAMILIES")
    get_target_property(names ${target} WEFT_SHADERS)
    foreach(family IN LISTS arg_FAMILIES)
        set(arrays "")
        foreach(name IN LISTS names)
            if(name MATCHES "^${family}_")
                string(APPEND arrays
                       "inline constexpr std::uint32_t ${name}[] = {\n#include \"shaders/${name}.spv.inc\"\n};\n")
            endif()
        endforeach()
        file(CONFIGURE OUTPUT "generated/shaders/${family}.spv.hpp"
             CONTENT "#pragma once\n#include <cstdint>\nnamespace weft::spirv {\n${arrays}}\n" @ONLY)
    endforeach()
endfunction()
