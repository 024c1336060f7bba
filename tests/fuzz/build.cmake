# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=... -DBINARY=... -DCOMPILER=... -DLAUNCHER=... -P build.cmake: the libFuzzer build of this folder.
execute_process(COMMAND ${CMAKE_COMMAND} -S "${SOURCE}" -B "${BINARY}" -G Ninja "-DCMAKE_CXX_COMPILER=${COMPILER}"
                        "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build "${BINARY}" COMMAND_ERROR_IS_FATAL ANY)
