#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-tests.sh [ctest arguments]: set-up, build with warnings as errors, all tests. Ends with ctest's closing line and
# its exit status.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/setup.sh
cmake --preset ci
cmake --build --preset ci --parallel "$(nproc)"
exec ctest --preset ci --parallel "$(nproc)" "$@"
