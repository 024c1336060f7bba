# SPDX-License-Identifier: Apache-2.0
"""Kernel ridge regression whose kernel matrix is never stored: 50,000 rows on a GPU, 2,000 where there is none."""

import numpy as np

import weftgpu

QUBITS = 6


def targets(x):
    return np.sin(x[:, 0]) * np.cos(x[:, 1]) + 0.5 * np.sin(x[:, 5])


def main() -> int:
    backend = weftgpu.default_backend()
    rows = 2000 if backend.device.type == "cpu" else 50_000
    rng = np.random.default_rng(1)
    x, x_new = (rng.uniform(-1.5, 1.5, (n, QUBITS)).astype(np.float32) for n in (rows, 500))

    k = weftgpu.kernel_operator(x, map="ry")
    alpha, report = k.solve(targets(x), 0.1, tol=1e-3, rank=300)
    print(f"{backend.name}: {rows} rows, {report}")

    error = k.predict(x_new, alpha) - targets(x_new)
    relative = np.linalg.norm(error) / np.linalg.norm(targets(x_new))
    print(f"{len(x_new)} new rows: predictions are off by {100 * relative:.1f} %")
    return 0 if report.converged and relative < 0.1 else 1


if __name__ == "__main__":
    raise SystemExit(main())
