# SPDX-License-Identifier: Apache-2.0
# cmake -DBUILD=<build folder> -DCONFIG=<configuration> -DSTAGE=<folder> -DPREFIX=<folder> -P install_and_move.cmake
file(REMOVE_RECURSE "${STAGE}" "${PREFIX}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --config "${CONFIG}" --prefix "${STAGE}"
                COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE texts "${STAGE}/*.cmake" "${STAGE}/*.pc" "${STAGE}/*.hpp")
if(NOT texts)
    message(FATAL_ERROR "nothing was installed into ${STAGE}")
endif()
foreach(text IN LISTS texts)
    file(READ "${text}" content)
    foreach(folder IN ITEMS "${STAGE}" "${BUILD}")
        string(FIND "${content}" "${folder}" found)
        if(NOT found EQUAL -1)
            message(FATAL_ERROR "${text} names ${folder}")
        endif()
    endforeach()
endforeach()
file(RENAME "${STAGE}" "${PREFIX}")
