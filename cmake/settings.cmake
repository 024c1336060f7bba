# SPDX-License-Identifier: Apache-2.0
# Compiler settings of this build. They do not affect programs that link weft.

if(PROJECT_IS_TOP_LEVEL)
    get_property(weft_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
    if(NOT weft_multi_config AND NOT CMAKE_BUILD_TYPE)
        set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
    endif()
    find_program(WEFT_CCACHE ccache DOC "Compiler cache, used when found")
    if(WEFT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
        set(CMAKE_C_COMPILER_LAUNCHER "${WEFT_CCACHE}")
        set(CMAKE_CXX_COMPILER_LAUNCHER "${WEFT_CCACHE}")
    endif()
endif()

set(CMAKE_CXX_EXTENSIONS OFF)

set(weft_sanitizer_flags "")
if(WEFT_SANITIZE)
    if(NOT WEFT_SANITIZE MATCHES "^(address|undefined|address,undefined|thread)$")
        message(FATAL_ERROR "WEFT_SANITIZE: unknown value (got '${WEFT_SANITIZE}', "
                            "need 'address', 'undefined', 'address,undefined' or 'thread')")
    endif()
    set(weft_sanitizer_flags -fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    # Not for CUDA: the host code of such a file only calls kernels, and nvcc splits such flags at their commas.
    add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${weft_sanitizer_flags}>")
    add_link_options(${weft_sanitizer_flags})
endif()

# Linked as $<BUILD_INTERFACE:weft_warnings> by every C++ target of this repository.
add_library(weft_warnings INTERFACE)
target_compile_options(weft_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion
        # VkXInfo{sType} with the rest zero is how Vulkan structures are made.
        -Wno-missing-field-initializers>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${WEFT_WERROR}>>:-Werror>
    # The host code that nvcc generates is not clean under -Wconversion.
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${WEFT_WERROR}>>:-Werror=all-warnings>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_UNITY_BUILD)
    # GCC takes joined sources for headers, whose classes should not have members of types that are local to a source.
    target_compile_options(weft_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 reports an overlap within its own std::string for `"text" + string` (GCC bug 105651).
    target_compile_options(weft_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
