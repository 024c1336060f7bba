# SPDX-License-Identifier: Apache-2.0
# Whether weft::cuda is built, and for which GPUs.
if(NOT WEFT_CUDA MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "WEFT_CUDA: unknown value (got '${WEFT_CUDA}', need AUTO, ON or OFF)")
endif()
if(WEFT_CUDA STREQUAL "OFF")
    return()
endif()
include(CheckLanguage)
check_language(CUDA)
find_package(CUDAToolkit 12.5 QUIET)
if(NOT CMAKE_CUDA_COMPILER OR NOT CUDAToolkit_FOUND)
    if(WEFT_CUDA STREQUAL "ON")
        message(FATAL_ERROR "nvcc of CUDA 12.5 or newer not found")
    endif()
    message(STATUS "weft::cuda is left out: nvcc of CUDA 12.5 or newer not found")
    return()
endif()
if(NOT CMAKE_CUDA_ARCHITECTURES)
    # One machine code, and one intermediate code that newer drivers translate: each further entry costs a compilation.
    set(CMAKE_CUDA_ARCHITECTURES "75-virtual;90-real" CACHE STRING "GPUs that CUDA kernels are compiled for")
endif()
if(WEFT_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER "${WEFT_CCACHE}")
endif()
enable_language(CUDA)
# CMake 3.25 does not know that nvcc has C++20, so the standard cannot be requested as a compile feature.
string(APPEND CMAKE_CUDA_FLAGS " -std=c++20")

# Compiles kernel headers with one set of macros, as shaders are compiled: a generated file defines the macros and includes
# the headers. Most of its compilation is what all kernels include, hence several headers in a file. <headers> are relative
# to src/ops_cuda; the path of the generated file goes to `kernel_variant`.
function(weft_write_kernel_variant headers name)
    list(TRANSFORM ARGN PREPEND "#define ")
    list(JOIN ARGN "\n" defines)
    string(REPLACE "=" " " defines "${defines}")
    list(TRANSFORM headers REPLACE "(.+)" "#include \"ops_cuda/\\1\"\n")
    list(JOIN headers "" includes)
    set(file "${PROJECT_BINARY_DIR}/generated/cuda/${name}.cu")
    file(CONFIGURE OUTPUT "${file}" CONTENT "${defines}\n${includes}" @ONLY)
    set(kernel_variant "${file}" PARENT_SCOPE)
endfunction()
macro(weft_add_kernel_variant headers)
    weft_write_kernel_variant("${headers}" ${ARGN})
    target_sources(weft_cuda PRIVATE "${kernel_variant}")
endmacro()

add_subdirectory("${PROJECT_SOURCE_DIR}/src/cuda" "${PROJECT_BINARY_DIR}/src/cuda")
