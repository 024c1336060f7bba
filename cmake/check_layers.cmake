# SPDX-License-Identifier: Apache-2.0
# cmake -DROOT=<repository> -P check_layers.cmake
# Fails, with file and line, when a folder includes what its layer must not know.
cmake_policy(VERSION 3.25)

set(violations "")
set(files_seen 0)

# check_includes(<what> PATTERN <regex of the included path> FOLDERS <...> [EXCEPT <files>] [BUT <regex of allowed>])
macro(check_includes what)
    cmake_parse_arguments(arg "" "PATTERN;BUT" "FOLDERS;EXCEPT" ${ARGN})
    foreach(folder IN LISTS arg_FOLDERS)
        file(GLOB_RECURSE files RELATIVE "${ROOT}" "${ROOT}/${folder}/*.[ch]pp" "${ROOT}/${folder}/*.[ch]" "${ROOT}/${folder}/*.cu")
        list(REMOVE_ITEM files ${arg_EXCEPT} "")
        foreach(file IN LISTS files)
            math(EXPR files_seen "${files_seen} + 1")
            file(STRINGS "${ROOT}/${file}" includes REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"](${arg_PATTERN})")
            if(arg_BUT)
                list(FILTER includes EXCLUDE REGEX "[<\"](${arg_BUT})[>\"]")
            endif()
            foreach(line IN LISTS includes)
                string(APPEND violations "  ${file}: ${line}\n    ${what}\n")
            endforeach()
        endforeach()
    endforeach()
endmacro()

check_includes("only src/core may include Vulkan or volk" PATTERN "(vulkan/|volk|vk_)"
    FOLDERS include src/kernels src/glsl src/cuda shaders examples tools tests EXCEPT include/weft/native.hpp tests/fault/functions.hpp)
check_includes("the public API knows neither src nor shaders" PATTERN "(core|kernels|glsl|cuda|shaders|shared)/"
    FOLDERS include)
check_includes("tools, examples and gpu tests use the public API only" PATTERN "(core|kernels|glsl|cuda)/"
    FOLDERS tools examples tests/gpu tests/consumer)
check_includes("the core does not know what is built on it" PATTERN "(kernels|glsl|cuda)/" FOLDERS src/core)
check_includes("kernels know neither GLSL nor CUDA" PATTERN "(glsl|cuda)/" FOLDERS src/kernels)
check_includes("of the rest, CUDA sees the core's external memory and copy workers and the pure checks and plans of kernels"
    PATTERN "(core|kernels|glsl)/" FOLDERS src/cuda
    BUT "(core/(external_memory|copy_workers|device_match)|kernels/([a-z_]*(check|plan|host|ranges|resident|search)|thread_parts)).hpp")
check_includes("only src/dlpack may include DLPack" PATTERN "dlpack/"
    FOLDERS include src/core src/kernels src/glsl src/cuda shaders examples tools)
check_includes("DLPack knows nothing of devices" PATTERN "(core|kernels|glsl|cuda)/" FOLDERS src/dlpack)
check_includes("public headers work without CUDA's" PATTERN "(cuda[._]|driver_types|vector_types)" FOLDERS include)
check_includes("of the core, GLSL sees where caches are and how they are written" PATTERN "(core|kernels)/"
    FOLDERS src/glsl BUT "core/(cache_file|config_parse).hpp")
check_includes("only src/glsl/shaderc_front.cpp may include shaderc" PATTERN "(shaderc|glslang)/"
    FOLDERS include src shaders examples tools tests EXCEPT src/glsl/shaderc_front.cpp)

if(files_seen LESS 10)
    message(FATAL_ERROR "only ${files_seen} files found under '${ROOT}'")
endif()
if(violations)
    message(FATAL_ERROR "includes across layers:\n${violations}")
endif()
