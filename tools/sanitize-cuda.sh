#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every CUDA kernel under each tool of compute-sanitizer, on an NVIDIA GPU. The exit status is not 0 if one of the
# tools finds an error.
# Usage: tools/sanitize-cuda.sh [PROGRAM [TOOL...]], by default build/ci/tests/weft_cuda_every_kernel and memcheck,
# racecheck, initcheck and synccheck. JOBS of them (default 4) run simultaneously.
set -eu
program=${1:-$(cd "$(dirname "$0")/.." && pwd)/build/ci/tests/weft_cuda_every_kernel}
[ $# -eq 0 ] || shift
[ $# -ne 0 ] || set -- memcheck racecheck initcheck synccheck
[ -x "$program" ] || {
    echo "no program $program (need weft_cuda_every_kernel: cmake --build BUILD --target weft_cuda_every_kernel)" >&2
    exit 1
}
"$program" device > /dev/null  # reports what is missing
PATH=$PATH:/usr/local/cuda/bin
command -v compute-sanitizer > /dev/null || {
    echo "no compute-sanitizer (need the CUDA toolkit's on the PATH)" >&2
    exit 1
}
for tool; do
    for part in encode matrix operator lattice field ntt host; do echo "$tool $part"; done
done | xargs -P "${JOBS:-4}" -n 2 sh -c '
    found=$(compute-sanitizer --tool "$2" --error-exitcode 1 --print-limit 5 "$1" "$3" 2>&1) && status=clean || status=FAILED
    [ $status = clean ] || echo "$found"
    echo "$2 $3: $status, $(echo "$found" | tail -1)"
    [ $status = clean ]' sh "$program"
