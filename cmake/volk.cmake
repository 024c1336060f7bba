# SPDX-License-Identifier: Apache-2.0
# volk is compiled into weft. Its function pointers have the names of the Vulkan functions, so a program that links weft
# statically and also links the loader, or its own volk, would get two definitions of each. Therefore a header that is
# included before all others renames every identifier that volk declares.

find_path(WEFT_VOLK_INCLUDE_DIR volk.h DOC "Folder of volk.h and volk.c")
find_path(WEFT_VULKAN_INCLUDE_DIR vulkan/vulkan.h DOC "Folder of vulkan/vulkan.h")
if(NOT WEFT_VOLK_INCLUDE_DIR OR NOT EXISTS "${WEFT_VOLK_INCLUDE_DIR}/volk.c")
    message(FATAL_ERROR "volk.h and volk.c not found (Debian: libvulkan-volk-dev); set WEFT_VOLK_INCLUDE_DIR")
endif()
if(NOT WEFT_VULKAN_INCLUDE_DIR)
    message(FATAL_ERROR "vulkan/vulkan.h not found (Debian: libvulkan-dev); set WEFT_VULKAN_INCLUDE_DIR")
endif()

set(weft_volk_names "${PROJECT_BINARY_DIR}/generated/private/volk_names.h")

function(weft_write_volk_names)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${WEFT_VOLK_INCLUDE_DIR}/volk.h")
    file(STRINGS "${WEFT_VOLK_INCLUDE_DIR}/volk.h" declarations
         REGEX "^(extern PFN_vk|(void|VkResult|uint32_t|VkInstance|VkDevice) volk)")
    set(text "#pragma once\n")
    foreach(declaration IN LISTS declarations)
        if(declaration MATCHES " (vk[A-Za-z0-9]+|volk[A-Za-z0-9]+)")
            string(APPEND text "#define ${CMAKE_MATCH_1} weft_private_${CMAKE_MATCH_1}\n")
        endif()
    endforeach()
    if(NOT text MATCHES "vkCreateDevice " OR NOT text MATCHES "volkInitialize ")
        message(FATAL_ERROR "${WEFT_VOLK_INCLUDE_DIR}/volk.h: declarations not understood")
    endif()
    file(CONFIGURE OUTPUT "${weft_volk_names}" CONTENT "${text}" @ONLY)
endfunction()
weft_write_volk_names()

# The settings with which a target can include volk.h. Only src/vulkan gets them.
add_library(weft_volk_headers INTERFACE)
target_include_directories(weft_volk_headers SYSTEM INTERFACE
    "${WEFT_VOLK_INCLUDE_DIR}" "${WEFT_VULKAN_INCLUDE_DIR}")
target_compile_definitions(weft_volk_headers INTERFACE VK_NO_PROTOTYPES)
target_compile_options(weft_volk_headers INTERFACE "SHELL:-include \"${weft_volk_names}\"")
