# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=... -DBINARY=... -DCOMPILER=... -DLAUNCHER=... -DTARGETS=shader,cache -DGENERATED=... -P build.cmake: the
# libFuzzer build of this folder. GENERATED is the folder of that name in the main build.
string(REPLACE "," ";" targets "${TARGETS}")
execute_process(COMMAND ${CMAKE_COMMAND} -S "${SOURCE}" -B "${BINARY}" -G Ninja "-DCMAKE_CXX_COMPILER=${COMPILER}"
                        "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" "-DWEFT_FUZZ_TARGETS=${targets}"
                        "-DWEFT_GENERATED=${GENERATED}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build "${BINARY}" COMMAND_ERROR_IS_FATAL ANY)
