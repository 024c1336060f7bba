# SPDX-License-Identifier: Apache-2.0
# cmake -DNM=<nm> -DLIBRARY=<libweft.a or .so> -P check_symbols.cmake
# Fails if the library defines a name of Vulkan, volk, SPIRV-Tools, shaderc or glslang, which would collide with the same
# name in a program that links its own copy.
set(flags -g --defined-only)
if(LIBRARY MATCHES "\\.so(\\.|$)")
    list(APPEND flags -D)
endif()
execute_process(COMMAND "${NM}" ${flags} "${LIBRARY}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[A-Z] (vk[A-Z]|volk|spv[A-Z]|shaderc|Sh[A-Z]|_ZN?K?[0-9A-Z]*(7glslang|8spvtools|12shaderc_util))[A-Za-z0-9_]*" foreign "${symbols}")
if(foreign)
    message(FATAL_ERROR "${LIBRARY} defines: ${foreign}")
endif()
if(NOT symbols MATCHES "4weft")
    message(FATAL_ERROR "${LIBRARY} defines nothing of weft")
endif()
