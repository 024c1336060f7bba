# SPDX-License-Identifier: Apache-2.0
"""Common parts of the tests of weftgpu. Oracles are NumPy and Python integers; none of them calls weft."""
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import weftgpu


@pytest.fixture(scope="session")
def backend():
    return weftgpu.default_backend()


@pytest.fixture
def rng():
    return np.random.default_rng(20261129)


@pytest.fixture
def run_python():
    """Runs a script in another interpreter; returns what it printed."""

    def run(script, *, check=True, timeout=120, env=None):
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, timeout=timeout,
            env={**os.environ, **(env or {})},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
        )
        if check:
            assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
            return done.stdout
        return done

    return run


SCALE = """#version 450
#extension GL_GOOGLE_include_directive : require
#include "weft.glsl"
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Job { uint count, first; float factor; int offset; };
void main() {
    uint i = weft_index();
    if (i < count) y[i] = factor * x[i] + float(offset);
}
"""


@pytest.fixture(scope="session")
def scale_program():
    """y = factor * x + offset."""
    return weftgpu.Program(weftgpu.compile_glsl(SCALE, name="scale"))
