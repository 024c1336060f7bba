# SPDX-License-Identifier: Apache-2.0
"""The stubs are those of the modules, and the package and its users pass mypy --strict."""
import os
import pathlib
import subprocess
import sys

import pytest

import weftgpu

PACKAGE = pathlib.Path(weftgpu.__file__).parent

USER = """
import numpy as np
import weftgpu
from weftgpu.sklearn import QuantumKernel, QuantumKernelTransformer

F = weftgpu.Field("babybear")
extended = F.lde(F.random(8, seed=1), 4, coset=31, backend=weftgpu.default_backend())
root: int = F.ntt_root(8) + F.two_adicity
total: int = F.to_ints(F.sum(F.random(10, seed=1)))
name: str = weftgpu.default_backend().name
report: weftgpu.OpReport = weftgpu.last_report()
seconds: float = report.wall_s
with weftgpu.profile() as p:
    weftgpu.kernel_matrix(np.zeros((3, 2), np.float32), progress=lambda done, total, rate, left: print(done))
rows: list[int] = weftgpu.EncodeError().rows
k: weftgpu.KernelOperator = weftgpu.kernel_operator(np.zeros((3, 2)), lambda_=0.1)
alpha, solved = k.solve(np.ones(3), progress=True)
residuals: list[float] = solved.residuals
predicted = k.predict(np.zeros((1, 2)), alpha) + k.eigen(1)[0]
with weftgpu.Devices([0, 0], chunk_elements=1024) as devices:
    F.add(F.array([1]), F.array([2]), backend=devices)
    done: list[int] = [row.items for row in weftgpu.last_report().devices]
    second: weftgpu.Backend = devices[1]
    lost: list[bool] = devices.lost
twice = (2 * k + k - k / 2) @ np.ones(3), (-k).T, k.H, (k ** 2).dot(np.ones(3))
kernel = QuantumKernel(scale=0.5)
combined = 2 * kernel + kernel ** 2 + kernel * 0.5 + 1
values = combined(np.zeros((3, 2)))[0, 0] + kernel.diag(np.zeros((3, 2)))
features = QuantumKernelTransformer(2 * kernel).fit_transform(np.zeros((3, 2)))
names: list[str] = sorted(kernel.get_params())
buffer = weftgpu.Buffer((3, 4), "float64", pinned=True)
shape: tuple[int, ...] = buffer.shape
"""


@pytest.mark.parametrize("module", ["_core", "_glsl"])
def test_stubs_are_up_to_date(module, tmp_path):
    # By itself: the package puts its functions behind others.
    stub = tmp_path / "stub.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-P", "-m", module, "-o", str(stub)], check=True,
        env={**os.environ, "PYTHONPATH": os.path.dirname(weftgpu.__file__)},
    )
    kept = PACKAGE / f"{module}.pyi"
    assert stub.read_text() == kept.read_text(), (
        f"python/weftgpu/{module}.pyi is out of date: "
        f"PYTHONPATH=<build>/python/weftgpu python -m nanobind.stubgen -P -m {module} -o python/weftgpu/{module}.pyi"
    )


def test_mypy(tmp_path):
    pytest.importorskip("mypy")
    user = tmp_path / "user.py"
    user.write_text(USER)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path / "cache"),
         "-p", "weftgpu"],
        cwd=PACKAGE.parent, capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path / "cache"),
         str(user)],
        cwd=PACKAGE.parent, capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
