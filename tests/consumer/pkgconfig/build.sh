#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build.sh FOLDER: compiles and runs the consumer in FOLDER with nothing but a compiler and pkg-config.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
static=--static
if [ "${WEFT_SHARED:-0}" = 1 ]; then
    static=
    LD_LIBRARY_PATH=$("${PKG_CONFIG:-pkg-config}" --variable=libdir weft)
    export LD_LIBRARY_PATH
fi
mkdir -p "$folder"
plain=${CXX:-c++}
# build NAME MODULE
build() {
    # shellcheck disable=SC2046,SC2086 # flags are lists of words
    "${CXX:-c++}" -std=c++20 ${CXXFLAGS:-} "$here/../$1.cpp" -o "$folder/$1" \
        $("${PKG_CONFIG:-pkg-config}" $static --cflags --libs "$2")
}
if [ "${CONSUMER_GLSL:-0}" = 1 ]; then
    build consumer_glsl weft-glsl
    "$folder/consumer_glsl"
    # The folder in which glslc finds weft.glsl.
    test -f "$("${PKG_CONFIG:-pkg-config}" --variable=glsldir weft-glsl)/weft.glsl"
fi
if [ "${CONSUMER_CUDA:-0}" = 1 ]; then
    build consumer_cuda weft-cuda
    "$folder/consumer_cuda"
fi
if [ "${CONSUMER_C:-0}" = 1 ]; then
    # shellcheck disable=SC2046,SC2086 # flags are lists of words
    "${CC:-cc}" -std=c11 ${CFLAGS:-} "$here/../consumer.c" -o "$folder/consumer_c" \
        $("${PKG_CONFIG:-pkg-config}" --cflags --libs weft-c)
    LD_LIBRARY_PATH=$("${PKG_CONFIG:-pkg-config}" --variable=libdir weft-c) "$folder/consumer_c"
fi
if [ -n "${CONSUMER_MPI:-}" ]; then
    # MPI's compiler is the same one, with flags and libraries of its own.
    OMPI_CXX=$plain MPICH_CXX=$plain CXX=$CONSUMER_MPI
    export OMPI_CXX MPICH_CXX
    build consumer_mpi weft-mpi
    test -x "$folder/consumer_mpi"  # mpi.ranks runs ranks
    CXX=$plain
fi
build consumer weft
exec "$folder/consumer"
