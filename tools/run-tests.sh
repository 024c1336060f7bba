#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-tests.sh [ctest arguments]: installs what is missing, builds with warnings as errors and runs all tests. Ends with
# ctest's closing line and its exit status.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/setup.sh --mpi
# CUDA kernels run only on a machine with a GPU; elsewhere one intermediate code, hardly optimized, is enough to show
# that they compile.
cuda=(-DCMAKE_CUDA_ARCHITECTURES=75-virtual)
if [ -e /proc/driver/nvidia/version ]; then
    cuda=(-DCMAKE_CUDA_ARCHITECTURES=native)
elif nvcc --help 2> /dev/null | grep -q -e --Ofast-compile; then
    cuda+=(-DCMAKE_CUDA_FLAGS=-Ofc=max)
fi
# setup.sh says so if it could not make the environment, for example without a network.
python=()
if [ -x build/python-venv/bin/python ]; then
    python=(-DWEFT_PYTHON=ON "-DPython_ROOT_DIR=$PWD/build/python-venv")
fi
# ccache would preprocess each source once more to look for it; the dependencies that the compiler writes serve as well.
export CCACHE_DEPEND=1
cmake --preset ci --no-warn-unused-cli "${cuda[@]}" "${python[@]}"
cmake --build --preset ci --parallel "$(nproc)"
exec ctest --preset ci --parallel "$(nproc)" "$@"
