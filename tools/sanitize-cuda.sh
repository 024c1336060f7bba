#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every CUDA kernel under each tool of compute-sanitizer, on an NVIDIA GPU; ends with status 1 at the first finding.
# Usage: tools/sanitize-cuda.sh [PROGRAM], by default build/ci/tests/weft_cuda_every_kernel.
set -eu
program=${1:-$(cd "$(dirname "$0")/.." && pwd)/build/ci/tests/weft_cuda_every_kernel}
for tool in memcheck racecheck initcheck synccheck; do
    echo "== $tool"
    compute-sanitizer --tool "$tool" --error-exitcode 1 --print-limit 5 "$program"
done
