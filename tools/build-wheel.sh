#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build-wheel.sh [folder]: builds the wheel of weftgpu into a folder (build/wheels), checks it with auditwheel, and runs it
# in a fresh environment of each Python that is found. The file is one for every Python from 3.10 on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/setup.sh
out=${1:-build/wheels}
venv=build/python-venv
raw=build/wheel-unrepaired
rm -rf "$raw" && mkdir -p "$raw" "$out"
rm -f "$out"/weftgpu-*.whl
PATH="$PWD/$venv/bin:$PATH" "$venv/bin/pip" wheel . --quiet --no-deps --no-build-isolation --wheel-dir "$raw"
PATH="$PWD/$venv/bin:$PATH" "$venv/bin/auditwheel" repair --wheel-dir "$out" "$raw"/weftgpu-*.whl
wheel=$(echo "$out"/weftgpu-*.whl)
"$venv/bin/auditwheel" show "$wheel"

# Nothing of Vulkan may be inside, and nothing beside the package.
if python3 -m zipfile -l "$wheel" | grep -E 'libvulkan|weftgpu\.libs'; then
    echo "build-wheel: the wheel has libraries that it must not have" >&2
    exit 1
fi
for python in python3.10 python3.11 python3.12 python3.13 python3.14; do
    if ! "$python" -c 'import ensurepip' 2>/dev/null; then continue; fi
    fresh=build/wheel-check/$python
    rm -rf "$fresh" && "$python" -m venv "$fresh"
    "$fresh/bin/pip" install --quiet "$wheel" pytest
    "$fresh/bin/python" -m pytest tests/python -p no:cacheprovider -q --ignore tests/python/test_typing.py
done
echo "build-wheel: $wheel"
