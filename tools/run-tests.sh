#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-tests.sh [ctest arguments]: installs what is missing, builds with warnings as errors and runs all tests. Ends with
# ctest's closing line and its exit status.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/setup.sh
# Without a base directory, ccache keeps absolute paths, so the files that the consumer tests compile again are hits.
export CCACHE_BASEDIR=
# CUDA kernels run only on a machine with a GPU; elsewhere one intermediate code is enough to show that they compile.
cuda=75-virtual
if [ -e /proc/driver/nvidia/version ]; then cuda=native; fi
cmake --preset ci --no-warn-unused-cli "-DCMAKE_CUDA_ARCHITECTURES=$cuda" -DWEFT_PYTHON=ON \
    "-DPython_ROOT_DIR=$PWD/build/python-venv"
cmake --build --preset ci --parallel "$(nproc)"
exec ctest --preset ci --parallel "$(nproc)" "$@"
