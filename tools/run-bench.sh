#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-bench.sh [arguments of bench_batch_pipelined]: installs what is missing, makes a release build and runs the bench.
# Relative file names in the arguments are relative to the caller's folder.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$root/tools/setup.sh"
(cd "$root" && cmake --preset release && cmake --build --preset release --parallel "$(nproc)" \
    --target bench_batch_pipelined)
exec "$root/build/release/examples/bench/bench_batch_pipelined" "$@"
