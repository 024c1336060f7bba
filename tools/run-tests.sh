#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-tests.sh [ctest arguments]: set-up, build with warnings as errors, all tests. Ends with ctest's closing line and
# its exit status.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/setup.sh
# With paths as they are, what the consumer tests compile again is in the compiler cache.
export CCACHE_BASEDIR=
# Kernels for CUDA run only where a GPU is; elsewhere one intermediate form shows that they compile.
cuda=75-virtual
if [ -e /proc/driver/nvidia/version ]; then cuda=native; fi
cmake --preset ci --no-warn-unused-cli "-DCMAKE_CUDA_ARCHITECTURES=$cuda"
cmake --build --preset ci --parallel "$(nproc)"
exec ctest --preset ci --parallel "$(nproc)" "$@"
