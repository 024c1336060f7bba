#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares, on one NVIDIA card, weft on Vulkan, weft on CUDA, cuBLAS, plain CUDA streams and a CPU loop, then PyTorch's
# encoders if PyTorch is installed. Every row is verified; a wrong row ends the run. The sizes are chosen for an H100; the
# first line of the output names the card.
# Usage: tools/race-h100.sh [BUILD_DIRECTORY] [--quick]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/release
case "${1:-}" in "" | --*) ;; *)
    build=$1
    shift
    ;;
esac
[ -x "$build/examples/bench/bench_race" ] || {
    echo "no examples/bench/bench_race in $build (need a build folder, made where nvcc is found:" \
        "cmake --preset release && cmake --build --preset release --target bench_race)" >&2
    exit 1
}
"$build/examples/bench/bench_race" "$@"
if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    echo
    python3 "$root/tools/race_torch.py" "$@"
else
    echo "PyTorch's rows are left out: no PyTorch that finds a CUDA device"
fi
