# SPDX-License-Identifier: Apache-2.0
# Install rules of a package that can be moved to any folder.
include(CMakePackageConfigHelpers)

set(weft_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/weft")
install(TARGETS weft EXPORT weft-targets FILE_SET HEADERS)
install(EXPORT weft-targets NAMESPACE weft:: DESTINATION "${weft_config_dir}")
if(TARGET weft_glsl)
    # A separate export, because only programs that request the component need the libraries that it links.
    install(TARGETS weft_glsl EXPORT weft-glsl-targets)
    install(EXPORT weft-glsl-targets NAMESPACE weft:: DESTINATION "${weft_config_dir}")
endif()
if(TARGET weft_cuda)
    install(TARGETS weft_cuda EXPORT weft-cuda-targets FILE_SET HEADERS)
    install(EXPORT weft-cuda-targets NAMESPACE weft:: DESTINATION "${weft_config_dir}")
endif()
if(TARGET weft_mpi)
    install(TARGETS weft_mpi EXPORT weft-mpi-targets FILE_SET HEADERS)
    install(EXPORT weft-mpi-targets NAMESPACE weft:: DESTINATION "${weft_config_dir}")
endif()
if(TARGET weft_c)
    # -lweft stays the C++ library, so the name for the linker is libweft_c.so.
    install(TARGETS weft_c EXPORT weft-c-targets FILE_SET HEADERS LIBRARY NAMELINK_SKIP)
    install(EXPORT weft-c-targets NAMESPACE weft:: DESTINATION "${weft_config_dir}")
    install(FILES "$<TARGET_FILE_DIR:weft_c>/libweft_c.so" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
# For glslc: -I <prefix>/share/weft/glsl.
install(FILES "${PROJECT_SOURCE_DIR}/shaders/shared/weft.glsl" DESTINATION "${CMAKE_INSTALL_DATADIR}/weft/glsl")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/weft-config.cmake.in"
    "${PROJECT_BINARY_DIR}/generated/package/weft-config.cmake" INSTALL_DESTINATION "${weft_config_dir}")
# Before 1.0 a minor release may change the API.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/generated/package/weft-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/generated/package/weft-config.cmake"
              "${PROJECT_BINARY_DIR}/generated/package/weft-config-version.cmake"
        DESTINATION "${weft_config_dir}")

# The prefix is relative to the .pc file, so that pkg-config finds it after the package has been moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}"
           OUTPUT_VARIABLE weft_pc_libdir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}"
           OUTPUT_VARIABLE weft_pc_includedir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_DATADIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}"
           OUTPUT_VARIABLE weft_pc_datadir)
set(weft_pc_folder "/weft/${weft_pc_libdir}/pkgconfig")
cmake_path(NORMAL_PATH weft_pc_folder)
cmake_path(RELATIVE_PATH weft_pc_folder BASE_DIRECTORY "/weft" OUTPUT_VARIABLE weft_pc_depth)
string(REGEX REPLACE "[^/]+" ".." weft_pc_prefix "${weft_pc_depth}")
set(weft_pc_private_libs "${CMAKE_THREAD_LIBS_INIT}")
foreach(library IN LISTS CMAKE_DL_LIBS)
    string(APPEND weft_pc_private_libs " -l${library}")
endforeach()
configure_file("${PROJECT_SOURCE_DIR}/cmake/weft.pc.in" "${PROJECT_BINARY_DIR}/generated/package/weft.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/generated/package/weft.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

if(TARGET weft_glsl)
    list(TRANSFORM weft_shaderc_libraries PREPEND "-l" OUTPUT_VARIABLE weft_pc_shaderc_libs)
    list(JOIN weft_pc_shaderc_libs " " weft_pc_shaderc_libs)
    configure_file("${PROJECT_SOURCE_DIR}/cmake/weft-glsl.pc.in"
                   "${PROJECT_BINARY_DIR}/generated/package/weft-glsl.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/generated/package/weft-glsl.pc"
            DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()

if(TARGET weft_c)
    configure_file("${PROJECT_SOURCE_DIR}/cmake/weft-c.pc.in" "${PROJECT_BINARY_DIR}/generated/package/weft-c.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/generated/package/weft-c.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()

if(TARGET weft_mpi)
    configure_file("${PROJECT_SOURCE_DIR}/cmake/weft-mpi.pc.in" "${PROJECT_BINARY_DIR}/generated/package/weft-mpi.pc"
                   @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/generated/package/weft-mpi.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()

if(TARGET weft_cuda)
    cmake_path(GET CUDA_cudart_static_LIBRARY PARENT_PATH weft_pc_cudart_folder)
    configure_file("${PROJECT_SOURCE_DIR}/cmake/weft-cuda.pc.in"
                   "${PROJECT_BINARY_DIR}/generated/package/weft-cuda.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/generated/package/weft-cuda.pc"
            DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()
