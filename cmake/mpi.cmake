# SPDX-License-Identifier: Apache-2.0
# Whether weft::mpi is built.
if(NOT WEFT_MPI MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "WEFT_MPI: unknown value (got '${WEFT_MPI}', need AUTO, ON or OFF)")
endif()
if(WEFT_MPI STREQUAL "OFF")
    return()
endif()
# The functions of C alone are used: those of C++ have left the standard.
find_package(MPI 3.0 QUIET COMPONENTS C)
if(NOT MPI_C_FOUND)
    if(WEFT_MPI STREQUAL "ON")
        message(FATAL_ERROR "MPI 3.0 or newer not found (Debian: libopenmpi-dev)")
    endif()
    message(STATUS "weft::mpi is left out: MPI 3.0 or newer not found")
    return()
endif()
add_subdirectory(src/mpi)
